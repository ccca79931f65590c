package repo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// IndexLock is git's index, held under its lock file: no git command changes it
// until Splice or Release.
type IndexLock struct {
	g *GitDir
	l *lockFile // nil when it is given up
	x *indexFile
}

// Unmerged stands for the blob of a path that has unmerged entries. No object has
// that id.
var Unmerged = plumbing.NewHash(strings.Repeat("f", 40))

// LockIndex takes git's index.lock. Where there is no index it starts from one
// made of HEAD. *[LockedError] when git holds the lock for more than 2 s;
// *[UnsupportedError] and ErrIndexCorrupt for an index that cannot be changed
// safely.
func (g *GitDir) LockIndex(ctx context.Context) (*IndexLock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if g.work == nil {
		return nil, errors.New("lock git index: repository has no work tree")
	}
	l, err := g.lock(g.indexPath())
	if err != nil {
		return nil, err
	}
	x, err := g.readIndex(true)
	if err == nil && x == nil {
		x, err = g.indexFromHead()
	}
	if err != nil {
		l.release()
		return nil, err
	}
	return &IndexLock{g: g, l: l, x: x}, nil
}

// Release gives the lock up, with the index as it was. After Splice, or a second
// time, it does nothing.
func (i *IndexLock) Release() {
	if i.l != nil {
		i.l.release()
		i.l = nil
	}
}

// Entries returns what the index has at each of paths: the blob, or [Unmerged].
// Paths that it does not have, or only as an intent to add, are left out.
func (i *IndexLock) Entries(paths []string) (map[string]plumbing.Hash, error) {
	want := make(map[string]bool, len(paths))
	for _, p := range paths {
		want[p] = true
	}
	found := make(map[string]plumbing.Hash, len(paths))
	for e, err := range i.x.entries() {
		switch {
		case err != nil:
			return nil, err
		case !want[e.name]:
		case e.stage() != 0:
			found[e.name] = Unmerged
		case e.extended()&extIntent == 0:
			found[e.name] = e.hash()
		}
	}
	return found, nil
}

// Splice brings the entries of the changed paths up to date, copies every other
// entry byte for byte, so that what a human has staged stays staged, and gives the
// lock up. It must follow each move of HEAD: with entries older than HEAD, the
// next git commit -am undoes our commit. Unmerged entries of the changed paths go.
// A crash of the machine, not of the process, may bring the old index back whole.
func (i *IndexLock) Splice(changes []IndexChange) error {
	_, err := i.splice(changes)
	return err
}

// SpliceMove is Splice with all that differs between two commits. If the index
// was known to hold just what the first has, it is known of the second then.
func (i *IndexLock) SpliceMove(changes []IndexChange, from, to plumbing.Hash) error {
	unstaged := i.g.isUnstagedAt(i.x.sum, from)
	sum, err := i.splice(changes)
	if err == nil && unstaged && !sum.IsZero() {
		if tree, err := treeOf(i.g, to); err == nil {
			i.g.noteUnstaged(sum, tree)
		}
	}
	return err
}

// splice returns the checksum of the new index; zero when nothing changes.
func (i *IndexLock) splice(changes []IndexChange) (sum plumbing.Hash, err error) {
	if i.l == nil {
		return sum, errors.New("update git index: the lock is given up")
	}
	defer i.Release()
	sorted, err := sortChanges(changes)
	if err != nil || len(sorted) == 0 {
		return sum, err
	}
	sum, err = i.g.writeSpliced(i.l, i.x, sorted)
	if err == nil {
		l := i.l
		i.l = nil
		// The name is not synced, as git does not sync it: after a power cut, whoever
		// moved HEAD has to splice again what it had noted before.
		err = l.rename()
	}
	if err != nil {
		return sum, fmt.Errorf("update git index: %w", err)
	}
	return sum, nil
}

// Splice is LockIndex and [IndexLock.Splice].
func (g *GitDir) Splice(ctx context.Context, changes []IndexChange) error {
	i, err := g.LockIndex(ctx)
	if err != nil {
		return err
	}
	return i.Splice(changes)
}

// indexMode is the mode that the index has for that of a tree entry.
func indexMode(m filemode.FileMode) uint32 {
	if m == filemode.Deprecated {
		return modeRegular
	}
	return uint32(m)
}
