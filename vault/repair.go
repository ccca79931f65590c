package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// CountAt counts the memories that commit holds. With a bad func every file is
// read, and those that cannot be are told to it.
func (v *Vault) CountAt(ctx context.Context, commit plumbing.Hash, bad func(path string, err error)) (int, error) {
	tree, err := v.tree(commit)
	if err != nil || tree.IsZero() {
		return 0, err
	}
	n := 0
	for f, err := range repo.Files(v.git, tree, "") {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return n, err
		}
		if isText(f.Mode) && IsMemoryPath(f.Path) {
			n++
		}
		if bad == nil || !isText(f.Mode) {
			continue
		}
		if _, err := repo.ReadBlob(v.git, f.Hash); err != nil {
			bad(f.Path, err)
		}
	}
	return n, nil
}

// Temporaries are the files that killed processes left in the work tree.
func (v *Vault) Temporaries(ctx context.Context) ([]string, error) {
	scan, err := v.git.Scan(ctx, repo.ScanOptions{Filter: func(_ string, isDir bool) bool { return isDir }})
	if err != nil {
		return nil, err
	}
	return scan.Temps, nil
}

// Sweep removes temporaries. Under the lock nobody is still writing them.
func (v *Vault) Sweep(ctx context.Context, temps []string) error {
	return v.Lock(ctx, func() error {
		for _, path := range temps {
			if err := v.git.WorkTree().Remove(path); err != nil {
				return err
			}
		}
		return nil
	})
}

// BringBack writes the committed versions of files that are missing on disk.
func (v *Vault) BringBack(ctx context.Context, paths []string) error {
	return v.Lock(ctx, func() error {
		head, err := v.Head()
		if err != nil {
			return err
		}
		for _, path := range paths {
			_, err := v.git.WorkTree().Stat(path)
			if err == nil || !errors.Is(err, fs.ErrNotExist) {
				continue // it is back already
			}
			data, err := v.ReadAt(head, path)
			if err != nil {
				return fmt.Errorf("bring back %s: %w", path, err)
			}
			if err := v.git.WorkTree().WriteFile(path, data); err != nil {
				return err
			}
		}
		return nil
	})
}
