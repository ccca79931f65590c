package repo

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// cacheTree is a node of the TREE extension: the tree that git would write for a
// folder, as far as it knows.
type cacheTree struct {
	name    string
	entries int // -1: not known any more
	hash    plumbing.Hash
	subs    []*cacheTree
}

// invalidateTree returns the TREE extension with the folders of the changes
// unknown; nil, for none, when it cannot be read.
func invalidateTree(data []byte, changes []IndexChange) []byte {
	root, rest, ok := parseCacheTree(data, 0)
	if !ok || len(rest) > 0 {
		return nil
	}
	for _, c := range changes {
		root.invalidate(c.Path)
	}
	return root.append(make([]byte, 0, len(data)))
}

func (t *cacheTree) invalidate(path string) {
	t.entries = -1
	name, rest, ok := strings.Cut(path, "/")
	if !ok {
		return
	}
	for _, sub := range t.subs {
		if sub.name == name {
			sub.invalidate(rest)
		}
	}
}

func (t *cacheTree) append(b []byte) []byte {
	b = append(b, t.name...)
	b = append(b, 0)
	b = strconv.AppendInt(b, int64(t.entries), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(len(t.subs)), 10)
	b = append(b, '\n')
	if t.entries >= 0 {
		b = append(b, t.hash[:]...)
	}
	for _, sub := range t.subs {
		b = sub.append(b)
	}
	return b
}

func parseCacheTree(b []byte, depth int) (*cacheTree, []byte, bool) {
	nul, nl := bytes.IndexByte(b, 0), bytes.IndexByte(b, '\n')
	if nul < 0 || nl < nul || depth > 1000 {
		return nil, nil, false
	}
	count, subs, ok := strings.Cut(string(b[nul+1:nl]), " ")
	entries, err := strconv.Atoi(count)
	n, err2 := strconv.Atoi(subs)
	if !ok || err != nil || err2 != nil || n < 0 || n > len(b) {
		return nil, nil, false
	}
	t := &cacheTree{name: string(b[:nul]), entries: max(entries, -1)}
	b = b[nl+1:]
	if entries >= 0 {
		if len(b) < len(t.hash) {
			return nil, nil, false
		}
		t.hash = plumbing.Hash(b[:len(t.hash)])
		b = b[len(t.hash):]
	}
	t.subs = slices.Grow(t.subs, min(n, 64))
	for range n {
		sub, rest, ok := parseCacheTree(b, depth+1)
		if !ok {
			return nil, nil, false
		}
		t.subs, b = append(t.subs, sub), rest
	}
	return t, b, true
}
