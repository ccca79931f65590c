package transport

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxChain bounds the deltas on top of one another; git itself stops at 4095.
const maxChain = 4095

// An indexer reads a whole pack, checks it and learns the id of each object.
// It holds no contents but those of one delta chain; about 100 bytes an object.
type indexer struct {
	pack io.ReaderAt
	size int64
	// emit, when set, is given every object once; content may be kept.
	emit func(t plumbing.ObjectType, content []byte) error
	tick func(done, total int)

	entries  []entry
	children [][]int32                 // deltas by the index of their base
	orphans  map[plumbing.Hash][]int32 // deltas by the id of a base not yet seen
	resolved int
	inf      inflater
}

// run fills entries, sorted by id, and returns the pack's own checksum.
func (x *indexer) run(ctx context.Context) (plumbing.Hash, error) {
	sum, err := x.scan(ctx)
	if err != nil {
		return sum, asCorrupt(err)
	}
	if err := x.resolve(ctx); err != nil {
		return sum, asCorrupt(err)
	}
	slices.SortFunc(x.entries, func(a, b entry) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	for i := 1; i < len(x.entries); i++ {
		if x.entries[i].hash == x.entries[i-1].hash {
			return sum, corrupt("the pack holds %s twice", x.entries[i].hash)
		}
	}
	return sum, nil
}

// asCorrupt classes what a reader of damaged bytes says. Errors of this host
// and of emit are marked by localError.
func asCorrupt(err error) error {
	if local, ok := errors.AsType[*localError](err); ok {
		return local.err
	}
	if errors.Is(err, ErrCorrupt) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return corrupt("the pack is damaged: %w", err)
}

// localError keeps a failure to write here apart from a damaged pack.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

// scan reads the pack once from start to end.
func (x *indexer) scan(ctx context.Context) (plumbing.Hash, error) {
	body := x.size - packTrailer
	if body < packHeader {
		return plumbing.ZeroHash, corrupt("a pack of %d bytes", x.size)
	}
	digest := sha1.New()
	raw := newRawReader(64 << 10)
	raw.reset(io.TeeReader(io.NewSectionReader(x.pack, 0, body), digest), 0)
	var head [packHeader]byte
	if _, err := io.ReadFull(raw, head[:]); err != nil {
		return plumbing.ZeroHash, err
	}
	count, err := readPackHeader(head[:])
	if err != nil {
		return plumbing.ZeroHash, err
	}
	// Seven bytes is less than the smallest entry.
	if int64(count) > body/7 {
		return plumbing.ZeroHash, corrupt("%d objects in %d bytes", count, x.size)
	}
	x.entries = make([]entry, 0, count)
	x.children = make([][]int32, count)
	x.orphans = map[plumbing.Hash][]int32{}
	if err := x.scanEntries(ctx, raw, count); err != nil {
		return plumbing.ZeroHash, err
	}
	if raw.offset() != body {
		return plumbing.ZeroHash, corrupt("%d bytes after the last object", body-raw.offset())
	}
	var want plumbing.Hash
	if _, err := x.pack.ReadAt(want[:], body); err != nil {
		return want, err
	}
	if got := plumbing.Hash(digest.Sum(nil)); got != want {
		return want, corrupt("the checksum of the pack is %s, not %s", got, want)
	}
	return want, nil
}

func (x *indexer) scanEntries(ctx context.Context, raw *rawReader, count int) error {
	var buf []byte
	for i := range count {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		raw.mark()
		e, baseAt, err := readEntryHeader(raw)
		if err != nil {
			return err
		}
		kept := x.emit != nil && !e.isDelta() // by emit, so not to be used again
		into := buf
		if kept {
			into = nil
		}
		content, err := x.inf.inflate(raw, e.size, into)
		if err != nil {
			return fmt.Errorf("object at byte %d: %w", e.offset, err)
		}
		e.crc = raw.sum()
		if err := x.addEntry(&e, baseAt, content); err != nil {
			return err
		}
		if !kept {
			buf = content
		}
	}
	return nil
}

// addEntry settles a whole object at once and notes on whom a delta waits.
func (x *indexer) addEntry(e *entry, baseAt int64, content []byte) error {
	i := int32(len(x.entries))
	switch e.typ {
	case plumbing.OFSDeltaObject:
		base, found := slices.BinarySearchFunc(x.entries, baseAt, func(e entry, at int64) int {
			return int(min(max(e.offset-at, -1), 1))
		})
		if !found {
			return corrupt("the delta at byte %d has no base", e.offset)
		}
		e.base = base
		x.children[base] = append(x.children[base], i)
	case plumbing.REFDeltaObject:
		x.orphans[e.baseRef] = append(x.orphans[e.baseRef], i)
	default:
		if err := x.settle(e, e.typ, content); err != nil {
			return err
		}
	}
	x.entries = append(x.entries, *e)
	return nil
}

// settle gives e its id and hands the object out.
func (x *indexer) settle(e *entry, t plumbing.ObjectType, content []byte) error {
	hasher := plumbing.NewHasher(t, int64(len(content)))
	hasher.Write(content)
	e.hash, e.typ = hasher.Sum(), t
	x.resolved++
	if x.tick != nil {
		x.tick(x.resolved, len(x.children))
	}
	if x.emit == nil {
		return nil
	}
	if err := x.emit(t, content); err != nil {
		return &localError{err}
	}
	return nil
}

// resolve applies the deltas, each chain from its whole object upwards.
func (x *indexer) resolve(ctx context.Context) error {
	for i := range x.entries {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e := &x.entries[i]
		if e.hash.IsZero() || e.base >= 0 || !e.baseRef.IsZero() {
			continue
		}
		if len(x.children[i]) == 0 && len(x.orphans[e.hash]) == 0 {
			continue
		}
		content, err := x.inf.inflateAt(x.pack, e, nil)
		if err != nil {
			return err
		}
		if err := x.descend(i, content, 0); err != nil {
			return err
		}
	}
	for base := range x.orphans {
		return corrupt("the pack has a delta of %s, which it does not hold", base)
	}
	if x.resolved != len(x.entries) {
		return corrupt("%d deltas depend on one another", len(x.entries)-x.resolved)
	}
	return nil
}

// descend settles the deltas on top of entry i, whose content is known.
func (x *indexer) descend(i int, content []byte, depth int) error {
	if depth > maxChain {
		return corrupt("a chain of more than %d deltas", maxChain)
	}
	base := &x.entries[i]
	kids := append(x.children[i], x.orphans[base.hash]...)
	delete(x.orphans, base.hash)
	for _, k := range kids {
		e := &x.entries[k]
		delta, err := x.inf.inflateAt(x.pack, e, nil)
		if err != nil {
			return err
		}
		made, err := applyDelta(content, delta)
		if err != nil {
			return fmt.Errorf("object at byte %d: %w", e.offset, err)
		}
		if err := x.settle(e, base.typ, made); err != nil {
			return err
		}
		if err := x.descend(int(k), made, depth+1); err != nil {
			return err
		}
	}
	return nil
}
