package repo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
)

// scanDir is a folder below the root. Listing a folder tells everything that is
// wanted of its files, so each is looked at only once.
type scanDir struct {
	root *os.Root
	path string
	info map[string]fs.FileInfo // of files, from list
}

func openScanRoot(w *WorkTree) (*scanDir, error) { return &scanDir{root: w.root, path: "."}, nil }

func (d *scanDir) close() {}

func (d *scanDir) sub(name string) (*scanDir, error) {
	return &scanDir{root: d.root, path: filepath.Join(d.path, name)}, nil
}

func (d *scanDir) list(items []scanItem) ([]scanItem, error) {
	f, err := d.root.Open(d.path)
	if err != nil {
		return items, err
	}
	defer f.Close()
	names, err := f.ReadDir(-1)
	if err != nil {
		return items, err
	}
	d.info = make(map[string]fs.FileInfo, len(names))
	for _, e := range names {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return items, err
		}
		items = appendKey(items, e.Name()+"/", info.Mode().Type())
		if info.Mode().IsRegular() {
			d.info[e.Name()] = info
		}
	}
	return items, nil
}

func (d *scanDir) stat(name string) (fileStat, error) { return statOf(d.info[name]), nil }

// hash reads the file and returns its blob id, and what the file is.
func (d *scanDir) hash(name string) (plumbing.Hash, fileStat, error) {
	f, err := d.root.Open(filepath.Join(d.path, name))
	if err != nil {
		return plumbing.ZeroHash, fileStat{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return plumbing.ZeroHash, fileStat{}, err
	}
	h, err := hashFile(f, info.Size())
	return h, statOf(info), err
}
