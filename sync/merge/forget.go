package merge

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// forgottenDir is where tombstones live.
const forgottenDir = "forgotten"

// mergeTombstones keeps the later of two tombstones of one memory.
func mergeTombstones(a, b []byte) FileResult {
	x, errX := vault.ParseTombstone(a)
	y, errY := vault.ParseTombstone(b)
	aWins := bytes.Compare(a, b) > 0
	if (errX == nil) != (errY == nil) {
		aWins = errX == nil
	} else if c := x.When.Compare(y.When); c != 0 {
		aWins = c > 0
	}
	if aWins {
		return FileResult{Data: a}
	}
	return FileResult{Data: b, Winner: 1}
}

// editAgainstForget looks whether deleter forgot the file that o keeps because
// the other side edited it. If so the tombstone goes, and a note in conflicts/
// says that it was there.
func (e *engine) editAgainstForget(o *outcome, base entry, deleter *lane) error {
	t, path, err := e.tombstoneOf(base, deleter)
	if err != nil || path == "" || e.dropped[path] {
		return err
	}
	e.dropped[path] = true
	id, _, err := e.ids(base)
	if err != nil {
		return err
	}
	note := flag(t, cmp.Or(id, o.path))
	e.notes = append(e.notes, note)
	e.flagged = append(e.flagged, flagged{o, vault.ID(id), note.Path})
	return nil
}

// tombstoneOf returns the tombstone that deleter put up for a file of base; an
// empty path when it only deleted the file.
func (e *engine) tombstoneOf(base entry, deleter *lane) (vault.Tombstone, string, error) {
	id, _, err := e.ids(base)
	if err != nil {
		return vault.Tombstone{}, "", err
	}
	if id != "" {
		path := vault.TombstonePath(vault.ID(id))
		found, err := repo.Lookup(e.Store, deleter.tree, path)
		if errors.Is(err, repo.ErrPathNotFound) {
			return vault.Tombstone{}, "", nil
		}
		if err != nil {
			return vault.Tombstone{}, "", err
		}
		t, _, err := e.tombstone(entry{path, found.Hash, found.Mode})
		t.ID = vault.ID(id)
		return t, path, err
	}
	for _, path := range slices.Sorted(maps.Keys(deleter.changed)) {
		now := e.on(deleter, path)
		if !vault.IsTombstone(path) || !now.there() {
			continue
		}
		if t, ok, err := e.tombstone(now); err != nil || ok && t.Path == base.path {
			return t, path, err
		}
	}
	return vault.Tombstone{}, "", nil
}

// tombstone reads a tombstone; ok is false when it cannot be understood.
func (e *engine) tombstone(at entry) (t vault.Tombstone, ok bool, err error) {
	raw, err := e.data(at)
	if err != nil {
		return t, false, err
	}
	t, bad := vault.ParseTombstone(raw)
	return t, bad == nil, nil
}

// graves are the tombstones of the merged tree that only one side had before:
// what lives beside a tombstone on one side was put there knowingly.
type graves struct {
	byPath   map[string]entry
	of       map[string]sides // by path
	byDigest map[vault.Digest][]string
}

// findGraves lists the tombstones that one side had and nothing removed.
func (e *engine) findGraves() (graves, error) {
	g := graves{byPath: map[string]entry{}, of: map[string]sides{}, byDigest: map[vault.Digest][]string{}}
	for _, l := range []*lane{e.a, e.b} {
		if err := e.addGraves(g, l); err != nil {
			return g, err
		}
	}
	maps.DeleteFunc(g.byPath, func(path string, _ entry) bool { return g.of[path] == bothSides || e.dropped[path] })
	for _, path := range slices.Sorted(maps.Keys(g.byPath)) {
		t, ok, err := e.tombstone(g.byPath[path])
		if err != nil {
			return g, err
		}
		if ok && !t.Digest.IsZero() {
			g.byDigest[t.Digest] = append(g.byDigest[t.Digest], path)
		}
	}
	return g, nil
}

// addGraves adds the tombstones of one side, but for those of base that the
// other side has removed.
func (e *engine) addGraves(g graves, l *lane) error {
	dir, err := repo.Lookup(e.Store, l.tree, forgottenDir)
	if errors.Is(err, repo.ErrPathNotFound) || err == nil && !dir.IsDir() {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := repo.ReadTree(e.Store, dir.Hash)
	if err != nil {
		return err
	}
	from := sideA
	if l == e.b {
		from = sideB
	}
	for _, t := range entries {
		path := forgottenDir + "/" + t.Name
		if !vault.IsTombstone(path) || t.Mode == filemode.Dir {
			continue
		}
		g.of[path] |= from
		if _, changed := l.changed[path]; changed {
			g.byPath[path] = entry{path, t.Hash, t.Mode}
		}
	}
	return nil
}

// sweep takes out what is new on a side and was forgotten on the other, by id
// or by digest: an older clone brought it back. What is newer than the tombstone
// is a new decision, and takes the tombstone away.
func (e *engine) sweep() error {
	fresh := e.freshMemories()
	if len(fresh) == 0 || e.undo {
		return nil
	}
	g, err := e.findGraves()
	if err != nil || len(g.byPath) == 0 {
		return err
	}
	for _, o := range fresh {
		if err := e.sweepOne(o, g); err != nil {
			return err
		}
	}
	return nil
}

// editedCopy keeps a copy of a memory that somebody forgot, if it says
// something that base did not: that is an edit against a forget too.
func (e *engine) editedCopy(o *outcome, id string) (bool, error) {
	for _, u := range e.units {
		if id == "" || !u.base.there() {
			continue
		}
		was, _, err := e.ids(u.base)
		if err != nil {
			return false, err
		}
		if was != id {
			continue
		}
		edited, err := e.edited(u.base, o.entry)
		if err != nil || !edited {
			return false, err
		}
		for _, l := range []*lane{e.a, e.b} {
			if err := e.editAgainstForget(o, u.base, l); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	return false, nil
}

func (e *engine) freshMemories() []*outcome {
	var fresh []*outcome
	for _, o := range e.outcomes {
		if o.fresh && !o.gone && o.isMemory() {
			fresh = append(fresh, o)
		}
	}
	return fresh
}

func (e *engine) sweepOne(o *outcome, g graves) error {
	doc, err := e.document(o)
	if err != nil {
		return err
	}
	m := doc.Memory()
	paths, forgotten, err := e.gravesOf(o, m, g)
	if err != nil || len(paths) == 0 {
		return err
	}
	if saved, err := e.editedCopy(o, string(m.ID)); saved || err != nil {
		return err
	}
	if m.Created.After(forgotten) || m.Updated.After(forgotten) {
		for _, path := range paths {
			e.dropped[path] = true
		}
		e.result.Revived = append(e.result.Revived, o.path)
		return nil
	}
	o.gone, o.swept = true, true
	e.result.Swept = append(e.result.Swept, o.path)
	return nil
}

// gravesOf returns the tombstones that name o by id or digest and that its own
// side did not have, and when the last of them was put up.
func (e *engine) gravesOf(o *outcome, m vault.Memory, g graves) (paths []string, last time.Time, err error) {
	paths = slices.Clone(g.byDigest[vault.NewDigest(e.key, m.Title, m.Body)])
	if byID := vault.TombstonePath(m.ID); m.ID != "" && g.byPath[byID].there() {
		paths = append(paths, byID)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return g.of[path]&o.from != 0 })
	for _, path := range paths {
		t, _, err := e.tombstone(g.byPath[path])
		if err != nil {
			return nil, last, err
		}
		if t.When.After(last) {
			last = t.When
		}
	}
	return paths, last, nil
}
