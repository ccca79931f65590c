package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// FileChange is one file in two versions; nil where it did not exist.
type FileChange struct {
	Path     string
	Old, New []byte
}

// Uncommitted are the changes on disk that main does not have, by path.
func (v *Vault) Uncommitted(ctx context.Context) ([]FileChange, error) {
	if v.git == nil {
		return nil, nil
	}
	s, err := v.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	head := s.head
	var paths []string
	for _, f := range s.scan.Files {
		if f.Hash != f.IndexHash {
			paths = append(paths, f.Path)
		}
	}
	for _, m := range s.scan.Missing {
		if v.Absent(m.Path) == nil {
			paths = append(paths, m.Path)
		}
	}
	staged, err := v.stagedAnywhere(ctx, head)
	if err != nil {
		return nil, err
	}
	paths = append(paths, staged...)
	slices.Sort(paths)
	return v.onDiskSince(head, slices.Compact(paths))
}

// stagedAnywhere are the paths that a human has staged, on the whole tree.
func (v *Vault) stagedAnywhere(ctx context.Context, head plumbing.Hash) ([]string, error) {
	tree, err := v.tree(head)
	if err != nil {
		return nil, err
	}
	return v.git.StagedPaths(ctx, tree)
}

func (v *Vault) onDiskSince(commit plumbing.Hash, paths []string) ([]FileChange, error) {
	var changes []FileChange
	for _, path := range paths {
		c := FileChange{Path: path}
		var err error
		if c.Old, err = v.maybeAt(commit, path); err != nil {
			return nil, err
		}
		if c.New, err = v.git.WorkTree().ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if string(c.Old) != string(c.New) || (c.Old == nil) != (c.New == nil) {
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// maybeAt is ReadAt with nil for a file that is not there.
func (v *Vault) maybeAt(commit plumbing.Hash, path string) ([]byte, error) {
	if commit.IsZero() {
		return nil, nil
	}
	data, err := v.ReadAt(commit, path)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return data, err
}

// ChangesOf is what a commit changed against its first parent.
func (v *Vault) ChangesOf(commit plumbing.Hash) ([]FileChange, error) {
	c, err := repo.ReadCommit(v.git, commit)
	if err != nil {
		return nil, err
	}
	var changes []FileChange
	for ch, err := range repo.DiffCommits(v.git, parentOf(c), commit) {
		if err != nil {
			return nil, err
		}
		f := FileChange{Path: ch.Path}
		for _, side := range []struct {
			hash plumbing.Hash
			to   *[]byte
		}{{ch.OldHash, &f.Old}, {ch.NewHash, &f.New}} {
			if side.hash.IsZero() {
				continue
			}
			if *side.to, err = repo.ReadBlob(v.git, side.hash); err != nil {
				return nil, err
			}
		}
		changes = append(changes, f)
	}
	return changes, nil
}

// LastChange is what is not committed of the memory that ref names, or if
// nothing, its last change in history.
func (v *Vault) LastChange(ctx context.Context, ref Ref) ([]FileChange, error) {
	entries, err := v.History(ctx, ref)
	if err != nil {
		return nil, err
	}
	path, err := v.pastPath(ctx, ref)
	if err != nil {
		return nil, err
	}
	head, err := v.Head()
	if err != nil {
		return nil, err
	}
	changes, err := v.onDiskSince(head, []string{path})
	if err != nil || len(changes) > 0 || len(entries) == 0 {
		return changes, err
	}
	last := plumbing.NewHash(entries[0].Commit)
	all, err := v.ChangesOf(last)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(c FileChange) bool { return c.Path != path }), nil
}

// Since is how the memory that ref names differs now from what it was in commit.
func (v *Vault) Since(ctx context.Context, ref Ref, commit string) ([]FileChange, error) {
	path, old, err := v.past(ctx, ref, plumbing.NewHash(commit))
	if err != nil {
		return nil, err
	}
	now, err := v.git.WorkTree().ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if string(old) == string(now) && now != nil {
		return nil, nil
	}
	return []FileChange{{Path: path, Old: old, New: now}}, nil
}

// Staged are the paths that a human has staged and not committed, sorted.
func (v *Vault) Staged(ctx context.Context) ([]string, error) {
	if v.git == nil {
		return nil, nil
	}
	head, err := v.Head()
	if err != nil {
		return nil, err
	}
	return v.stagedAnywhere(ctx, head)
}
