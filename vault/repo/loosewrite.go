package repo

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// looseWriter writes objects as loose files: each in a temporary file, which is
// on disk before it gets its name.
type looseWriter struct {
	objects string
	buf     bytes.Buffer
	stored  *zlib.Writer // for small objects
	fast    *zlib.Writer
}

// smallObject is up to where compressing a loose object gains nothing: a file
// takes whole blocks of 4 KiB. Packing compresses it later.
const smallObject = 3 << 10

type looseFile struct {
	f    *os.File // temporary
	path string
	err  error
}

// write makes every object durable. Objects that are there already are the same
// objects, so the order of names does not matter.
func (w *looseWriter) write(objects map[plumbing.Hash]memObject) error {
	files := make([]looseFile, 0, len(objects))
	defer func() {
		for _, f := range files {
			f.f.Close()
			os.Remove(f.f.Name()) // gone when it got its name
		}
	}()
	dirs := map[string]bool{}
	for h, o := range objects {
		path := loosePath(w.objects, h)
		dir := filepath.Dir(path)
		f, err := w.temp(dir, o)
		for try := 0; errors.Is(err, fs.ErrNotExist) && try < 20; try++ { // git gc removes folders that it empties
			if err = os.MkdirAll(dir, 0o777); err == nil {
				dirs[w.objects] = true
				f, err = w.temp(dir, o)
			}
		}
		if err != nil {
			return fmt.Errorf("write object %s: %w", h, err)
		}
		dirs[dir] = true
		files = append(files, looseFile{f: f, path: path})
	}
	return publish(files, dirs)
}

// temp writes o into a temporary file, whose name git's gc sweeps.
func (w *looseWriter) temp(dir string, o memObject) (*os.File, error) {
	w.buf.Reset()
	z, level := &w.fast, zlib.BestSpeed // as git does for loose objects
	if len(o.content) <= smallObject {
		z, level = &w.stored, zlib.NoCompression
	}
	if *z == nil {
		*z, _ = zlib.NewWriterLevel(&w.buf, level)
	} else {
		(*z).Reset(&w.buf)
	}
	(*z).Write(objectHeader(o.t, len(o.content)))
	(*z).Write(o.content)
	if err := (*z).Close(); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "tmp_obj_")
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(w.buf.Bytes()); err == nil {
		err = f.Chmod(0o444)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
	}
	return f, err
}

// publish syncs the files, names them, and syncs the folders. The syncs of one
// kind run together, so that the file system can answer them with one flush.
func publish(files []looseFile, dirs map[string]bool) error {
	each(len(files), func(i int) { files[i].err = files[i].f.Sync() })
	for _, f := range files {
		err := f.err
		if cerr := f.f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
		if err := renameObject(f.f.Name(), f.path); err != nil {
			return err
		}
	}
	if len(files) == 0 {
		return nil
	}
	last := filepath.Dir(files[len(files)-1].path)
	delete(dirs, last)
	return syncDirs(append(slices.Collect(maps.Keys(dirs)), last))
}

// syncEach makes the names in each of several folders durable.
func syncEach(dirs []string) error {
	errs := make([]error, len(dirs))
	each(len(dirs), func(i int) { errs[i] = syncDir(dirs[i]) })
	return errors.Join(errs...)
}

// each calls f with 0 to n-1, up to 16 at once.
func each(n int, f func(int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, 16) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// renameObject names a finished object or pack. Where the name is taken, by the
// same content, a rename over a read-only file fails on Windows; that is fine.
func renameObject(tmp, path string) error {
	err := os.Rename(tmp, path)
	if err == nil {
		return nil
	}
	if st, serr := os.Lstat(path); serr == nil && st.Size() > 0 {
		return os.Remove(tmp)
	}
	return err
}

// freshenLoose tells git's prune that an object is in use again.
func freshenLoose(path string) {
	now := time.Now()
	os.Chtimes(path, now, now) // best effort, as in git
}
