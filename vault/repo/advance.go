package repo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Advance moves the branch that HEAD is on from old to new and brings git's index
// up to date with it, as one step: index.lock is taken first, so that a human's
// git at work stops us before anything has moved; and after a crash between the
// two, [GitDir.Recover] finishes the second. changes are the files that differ
// between old and new.
//
// ErrRefMoved when HEAD is elsewhere, *[LockedError] when git holds a lock.
func (g *GitDir) Advance(ctx context.Context, old, new plumbing.Hash, reason string, changes []IndexChange) error {
	if err := g.Recover(ctx); err != nil {
		return err
	}
	if err := g.Flush(); err != nil {
		return err
	}
	l, err := g.spliceInto(ctx, changes)
	if err != nil {
		return err
	}
	if l == nil {
		return g.CompareAndSet("HEAD", old, new, reason)
	}
	if err := g.noteAdvance(changes); err != nil {
		l.release()
		return fmt.Errorf("note the commit at hand: %w", err)
	}
	if err := g.CompareAndSet("HEAD", old, new, reason); err != nil {
		l.release()
		os.Remove(g.advancePath())
		return err
	}
	if err := l.commit(); err != nil {
		return fmt.Errorf("update git index: %w", err)
	}
	return os.Remove(g.advancePath())
}

func (g *GitDir) advancePath() string { return filepath.Join(g.dir, "vade-advance") }

// noteAdvance keeps what the index is about to learn: "<mode> <id> <path>" lines,
// ended by one that says so.
func (g *GitDir) noteAdvance(changes []IndexChange) error {
	f, err := os.OpenFile(g.advancePath(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, c := range changes {
		fmt.Fprintf(w, "%o %s %s\n", uint32(c.Mode), c.Hash, c.Path)
	}
	fmt.Fprintln(w, "end")
	return errors.Join(w.Flush(), f.Sync(), f.Close(), syncDir(g.dir))
}

// Recover finishes what [GitDir.Advance] had begun when its process was killed:
// where HEAD has what the index was about to learn, the index learns it. Without
// such a leftover it costs one look at the file system. The caller must be the only
// vade process that writes to the vault.
func (g *GitDir) Recover(ctx context.Context) error {
	b, err := os.ReadFile(g.advancePath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	todo, err := g.unfinished(string(b))
	if err == nil {
		err = g.Splice(ctx, todo)
	}
	if err != nil {
		return fmt.Errorf("finish the last commit: %w", err)
	}
	return os.Remove(g.advancePath())
}

// unfinished is the noted changes that HEAD has.
func (g *GitDir) unfinished(note string) ([]IndexChange, error) {
	lines, ok := strings.CutSuffix(note, "end\n")
	if !ok {
		return nil, nil // killed before HEAD could move
	}
	_, commit, err := g.Head()
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(g, commit)
	if err != nil {
		return nil, err
	}
	var todo []IndexChange
	for line := range strings.Lines(lines) {
		var c IndexChange
		var id string
		line = strings.TrimSuffix(line, "\n")
		if n, err := fmt.Sscanf(line, "%o %s", (*uint32)(&c.Mode), &id); n != 2 || err != nil || !plumbing.IsHash(id) {
			continue
		}
		c.Hash = plumbing.NewHash(id)
		c.Path = line[strings.Index(line, id)+len(id)+1:]
		e, err := Lookup(g, tree, c.Path)
		if err != nil && !errors.Is(err, ErrPathNotFound) {
			return nil, err
		}
		if e.Hash == c.Hash {
			todo = append(todo, c)
		}
	}
	return slices.Clip(todo), nil
}
