package repo

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

var errSkeleton = errors.New("skeleton")

// ErrNotRepository: a folder is not the root of a git work tree.
var ErrNotRepository = errors.New("not a git repository")

// UnsupportedError: the repository uses something of git's that this package
// does not speak.
type UnsupportedError struct {
	Feature string // as git calls it
	Remedy  string // what the owner can do
}

func (e *UnsupportedError) Error() string {
	return "git repository uses " + e.Feature + ", which vade does not support: " + e.Remedy
}

// LockedError: another process, a git command or an editor's plugin, held a lock
// file for longer than we wait (2 s).
type LockedError struct {
	Path string
	Age  time.Duration
}

func (e *LockedError) Error() string {
	return e.Path + " is held by another git process since " + e.Age.Round(time.Second).String() +
		"; if none is running, delete the file"
}

// GitDir is the git directory of a work tree on this host, as a [Store].
type GitDir struct {
	// Committer signs reflog lines; its time is ignored.
	Committer Signature
	// Warn is told what was mended, such as a stale lock; nil logs to slog.
	Warn func(msg string)
}

var (
	_ Store                 = (*GitDir)(nil)
	_ RawStore              = (*GitDir)(nil)
	_ storer.PackfileWriter = (*GitDir)(nil)
)

// Init makes workTree a git work tree with the unborn branch main, folders and
// all, and opens it. On an existing repository it is Open; after a crash it
// finishes what was begun.
func Init(workTree string) (*GitDir, error) { return nil, errSkeleton }

// Open opens the repository whose work tree is workTree. GIT_* variables and
// configuration outside the repository are ignored.
func Open(workTree string) (*GitDir, error) { return nil, errSkeleton }

// OpenBare opens a git directory without its work tree.
func OpenBare(gitDir string) (*GitDir, error) { return nil, errSkeleton }

// Close releases open files.
func (g *GitDir) Close() error { return nil }

// Dir is the git directory, absolute.
func (g *GitDir) Dir() string { return "" }

// WorkTree is the work tree; nil after OpenBare.
func (g *GitDir) WorkTree() *WorkTree { return nil }

// Reload forgets what was read of packs and refs.
func (g *GitDir) Reload() {}

// Head returns the branch that HEAD names ("" when detached) and its commit
// (zero when the branch is unborn).
func (g *GitDir) Head() (branch string, commit plumbing.Hash, err error) {
	return "", plumbing.ZeroHash, errSkeleton
}

func (g *GitDir) ReadObject(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	return 0, nil, errSkeleton
}

func (g *GitDir) WriteObject(t plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	return plumbing.ZeroHash, errSkeleton
}
func (g *GitDir) NewEncodedObject() plumbing.EncodedObject { return &plumbing.MemoryObject{} }
func (g *GitDir) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	return setEncodedObject(g, o)
}

func (g *GitDir) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	return getEncodedObject(g, t, h)
}

func (g *GitDir) IterEncodedObjects(t plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	return nil, errSkeleton
}
func (g *GitDir) HasEncodedObject(h plumbing.Hash) error           { return errSkeleton }
func (g *GitDir) EncodedObjectSize(h plumbing.Hash) (int64, error) { return 0, errSkeleton }
func (g *GitDir) AddAlternate(string) error                        { return errNoAlternates }
func (g *GitDir) Ref(name string) (plumbing.Hash, error)           { return plumbing.ZeroHash, errSkeleton }
func (g *GitDir) Refs(prefix string) (map[string]plumbing.Hash, error) {
	return nil, errSkeleton
}

func (g *GitDir) CompareAndSet(name string, old, new plumbing.Hash, reason string) error {
	return errSkeleton
}
func (g *GitDir) Flush() error { return errSkeleton }

// PackfileWriter takes a pack from a peer (fetch): Close indexes it, makes it
// durable and readable. Thin packs are completed from the store.
func (g *GitDir) PackfileWriter() (io.WriteCloser, error) { return nil, errSkeleton }

// PackOptions tune [GitDir.PackLoose].
type PackOptions struct {
	Loose int // pack when there are more loose objects than this; 0 means 2000
	Packs int // merge packs when there are more than this; 0 means 50
}

// PackStats says what [GitDir.PackLoose] did; all zero when there was no need.
type PackStats struct {
	Objects int   // objects in the new pack
	Bytes   int64 // size of the new pack
	Packs   int   // packs that went into it
}

// PackLoose moves loose objects into one pack when there are many of them.
func (g *GitDir) PackLoose(ctx context.Context, o PackOptions) (PackStats, error) {
	return PackStats{}, errSkeleton
}

// Operation is what a human is in the middle of.
type Operation string

