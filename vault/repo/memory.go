package repo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Memory is a Store that lives as long as the process. Unlike other stores it
// may be used by several goroutines at once.
type Memory struct {
	mu      sync.RWMutex
	objects map[plumbing.Hash]memObject
	refs    map[string]plumbing.Hash
}

type memObject struct {
	t       plumbing.ObjectType
	content []byte
}

var (
	_ Store    = (*Memory)(nil)
	_ RawStore = (*Memory)(nil)
)

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{objects: map[plumbing.Hash]memObject{}, refs: map[string]plumbing.Hash{}}
}

// ReadObject implements [RawStore].
func (m *Memory) ReadObject(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	o, ok := m.objects[h]
	if !ok {
		return 0, nil, ErrObjectNotFound
	}
	return o.t, o.content, nil
}

// WriteObject implements [RawStore].
func (m *Memory) WriteObject(t plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	h := ObjectHash(t, content)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[h] = memObject{t: t, content: content}
	return h, nil
}

// NewEncodedObject implements storer.EncodedObjectStorer.
func (m *Memory) NewEncodedObject() plumbing.EncodedObject { return &plumbing.MemoryObject{} }

// SetEncodedObject implements storer.EncodedObjectStorer.
func (m *Memory) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	return setEncodedObject(m, o)
}

// EncodedObject implements storer.EncodedObjectStorer.
func (m *Memory) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	return getEncodedObject(m, t, h)
}

// IterEncodedObjects implements storer.EncodedObjectStorer.
func (m *Memory) IterEncodedObjects(t plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var hashes []plumbing.Hash
	for h, o := range m.objects {
		if t == plumbing.AnyObject || t == o.t {
			hashes = append(hashes, h)
		}
	}
	slices.SortFunc(hashes, compareHashes)
	return storer.NewEncodedObjectLookupIter(m, t, hashes), nil
}

// HasEncodedObject implements storer.EncodedObjectStorer.
func (m *Memory) HasEncodedObject(h plumbing.Hash) error {
	_, _, err := m.ReadObject(h)
	return err
}

// EncodedObjectSize implements storer.EncodedObjectStorer.
func (m *Memory) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	_, b, err := m.ReadObject(h)
	return int64(len(b)), err
}

// AddAlternate implements storer.EncodedObjectStorer; a Memory has none.
func (m *Memory) AddAlternate(string) error { return errNoAlternates }

// Ref implements [Store].
func (m *Memory) Ref(name string) (plumbing.Hash, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	h, ok := m.refs[name]
	if !ok {
		return h, fmt.Errorf("%s: %w", name, ErrRefNotFound)
	}
	return h, nil
}

// Refs implements [Store].
func (m *Memory) Refs(prefix string) (map[string]plumbing.Hash, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	refs := maps.Clone(m.refs)
	maps.DeleteFunc(refs, func(name string, _ plumbing.Hash) bool { return !strings.HasPrefix(name, prefix) })
	return refs, nil
}

// CompareAndSet implements [Store].
func (m *Memory) CompareAndSet(name string, old, new plumbing.Hash, _ string) error {
	if err := CheckRefName(name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refs[name] != old {
		return fmt.Errorf("%s is at %s, not at %s: %w", name, m.refs[name], old, ErrRefMoved)
	}
	if new.IsZero() {
		delete(m.refs, name)
		return nil
	}
	if _, ok := m.objects[new]; !ok {
		return fmt.Errorf("set %s to %s: %w", name, new, ErrObjectNotFound)
	}
	for other := range m.refs {
		if refsClash(name, other) {
			return fmt.Errorf("set %s: %s exists: %w", name, other, ErrPathClash)
		}
	}
	m.refs[name] = new
	return nil
}

// Flush implements [Store].
func (m *Memory) Flush() error { return nil }
