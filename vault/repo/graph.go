package repo

import (
	"container/heap"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// Colours of [painter].
const (
	left  = 1 << iota // reachable from the left tips
	right             // reachable from the right tips
	stale             // below a common ancestor: of no more interest
)

// painter walks down from two sets of tips, newest first, and notes which of
// them each commit is reachable from.
type painter struct {
	s       Store
	queue   commitHeap
	colour  map[plumbing.Hash]uint8
	commits map[plumbing.Hash]*Commit
	queued  map[plumbing.Hash]bool
	waiting map[uint8]int // commits in the queue, by colour
}

func newPainter(s Store) *painter {
	return &painter{
		s: s, colour: map[plumbing.Hash]uint8{}, commits: map[plumbing.Hash]*Commit{},
		queued: map[plumbing.Hash]bool{}, waiting: map[uint8]int{},
	}
}

// paint adds colours to h, and queues it when they are news.
func (p *painter) paint(h plumbing.Hash, add uint8) error {
	old := p.colour[h]
	if h.IsZero() || old|add == old {
		return nil
	}
	c := p.commits[h]
	if c == nil {
		var err error
		if c, err = ReadCommit(p.s, h); err != nil {
			return err
		}
		p.commits[h] = c
	}
	p.colour[h] = old | add
	if p.queued[h] {
		p.waiting[old]--
	} else {
		heap.Push(&p.queue, c)
		p.queued[h] = true
	}
	p.waiting[old|add]++
	return nil
}

func (p *painter) pop() (*Commit, uint8) {
	c := heap.Pop(&p.queue).(*Commit)
	col := p.colour[c.Hash]
	p.waiting[col]--
	p.queued[c.Hash] = false
	return c, col
}

// MergeBases returns the best common ancestors of two commits, sorted by id;
// none when the histories are unrelated.
func MergeBases(s Store, a, b plumbing.Hash) ([]plumbing.Hash, error) {
	if a == b {
		return []plumbing.Hash{a}, nil
	}
	p := newPainter(s)
	if err := p.paint(a, left); err != nil {
		return nil, err
	}
	if err := p.paint(b, right); err != nil {
		return nil, err
	}
	var found []plumbing.Hash
	for p.waiting[left]+p.waiting[right]+p.waiting[left|right] > 0 {
		c, col := p.pop()
		if col == left|right {
			found = append(found, c.Hash)
			col |= stale
		}
		for _, parent := range c.Parents {
			if err := p.paint(parent, col); err != nil {
				return nil, err
			}
		}
	}
	found = slices.DeleteFunc(found, func(h plumbing.Hash) bool { return p.colour[h]&stale != 0 })
	return independent(s, found)
}

// independent drops commits that are ancestors of others, and sorts by id.
func independent(s Store, hs []plumbing.Hash) ([]plumbing.Hash, error) {
	slices.SortFunc(hs, compareHashes)
	hs = slices.Compact(hs)
	if len(hs) < 2 {
		return hs, nil
	}
	var best []plumbing.Hash
	for i, h := range hs {
		below := false
		for j, other := range hs {
			if i == j || below {
				continue
			}
			var err error
			if below, err = IsAncestor(s, h, other); err != nil {
				return nil, err
			}
		}
		if !below {
			best = append(best, h)
		}
	}
	return best, nil
}

// IsAncestor reports whether old is new or reachable from it.
func IsAncestor(s Store, old, new plumbing.Hash) (bool, error) {
	if old == new {
		return true, nil
	}
	p := newPainter(s)
	if err := p.paint(old, left); err != nil {
		return false, err
	}
	if err := p.paint(new, right); err != nil {
		return false, err
	}
	for p.waiting[left]+p.waiting[right] > 0 && p.colour[old]&right == 0 {
		c, col := p.pop()
		for _, parent := range c.Parents {
			if err := p.paint(parent, col); err != nil {
				return false, err
			}
		}
	}
	return p.colour[old]&right != 0, nil
}

// slop is how many more commits [Between] looks at after it seems done: with
// skewed clocks, one of them may turn out to be a descendant of a commit already
// counted.
const slop = 64

// Count returns how many commits are reachable from to and not from from. A zero
// from is no history at all.
func Count(s Store, from, to plumbing.Hash) (int, error) {
	cs, err := Between(s, []plumbing.Hash{from}, []plumbing.Hash{to})
	return len(cs), err
}

// Between returns the commits that are reachable from tos and not from froms,
// children before parents. Badly skewed clocks can make it return some that are
// reachable from both.
func Between(s Store, froms, tos []plumbing.Hash) ([]*Commit, error) {
	p := newPainter(s)
	for _, h := range froms {
		if err := p.paint(h, left); err != nil {
			return nil, err
		}
	}
	for _, h := range tos {
		if err := p.paint(h, right); err != nil {
			return nil, err
		}
	}
	var found []*Commit
	for extra := slop; len(p.queue) > 0 && extra > 0; {
		if p.waiting[right] == 0 {
			extra--
		} else {
			extra = slop
		}
		c, col := p.pop()
		if col == right {
			found = append(found, c)
		}
		for _, parent := range c.Parents {
			if err := p.paint(parent, col); err != nil {
				return nil, err
			}
		}
	}
	found = slices.DeleteFunc(found, func(c *Commit) bool { return p.colour[c.Hash] != right })
	return childrenFirst(found), nil
}

func childrenFirst(cs []*Commit) []*Commit {
	out := make([]*Commit, 0, len(cs))
	emitRegion(cs, func(c *Commit, _ error) bool {
		out = append(out, c)
		return true
	})
	return out
}
