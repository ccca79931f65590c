package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// BlockedError: main cannot be moved because a human is at work on something
// that the move would change.
type BlockedError struct{ Reason string }

func (e *BlockedError) Error() string { return e.Reason }

// Advance moves main from one commit to another and the work tree and git's
// index with it, under the identity's lock. Files that a human changed and did
// not commit stay as they are on disk; what they were based on is kept, so
// that adopting them later merges instead of reverting (see [Vault.EditBase]).
// So are files that this host cannot write now; they are returned.
// It returns repo.ErrRefMoved when main is not at from any more, and a
// [*BlockedError] when the move would get into a human's way.
func (v *Vault) Advance(ctx context.Context, from, to plumbing.Hash, reason string) (unwritten []Unwritten, err error) {
	err = v.Lock(ctx, func() error {
		if err := v.ready(ctx); err != nil {
			return err
		}
		head, err := v.Head()
		if err != nil {
			return err
		}
		if head != from {
			return fmt.Errorf("advance main: %w", repo.ErrRefMoved)
		}
		paths, err := v.changedPaths(from, to)
		if err != nil {
			return err
		}
		index, held, err := v.claim(ctx, from, paths)
		if err != nil {
			return err
		}
		if held != "" {
			return &BlockedError{Reason: held}
		}
		defer index.Release()
		unwritten, err = v.advance(ctx, index, from, to, reason, nil)
		return err
	})
	return unwritten, err
}

func (v *Vault) changedPaths(from, to plumbing.Hash) ([]string, error) {
	var paths []string
	for c, err := range repo.DiffCommits(v.git, from, to) {
		if err != nil {
			return nil, err
		}
		paths = append(paths, c.Path)
	}
	return paths, nil
}

// advance is the one way that main moves. A marker names both commits, whose
// objects are durable by then, before the first file changes; whoever takes
// the lock after a crash finds it and finishes the move. Files go first, so
// that at no moment the disk looks like a human's revert of main; then the
// ref, then git's index.
//
// seen are the blobs that the caller knows to be on disk and means to replace,
// by path (zero: no file); see [Tx].
func (v *Vault) advance(ctx context.Context, index *repo.IndexLock, from, to plumbing.Hash, reason string, seen map[string]plumbing.Hash) ([]Unwritten, error) {
	if err := v.git.Flush(); err != nil {
		return nil, err
	}
	if err := v.writeMarker(from, to, reason); err != nil {
		return nil, err
	}
	m := mover{v: v, seen: seen, pulled: seen == nil}
	err := v.move(ctx, &m, index, from, to, reason)
	if err == nil || errors.Is(err, repo.ErrRefMoved) || !m.moved {
		return m.unwritten, errors.Join(err, v.removeMarker())
	}
	return nil, err
}

func (v *Vault) move(ctx context.Context, m *mover, index *repo.IndexLock, from, to plumbing.Hash, reason string) error {
	changes, whole, err := v.changesBetween(from, to)
	if err != nil {
		return err
	}
	if err := m.write(ctx, changes); err != nil {
		return err
	}
	head, err := v.Head()
	if err != nil {
		return err
	}
	if head != to {
		m.moved = true
		if err := v.git.CompareAndSet(repo.Main, from, to, reason); err != nil {
			return err
		}
	}
	splice := make([]repo.IndexChange, len(changes))
	for i, c := range changes {
		splice[i] = repo.IndexChange{Path: c.Path, Hash: c.NewHash, Mode: c.NewMode}
	}
	if !whole {
		return index.Splice(splice)
	}
	return index.SpliceMove(splice, from, to)
}

// changesBetween are the paths that differ; whole unless some of them are none
// that a file may have.
func (v *Vault) changesBetween(from, to plumbing.Hash) (changes []repo.Change, whole bool, err error) {
	whole = true
	for c, err := range repo.DiffCommits(v.git, from, to) {
		if err != nil {
			return nil, false, err
		}
		if repo.CheckPath(c.Path) != nil {
			whole = false
			continue
		}
		changes = append(changes, c)
	}
	return changes, whole, nil
}

// stateDir holds what vade keeps beside git about this work tree; it is not
// in history.
func (v *Vault) stateDir() string { return filepath.Join(v.git.Dir(), "vade") }

func (v *Vault) markerPath() string { return filepath.Join(v.stateDir(), "advance") }

func (v *Vault) writeMarker(from, to plumbing.Hash, reason string) error {
	if err := os.MkdirAll(v.stateDir(), 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf("%s %s %s\n", from, to, strings.Join(strings.Fields(reason), " "))
	return writeDurable(v.markerPath(), []byte(text))
}

func (v *Vault) removeMarker() error {
	err := os.Remove(v.markerPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// recover finishes a move that a killed process left half done. It is called
// under the lock. A marker that does not name two commits is dropped: it was
// torn before anything moved.
func (v *Vault) recover(ctx context.Context) error {
	raw, err := os.ReadFile(v.markerPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	fields := bytes.SplitN(bytes.TrimSpace(raw), []byte(" "), 3)
	if len(fields) < 2 || !plumbing.IsHash(string(fields[0])) || !plumbing.IsHash(string(fields[1])) {
		return v.removeMarker()
	}
	from, to := plumbing.NewHash(string(fields[0])), plumbing.NewHash(string(fields[1]))
	reason := "recovered"
	if len(fields) == 3 {
		reason = string(fields[2])
	}
	head, err := v.Head()
	if err != nil {
		return err
	}
	if head != from && head != to {
		return v.removeMarker() // main went on without us
	}
	index, err := v.git.LockIndex(ctx)
	if err != nil {
		return err
	}
	defer index.Release()
	m := mover{v: v}
	if err := v.move(ctx, &m, index, from, to, reason); err != nil {
		return err
	}
	for _, u := range m.unwritten {
		v.opts.Warn(u.String())
	}
	return v.removeMarker()
}
