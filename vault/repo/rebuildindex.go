package repo

import (
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// RebuildIndex replaces git's index by one made from HEAD, as git reset does; what
// was staged is lost. The old file is kept as index.broken beside it.
func (g *GitDir) RebuildIndex(ctx context.Context) error {
	l, err := g.lock(g.indexPath())
	if err != nil {
		return err
	}
	x, err := g.indexFromHead()
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		sum := sha1.Sum(x.body)
		_, err = l.Write(append(x.body, sum[:]...))
	}
	if err == nil {
		if err = os.Rename(g.indexPath(), g.indexPath()+".broken"); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		l.release()
		return fmt.Errorf("rebuild git index: %w", err)
	}
	return l.commit()
}

// indexFromHead makes an index with the files of HEAD. It knows nothing of the
// files on disk; git looks at them when it is next asked.
func (g *GitDir) indexFromHead() (*indexFile, error) {
	_, commit, err := g.Head()
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(g, commit)
	if err != nil {
		return nil, err
	}
	var files []File
	for f, err := range Files(g, tree, "") {
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	b := make([]byte, indexHead, indexHead+len(files)*128)
	copy(b, "DIRC\x00\x00\x00\x02")
	binary.BigEndian.PutUint32(b[8:], uint32(len(files)))
	for _, f := range files {
		b = appendIndexEntry(b, f.Path, f.Hash, indexMode(f.Mode), fileStat{})
	}
	return &indexFile{body: b, names: stringOf(b), version: 2, count: len(files)}, nil
}
