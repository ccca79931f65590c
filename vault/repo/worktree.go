package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// TempPrefix starts the name of a file that is being written. One that is still
// there when nobody writes was left by a process that was killed.
const TempPrefix = ".vade-tmp-"

// ErrSymlink: a path is, or leads through, a symbolic link.
var ErrSymlink = errors.New("is a symbolic link")

// WorkTree is the folder that the files of a vault lie in. Paths are
// slash-separated and relative to it. No method follows a symbolic link
// (ErrSymlink), and none leaves the folder, whatever is swapped under it
// ([os.Root]). Paths that are refused for their spelling are *[PathError].
type WorkTree struct {
	dir  string
	root *os.Root
	top  *os.File // the folder itself, once it was needed
	// written remembers what files were when WriteFile had written them, so that
	// Splice need not read them again.
	written map[string]writtenFile
}

type writtenFile struct {
	hash plumbing.Hash
	stat fileStat
}

func openWorkTree(dir string) (*WorkTree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &WorkTree{dir: dir, root: root, written: map[string]writtenFile{}}, nil
}

func (w *WorkTree) close() error {
	var err error
	if w.top != nil {
		err = w.top.Close()
		w.top = nil
	}
	return errors.Join(err, w.root.Close())
}

// Path is the folder, absolute.
func (w *WorkTree) Path() string { return w.dir }

// checkParents refuses a path that leads through a symbolic link or a file.
func (w *WorkTree) checkParents(p string) error {
	for i := range len(p) {
		if p[i] != '/' {
			continue
		}
		st, err := w.root.Lstat(filepath.FromSlash(p[:i]))
		if err != nil {
			return err
		}
		if st.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s: %w", p[:i], ErrSymlink)
		}
		if !st.IsDir() {
			return fmt.Errorf("%s: %s is a file: %w", p, p[:i], fs.ErrNotExist)
		}
	}
	return nil
}

// Stat describes the file or folder at p. A symbolic link is ErrSymlink.
func (w *WorkTree) Stat(p string) (fs.FileInfo, error) {
	if err := CheckPath(p); err != nil {
		return nil, err
	}
	if err := w.checkParents(p); err != nil {
		return nil, err
	}
	st, err := w.root.Lstat(filepath.FromSlash(p))
	if err == nil && st.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s: %w", p, ErrSymlink)
	}
	return st, err
}

// ReadFile returns the content of a regular file. Where a folder is at p, there is
// no file: fs.ErrNotExist.
func (w *WorkTree) ReadFile(p string) ([]byte, error) {
	if err := CheckPath(p); err != nil {
		return nil, err
	}
	if b, done, err := w.readBeneath(p); done {
		return b, err
	}
	return w.readThroughRoot(p)
}

func (w *WorkTree) readThroughRoot(p string) ([]byte, error) {
	st, err := w.Stat(p)
	if err != nil {
		return nil, err
	}
	switch {
	case st.IsDir():
		return nil, isFolder(p)
	case !st.Mode().IsRegular():
		return nil, &PathError{Path: p, Reason: errNotRegular.Error()}
	}
	return w.root.ReadFile(filepath.FromSlash(p))
}

func isFolder(p string) error {
	return fmt.Errorf("%s is a folder: %w", p, fs.ErrNotExist)
}

// WriteFile writes data to p, whole or not at all: into a temporary file in the
// same folder, which is synced and renamed over p, and the folder synced. Missing
// folders are made (0700). A new file gets mode 0600, an old one keeps its own.
func (w *WorkTree) WriteFile(p string, data []byte) error {
	return w.WriteFiles(context.Background(), func(yield func(string, []byte) bool) { yield(p, data) }, nil)
}

// writeBatch is how many files WriteFiles syncs at once.
const writeBatch = 64

// WriteFiles is WriteFile for many files, in the order given, with one sync for
// each folder, at the end. It stops at the first error, or when ctx is done; the
// files named before are then there whole, but their names may not be durable.
//
// A folder without a file in it gives way to a file. Where something else is in the
// way, or this system cannot hold the name ([IsPlaceError]), refused is told and the
// file passed over; with a nil refused that is an error too.
func (w *WorkTree) WriteFiles(ctx context.Context, files iter.Seq2[string, []byte], refused func(path string, err error)) error {
	b := fileBatch{w: w, dirs: map[string]bool{}, refused: refused}
	defer b.discard()
	for p, data := range files {
		err := ctx.Err()
		if err == nil {
			err = b.add(p, data)
		}
		if err == nil && len(b.files) == writeBatch {
			err = b.publish()
		}
		if err != nil {
			return err
		}
	}
	if err := b.publish(); err != nil {
		return err
	}
	return w.syncDirs(b.dirs)
}

func (w *WorkTree) syncDirs(dirs map[string]bool) error {
	for dir := range dirs {
		// A folder that is gone by now has no names to keep.
		if err := syncRootDir(w.root, filepath.FromSlash(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sync %s: %w", dir, err)
		}
	}
	return nil
}

// Remove removes the file at p, and the folders that it leaves empty. A file that
// is not there, or a folder in its place, is no error.
func (w *WorkTree) Remove(p string) error {
	st, err := w.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case st.IsDir():
		return nil
	}
	if err := w.root.Remove(filepath.FromSlash(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	delete(w.written, p)
	dir := path.Dir(p)
	for dir != "." && w.root.Remove(filepath.FromSlash(dir)) == nil {
		dir = path.Dir(dir)
	}
	return w.syncDirs(map[string]bool{dir: true})
}

// isTemp reports whether name is that of a file being written.
func isTemp(name string) bool { return strings.HasPrefix(name, TempPrefix) }
