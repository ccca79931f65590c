package index

import (
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault"
)

// Source is what there is to search at one moment, sorted by path, each path
// once. The index calls it from one goroutine at a time.
type Source interface {
	Len() int
	// Key returns note i's path, slash-separated, and the git blob id of its
	// bytes as Read gives them. It is called for every note in every search.
	Key(i int) (path string, blob plumbing.Hash)
	// Meta returns what note i says about itself, without its body. It is
	// called for candidates only.
	Meta(i int) (*vault.Memory, error)
	// Read returns the bytes of note i's file. An error makes the note
	// unreadable: it is then found only through what a generation knows of it.
	Read(i int) ([]byte, error)
}

// Divided is a Source that knows where the passages of its notes start; those
// of any other are found by the structure of their markdown.
type Divided interface {
	Source
	// Passages returns the places in note i's bytes at which its passages
	// start, ascending; the first one begins with the text wherever it is said
	// to. The answer depends on the note's bytes alone. Nil: by its markdown.
	Passages(i int) []int
}

// Options tunes an Index. The zero value is right for use.
type Options struct {
	// LockWait is how long Update waits for another writer before it leaves
	// the work to it; 0 means 50 ms.
	LockWait time.Duration
	// Grace is how long a generation stays on disk after it was replaced, for
	// readers that have read the manifest and not opened it yet; 0 means a minute.
	Grace time.Duration
}

// Index is the derived index in one folder. Its methods may be called from
// several goroutines at once, and from several processes on the same folder.
type Index struct {
	dir     string
	opts    Options
	certain int // entries for each hit that is asked for, see gathering.keep

	mu       sync.Mutex
	current  *snapshot
	suspects map[string]bool // generations that turned out to be damaged
	analysed noteCache
}

// Open returns the index in dir, which need not exist: it is made by the first
// Update. A bad index is no error; what it would have held is searched in memory.
func Open(dir string, opts Options) (*Index, error) {
	if opts.LockWait == 0 {
		opts.LockWait = 50 * time.Millisecond
	}
	if opts.Grace == 0 {
		opts.Grace = time.Minute
	}
	return &Index{dir: dir, opts: opts, certain: 24, suspects: map[string]bool{}}, nil
}

// Close lets go of the files. Searches that are under way end normally.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current != nil {
		x.current.release()
		x.current = nil
	}
	return nil
}
