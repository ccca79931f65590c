package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"vademecum/vault/repo"
)

// Unwritten is a file of main that is not on disk as main has it, because
// something else is in its place, because its folder cannot be changed, or
// because this system cannot hold its name. Main has it whole; the next sync
// tries again.
type Unwritten struct {
	Path string
	Err  error // see repo.IsPlaceError
}

// String says it to a human.
func (u Unwritten) String() string { return fmt.Sprintf("%s is not on this disk: %v", u.Path, u.Err) }

// mover brings files on disk from one version to another.
type mover struct {
	v         *Vault
	seen      map[string]plumbing.Hash // on disk, and meant to be replaced
	moved     bool                     // something was changed
	unwritten []Unwritten
	ahead     bool // new versions are not main's yet, but for those that are
	pulled    bool // the change comes from elsewhere
}

// taken stands for the blob of what is no text, or cannot be read. No object
// has that id.
var taken = repo.Unmerged

// onDisk is the blob id of the file at path; zero when there is none, taken
// when something else is there.
func (v *Vault) onDisk(path string) (plumbing.Hash, error) {
	data, err := v.git.WorkTree().ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return plumbing.ZeroHash, nil
	case repo.IsPlaceError(err):
		return taken, nil
	case err != nil:
		return plumbing.ZeroHash, err
	}
	return repo.BlobHash(data), nil
}

// write brings the files of changes to their new versions, but for those that
// hold work which neither version has: they stay, and what they were based on
// is kept. So it is where a file cannot be written: whoever looks later must
// not take what is on disk for a human's doing.
func (m *mover) write(ctx context.Context, changes []repo.Change) error {
	var write, remove []repo.Change
	var there []string
	for _, c := range changes {
		if err := repo.CheckHostPath(c.Path); err != nil {
			m.v.opts.Warn(fmt.Sprintf("this system cannot hold the file: %v", err))
			continue
		}
		if !isText(c.OldMode) || !isText(c.NewMode) {
			continue // a link or a module that some other tool committed: not ours to touch
		}
		have, err := m.v.onDisk(c.Path)
		if err != nil {
			return err
		}
		switch {
		case have == c.NewHash:
			m.settled(c)
			if !have.IsZero() {
				there = append(there, c.Path)
			} else if err := m.missed(c); err != nil {
				return err
			}
		case m.dirty(c, have):
			if err := m.v.keepEditBase(c.Path, c.OldHash); err != nil {
				return err
			}
		case c.NewHash.IsZero():
			remove = append(remove, c)
		default:
			write = append(write, c)
		}
	}
	if err := m.remove(remove); err != nil {
		return err
	}
	if err := m.writeAll(ctx, write); err != nil {
		return err
	}
	return m.v.git.WorkTree().Sync(there)
}

// dirty reports whether have, which is on disk, is not what the change starts
// from, nor what the caller saw: a human's work that no commit has.
func (m *mover) dirty(c repo.Change, have plumbing.Hash) bool {
	if was, ok := m.seen[c.Path]; ok && was == have {
		return false
	}
	return !have.IsZero() && have != c.OldHash
}

func (m *mover) remove(changes []repo.Change) error {
	for _, c := range changes {
		err := m.v.git.WorkTree().Remove(c.Path)
		switch {
		case repo.IsPlaceError(err):
			err = m.leave(c, err)
		case err == nil:
			m.moved = true
			m.settled(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *mover) writeAll(ctx context.Context, changes []repo.Change) error {
	refused := map[string]error{}
	var readErr error
	err := m.v.git.WorkTree().WriteFiles(ctx, func(yield func(string, []byte) bool) {
		for _, c := range changes {
			var data []byte
			if data, readErr = repo.ReadBlob(m.v.git, c.NewHash); readErr != nil || !yield(c.Path, data) {
				return
			}
		}
	}, func(path string, err error) { refused[path] = err })
	if err := errors.Join(readErr, err); err != nil {
		m.moved = m.moved || m.anyWritten(changes)
		return err
	}
	for _, c := range changes {
		if err := refused[c.Path]; err != nil {
			if err := m.leave(c, err); err != nil {
				return err
			}
			continue
		}
		m.moved = true
		m.settled(c)
	}
	return nil
}

// settled forgets what the file at c's path was based on: it is what main has.
func (m *mover) settled(c repo.Change) {
	if !m.ahead || c.OldHash == c.NewHash {
		m.v.DropEditBase(c.Path)
	}
}

// missed notes that a pulled removal did not find its file.
func (m *mover) missed(c repo.Change) error {
	if !m.pulled || c.OldHash.IsZero() {
		return nil
	}
	return m.v.noteMissed(c.OldHash)
}

// anyWritten reports whether a file is at its new version, or cannot be read.
func (m *mover) anyWritten(changes []repo.Change) bool {
	for _, c := range changes {
		if have, err := m.v.onDisk(c.Path); err != nil || have == c.NewHash {
			return true
		}
	}
	return false
}

// leave leaves on disk what is there instead of c's new version.
func (m *mover) leave(c repo.Change, err error) error {
	m.unwritten = append(m.unwritten, Unwritten{Path: c.Path, Err: err})
	return m.v.keepEditBase(c.Path, c.OldHash)
}

// isText reports whether mode is that of a regular file, or of none.
func isText(mode filemode.FileMode) bool {
	return mode == filemode.Empty || mode == filemode.Regular || mode == filemode.Executable || mode == filemode.Deprecated
}
