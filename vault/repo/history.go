package repo

import (
	"errors"
	"iter"

	"github.com/go-git/go-git/v5/plumbing"
)

// History yields the commits reachable from tips that changed path (a file or a
// folder), in the order of [Log]. A merge counts when the path differs from
// what it is in every parent.
func History(s Store, path string, tips ...plumbing.Hash) iter.Seq2[*Commit, error] {
	return func(yield func(*Commit, error) bool) {
		at := pathWalk{s: s, path: path, trees: map[plumbing.Hash]plumbing.Hash{}, entries: map[plumbing.Hash]TreeEntry{}}
		for c, err := range Log(s, tips...) {
			changed := false
			if err == nil {
				changed, err = at.changedBy(c)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if changed && !yield(c, nil) {
				return
			}
		}
	}
}

// pathWalk remembers where a path pointed, by root tree, so that each tree is
// searched once.
type pathWalk struct {
	s       Store
	path    string
	trees   map[plumbing.Hash]plumbing.Hash // commit to root tree
	entries map[plumbing.Hash]TreeEntry     // root tree to entry
}

func (w *pathWalk) changedBy(c *Commit) (bool, error) {
	mine, err := w.entry(c.Tree)
	if err != nil {
		return false, err
	}
	if len(c.Parents) == 0 {
		return !mine.Hash.IsZero(), nil
	}
	for _, p := range c.Parents {
		tree, ok := w.trees[p]
		if !ok {
			if tree, err = treeOf(w.s, p); err != nil {
				return false, err
			}
			w.trees[p] = tree
		}
		theirs, err := w.entry(tree)
		if err != nil {
			return false, err
		}
		if theirs == mine {
			return false, nil
		}
	}
	return true, nil
}

func (w *pathWalk) entry(root plumbing.Hash) (TreeEntry, error) {
	if e, ok := w.entries[root]; ok {
		return e, nil
	}
	e, err := Lookup(w.s, root, w.path)
	if errors.Is(err, ErrPathNotFound) {
		e, err = TreeEntry{}, nil
	}
	if err == nil {
		w.entries[root] = e
	}
	return e, err
}