// Operations, as git status names them.
const (
	NoOperation Operation = ""
	Merging     Operation = "merge"
	Rebasing    Operation = "rebase"
	Applying    Operation = "am"
	CherryPick  Operation = "cherry-pick"
	Reverting   Operation = "revert"
	Bisecting   Operation = "bisect"
)

// State is where HEAD is and what is going on.
type State struct {
	Branch    string        // "refs/heads/main"; "" when HEAD is detached
	Commit    plumbing.Hash // zero: unborn branch
	Operation Operation
}

// State reads HEAD and looks for a merge, rebase, … in progress.
func (g *GitDir) State() (State, error) { return State{}, errSkeleton }

// Config returns the last value of key ("section.name" or
// "section.subsection.name") in the repository's own config, and whether there
// is one.
func (g *GitDir) Config(key string) (value string, ok bool, err error) { return "", false, errSkeleton }

// SetConfig sets key in the repository's config, and leaves every other byte of
// the file as it is.
func (g *GitDir) SetConfig(key, value string) error { return errSkeleton }

// UnsetConfig removes every value of key.
func (g *GitDir) UnsetConfig(key string) error { return errSkeleton }

// Remote is a remote in the repository's config.
type Remote struct {
	Name string
	URL  string
}

// Remotes lists the remotes in the order of the file.
func (g *GitDir) Remotes() ([]Remote, error) { return nil, errSkeleton }

// SetRemote adds a remote, or changes its URL, with git's default refspec.
func (g *GitDir) SetRemote(name, url string) error { return errSkeleton }

// RemoveRemote removes the remote and its settings.
func (g *GitDir) RemoveRemote(name string) error { return errSkeleton }

// WorkTree is the folder that the files of a vault lie in. No method follows a
// symbolic link, nor leaves the folder. Paths are slash-separated.
type WorkTree struct{}

// Path is the folder, absolute.
func (w *WorkTree) Path() string { return "" }

// ErrSymlink: a path is, or leads through, a symbolic link.
var ErrSymlink = errors.New("is a symbolic link")

// ReadFile returns the content of a regular file.
func (w *WorkTree) ReadFile(path string) ([]byte, error) { return nil, errSkeleton }

// WriteFile writes data to path, whole or not at all; it is durable on return.
// Missing folders are made.
func (w *WorkTree) WriteFile(path string, data []byte) error { return errSkeleton }

// WriteFiles is WriteFile for many, with one fsync for each folder. It stops at
// the first error.
func (w *WorkTree) WriteFiles(ctx context.Context, files iter.Seq2[string, []byte]) error {
	return errSkeleton
}

// Remove removes the file at path, and the folders that it leaves empty. A file
// that is not there is no error.
func (w *WorkTree) Remove(path string) error { return errSkeleton }

// Stat describes the file or folder at path itself.
func (w *WorkTree) Stat(path string) (fs.FileInfo, error) { return nil, errSkeleton }

// IndexChange puts a path into git's index as it lies in the work tree, or takes
// it out.
type IndexChange struct {
	Path string
	Hash plumbing.Hash     // blob; zero removes the path
	Mode filemode.FileMode // 0 keeps the entry's mode, else filemode.Regular
}

// Splice brings the entries of the changed paths in git's index up to date and
// leaves every other entry as it is.
func (g *GitDir) Splice(ctx context.Context, changes []IndexChange) error { return errSkeleton }

// ScanOptions tune [GitDir.Scan].
type ScanOptions struct {
	// Filter admits a file, or lets the scan enter a folder; nil admits all.
	Filter func(path string, isDir bool) bool
}

// ScanResult is what lies in the work tree, compared with git's index.
type ScanResult struct {
	Files      []ScanFile       // by path
	Missing    []ScanEntry      // in the index, not on disk
	Unreadable []UnreadablePath // could not be looked at: never to be taken as missing
	Conflicted []string         // paths with unmerged entries
}

// ScanFile is one regular file of the work tree.
type ScanFile struct {
	Path      string
	Hash      plumbing.Hash // blob id of the content on disk
	IndexHash plumbing.Hash // blob id in the index; zero: untracked
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

// Scan compares the work tree with git's index.
func (g *GitDir) Scan(ctx context.Context, o ScanOptions) (*ScanResult, error) {
	return nil, errSkeleton
}

// Ignore decides by the .gitignore files of a work tree.
type Ignore struct{}

// Ignore reads the .gitignore files lazily, as paths are asked for.
func (w *WorkTree) Ignore() *Ignore { return &Ignore{} }

// Match reports whether path is ignored.
func (i *Ignore) Match(path string, isDir bool) bool { return false }
