package repo

import (
	"container/heap"
	"iter"

	"github.com/go-git/go-git/v5/plumbing"
)

// Log yields every commit reachable from tips, newest committer date first, but
// never a parent before its child, whatever the clocks of the hosts said. It
// reads ahead only as far as that takes: on a stretch of history without merges,
// by one commit. An error ends the sequence.
func Log(s Store, tips ...plumbing.Hash) iter.Seq2[*Commit, error] {
	return func(yield func(*Commit, error) bool) {
		l := logWalk{s: s, known: map[plumbing.Hash]bool{}}
		for _, h := range tips {
			if err := l.discover(h); err != nil {
				yield(nil, err)
				return
			}
		}
		for len(l.frontier) > 0 {
			region, err := l.nextRegion()
			if err != nil {
				yield(nil, err)
				return
			}
			if !emitRegion(region, yield) {
				return
			}
		}
	}
}

// logWalk reads history in regions: sets of commits such that everything not yet
// read is an ancestor of each region's single successor.
type logWalk struct {
	s        Store
	frontier commitHeap             // read, but parents not yet
	known    map[plumbing.Hash]bool // was in the frontier
}

func (l *logWalk) discover(h plumbing.Hash) error {
	if h.IsZero() || l.known[h] {
		return nil
	}
	c, err := ReadCommit(l.s, h)
	if err != nil {
		return err
	}
	l.known[h] = true
	heap.Push(&l.frontier, c)
	return nil
}

// nextRegion reads on until one commit is left in the frontier. Every unread
// commit is then that one's ancestor. A commit of the region can only be its
// ancestor too when all of that commit's own ancestors are in the region, down to
// a root; so a region with a root in it goes on to the end of history.
func (l *logWalk) nextRegion() ([]*Commit, error) {
	var region []*Commit
	root := false
	for len(l.frontier) > 0 {
		c := heap.Pop(&l.frontier).(*Commit)
		region = append(region, c)
		root = root || len(c.Parents) == 0
		for _, p := range c.Parents {
			if err := l.discover(p); err != nil {
				return nil, err
			}
		}
		if len(l.frontier) == 1 && !root {
			break
		}
	}
	return region, nil
}

// emitRegion yields the commits of a region, children before parents.
func emitRegion(region []*Commit, yield func(*Commit, error) bool) bool {
	if len(region) == 1 {
		return yield(region[0], nil)
	}
	in := make(map[plumbing.Hash]*Commit, len(region))
	children := make(map[plumbing.Hash]int, len(region))
	for _, c := range region {
		in[c.Hash] = c
		for _, p := range c.Parents {
			children[p]++
		}
	}
	var ready commitHeap
	for _, c := range region {
		if children[c.Hash] == 0 {
			heap.Push(&ready, c)
		}
	}
	for len(ready) > 0 {
		c := heap.Pop(&ready).(*Commit)
		if !yield(c, nil) {
			return false
		}
		for _, p := range c.Parents {
			if children[p]--; children[p] == 0 && in[p] != nil {
				heap.Push(&ready, in[p])
			}
		}
	}
	return true
}

// commitHeap is a container/heap with the newest commit on top, and the lower
// hash of two commits of one second.
type commitHeap []*Commit

func (h commitHeap) Len() int { return len(h) }
func (h commitHeap) Less(i, j int) bool {
	if c := h[i].Committer.When.Compare(h[j].Committer.When); c != 0 {
		return c > 0
	}
	return compareHashes(h[i].Hash, h[j].Hash) < 0
}
func (h commitHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *commitHeap) Push(x any)   { *h = append(*h, x.(*Commit)) }
func (h *commitHeap) Pop() any {
	old := *h
	c := old[len(old)-1]
	*h = old[:len(old)-1]
	return c
}
