package merge

import (
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// ChangeTimes returns a function that tells when the file at a path became
// what it is at tip, among the commits that are reachable from tip and not
// from base; the zero time when by none of them. It is cheap to make. What
// cannot be read is skipped: the times only break ties.
func ChangeTimes(s repo.Store, base, tip plumbing.Hash) func(path string) time.Time {
	h := &history{recent: recent{Store: s}, base: base, lines: map[plumbing.Hash][]*repo.Commit{}}
	return func(path string) time.Time {
		if err := h.load(tip); err != nil {
			return time.Time{}
		}
		t, err := h.changed(path, tip)
		if err != nil {
			return time.Time{}
		}
		return t
	}
}

// history is the commits of one side.
type history struct {
	recent
	base    plumbing.Hash
	commits map[plumbing.Hash]*repo.Commit
	lines   map[plumbing.Hash][]*repo.Commit // by tip; see line
}

func (h *history) load(tip plumbing.Hash) error {
	if h.commits != nil {
		return nil
	}
	commits, err := repo.Between(h.Store, []plumbing.Hash{h.base}, []plumbing.Hash{tip})
	if err != nil {
		return err
	}
	h.commits = map[plumbing.Hash]*repo.Commit{}
	for _, c := range commits {
		h.commits[c.Hash] = c
	}
	return nil
}

// line returns tip and its first parents, the newest first, as far as they
// are this side's.
func (h *history) line(tip plumbing.Hash) []*repo.Commit {
	if line, ok := h.lines[tip]; ok {
		return line
	}
	var line []*repo.Commit
	for c := h.commits[tip]; c != nil; {
		line = append(line, c)
		if len(c.Parents) == 0 {
			break
		}
		c = h.commits[c.Parents[0]]
	}
	h.lines[tip] = line
	return line
}

// changed looks, by bisection, for the commit on the line of tip that made the
// file at path what it is at tip. Where that is a merge it goes on along the
// parent that the file came from.
func (h *history) changed(path string, tip plumbing.Hash) (time.Time, error) {
	line := h.line(tip)
	if len(line) == 0 {
		return time.Time{}, nil
	}
	final, err := h.at(line[0].Tree, path)
	if err != nil {
		return time.Time{}, err
	}
	n := sort.Search(len(line), func(i int) bool {
		if i+1 == len(line) || err != nil {
			return true
		}
		var before plumbing.Hash
		before, err = h.at(line[i+1].Tree, path)
		return before != final
	})
	if err != nil {
		return time.Time{}, err
	}
	return h.madeBy(line[n], path, final)
}

// madeBy returns when c, or the one of its parents that it has the file from,
// made the file at path.
func (h *history) madeBy(c *repo.Commit, path string, final plumbing.Hash) (time.Time, error) {
	for i, p := range c.Parents {
		parent := h.commits[p]
		if parent == nil { // another side's: nothing changed on the way from there
			if same, err := h.sameAs(p, path, final); same || err != nil {
				return time.Time{}, err
			}
			continue
		}
		if i == 0 {
			continue
		}
		before, err := h.at(parent.Tree, path)
		if err != nil {
			return time.Time{}, err
		}
		if before == final {
			return h.changed(path, p)
		}
	}
	return c.Committer.When, nil
}

func (h *history) sameAs(commit plumbing.Hash, path string, final plumbing.Hash) (bool, error) {
	c, err := repo.ReadCommit(&h.recent, commit)
	if err != nil {
		return false, err
	}
	before, err := h.at(c.Tree, path)
	return before == final, err
}

// at returns the blob at path; the zero hash when there is none.
func (h *history) at(tree plumbing.Hash, path string) (plumbing.Hash, error) {
	e, err := repo.LookupFile(&h.recent, tree, path)
	if errors.Is(err, repo.ErrPathNotFound) {
		return plumbing.ZeroHash, nil
	}
	return e.Hash, err
}

// recentBytes bounds what a recent store holds.
const recentBytes = 8 << 20

// recent is a store that remembers the objects that it read last: neighbouring
// commits share most of their trees.
type recent struct {
	repo.Store
	objects map[plumbing.Hash]object
	order   []plumbing.Hash
	size    int
}

type object struct {
	typ     plumbing.ObjectType
	content []byte
}

// ReadObject implements [repo.RawStore].
func (r *recent) ReadObject(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if o, ok := r.objects[h]; ok {
		return o.typ, o.content, nil
	}
	typ, content, err := repo.ReadObject(r.Store, h)
	if err != nil || len(content) > recentBytes/8 {
		return typ, content, err
	}
	if r.objects == nil {
		r.objects = map[plumbing.Hash]object{}
	}
	r.objects[h] = object{typ, content}
	r.order = append(r.order, h)
	for r.size += len(content); r.size > recentBytes; {
		r.size -= len(r.objects[r.order[0]].content)
		delete(r.objects, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
	return typ, content, nil
}

// WriteObject implements [repo.RawStore].
func (r *recent) WriteObject(t plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	return repo.WriteObject(r.Store, t, content)
}
