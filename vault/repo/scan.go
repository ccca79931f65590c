package repo

import (
	"context"
	"errors"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// ScanOptions tune [GitDir.Scan].
type ScanOptions struct {
	// Filter admits a file, or lets the scan enter a folder; nil admits all.
	Filter func(path string, isDir bool) bool
	// MaxSize is the size of the largest file that is read, in bytes; a larger
	// one that has to be is unreadable, with ErrTooLarge. 0 means no limit.
	MaxSize int64
	// NoIndex reads every file as if git's index were empty; for when it is corrupt.
	NoIndex bool
}

// ErrTooLarge: a file is larger than a scan may read.
var ErrTooLarge = errors.New("is too large")

// ScanResult is what lies in the work tree, compared with git's index.
type ScanResult struct {
	Files   []ScanFile  // regular files, by path
	Missing []ScanEntry // in the index, and not on disk; by path
	// Unreadable is what could not be looked at: folders and files with an error,
	// symbolic links and other special files where the index has a file, and what
	// the index has below such. None of it may be taken for missing.
	Unreadable []UnreadablePath
	Conflicted []string // paths with unmerged entries; by path
	Temps      []string // files with [TempPrefix], left by a process that was killed
}

// ScanFile is one regular file of the work tree.
type ScanFile struct {
	Path      string
	Hash      plumbing.Hash // blob id of the content on disk
	IndexHash plumbing.Hash // blob id in the index; zero: untracked, or unmerged
	Size      int64
	ModTime   time.Time
	Mode      filemode.FileMode // Regular or Executable
}

// ScanEntry is an entry of the index.
type ScanEntry struct {
	Path string
	Hash plumbing.Hash
}

// UnreadablePath is a file or folder that could not be looked at.
type UnreadablePath struct {
	Path string
	Err  error
}

// Scan compares the work tree with git's index, and writes nothing. A file whose
// times, size and inode are those of its index entry has the entry's content,
// unless it is as young as the index; every other admitted file is read. Nothing
// is followed or entered that is a symbolic link, a repository of its own, .git or
// node_modules.
func (g *GitDir) Scan(ctx context.Context, o ScanOptions) (*ScanResult, error) {
	if g.work == nil {
		return nil, errors.New("scan: repository has no work tree")
	}
	var x *indexFile
	if !o.NoIndex {
		var err error
		if x, err = g.readIndex(false); err != nil {
			return nil, err
		}
	}
	if x == nil {
		x = &indexFile{body: make([]byte, indexHead)}
	}
	s := scanner{
		ctx: ctx, x: x, at: indexHead, left: x.count, filter: o.Filter, maxSize: o.MaxSize,
		trustCtime: g.config.bool("core.trustctime", true),
		fileMode:   g.config.bool("core.filemode", true),
		res:        &ScanResult{Files: make([]ScanFile, 0, x.count)},
		admitted:   map[string]bool{},
	}
	if s.filter == nil {
		s.filter = func(string, bool) bool { return true }
	}
	if err := s.run(g.work); err != nil {
		return nil, err
	}
	return s.res, nil
}
