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
}

func openScanRoot(w *WorkTree) (scanDir, error) { return scanDir{w.root, "."}, nil }

func (d scanDir) close() {}

func (d scanDir) sub(name string) (scanDir, error) {
	return scanDir{d.root, filepath.Join(d.path, name)}, nil
}

func (d scanDir) list() ([]scanItem, error) {
	f, err := d.root.Open(d.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	items := make([]scanItem, 0, len(names))
	for _, e := range names {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		switch {
		case info.IsDir():
			items = append(items, scanItem{key: e.Name() + "/", kind: itemDir})
		case info.Mode().IsRegular():
			items = append(items, scanItem{key: e.Name(), kind: itemFile, info: info})
		default:
			items = append(items, scanItem{key: e.Name(), kind: itemSpecial}, scanItem{key: e.Name() + "/", kind: itemBelow})
		}
	}
	return items, nil
}

func (d scanDir) stat(i *scanItem) (fileStat, error) { return statOf(i.info), nil }

// hash reads the file and returns its blob id, and what the file is.
func (d scanDir) hash(i *scanItem) (plumbing.Hash, fileStat, error) {
	f, err := d.root.Open(filepath.Join(d.path, i.key))
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
