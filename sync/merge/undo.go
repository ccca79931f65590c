package merge

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// ErrMergeCommit: a merge cannot be undone as a whole.
var ErrMergeCommit = errors.New("is a merge")

// Revert is RevertAll of one commit.
func Revert(s repo.Store, head, commit plumbing.Hash) (Result, error) {
	return RevertAll(s, head, []plumbing.Hash{commit})
}

// RevertAll takes back what commits did, which are given newest first, on top
// of the tree of commit head, and returns the new tree. What was changed since
// stays; where that is in the way of the undo it is reported, as a conflict of
// KindKeptLaterEdit, and nothing is parked. What says which vault this is is
// never taken back, nor are the files deleted that git reads.
//
// Undoing a forget brings back the file and takes away the tombstone. A commit
// without parent added every file that it has. A merge is refused with
// ErrMergeCommit, wrapped.
func RevertAll(s repo.Store, head plumbing.Hash, commits []plumbing.Hash) (Result, error) {
	tip, err := repo.ReadCommit(s, head)
	if err != nil {
		return Result{}, fmt.Errorf("undo: %w", err)
	}
	all := Result{Tree: tip.Tree}
	for _, h := range commits {
		r, err := revertOne(s, all.Tree, h)
		if err != nil {
			return Result{}, fmt.Errorf("undo %.10s: %w", h, err)
		}
		all.Tree = r.Tree
		all.Conflicts = append(all.Conflicts, r.Conflicts...)
		all.Merged = append(all.Merged, r.Merged...)
		all.Renamed = append(all.Renamed, r.Renamed...)
	}
	all.sort()
	return all, nil
}

// revertOne undoes one commit on a tree: a merge of the tree with the commit's
// parent, both made of the commit.
func revertOne(s repo.Store, tree, commit plumbing.Hash) (Result, error) {
	c, err := repo.ReadCommit(s, commit)
	if err != nil {
		return Result{}, err
	}
	var before plumbing.Hash
	switch len(c.Parents) {
	case 0:
	case 1:
		parent, err := repo.ReadCommit(s, c.Parents[0])
		if err != nil {
			return Result{}, err
		}
		before = parent.Tree
	default:
		return Result{}, fmt.Errorf("commit %.10s %w: undo the commits that it brought, one by one", commit, ErrMergeCommit)
	}
	e := newEngine(s, c.Tree, tree, before)
	e.undo = true
	return e.run()
}

// decideUndo is decide for an undo: a is the tree as it is, b as it was before
// the commit, base as the commit left it.
func (e *engine) decideUndo(u *unit) (*outcome, error) {
	now := &outcome{entry: u.a, from: sideA}
	switch {
	case u.a == u.b, u.b == u.base, isOurs(u):
		return now, nil
	case u.a == u.base:
		return &outcome{entry: u.b, from: sideB}, nil
	case !u.a.there():
		// The commit changed the file, and it was deleted since.
		e.kept(u.base.path, u.base)
		return nil, nil
	case !u.b.there():
		return e.undoAdd(u, now)
	case !u.base.there():
		// The commit deleted the file, and it is there again.
		e.kept(u.a.path, u.a)
		return now, nil
	}
	return e.undoEdit(u)
}

// isOurs reports whether u is a file that no undo touches: what says which
// vault this is, and what git reads, where the undo would delete it.
func isOurs(u *unit) bool {
	path := u.a.path
	return path == vault.ConfigPath || strings.HasPrefix(path, ".git") && !u.b.there()
}

// undoAdd decides on a file that the commit added and that is not as it left
// it: moved, or counted, it goes; edited, it stays.
func (e *engine) undoAdd(u *unit, now *outcome) (*outcome, error) {
	edited, err := e.edited(u.base, u.a)
	if err != nil || !edited {
		return nil, err
	}
	e.kept(u.a.path, u.a)
	return now, nil
}

// undoEdit takes an edit back out of a file that was edited or moved since.
func (e *engine) undoEdit(u *unit) (*outcome, error) {
	o := &outcome{entry: u.a, from: bothSides}
	if u.a.path == u.base.path {
		o.path = u.b.path
	}
	if u.a.hash == u.base.hash {
		o.hash = u.b.hash
		return o, nil
	}
	if u.b.hash == u.base.hash || u.a.hash == u.b.hash {
		return o, nil
	}
	if !u.a.plainFile() || !u.b.plainFile() {
		e.kept(u.a.path, u.a)
		return o, nil
	}
	c, err := e.undoContest(u)
	if err != nil {
		return nil, err
	}
	r := c.merge()
	if len(r.Lost) > 0 {
		e.kept(o.path, u.a)
	}
	e.setContent(o, r.Data)
	e.result.Merged = append(e.result.Merged, o.path)
	return o, nil
}

// undoContest is the merge of u in which the present version always wins.
func (e *engine) undoContest(u *unit) (contest, error) {
	base, err := e.data(u.base)
	if err != nil {
		return contest{}, err
	}
	a, err := e.data(u.a)
	if err != nil {
		return contest{}, err
	}
	b, err := e.data(u.b)
	if err != nil {
		return contest{}, err
	}
	return newContest(base, Side{Data: a}, Side{Data: b}, u.a.isMemory() && u.b.isMemory()), nil
}

// kept reports that a later change stays.
func (e *engine) kept(path string, at entry) {
	id, _, _ := e.ids(at)
	e.result.Conflicts = append(e.result.Conflicts, ConflictReport{Path: path, ID: vault.ID(id), Kind: KindKeptLaterEdit})
}
