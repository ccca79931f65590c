package index

import (
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// noteCache keeps the analysis of notes that are not in a generation yet, so
// that a process that lives long analyses them once.
type noteCache struct {
	mu    sync.Mutex
	notes map[noteKey]*analysedNote
	size  int
}

type noteKey struct {
	path string
	blob plumbing.Hash
}

// maxCached bounds a noteCache, in bytes.
const maxCached = 32 << 20

func (c *noteCache) get(k noteKey) *analysedNote {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.notes[k]
}

func (c *noteCache) put(k noteKey, n *analysedNote) {
	size := n.size()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.notes == nil || c.size+size > maxCached {
		c.notes, c.size = map[noteKey]*analysedNote{}, 0
	}
	if size <= maxCached && c.notes[k] == nil {
		c.notes[k] = n
		c.size += size
	}
}
