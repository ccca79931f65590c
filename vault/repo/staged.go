package repo

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// StagedPaths are the paths whose entry in git's index is not that of tree: what a
// human has staged, sorted. It takes no lock.
func (g *GitDir) StagedPaths(ctx context.Context, tree plumbing.Hash) ([]string, error) {
	if g.isUnstaged(tree) {
		return nil, nil
	}
	x, err := g.readIndex(false)
	if err != nil || x == nil {
		return nil, err
	}
	next, stop := iter.Pull2(x.entries())
	defer stop()
	var staged []string
	e, err, more := next()
	for file, ferr := range Files(g, tree, "") {
		if err := errors.Join(err, ferr, ctx.Err()); err != nil {
			return nil, err
		}
		for more && err == nil && e.name < file.Path {
			staged = append(staged, e.name)
			e, err, more = next()
		}
		if !more || e.name != file.Path || e.hash() != file.Hash || e.mode() != indexMode(file.Mode) || e.stage() != 0 {
			staged = append(staged, file.Path)
		}
		for more && err == nil && e.name == file.Path {
			e, err, more = next()
		}
	}
	for more && err == nil {
		staged = append(staged, e.name)
		e, err, more = next()
	}
	if err == nil && len(staged) == 0 {
		g.noteUnstaged(x.sum, tree)
	}
	return slices.Compact(staged), err
}

// unstagedPath is where the last index that held just what a tree holds is noted,
// by its checksum. Comparing the two reads the whole tree, which was a fifth of
// a sync that has nothing to do.
func (g *GitDir) unstagedPath() string { return filepath.Join(g.dir, "vade", "unstaged") }

func (g *GitDir) isUnstaged(tree plumbing.Hash) bool {
	noted, err := os.ReadFile(g.unstagedPath())
	return err == nil && string(noted) == unstagedNote(g.indexSum(), tree)
}

// isUnstagedAt is isUnstaged for the tree of a commit, which it reads only where
// the note is of the index with that checksum.
func (g *GitDir) isUnstagedAt(sum, commit plumbing.Hash) bool {
	noted, err := os.ReadFile(g.unstagedPath())
	if err != nil || !strings.HasPrefix(string(noted), sum.String()) {
		return false
	}
	tree, err := treeOf(g, commit)
	return err == nil && string(noted) == unstagedNote(sum, tree)
}

// noteUnstaged may fail: the next one compares again. With index.skipHash there
// is no checksum to note.
func (g *GitDir) noteUnstaged(sum, tree plumbing.Hash) {
	if sum.IsZero() || os.MkdirAll(filepath.Dir(g.unstagedPath()), 0o700) != nil {
		return
	}
	_ = os.WriteFile(g.unstagedPath(), []byte(unstagedNote(sum, tree)), 0o600) // half of it equals no note
}

func unstagedNote(sum, tree plumbing.Hash) string { return sum.String() + " " + tree.String() + "\n" }

// indexSum is the checksum at the end of git's index; zero when it cannot be read.
func (g *GitDir) indexSum() (sum plumbing.Hash) {
	f, err := os.Open(g.indexPath())
	if err != nil {
		return sum
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil {
		_, _ = f.ReadAt(sum[:], st.Size()-int64(len(sum)))
	}
	return sum
}
