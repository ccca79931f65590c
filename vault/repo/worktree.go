package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

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

// ReadFile returns the content of a regular file.
func (w *WorkTree) ReadFile(p string) ([]byte, error) {
	st, err := w.Stat(p)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &PathError{Path: p, Reason: "is not a regular file"}
	}
	return w.root.ReadFile(filepath.FromSlash(p))
}

// WriteFile writes data to p, whole or not at all: into a temporary file in the
// same folder, which is synced and renamed over p, and the folder synced. Missing
// folders are made (0700). A new file gets mode 0600, an old one keeps its own.
func (w *WorkTree) WriteFile(p string, data []byte) error {
	dirs := map[string]bool{}
	if err := w.write(p, data, dirs); err != nil {
		return fmt.Errorf("write %s: %w", p, err)
	}
	return w.syncDirs(dirs)
}

// WriteFiles is WriteFile for many files, with one sync for each folder. It stops
// at the first error; what is durable then is only known of files that are there
// whole.
func (w *WorkTree) WriteFiles(ctx context.Context, files iter.Seq2[string, []byte]) error {
	dirs := map[string]bool{}
	for p, data := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.write(p, data, dirs); err != nil {
			return fmt.Errorf("write %s: %w", p, err)
		}
	}
	return w.syncDirs(dirs)
}

// write notes in dirs the folders that have to be synced.
func (w *WorkTree) write(p string, data []byte, dirs map[string]bool) error {
	if err := CheckHostPath(p); err != nil {
		return err
	}
	for try := 0; ; try++ {
		made := dirs
		if try > 0 { // somebody pruned the folder that we had made: look at all of them again
			made = map[string]bool{}
		}
		err := w.writeOnce(p, data, made)
		maps.Copy(dirs, made)
		if try > 5 || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

func (w *WorkTree) writeOnce(p string, data []byte, dirs map[string]bool) error {
	dir := path.Dir(p)
	if err := w.makeDirs(dir, dirs); err != nil {
		return err
	}
	perm := fs.FileMode(0o600)
	switch st, err := w.root.Lstat(filepath.FromSlash(p)); {
	case err == nil && st.Mode()&fs.ModeSymlink != 0:
		return ErrSymlink
	case err == nil && !st.Mode().IsRegular():
		return &PathError{Path: p, Reason: "is not a regular file"}
	case err == nil:
		perm = st.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	tmp := path.Join(dir, TempPrefix+strconv.FormatUint(rand.Uint64(), 36))
	st, err := w.replace(filepath.FromSlash(tmp), filepath.FromSlash(p), data, perm)
	if err != nil {
		return err
	}
	w.written[p] = writtenFile{hash: BlobHash(data), stat: st}
	dirs[dir] = true
	return nil
}

// replace writes data to tmp and renames it over p, and returns what p then is.
// The file is described through its own handle, which nobody can have swapped.
func (w *WorkTree) replace(tmp, p string, data []byte, perm fs.FileMode) (st fileStat, err error) {
	f, err := w.root.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return st, err
	}
	defer func() {
		if err != nil {
			f.Close()
			w.root.Remove(tmp)
		}
	}()
	if _, err := f.Write(data); err != nil {
		return st, err
	}
	if perm != 0o600 {
		if err := f.Chmod(perm); err != nil {
			return st, err
		}
	}
	if err := f.Sync(); err != nil {
		return st, err
	}
	return renameWritten(w.root, f, tmp, p)
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
		return fmt.Errorf("%s: %w", dir, syscall.ENOTDIR)
	}
	return nil
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
// is not there is no error; a folder is.
func (w *WorkTree) Remove(p string) error {
	st, err := w.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case st.IsDir():
		return &PathError{Path: p, Reason: "is a folder"}
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
