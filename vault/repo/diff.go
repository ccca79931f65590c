package repo

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Change is one file that differs between two trees. A zero OldHash is an
// addition, a zero NewHash a removal.
type Change struct {
	Path             string
	OldHash, NewHash plumbing.Hash
	OldMode, NewMode filemode.FileMode
}

// Diff yields the files that differ between the trees a and b, sorted by path as
// git sorts them. Subtrees that are equal are not read. The zero hash is the
// empty tree. An error ends the sequence.
func Diff(s Store, a, b plumbing.Hash) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		d := differ{s: s, yield: yield}
		d.trees(a, b, "")
	}
}

// DiffCommits is [Diff] of the trees of two commits; the zero hash is the empty
// tree.
func DiffCommits(s Store, a, b plumbing.Hash) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		at, err := treeOf(s, a)
		if err != nil {
			yield(Change{}, err)
			return
		}
		bt, err := treeOf(s, b)
		if err != nil {
			yield(Change{}, err)
			return
		}
		d := differ{s: s, yield: yield}
		d.trees(at, bt, "")
	}
}

func treeOf(s Store, commit plumbing.Hash) (plumbing.Hash, error) {
	if commit.IsZero() {
		return commit, nil
	}
	c, err := ReadCommit(s, commit)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.Tree, nil
}

// differ walks two trees; its methods report whether the consumer wants more.
type differ struct {
	s     Store
	yield func(Change, error) bool
}

func (d differ) trees(a, b plumbing.Hash, prefix string) bool {
	if a == b {
		return true
	}
	ra, err := readRawTree(d.s, a)
	if err != nil {
		return d.fail(err)
	}
	rb, err := readRawTree(d.s, b)
	if err != nil {
		return d.fail(err)
	}
	ra, rb = trimCommonPrefix(ra, rb)
	for len(ra) > 0 || len(rb) > 0 {
		var ea, eb rawEntry
		na, nb := ra, rb
		if len(ra) > 0 {
			if ea, na, err = nextEntry(ra); err != nil {
				return d.fail(fmt.Errorf("tree %s: %w", a, err))
			}
		}
		if len(rb) > 0 {
			if eb, nb, err = nextEntry(rb); err != nil {
				return d.fail(fmt.Errorf("tree %s: %w", b, err))
			}
		}
		order := 0
		switch {
		case len(ra) == 0:
			order = 1
		case len(rb) == 0:
			order = -1
		default:
			order = compareNames(ea.name, ea.isDir(), eb.name, eb.isDir())
		}
		if order < 0 {
			eb = rawEntry{}
		} else {
			rb = nb
		}
		if order > 0 {
			ea = rawEntry{}
		} else {
			ra = na
		}
		if !d.entry(ea, eb, prefix) {
			return false
		}
	}
	return true
}

// entry compares two entries of one name; a nil name is no entry.
func (d differ) entry(a, b rawEntry, prefix string) bool {
	if a.mode == b.mode && bytes.Equal(a.sum, b.sum) {
		return true
	}
	name := a.name
	if name == nil {
		name = b.name
	}
	path := prefix + string(name)
	var ha, hb plumbing.Hash
	copy(ha[:], a.sum)
	copy(hb[:], b.sum)
	if a.isDir() || b.isDir() { // both are, or the other one is absent: the order sees to it
		return d.trees(ha, hb, path+"/")
	}
	return d.yield(Change{Path: path, OldHash: ha, NewHash: hb, OldMode: a.mode, NewMode: b.mode}, nil)
}

func (d differ) fail(err error) bool {
	d.yield(Change{}, err)
	return false
}

// trimCommonPrefix drops whole entries that are equal at the start of both
// trees, which is most of them where one file of a large folder changed.
func trimCommonPrefix(a, b []byte) ([]byte, []byte) {
	for len(a) > 0 && len(b) > 0 {
		_, rest, err := nextEntry(a)
		if err != nil {
			break
		}
		n := len(a) - len(rest)
		if len(b) < n || !bytes.Equal(a[:n], b[:n]) {
			break
		}
		a, b = a[n:], b[n:]
	}
	return a, b
}
