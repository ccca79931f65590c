package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrTaken: something that is not a regular file lies where a file is to be
// written, or a file where its folder is to be.
var ErrTaken = errors.New("something else is in its place")

// IsPlaceError reports whether err is about one path alone: its name, what lies
// there, or who may change it. The next path may well do, unlike with a full disk.
func IsPlaceError(err error) bool {
	if _, ok := errors.AsType[*PathError](err); ok {
		return true
	}
	return errors.Is(err, ErrTaken) || errors.Is(err, ErrSymlink) || errors.Is(err, fs.ErrPermission) || isNameError(err)
}

// CheckPlace returns why no file can be written to p as the work tree is now: an
// error that is [ErrTaken] or [ErrSymlink], or a [*PathError]. Folders that hold no
// file are no obstacle.
func (w *WorkTree) CheckPlace(p string) error {
	if err := CheckHostPath(p); err != nil {
		return err
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		st, err := w.root.Lstat(filepath.FromSlash(dir))
		switch {
		case err != nil:
			continue // it will be made, or the folder above it says why not
		case st.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s: %w", dir, ErrSymlink)
		case !st.IsDir():
			return fmt.Errorf("%s is a file: %w", dir, ErrTaken)
		}
	}
	st, err := w.root.Lstat(filepath.FromSlash(p))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil
	case err != nil:
		return err
	case st.IsDir():
		if name := w.fileBelow(p); name != "" {
			return fmt.Errorf("%s is a folder that holds %s: %w", p, strings.TrimPrefix(name, p+"/"), ErrTaken)
		}
		return nil
	case st.Mode()&fs.ModeSymlink != 0:
		return ErrSymlink
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: %w", p, ErrTaken)
	}
	return nil
}

// fileBelow is something at or below the folder p that is no folder, or a folder
// that cannot be read; "" when there is nothing.
func (w *WorkTree) fileBelow(p string) string {
	f, err := w.root.Open(filepath.FromSlash(p))
	if err != nil {
		return p
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return p
	}
	for _, e := range entries {
		below := path.Join(p, e.Name())
		if !e.IsDir() {
			return below
		}
		if found := w.fileBelow(below); found != "" {
			return found
		}
	}
	return ""
}

// clearPlace removes the folder at name if there is no file in it. A file that
// appears meanwhile stays, and its folders with it.
func (w *WorkTree) clearPlace(p string) error {
	if name := w.fileBelow(p); name != "" {
		return fmt.Errorf("%s is a folder that holds %s: %w", p, strings.TrimPrefix(name, p+"/"), ErrTaken)
	}
	return w.removeFolders(p)
}

func (w *WorkTree) removeFolders(p string) error {
	f, err := w.root.Open(filepath.FromSlash(p))
	if err != nil {
		return err
	}
	entries, err := f.ReadDir(-1)
	f.Close()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			return fmt.Errorf("%s: %w", p, ErrTaken)
		}
		if err := w.removeFolders(path.Join(p, e.Name())); err != nil {
			return err
		}
	}
	return w.root.Remove(filepath.FromSlash(p))
}

// MoveAside renames the file at p to other, in the same folder, where nothing may
// be.
func (w *WorkTree) MoveAside(p, other string) error {
	if err := errors.Join(CheckPath(p), CheckHostPath(other)); err != nil {
		return err
	}
	if _, err := w.root.Lstat(filepath.FromSlash(other)); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("move %s to %s: %w", p, other, os.ErrExist))
	}
	if err := w.root.Rename(filepath.FromSlash(p), filepath.FromSlash(other)); err != nil {
		return fmt.Errorf("move %s to %s: %w", p, other, err)
	}
	delete(w.written, p)
	return w.syncDirs(map[string]bool{path.Dir(p): true})
}

// Sync makes durable the files at paths, which somebody else wrote, and their
// names. A file that cannot be opened is passed over: it is not ours.
func (w *WorkTree) Sync(paths []string) error {
	dirs := map[string]bool{}
	var files []*os.File
	for _, p := range paths {
		f, err := w.root.OpenFile(filepath.FromSlash(p), syncFlag, 0)
		if err != nil {
			continue
		}
		files = append(files, f)
		dirs[path.Dir(p)] = true
		if len(files) == writeBatch {
			if err := syncAll(files); err != nil {
				return err
			}
			files = files[:0]
		}
	}
	if err := syncAll(files); err != nil {
		return err
	}
	return w.syncDirs(dirs)
}

func syncAll(files []*os.File) error {
	errs := make([]error, len(files))
	each(len(files), func(i int) { errs[i] = errors.Join(files[i].Sync(), files[i].Close()) })
	return errors.Join(errs...)
}
