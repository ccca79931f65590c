package vault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// keep commits what a human saved and nobody committed yet where the update
// replaces or removes it, as adopting it a moment before would have: history
// has it then, and what main never had can be removed from the disk by the
// difference of two commits, as everything else. An adoption knows better: it
// merges what it replaces.
func (t *Tx) keep(ctx context.Context, op Op) error {
	if op.Name == "adopt" {
		return nil
	}
	paths, err := t.unkept()
	if err != nil || len(paths) == 0 {
		return err
	}
	held, err := t.unmerged(paths)
	if err == nil && held == "" {
		held, err = t.commitUnkept(ctx, paths)
	}
	if err != nil || held == "" {
		return err
	}
	for _, p := range paths {
		if t.changes[p].IsZero() {
			return fmt.Errorf("%s is not removed, because nobody committed yet what it says now: %s", p, held)
		}
	}
	return nil
}

// unkept are the paths of which the update saw a version on disk that neither
// main nor its own result has, sorted.
func (t *Tx) unkept() ([]string, error) {
	var paths []string
	for _, path := range slices.Sorted(maps.Keys(t.changes)) {
		seen, ok := t.seen[path]
		if !ok || seen == t.changes[path] || repo.CheckPath(path) != nil {
			continue
		}
		committed, err := t.Committed(path)
		if err != nil {
			return nil, err
		}
		if committed != seen {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// commitUnkept commits what is on disk at paths and puts the update on top of it.
func (t *Tx) commitUnkept(ctx context.Context, paths []string) (held string, err error) {
	first := &Tx{v: t.v, head: t.head, tree: t.tree, changes: map[string]plumbing.Hash{}, seen: map[string]plumbing.Hash{}, put: map[string]bool{}}
	for _, path := range paths {
		data, err := first.Read(path)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		if len(data) > MaxFile {
			return fmt.Sprintf("it is larger than %d bytes", MaxFile), nil
		}
		if err := first.Adopt(path, data); err != nil {
			return "", err
		}
	}
	editor := Origin{User: t.v.Identity(), Agent: "editor", Host: t.v.opts.Origin.Host}
	done, err := first.commit(ctx, Op{Name: "adopt", Subject: subjectOf(paths), Origin: editor})
	if err != nil || done.Held != "" || done.Hash.IsZero() {
		return done.Held, err
	}
	t.head = done.Hash
	t.tree, err = t.v.tree(done.Hash)
	return "", err
}

func subjectOf(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%d files", len(paths))
}
