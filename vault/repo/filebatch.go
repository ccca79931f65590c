package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// fileBatch is files that are written but have not got their names yet.
type fileBatch struct {
	w     *WorkTree
	files []unnamedFile
	dirs  map[string]bool // to be synced, and known to be folders

	// refused is told of files that cannot be where they should; see WriteFiles.
	refused func(path string, err error)
}

type unnamedFile struct {
	f         *os.File
	tmp, path string // as the system spells them
	name      string
	hash      plumbing.Hash
	err       error
}

// refuse passes over the file p because of err, unless that has to stop the batch.
func (b *fileBatch) refuse(p string, err error) error {
	if b.refused == nil || !IsPlaceError(err) {
		return fmt.Errorf("write %s: %w", p, err)
	}
	b.refused(p, err)
	return nil
}

// add writes data into a temporary file beside p.
func (b *fileBatch) add(p string, data []byte) error {
	if err := CheckHostPath(p); err != nil {
		return b.refuse(p, err)
	}
	for try := 0; ; try++ {
		known := b.dirs
		if try > 0 { // somebody pruned the folder that we had made: look at all of them again
			known = map[string]bool{}
		}
		err := b.addOnce(p, data, known)
		maps.Copy(b.dirs, known)
		if err == nil {
			return nil
		}
		if try > 5 || !errors.Is(err, fs.ErrNotExist) {
			return b.refuse(p, err)
		}
	}
}

func (b *fileBatch) addOnce(p string, data []byte, known map[string]bool) error {
	dir := path.Dir(p)
	if err := b.w.makeDirs(dir, known); err != nil {
		return err
	}
	perm := fs.FileMode(0o600)
	switch st, err := b.w.root.Lstat(filepath.FromSlash(p)); {
	case err == nil && st.Mode()&fs.ModeSymlink != 0:
		return ErrSymlink
	case err == nil && st.IsDir():
		if err := b.w.clearPlace(p); err != nil {
			return err
		}
	case err == nil && !st.Mode().IsRegular():
		return ErrTaken
	case err == nil:
		perm = st.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	u := unnamedFile{
		name: p, path: filepath.FromSlash(p), hash: BlobHash(data),
		tmp: filepath.FromSlash(path.Join(dir, TempPrefix+strconv.FormatUint(rand.Uint64(), 36))),
	}
	var err error
	if u.f, err = b.w.root.OpenFile(u.tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	_, err = u.f.Write(data)
	if err == nil && perm != 0o600 {
		err = u.f.Chmod(perm)
	}
	if err != nil {
		b.drop(u)
		return err
	}
	b.files = append(b.files, u)
	known[dir] = true
	return nil
}

// publish syncs the files and gives them their names.
func (b *fileBatch) publish() error {
	each(len(b.files), func(i int) { b.files[i].err = b.files[i].f.Sync() })
	for _, u := range b.files {
		if u.err != nil {
			return fmt.Errorf("write %s: %w", u.name, u.err)
		}
	}
	for len(b.files) > 0 {
		u := b.files[0]
		st, err := renameWritten(b.w.root, u.f, u.tmp, u.path)
		if err != nil {
			if err := b.refuse(u.name, err); err != nil {
				return err
			}
			b.drop(u)
			b.files = b.files[1:]
			continue
		}
		b.w.written[u.name] = writtenFile{hash: u.hash, stat: st}
		b.files = b.files[1:]
	}
	return nil
}

// discard removes what has no name yet.
func (b *fileBatch) discard() {
	for _, u := range b.files {
		b.drop(u)
	}
}

func (b *fileBatch) drop(u unnamedFile) {
	u.f.Close()
	b.w.root.Remove(u.tmp)
}

// makeDirs makes dir and its parents, none of which may be a symbolic link.
func (w *WorkTree) makeDirs(dir string, made map[string]bool) error {
	if dir == "." || made[dir] {
		return nil
	}
	parent := path.Dir(dir)
	if err := w.makeDirs(parent, made); err != nil {
		return err
	}
	name := filepath.FromSlash(dir)
	st, err := w.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = w.root.Mkdir(name, 0o700)
		if err == nil {
			made[parent] = true
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		st, err = w.root.Lstat(name)
	}
	switch {
	case err != nil:
		return err
	case st.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: %w", dir, ErrSymlink)
	case !st.IsDir():
		return fmt.Errorf("%s is a file: %w", dir, ErrTaken)
	}
	return nil
}
