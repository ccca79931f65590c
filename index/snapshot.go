package index

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// snapshot is the generations that one manifest names, open. Searches share
// it; it is closed when the index has a newer one and no search uses it.
type snapshot struct {
	manifest []byte // as read
	gens     []*openGeneration
	damaged  []error // why generations of the manifest are missing here
	refs     atomic.Int32

	mu   sync.Mutex
	src  Source // that view is of
	view *view
}

func (s *snapshot) release() {
	if s.refs.Add(-1) == 0 {
		for _, g := range s.gens {
			g.release()
		}
	}
}

// unopened returns why a generation that is neither damaged nor gone could not
// be opened.
func (s *snapshot) unopened() error {
	for _, err := range s.damaged {
		if _, ok := errors.AsType[*damagedError](err); !ok && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// acquire returns the snapshot of the manifest as it is now. The caller releases it.
func (x *Index) acquire() *snapshot {
	x.mu.Lock()
	defer x.mu.Unlock()
	for range 3 { // a writer may retire what we are about to open
		raw, err := os.ReadFile(filepath.Join(x.dir, manifestName))
		if err != nil {
			raw = nil
		}
		if x.current != nil && bytes.Equal(x.current.manifest, raw) {
			break
		}
		s, err := x.open(parseManifest(raw), raw)
		if x.current != nil {
			x.current.release()
		}
		x.current = s
		if err == nil {
			break
		}
		s.manifest = nil // look again
	}
	x.current.refs.Add(1)
	return x.current
}

// open opens the generations of m, taking over those that are open already.
// The error is set when one could not be opened that need not be damaged: its
// files are gone, or no more files can be opened.
func (x *Index) open(m manifest, raw []byte) (*snapshot, error) {
	s := &snapshot{manifest: append([]byte{}, raw...)}
	s.refs.Store(1)
	have := map[string]*openGeneration{}
	if x.current != nil {
		for _, g := range x.current.gens {
			have[g.Name] = g
		}
	}
	var missing error
	for _, g := range m.Generations {
		if x.suspects[g.Name] {
			continue
		}
		if o := have[g.Name]; o != nil && o.generation == g {
			o.refs.Add(1)
			s.gens = append(s.gens, o)
			continue
		}
		o, err := g.open(x.dir)
		if err == nil {
			s.gens = append(s.gens, o)
			continue
		}
		s.damaged = append(s.damaged, err)
		if _, ok := errors.AsType[*damagedError](err); ok {
			x.suspect(g.Name)
		} else {
			missing = err
		}
	}
	return s, missing
}

// distrust takes a generation that turned out to be damaged out of use. It
// reports false when it was out of use already.
func (x *Index) distrust(err *damagedError) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.suspects[err.name] {
		return false
	}
	x.suspect(err.name)
	if x.current == nil {
		return true
	}
	old := x.current
	s := &snapshot{manifest: old.manifest, damaged: append(old.damaged[:len(old.damaged):len(old.damaged)], err)}
	s.refs.Store(1)
	for _, g := range old.gens {
		if !x.suspects[g.Name] {
			g.refs.Add(1)
			s.gens = append(s.gens, g)
		}
	}
	x.current = s
	old.release()
	return true
}

// suspect remembers that the generation name is damaged, here and, where that
// can be written, for the next writer. The caller holds x.mu.
func (x *Index) suspect(name string) {
	x.suspects[name] = true
	_ = os.WriteFile(filepath.Join(x.dir, name+suspectExt), nil, 0o600)
}
