package merge

import (
	"cmp"
	"errors"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// place gives every outcome a path of its own. Where two want one path, or
// paths that some file system takes for one, or one a folder where the other is
// a file, the same one moves aside on every host.
func (e *engine) place() error {
	p := placing{engine: e, taken: map[string]*outcome{}, folded: map[string]*outcome{}, folders: map[string]bool{}}
	rivals := map[string][]*outcome{} // by fold key, those who may want one path
	p.wanted = rivals
	for _, o := range e.outcomes {
		if o.gone || e.dropped[o.path] {
			continue
		}
		key := vault.FoldKey(o.path)
		rivals[key] = append(rivals[key], o)
		for dir := path.Dir(o.path); dir != "." && !p.folders[dir]; dir = path.Dir(dir) {
			p.folders[dir] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(rivals)) {
		group := rivals[key]
		if len(group) > 1 {
			if err := e.bySeniority(group); err != nil {
				return err
			}
		}
		for _, o := range group {
			if err := p.put(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// bySeniority sorts outcomes by who keeps a path: who is there already, who
// has the earlier id, else the lower hash.
func (e *engine) bySeniority(group []*outcome) error {
	rank := map[*outcome]string{}
	for _, o := range group {
		there := o.path == o.unit.base.path
		if e.undo { // base is the past
			there = o.path == o.unit.a.path
		}
		id, err := e.idOf(o)
		switch {
		case err != nil:
			return err
		case there:
			rank[o] = "0"
		case id != "":
			rank[o] = "1" + id
		default:
			rank[o] = "2"
		}
		rank[o] += "\x00" + o.hash.String() + o.path
	}
	slices.SortFunc(group, func(x, y *outcome) int { return cmp.Compare(rank[x], rank[y]) })
	return nil
}

// idOf returns the id of the memory o; "" when it has none, or is none.
func (e *engine) idOf(o *outcome) (string, error) {
	if !o.isMemory() {
		return "", nil
	}
	doc, err := e.document(o)
	if err != nil {
		return "", err
	}
	return doc.String("id"), nil
}

type placing struct {
	*engine
	taken   map[string]*outcome // by path
	folded  map[string]*outcome // by vault.FoldKey of the path
	folders map[string]bool     // that outcomes are in
	wanted  map[string][]*outcome
}

func (p *placing) put(o *outcome) error {
	want := o.path
	for n := 0; p.clashes(o); n++ {
		var err error
		if o.path, err = p.aside(o, want, n); err != nil {
			return err
		}
	}
	p.taken[o.path] = o
	if key := vault.FoldKey(o.path); p.folded[key] == nil {
		p.folded[key] = o
	}
	if o.path != want {
		p.result.Renamed = append(p.result.Renamed, o.path)
	}
	return nil
}

// clashes reports whether o cannot have its path. Two spellings of one name
// may stand side by side where one side alone made both.
func (p *placing) clashes(o *outcome) bool {
	if p.taken[o.path] != nil || p.folders[o.path] {
		return true
	}
	twin := p.folded[vault.FoldKey(o.path)]
	return twin != nil && twin.from^o.from == bothSides
}

// aside returns the n-th other path for o, or a later one that is free.
func (p *placing) aside(o *outcome, want string, n int) (string, error) {
	id, err := p.idOf(o)
	if err != nil {
		return "", err
	}
	for ; ; n++ {
		other := asideName(want, vault.ID(id), o.hash, n)
		if p.wanted[vault.FoldKey(other)] != nil {
			continue
		}
		there, err := p.inEither(other)
		if err != nil || !there {
			return other, err
		}
	}
}

func (p *placing) inEither(path string) (bool, error) {
	for _, tree := range []plumbing.Hash{p.a.tree, p.b.tree} {
		if _, err := repo.Lookup(p.Store, tree, path); err == nil {
			return true, nil
		} else if !errors.Is(err, repo.ErrPathNotFound) {
			return false, err
		}
	}
	return false, nil
}

// Aside returns the first path for the file data, which cannot be at want, that
// is not taken. On every host that is the same one.
func Aside(want string, data []byte, taken func(path string) (bool, error)) (string, error) {
	var id vault.ID
	if vault.IsMemoryPath(want) {
		id = vault.ParseDocument(data).Memory().ID
	}
	for n := 0; ; n++ {
		other := asideName(want, id, repo.BlobHash(data), n)
		if there, err := taken(other); err != nil || !there {
			return other, err
		}
	}
}

// asideName returns the n-th other name for the file at want: with the end of its
// id, or the start of its hash, before the extension.
func asideName(want string, id vault.ID, hash plumbing.Hash, n int) string {
	tag := hash.String()[:min(8+4*n, 40)]
	if n == 0 && id != "" {
		tag = id.Suffix()
	}
	if n > 8 {
		tag += "-" + strconv.Itoa(n)
	}
	dir, name := path.Split(want)
	ext := path.Ext(name)
	if ext == name {
		ext = "" // a dot file
	}
	return dir + cutSlug(strings.TrimSuffix(name, ext), max(1, vault.MaxName-len(tag)-len(ext)-1)) + "-" + tag + ext
}

// write writes the merged tree: side a's, edited.
func (e *engine) write() error {
	final := map[string]entry{}
	for _, p := range e.paths() {
		final[p] = entry{}
	}
	for path := range e.dropped {
		final[path] = entry{}
	}
	for _, o := range e.outcomes {
		if o.gone || e.dropped[o.path] {
			continue
		}
		if err := e.writeContent(o); err != nil {
			return err
		}
		final[o.path] = o.entry
	}
	for _, n := range e.notes {
		if err := e.writeNote(n, final); err != nil {
			return err
		}
	}
	var edits []repo.Edit
	for p, now := range final {
		if was := e.onA(p); was.hash != now.hash || was.mode != now.mode {
			edits = append(edits, repo.Edit{Path: p, Hash: now.hash, Mode: now.mode})
		}
	}
	tree, err := repo.EditTree(e.Store, e.a.tree, edits)
	e.result.Tree = tree
	return err
}

func (e *engine) writeContent(o *outcome) error {
	if !o.made {
		return nil
	}
	data, err := e.content(o)
	if err == nil {
		_, err = repo.WriteBlob(e.Store, data)
	}
	return err
}

// onA returns what side a has at a path of the final tree.
func (e *engine) onA(p string) entry {
	_, inA := e.a.changed[p]
	_, inB := e.b.changed[p]
	if inA || inB {
		return e.on(e.a, p)
	}
	return entry{path: p, mode: unknownMode}
}

// unknownMode differs from every mode, so that the path is edited in any case.
const unknownMode = filemode.FileMode(1)

// writeNote adds a parked file, unless it is there, or was there and somebody
// forgot it: one loser is parked once.
func (e *engine) writeNote(n Parked, final map[string]entry) error {
	grave := vault.TombstonePath(vault.ID(vault.ParseDocument(n.Data).String("id")))
	for _, p := range []string{n.Path, grave} {
		there, err := e.inFinal(p, final)
		if err != nil || there {
			return err
		}
	}
	h, err := repo.WriteBlob(e.Store, n.Data)
	final[n.Path] = entry{n.Path, h, filemode.Regular}
	return err
}

// inFinal reports whether the merged tree, of which final is what changed, has
// a file at path.
func (e *engine) inFinal(path string, final map[string]entry) (bool, error) {
	if now, changed := final[path]; changed {
		return now.there(), nil
	}
	_, err := repo.Lookup(e.Store, e.a.tree, path)
	if errors.Is(err, repo.ErrPathNotFound) {
		return false, nil
	}
	return err == nil, err
}
