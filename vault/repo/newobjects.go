package repo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// NewObjects lists what a peer that has everything reachable from haves lacks of
// wants: commits, trees, blobs and annotated tags, each commit after its parents.
// haves that s does not hold are ignored. It may list a few objects that the peer
// has, never fewer than it lacks.
//
// Parents come first because each tree is compared with the trees of its
// commit's parents, and what equals them is left out; that is right only when the
// peer has, or was sent, the parents. (Children first, with a set of seen trees,
// leaves out a blob that a revert brought back.)
func NewObjects(s Store, wants, haves []plumbing.Hash) ([]plumbing.Hash, error) {
	w := objectWalk{s: s, seen: map[plumbing.Hash]bool{}}
	tips, err := w.peel(wants)
	if err != nil {
		return nil, err
	}
	known, err := peelKnown(s, haves)
	if err != nil {
		return nil, err
	}
	commits, err := Between(s, known, tips)
	if err != nil {
		return nil, err
	}
	trees := make(map[plumbing.Hash]plumbing.Hash, len(commits))
	for _, c := range slices.Backward(commits) {
		w.add(c.Hash)
		trees[c.Hash] = c.Tree
		var bases []plumbing.Hash
		for _, p := range c.Parents {
			t, ok := trees[p]
			if !ok {
				if t, err = treeOf(s, p); err != nil {
					return nil, err
				}
			}
			bases = append(bases, t)
		}
		if err := w.tree(c.Tree, bases); err != nil {
			return nil, err
		}
	}
	return append(w.list, w.tags...), nil
}

type objectWalk struct {
	s    Store
	seen map[plumbing.Hash]bool
	list []plumbing.Hash
	tags []plumbing.Hash
}

func (w *objectWalk) add(h plumbing.Hash) bool {
	if w.seen[h] {
		return false
	}
	w.seen[h] = true
	w.list = append(w.list, h)
	return true
}

// tree lists tree h and what is below it and not at the same place in one of the
// bases, trees that the peer has whole.
func (w *objectWalk) tree(h plumbing.Hash, bases []plumbing.Hash) error {
	if slices.Contains(bases, h) || !w.add(h) {
		return nil
	}
	entries, err := ReadTree(w.s, h)
	if err != nil {
		return err
	}
	theirs := make(map[string][]TreeEntry)
	for _, b := range bases {
		base, err := ReadTree(w.s, b)
		if err != nil {
			return err
		}
		for _, e := range base {
			theirs[e.Name] = append(theirs[e.Name], e)
		}
	}
	for _, e := range entries {
		var subs []plumbing.Hash
		same := false
		for _, t := range theirs[e.Name] {
			same = same || t.Hash == e.Hash
			if t.IsDir() {
				subs = append(subs, t.Hash)
			}
		}
		switch {
		case same, e.Mode == filemode.Submodule:
		case e.IsDir():
			if err := w.tree(e.Hash, subs); err != nil {
				return err
			}
		default:
			w.add(e.Hash)
		}
	}
	return nil
}

// peel follows annotated tags to commits and notes the tags.
func (w *objectWalk) peel(hs []plumbing.Hash) ([]plumbing.Hash, error) {
	var commits []plumbing.Hash
	for _, h := range hs {
		chain, err := peelTag(w.s, h)
		if err != nil {
			return nil, err
		}
		w.tags = append(w.tags, chain[:len(chain)-1]...)
		commits = append(commits, chain[len(chain)-1])
	}
	return commits, nil
}

// peelKnown is the commits behind those of hs that s holds.
func peelKnown(s Store, hs []plumbing.Hash) ([]plumbing.Hash, error) {
	var commits []plumbing.Hash
	for _, h := range hs {
		chain, err := peelTag(s, h)
		switch {
		case errors.Is(err, ErrObjectNotFound):
		case err != nil:
			return nil, err
		default:
			commits = append(commits, chain[len(chain)-1])
		}
	}
	return commits, nil
}

// peelTag returns h, and what it points at while it is an annotated tag, down to
// the commit.
func peelTag(s Store, h plumbing.Hash) ([]plumbing.Hash, error) {
	chain := []plumbing.Hash{h}
	for range 10 {
		t, b, err := ReadObject(s, h)
		if err != nil {
			return nil, err
		}
		switch t {
		case plumbing.CommitObject:
			return chain, nil
		case plumbing.TagObject:
			if len(b) < 47 || !plumbing.IsHash(string(b[7:47])) {
				return nil, fmt.Errorf("tag %s is malformed", h)
			}
			h = plumbing.NewHash(string(b[7:47]))
			chain = append(chain, h)
		default:
			return nil, fmt.Errorf("object %s is a %s, not a commit", h, t)
		}
	}
	return nil, fmt.Errorf("tag %s is nested too deep", chain[0])
}
