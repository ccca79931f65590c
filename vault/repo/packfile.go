package repo

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
)

// packFile is a pack that is being written into objects/pack. Until finish it has
// a temporary name, which git's gc sweeps.
type packFile struct {
	*packEncoder
	dir string
	f   *os.File
	buf *bufio.Writer
}

func createPackFile(objects string) (*packFile, error) {
	dir := filepath.Join(objects, "pack")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "tmp_pack_")
	if err != nil {
		return nil, err
	}
	buf := bufio.NewWriterSize(f, 1<<16)
	return &packFile{packEncoder: newPackEncoder(buf), dir: dir, f: f, buf: buf}, nil
}

// discard removes the file; after finish it does nothing.
func (p *packFile) discard() {
	p.f.Close()
	os.Remove(p.f.Name())
}

// finish makes the pack and its index durable and gives them their names, and
// returns the path of the pack.
func (p *packFile) finish() (string, error) {
	sum, err := p.trailer()
	if err != nil {
		return "", err
	}
	if err := p.buf.Flush(); err != nil {
		return "", err
	}
	return publishPack(p.dir, p.f, p.entries, sum)
}

// publishPack indexes the pack in tmp and names both files. The index comes last:
// a pack without one is not there, for git as for us.
func publishPack(dir string, tmp *os.File, entries []packEntry, sum plumbing.Hash) (_ string, err error) {
	idx, err := os.CreateTemp(dir, "tmp_idx_")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			idx.Close()
			os.Remove(idx.Name())
		}
	}()
	if err := writePackIndex(idx, entries, sum); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "pack-"+sum.String()+".pack")
	for _, f := range []struct {
		tmp  *os.File
		path string
	}{{tmp, path}, {idx, path[:len(path)-len("pack")] + "idx"}} {
		err := errors.Join(f.tmp.Chmod(0o444), f.tmp.Sync(), f.tmp.Close())
		if err != nil {
			return "", fmt.Errorf("write pack: %w", err)
		}
		if err := renameObject(f.tmp.Name(), f.path); err != nil {
			return "", fmt.Errorf("write pack: %w", err)
		}
	}
	return path, syncDir(dir)
}
