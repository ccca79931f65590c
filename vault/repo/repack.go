package repo

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxChain is how many deltas may lie between an object and a whole one, as in git.
const maxChain = 50

// repacker writes one pack. An object is written when it is first met on the way
// from the newest commits to the oldest, and what the same path held before is
// then a delta against it. Bases are thus always written first, and no chain of
// them can be a circle, whatever reverts brought back.
type repacker struct {
	ctx   context.Context
	g     *GitDir
	packs []*pack
	loose map[plumbing.Hash]bool // loose objects, to be removed
	todo  map[plumbing.Hash]bool // everything that goes into the pack
	order []plumbing.Hash        // loose objects, as listed
	heads []*Commit              // loose commits, newest first

	p     *packFile
	depth map[plumbing.Hash]int
	copy  *packCopier
	seen  map[[2]plumbing.Hash]bool // pairs of trees that were compared
	cache treeCache
}

func newRepacker(ctx context.Context, g *GitDir, loose []plumbing.Hash, packs []*pack) *repacker {
	r := &repacker{
		ctx: ctx, g: g, packs: packs, order: loose,
		loose: make(map[plumbing.Hash]bool, len(loose)),
		todo:  make(map[plumbing.Hash]bool, len(loose)),
		depth: make(map[plumbing.Hash]int, len(loose)),
		seen:  map[[2]plumbing.Hash]bool{},
	}
	r.cache.read = r.read
	return r
}

// read prefers the loose file: it is about to be removed, and so is read again for
// what it is.
func (r *repacker) read(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if !r.loose[h] {
		return r.g.db.read(h)
	}
	t, b, err := r.g.db.readLoose(h)
	if err == nil && ObjectHash(t, b) != h {
		err = fmt.Errorf("%w: content is not that of %s", errLoose, h)
	}
	if err != nil {
		return t, nil, &brokenLooseError{hash: h, err: err}
	}
	return t, b, nil
}

// brokenLooseError: a loose object cannot be packed, and must stay where it is.
type brokenLooseError struct {
	hash plumbing.Hash
	err  error
}

func (e *brokenLooseError) Error() string { return e.err.Error() }
func (e *brokenLooseError) Unwrap() error { return e.err }

// gather decides what goes into the pack, and finds the loose commits.
func (r *repacker) gather(broken map[plumbing.Hash]bool) error {
	for _, h := range r.order {
		if broken[h] {
			continue
		}
		p, _, err := r.g.db.findPacked(h)
		if err != nil {
			return err
		}
		r.loose[h] = true // and is removed at the end
		if p == nil || slices.Contains(r.packs, p) || filepath.Dir(p.path) != filepath.Join(r.g.objects, "pack") {
			r.todo[h] = true
		}
	}
	for _, p := range r.packs {
		entries, err := p.idx.all()
		if err != nil {
			return err
		}
		for _, e := range entries {
			r.todo[e.hash] = true
		}
	}
	return r.findCommits()
}

// findCommits walks from the refs down, as far as commits are loose. Commits that
// no ref leads to are packed without deltas for their trees.
func (r *repacker) findCommits() error {
	refs, err := r.g.Refs("")
	if err != nil {
		return err
	}
	_, head, err := r.g.Head()
	if err != nil {
		return err
	}
	todo := append(slices.Collect(maps.Values(refs)), head)
	seen := map[plumbing.Hash]bool{}
	for len(todo) > 0 {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[h] || !r.todo[h] || !r.loose[h] {
			continue
		}
		seen[h] = true
		t, b, err := r.read(h)
		if err != nil {
			return err
		}
		if t != plumbing.CommitObject {
			continue
		}
		c, err := parseCommit(b)
		if err != nil {
			return fmt.Errorf("commit %s: %w", h, err)
		}
		c.Hash = h
		r.heads = append(r.heads, c)
		todo = append(todo, c.Parents...)
	}
	slices.SortFunc(r.heads, func(a, b *Commit) int { return b.Committer.When.Compare(a.Committer.When) })
	r.heads = childrenFirst(r.heads)
	return nil
}

func (r *repacker) write(p *packFile) error {
	r.p = p
	r.copy = newPackCopier(p.packEncoder, func(h plumbing.Hash) bool { return r.todo[h] })
	if err := p.header(len(r.todo)); err != nil {
		return err
	}
	for _, q := range r.packs {
		if err := r.copyPack(q); err != nil {
			return err
		}
	}
	for _, c := range r.heads { // together, as a log reads them
		if err := r.whole(c.Hash, plumbing.CommitObject, nil); err != nil {
			return err
		}
	}
	for _, c := range r.heads {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.commit(c); err != nil {
			return err
		}
	}
	for _, h := range r.order { // what no commit names
		if err := r.whole(h, 0, nil); err != nil {
			return err
		}
	}
	if n := len(p.entries); n != len(r.todo) {
		return fmt.Errorf("wrote %d objects of %d", n, len(r.todo))
	}
	return nil
}

