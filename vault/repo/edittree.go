package repo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// ErrPathClash: an edit would need one path to be both a file and a folder.
var ErrPathClash = errors.New("path is both a file and a folder")

// Edit puts one file into a tree, or takes it out.
type Edit struct {
	Path string            // slash-separated, from the root tree
	Hash plumbing.Hash     // blob; zero removes the path
	Mode filemode.FileMode // 0 keeps the mode of the entry, else filemode.Regular
}

// EditTree applies edits to the tree root and returns the new root. Only trees
// on the way to an edit are read and written; trees that become empty are
// dropped. The zero root is the empty tree; a root that ends up empty is written
// as git's empty tree. Removing a path that no file is at is no error. Of several
// edits of one path the last counts. ErrPathClash where a file would lie below a
// file, or replace a folder.
func EditTree(s Store, root plumbing.Hash, edits []Edit) (plumbing.Hash, error) {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int { return compareByName(a.Path, b.Path) })
	e := treeEditor{s: s}
	out := make([]Edit, 0, len(sorted))
	for i, ed := range sorted {
		if err := checkTreePath(ed.Path); err != nil {
			return plumbing.ZeroHash, err
		}
		if i+1 < len(sorted) && sorted[i+1].Path == ed.Path {
			continue
		}
		out = append(out, ed)
	}
	h, _, err := e.edit(root, "", out)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if h.IsZero() {
		return WriteObject(s, plumbing.TreeObject, nil)
	}
	return h, nil
}

// compareByName orders paths name by name, so that everything below a folder
// follows the folder itself: "a", "a/b", "a.b".
func compareByName(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			switch {
			case a[i] == '/':
				return -1
			case b[i] == '/':
				return 1
			}
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// checkTreePath refuses what git fsck refuses in a tree.
func checkTreePath(path string) error {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || isDotGit(name) || strings.ContainsRune(name, 0) {
			return &PathError{Path: path, Reason: "not a valid path in a git tree"}
		}
	}
	return nil
}

type treeEditor struct{ s Store }

// edit applies edits, whose paths all start with prefix, to tree h. The zero
// hash means that nothing is left.
func (t treeEditor) edit(h plumbing.Hash, prefix string, edits []Edit) (_ plumbing.Hash, changed bool, _ error) {
	entries, err := ReadTree(t.s, h)
	if err != nil {
		return h, false, err
	}
	byName := make(map[string]int, len(edits))
	for len(edits) > 0 {
		name, n := firstName(edits, len(prefix))
		i, ok := byName[name]
		if !ok {
			i = slices.IndexFunc(entries, func(e TreeEntry) bool { return e.Name == name })
		}
		var old TreeEntry
		if i >= 0 {
			old = entries[i]
		}
		next, diff, err := t.editName(old, name, prefix, edits[:n])
		if err != nil {
			return h, false, err
		}
		edits = edits[n:]
		if !diff {
			continue
		}
		changed = true
		if i < 0 {
			i = len(entries)
			entries = append(entries, next)
		}
		entries[i] = next
		byName[name] = i
	}
	if !changed {
		return h, false, nil
	}
	entries = slices.DeleteFunc(entries, func(e TreeEntry) bool { return e.Hash.IsZero() })
	h, err = writeTree(t.s, entries)
	return h, true, err
}

// firstName returns the name that the first edit touches in this tree, and how
// many edits touch the same name.
func firstName(edits []Edit, at int) (string, int) {
	name, _, _ := strings.Cut(edits[0].Path[at:], "/")
	n := 1
	for n < len(edits) {
		rest, ok := strings.CutPrefix(edits[n].Path[at:], name)
		if !ok || rest != "" && rest[0] != '/' {
			break
		}
		n++
	}
	return name, n
}

// editName applies edits, all at or below prefix+name, to the entry old (zero:
// there is none).
func (t treeEditor) editName(old TreeEntry, name, prefix string, edits []Edit) (TreeEntry, bool, error) {
	path := prefix + name
	next := old
	var self *Edit
	if edits[0].Path == path {
		self, edits = &edits[0], edits[1:]
	}
	if !old.IsDir() {
		if self != nil && self.Hash.IsZero() {
			next = TreeEntry{}
		}
		if !adds(edits) {
			edits = nil
		} else if !next.Hash.IsZero() {
			return old, false, fmt.Errorf("%s: %w", path, ErrPathClash)
		}
	}
	if len(edits) > 0 {
		h, _, err := t.edit(next.Hash, path+"/", edits)
		if err != nil {
			return old, false, err
		}
		next = TreeEntry{Name: name, Mode: filemode.Dir, Hash: h}
	}
	if self != nil && !self.Hash.IsZero() {
		if next.IsDir() && !next.Hash.IsZero() {
			return old, false, fmt.Errorf("%s: %w", path, ErrPathClash)
		}
		next = TreeEntry{Name: name, Mode: leafMode(self.Mode, old), Hash: self.Hash}
	}
	return next, next.Hash != old.Hash || next.Mode != old.Mode, nil
}

// adds reports whether some edit is not a removal.
func adds(edits []Edit) bool {
	return slices.ContainsFunc(edits, func(e Edit) bool { return !e.Hash.IsZero() })
}

func leafMode(mode filemode.FileMode, old TreeEntry) filemode.FileMode {
	switch {
	case mode != 0:
		return mode
	case !old.Hash.IsZero() && !old.IsDir():
		return old.Mode
	}
	return filemode.Regular
}

// writeTree writes entries, in any order, as a tree; none is the zero hash.
func writeTree(s Store, entries []TreeEntry) (plumbing.Hash, error) {
	if len(entries) == 0 {
		return plumbing.ZeroHash, nil
	}
	slices.SortFunc(entries, func(a, b TreeEntry) int {
		return compareNames(a.Name, a.IsDir(), b.Name, b.IsDir())
	})
	raw := make([]byte, 0, len(entries)*64)
	for _, e := range entries {
		raw = appendEntry(raw, e)
	}
	return WriteObject(s, plumbing.TreeObject, raw)
}
