package repo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

const (
	// maxLoose is how many objects Flush writes as files of their own; more go
	// into one pack, which takes three fsyncs however many they are.
	maxLoose = 64
	// maxPending is how many bytes of unwritten objects are kept in memory.
	maxPending = 32 << 20
)

// pendingObjects are objects that were written but not flushed. A merge that is thrown
// away never touches the disk.
type pendingObjects struct {
	objects map[plumbing.Hash]memObject
	order   []plumbing.Hash
	size    int
}

func (p *pendingObjects) add(h plumbing.Hash, o memObject) {
	if p.objects == nil {
		p.objects = map[plumbing.Hash]memObject{}
	}
	p.objects[h] = o
	p.order = append(p.order, h)
	p.size += len(o.content)
}

// ReadObject implements [RawStore].
func (g *GitDir) ReadObject(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	if o, ok := g.pending.objects[h]; ok {
		return o.t, o.content, nil
	}
	return g.db.read(h)
}

// WriteObject implements [RawStore]. The object is on disk after Flush, or
// earlier when there are many.
func (g *GitDir) WriteObject(t plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	h := ObjectHash(t, content)
	if _, ok := g.pending.objects[h]; ok {
		return h, nil
	}
	stored, err := g.freshen(h)
	if err != nil || stored {
		return h, err
	}
	g.pending.add(h, memObject{t: t, content: content})
	if g.pending.size > maxPending {
		return h, g.Flush()
	}
	return h, nil
}

// freshen reports whether h is stored, and keeps it from a prune at work.
func (g *GitDir) freshen(h plumbing.Hash) (bool, error) {
	p, _, err := g.db.findPacked(h)
	if err != nil {
		return false, err
	}
	if p != nil {
		p.freshen()
		return true, nil
	}
	path, ok := g.db.looseFile(h)
	if ok {
		freshenLoose(path)
	}
	return ok, nil
}

// Flush implements [Store]: every object written so far is durable on return. A
// few objects become loose files, many become a pack.
func (g *GitDir) Flush() error {
	n := len(g.pending.order)
	if n == 0 {
		return nil
	}
	var err error
	if n <= maxLoose {
		err = g.loose.write(g.pending.objects)
	} else {
		err = g.flushPack()
	}
	if err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	g.pending = pendingObjects{}
	return nil
}

func (g *GitDir) flushPack() error {
	p, err := createPackFile(g.objects)
	if err != nil {
		return err
	}
	defer p.discard()
	if err := p.header(len(g.pending.order)); err != nil {
		return err
	}
	for _, h := range g.pending.order {
		o := g.pending.objects[h]
		if err := p.object(h, o.t, o.content); err != nil {
			return err
		}
	}
	if _, err := p.finish(); err != nil {
		return err
	}
	return g.db.list()
}

// NewEncodedObject implements storer.EncodedObjectStorer.
func (g *GitDir) NewEncodedObject() plumbing.EncodedObject { return &plumbing.MemoryObject{} }

// SetEncodedObject implements storer.EncodedObjectStorer.
func (g *GitDir) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	return setEncodedObject(g, o)
}

// EncodedObject implements storer.EncodedObjectStorer.
func (g *GitDir) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	return getEncodedObject(g, t, h)
}

// HasEncodedObject implements storer.EncodedObjectStorer.
func (g *GitDir) HasEncodedObject(h plumbing.Hash) error {
	if _, ok := g.pending.objects[h]; ok {
		return nil
	}
	for range 2 {
		ok, err := g.db.has(h)
		if err != nil || ok {
			return err
		}
		if err := g.db.list(); err != nil { // gc may have moved it
			return err
		}
	}
	return ErrObjectNotFound
}

// EncodedObjectSize implements storer.EncodedObjectStorer.
func (g *GitDir) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	if o, ok := g.pending.objects[h]; ok {
		return int64(len(o.content)), nil
	}
	return g.db.size(h)
}

// IterEncodedObjects implements storer.EncodedObjectStorer, over everything
// stored, reachable or not.
func (g *GitDir) IterEncodedObjects(t plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	hashes, err := g.db.hashes()
	if err != nil {
		return nil, err
	}
	hashes = append(hashes, g.pending.order...)
	slices.SortFunc(hashes, compareHashes)
	hashes = slices.Compact(hashes)
	if t != plumbing.AnyObject {
		keep := hashes[:0]
		for _, h := range hashes {
			got, _, err := g.ReadObject(h)
			if errors.Is(err, ErrObjectNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if got == t {
				keep = append(keep, h)
			}
		}
		hashes = keep
	}
	return storer.NewEncodedObjectLookupIter(g, t, hashes), nil
}

// AddAlternate implements storer.EncodedObjectStorer. Alternates are git's to
// set; the ones that are set are read.
func (g *GitDir) AddAlternate(string) error { return errNoAlternates }