// copyPack copies a pack, entry by entry.
func (r *repacker) copyPack(q *pack) error {
	entries, err := r.copy.entriesOf(q)
	if err != nil {
		return err
	}
	offsets := make([]int64, 0, len(entries))
	for off := range entries {
		offsets = append(offsets, off)
	}
	slices.Sort(offsets)
	for _, off := range offsets {
		if _, ok := r.copy.done[entries[off].hash]; ok {
			continue
		}
		ok, err := r.copy.copy(q, off)
		if err != nil {
			return err
		}
		if !ok { // a thin pack: its base is elsewhere
			t, b, err := q.read(off, r.g.db.read)
			if err != nil {
				return err
			}
			if err := r.put(entries[off].hash, t, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// commit writes what a commit's tree holds, and its parents' versions as deltas.
func (r *repacker) commit(c *Commit) error {
	if len(c.Parents) == 0 {
		return r.pair(plumbing.ZeroHash, c.Tree)
	}
	for _, p := range c.Parents {
		old, err := treeOf(r.g, p)
		if err != nil {
			return err
		}
		if err := r.pair(old, c.Tree); err != nil {
			return err
		}
	}
	return nil
}

// pair writes tree new, if it is still to be written, and old as a delta against
// it, and goes on to the entries that differ.
func (r *repacker) pair(old, new plumbing.Hash) error {
	key := [2]plumbing.Hash{old, new}
	if old == new || new.IsZero() || r.seen[key] || !r.todo[new] && !r.todo[old] {
		return nil
	}
	r.seen[key] = true
	_, to, err := r.cache.get(new)
	if err != nil {
		return err
	}
	var from []byte
	if !old.IsZero() {
		if _, from, err = r.cache.get(old); err != nil {
			return err
		}
	}
	if err := r.whole(new, plumbing.TreeObject, to); err != nil {
		return err
	}
	if err := r.delta(old, plumbing.TreeObject, from, new, to); err != nil {
		return err
	}
	return r.entries(from, to)
}

// entries pairs the entries of two trees by name.
func (r *repacker) entries(from, to []byte) error {
	from, to = trimCommonPrefix(from, to)
	var err error
	for len(to) > 0 {
		var n, o rawEntry
		if n, to, err = nextEntry(to); err != nil {
			return err
		}
		for len(from) > 0 {
			e, rest, err := nextEntry(from)
			if err != nil {
				return err
			}
			c := compareNames(e.name, e.isDir(), n.name, n.isDir())
			if c > 0 {
				break
			}
			from = rest
			if c == 0 {
				o = e
				break
			}
		}
		if bytes.Equal(o.sum, n.sum) || n.mode == modeGitlink {
			continue
		}
		if err := r.entry(o, n); err != nil {
			return err
		}
	}
	return nil
}

func (r *repacker) entry(o, n rawEntry) error {
	var old plumbing.Hash
	copy(old[:], o.sum)
	if n.isDir() {
		return r.pair(old, n.hash())
	}
	if o.name == nil || o.mode == modeGitlink || !r.todo[old] || r.written(old) {
		return r.whole(n.hash(), plumbing.BlobObject, nil)
	}
	t, to, err := r.read(n.hash())
	if err != nil {
		return err
	}
	if err := r.whole(n.hash(), t, to); err != nil {
		return err
	}
	_, from, err := r.read(old)
	if err != nil {
		return err
	}
	return r.delta(old, t, from, n.hash(), to)
}

func (r *repacker) written(h plumbing.Hash) bool {
	_, ok := r.copy.done[h]
	return ok
}

// whole writes h as it is, unless it is written or does not belong here. Without
// content it is read.
func (r *repacker) whole(h plumbing.Hash, t plumbing.ObjectType, content []byte) error {
	if !r.todo[h] || r.written(h) {
		return nil
	}
	if content == nil {
		var err error
		if t, content, err = r.read(h); err != nil {
			return err
		}
	}
	return r.put(h, t, content)
}

func (r *repacker) put(h plumbing.Hash, t plumbing.ObjectType, content []byte) error {
	r.copy.done[h] = r.p.offset
	return r.p.object(h, t, content)
}

// delta writes h as a delta against base, or whole where that is not worth it.
func (r *repacker) delta(h plumbing.Hash, t plumbing.ObjectType, content []byte, base plumbing.Hash, baseContent []byte) error {
	if h.IsZero() || !r.todo[h] || r.written(h) {
		return nil
	}
	offset, ok := r.copy.done[base]
	if !ok || r.depth[base] >= maxChain {
		return r.whole(h, t, content)
	}
	d := makeDelta(baseContent, content)
	if len(d) > len(content)/2 {
		return r.whole(h, t, content)
	}
	r.depth[h] = r.depth[base] + 1
	r.copy.done[h] = r.p.offset
	return r.p.packEncoder.delta(h, offset, d)
}

// treeCache keeps the trees that were read last: each is read as the newer one of
// a pair and then as the older.
type treeCache struct {
	read func(plumbing.Hash) (plumbing.ObjectType, []byte, error)
	m    map[plumbing.Hash][]byte
	size int
}

func (c *treeCache) get(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if b, ok := c.m[h]; ok {
		return plumbing.TreeObject, b, nil
	}
	t, b, err := c.read(h)
	if err == nil && t != plumbing.TreeObject {
		err = fmt.Errorf("object %s is a %s, not a tree", h, t)
	}
	if err != nil {
		return t, nil, err
	}
	if c.size += len(b); c.m == nil || c.size > deltaCacheSize {
		c.m, c.size = map[plumbing.Hash][]byte{}, len(b)
	}
	c.m[h] = b
	return t, b, nil
}
