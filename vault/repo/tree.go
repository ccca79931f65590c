package repo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// ErrPathNotFound: a tree has no entry at that path.
var ErrPathNotFound = errors.New("path not found in tree")

// TreeEntry is one name in a tree.
type TreeEntry struct {
	Name string
	Mode filemode.FileMode
	Hash plumbing.Hash
}

// IsDir reports whether e is a tree itself.
func (e TreeEntry) IsDir() bool { return e.Mode == filemode.Dir }

// File is one non-tree entry below a tree.
type File struct {
	Path string // slash-separated, from the root tree
	Mode filemode.FileMode
	Hash plumbing.Hash
}

// ReadTree returns the entries of tree h in git's order. The zero hash is the
// empty tree.
func ReadTree(s Store, h plumbing.Hash) ([]TreeEntry, error) {
	raw, err := readRawTree(s, h)
	if err != nil {
		return nil, err
	}
	entries := make([]TreeEntry, 0, len(raw)/48)
	for len(raw) > 0 {
		var e rawEntry
		if e, raw, err = nextEntry(raw); err != nil {
			return nil, fmt.Errorf("tree %s: %w", h, err)
		}
		entries = append(entries, TreeEntry{Name: string(e.name), Mode: e.mode, Hash: e.hash()})
	}
	return entries, nil
}

// Lookup returns the entry at path below root, or ErrPathNotFound. The path ""
// is root itself.
func Lookup(s Store, root plumbing.Hash, path string) (TreeEntry, error) {
	e := TreeEntry{Mode: filemode.Dir, Hash: root}
	if path == "" {
		return e, nil
	}
	for name := range strings.SplitSeq(path, "/") {
		if !e.IsDir() {
			return TreeEntry{}, fmt.Errorf("%s: %w", path, ErrPathNotFound)
		}
		raw, err := readRawTree(s, e.Hash)
		if err != nil {
			return TreeEntry{}, err
		}
		var ok bool
		if e, ok, err = findEntry(raw, name); err != nil {
			return TreeEntry{}, fmt.Errorf("tree of %s: %w", path, err)
		}
		if !ok {
			return TreeEntry{}, fmt.Errorf("%s: %w", path, ErrPathNotFound)
		}
	}
	return e, nil
}

// LookupFile is [Lookup] for files alone: a folder at path is ErrPathNotFound.
func LookupFile(s Store, root plumbing.Hash, path string) (TreeEntry, error) {
	e, err := Lookup(s, root, path)
	if err == nil && e.IsDir() {
		return TreeEntry{}, fmt.Errorf("%s is a folder: %w", path, ErrPathNotFound)
	}
	return e, err
}

// Files yields every file at or below prefix (a folder or file path; "" is all),
// sorted by path as git sorts them. A prefix that does not exist yields nothing.
// Submodules are yielded with their mode. An error ends the sequence.
func Files(s Store, root plumbing.Hash, prefix string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		e, err := Lookup(s, root, prefix)
		switch {
		case errors.Is(err, ErrPathNotFound):
		case err != nil:
			yield(File{}, err)
		case e.IsDir():
			yieldFiles(s, e.Hash, dirPrefix(prefix), yield)
		default:
			yield(File{Path: prefix, Mode: e.Mode, Hash: e.Hash}, nil)
		}
	}
}

// yieldFiles reports whether the consumer wants more.
func yieldFiles(s Store, h plumbing.Hash, prefix string, yield func(File, error) bool) bool {
	entries, err := ReadTree(s, h)
	if err != nil {
		yield(File{}, err)
		return false
	}
	for _, e := range entries {
		path := prefix + e.Name
		if e.IsDir() {
			if !yieldFiles(s, e.Hash, path+"/", yield) {
				return false
			}
		} else if !yield(File{Path: path, Mode: e.Mode, Hash: e.Hash}, nil) {
			return false
		}
	}
	return true
}

func dirPrefix(dir string) string {
	if dir == "" {
		return ""
	}
	return dir + "/"
}

func readRawTree(s Store, h plumbing.Hash) ([]byte, error) {
	if h.IsZero() {
		return nil, nil
	}
	return readTyped(s, plumbing.TreeObject, h)
}

// rawEntry is a tree entry that still lies in the tree's bytes.
type rawEntry struct {
	mode filemode.FileMode
	name []byte
	sum  []byte // 20 bytes
}

func (e rawEntry) hash() plumbing.Hash { return plumbing.Hash(e.sum) }
func (e rawEntry) isDir() bool         { return e.mode == filemode.Dir }

var errTree = errors.New("malformed tree")

// nextEntry cuts the first entry off raw.
func nextEntry(raw []byte) (rawEntry, []byte, error) {
	sp := bytes.IndexByte(raw[:min(len(raw), 8)], ' ')
	if sp <= 0 {
		return rawEntry{}, nil, errTree
	}
	mode, err := strconv.ParseUint(string(raw[:sp]), 8, 32)
	if err != nil {
		return rawEntry{}, nil, errTree
	}
	raw = raw[sp+1:]
	nul := bytes.IndexByte(raw, 0)
	if nul <= 0 || len(raw) < nul+21 {
		return rawEntry{}, nil, errTree
	}
	e := rawEntry{mode: filemode.FileMode(mode), name: raw[:nul], sum: raw[nul+1 : nul+21]}
	return e, raw[nul+21:], nil
}

// findEntry scans for name without building the other entries.
func findEntry(raw []byte, name string) (TreeEntry, bool, error) {
	for len(raw) > 0 {
		e, rest, err := nextEntry(raw)
		if err != nil {
			return TreeEntry{}, false, err
		}
		if string(e.name) == name {
			return TreeEntry{Name: name, Mode: e.mode, Hash: e.hash()}, true, nil
		}
		raw = rest
	}
	return TreeEntry{}, false, nil
}

// compareNames orders entries of one tree as git does: a tree's name counts as
// if it ended in a slash.
func compareNames[T string | []byte](a T, aDir bool, b T, bDir bool) int {
	n := min(len(a), len(b))
	if c := strings.Compare(string(a[:n]), string(b[:n])); c != 0 {
		return c
	}
	at := func(s T, dir bool) int {
		switch {
		case len(s) > n:
			return int(s[n])
		case dir:
			return '/'
		}
		return 0
	}
	return cmp.Compare(at(a, aDir), at(b, bDir))
}

func appendEntry(raw []byte, e TreeEntry) []byte {
	raw = strconv.AppendUint(raw, uint64(e.Mode), 8)
	raw = append(raw, ' ')
	raw = append(raw, e.Name...)
	raw = append(raw, 0)
	return append(raw, e.Hash[:]...)
}
