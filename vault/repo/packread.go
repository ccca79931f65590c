package repo

import (
	"bufio"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

var errPack = errors.New("pack is malformed")

// maxObject bounds what is inflated into memory, so that a few bytes of a peer's
// pack cannot ask for all of it.
const maxObject = 1 << 30

// pack is a pack on disk with its index. Both files stay open until close, and
// can be read even when git gc has removed them meanwhile.
type pack struct {
	path  string // of the .pack
	idx   *packIndex
	idxF  *os.File
	f     *os.File // opened on first use
	inf   *inflater
	cache *deltaCache
	fresh bool // its time was brought up to date
}

func openPack(path string, inf *inflater, cache *deltaCache) (*pack, error) {
	f, err := os.Open(strings.TrimSuffix(path, ".pack") + ".idx")
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil {
		var x *packIndex
		if x, err = openPackIndex(f, st.Size()); err == nil {
			return &pack{path: path, idx: x, idxF: f, inf: inf, cache: cache}, nil
		}
	}
	f.Close()
	return nil, fmt.Errorf("%s: %w", f.Name(), err)
}

func (p *pack) close() {
	p.idxF.Close()
	if p.f != nil {
		p.f.Close()
	}
}

func (p *pack) open() error {
	if p.f != nil {
		return nil
	}
	f, err := os.Open(p.path)
	if err != nil {
		return err
	}
	p.f = f
	return nil
}

// freshen tells git's prune that an object of this pack is in use again.
func (p *pack) freshen() {
	if !p.fresh {
		p.fresh = true
		now := time.Now()
		os.Chtimes(p.path, now, now) // best effort: the objects are there either way
	}
}

// read returns the object at offset, with its delta chain resolved. lookup finds
// the base of a reference delta that is outside this pack.
func (p *pack) read(offset int64, lookup func(plumbing.Hash) (plumbing.ObjectType, []byte, error)) (plumbing.ObjectType, []byte, error) {
	t, b, err := p.resolve(offset, lookup)
	if err != nil {
		return 0, nil, fmt.Errorf("%s at %d: %w", filepath.Base(p.path), offset, err)
	}
	return t, b, nil
}

func (p *pack) resolve(offset int64, lookup func(plumbing.Hash) (plumbing.ObjectType, []byte, error)) (plumbing.ObjectType, []byte, error) {
	if err := p.open(); err != nil {
		return 0, nil, err
	}
	type step struct {
		offset int64
		delta  []byte
	}
	var chain []step
	var t plumbing.ObjectType
	var b []byte
	for b == nil {
		if hit, ok := p.cache.get(p, offset); ok {
			t, b = hit.t, hit.content
			break
		}
		e, err := readEntryHeader(p.f, offset)
		if err != nil {
			return 0, nil, err
		}
		data, err := p.inf.inflate(p.f, e.data, e.size)
		if err != nil {
			return 0, nil, err
		}
		switch e.t {
		case plumbing.OFSDeltaObject:
			chain = append(chain, step{offset, data})
			offset = e.base
		case plumbing.REFDeltaObject:
			chain = append(chain, step{offset, data})
			base, ok, err := p.idx.find(e.baseHash)
			if err != nil {
				return 0, nil, err
			}
			if ok {
				offset = base
			} else if t, b, err = lookup(e.baseHash); err != nil {
				return 0, nil, fmt.Errorf("base of delta: %w", err)
			}
		default:
			t, b = e.t, data
			if len(chain) > 0 {
				p.cache.put(p, offset, t, b)
			}
		}
		if len(chain) > 4095 { // git's own limit
			return 0, nil, errPack
		}
	}
	for i := len(chain) - 1; i >= 0; i-- {
		var err error
		if b, err = applyDelta(b, chain[i].delta); err != nil {
			return 0, nil, err
		}
		p.cache.put(p, chain[i].offset, t, b)
	}
	return t, b, nil
}

// entryHeader is what precedes the compressed bytes of a pack entry.
type entryHeader struct {
	t        plumbing.ObjectType
	size     int64         // inflated
	base     int64         // offset of the base of an offset delta
	baseHash plumbing.Hash // of a reference delta
	data     int64         // offset of the compressed bytes
}

func readEntryHeader(r io.ReaderAt, offset int64) (entryHeader, error) {
	var buf [48]byte
	n, err := r.ReadAt(buf[:], offset)
	if n == 0 {
		return entryHeader{}, fmt.Errorf("%w: %w", errPack, err)
	}
	e, used, ok := parseEntryHeader(buf[:n], offset)
	if !ok {
		return entryHeader{}, errPack
	}
	e.data = offset + int64(used)
	return e, nil
}

// parseEntryHeader decodes the header of the entry at offset, and how many bytes
// it has. It is not ok when b ends early or the header makes no sense.
func parseEntryHeader(b []byte, offset int64) (e entryHeader, used int, ok bool) {
	if len(b) == 0 {
		return e, 0, false
	}
	c := b[0]
	used = 1
	e.t, e.size = plumbing.ObjectType(c>>4&7), int64(c&15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if used >= len(b) || shift > 53 {
			return e, 0, false
		}
		c = b[used]
		used++
		e.size |= int64(c&0x7f) << shift
	}
	switch e.t {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		dist, n := int64(0), 0
		for more := true; more; n++ {
			if used >= len(b) || n > 8 {
				return e, 0, false
			}
			c := b[used]
			used++
			if n > 0 {
				dist++
			}
			dist = dist<<7 | int64(c&0x7f)
			more = c&0x80 != 0
		}
		if e.base = offset - dist; dist <= 0 || e.base < 12 {
			return e, 0, false
		}
	case plumbing.REFDeltaObject:
		if used+20 > len(b) {
			return e, 0, false
		}
		e.baseHash = plumbing.Hash(b[used : used+20])
		used += 20
	default:
		return e, 0, false
	}
	return e, used, e.size <= maxObject
}

// inflater is a zlib reader that is used again and again.
type inflater struct {
	z   io.ReadCloser
	buf *bufio.Reader
}

func newInflater() *inflater { return &inflater{buf: bufio.NewReaderSize(nil, 4096)} }

// inflate returns the size bytes that are compressed at offset of r.
func (i *inflater) inflate(r io.ReaderAt, offset, size int64) ([]byte, error) {
	i.buf.Reset(io.NewSectionReader(r, offset, 1<<62))
	return i.from(i.buf, size)
}

// from inflates from a reader, which it leaves right behind the compressed bytes.
func (i *inflater) from(r *bufio.Reader, size int64) ([]byte, error) {
	if err := i.reset(r); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(i.z, b); err != nil {
		return nil, fmt.Errorf("inflate: %w", err)
	}
	return b, i.end()
}

func (i *inflater) reset(r io.Reader) error {
	var err error
	if i.z == nil {
		i.z, err = zlib.NewReader(r)
	} else {
		err = i.z.(zlib.Resetter).Reset(r, nil)
	}
	if err != nil {
		return fmt.Errorf("inflate: %w", err)
	}
	return nil
}

// end checks that the stream is over, and its checksum.
func (i *inflater) end() error {
	var one [1]byte
	switch n, err := i.z.Read(one[:]); {
	case n > 0:
		return fmt.Errorf("inflate: longer than announced")
	case err != io.EOF:
		return fmt.Errorf("inflate: %w", err)
	}
	return nil
}

// deltaCache keeps objects that deltas were resolved to, since the next object of
// a history usually has one of them as its base.
type deltaCache struct {
	entries map[deltaKey]deltaHit
	size    int
}

type deltaKey struct {
	p      *pack
	offset int64
}

type deltaHit struct {
	t       plumbing.ObjectType
	content []byte
}

const deltaCacheSize = 16 << 20

func (c *deltaCache) get(p *pack, offset int64) (deltaHit, bool) {
	hit, ok := c.entries[deltaKey{p, offset}]
	return hit, ok
}

func (c *deltaCache) put(p *pack, offset int64, t plumbing.ObjectType, content []byte) {
	if len(content) > deltaCacheSize/8 {
		return
	}
	if c.size += len(content); c.size > deltaCacheSize || c.entries == nil {
		c.entries = map[deltaKey]deltaHit{}
		c.size = len(content)
	}
	c.entries[deltaKey{p, offset}] = deltaHit{t, content}
}
