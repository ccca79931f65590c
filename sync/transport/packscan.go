package transport

import (
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// Sizes in a pack (gitformat-pack).
const (
	packHeader  = 12
	packTrailer = 20
)

// maxObject bounds one object of a pack, so that a forged size cannot ask for
// all memory.
const maxObject = 1 << 30

// An entry is one object of a pack.
type entry struct {
	hash    plumbing.Hash
	typ     plumbing.ObjectType // that of the object once known, else of the delta
	offset  int64
	size    int64 // inflated, of the delta when it is one
	crc     uint32
	base    int           // index of the delta's base, -1 for none or by id
	baseRef plumbing.Hash // id of the delta's base
}

func (e *entry) isDelta() bool {
	return e.typ == plumbing.OFSDeltaObject || e.typ == plumbing.REFDeltaObject
}

func corrupt(format string, args ...any) error {
	return faultOf(ErrCorrupt, fmt.Errorf(format, args...), "try again; if it comes back, run git fsck at the remote")
}

// readPackHeader returns how many objects the pack says it has.
func readPackHeader(head []byte) (int, error) {
	if len(head) < packHeader || string(head[:4]) != "PACK" {
		return 0, corrupt("what arrived is not a pack")
	}
	if v := binary.BigEndian.Uint32(head[4:]); v != 2 && v != 3 {
		return 0, corrupt("pack version %d", v)
	}
	return int(binary.BigEndian.Uint32(head[8:])), nil
}

// A rawReader reads a pack and knows at each byte the offset and the CRC32
// since the last mark. It hands inflate exactly the bytes that it asks for.
type rawReader struct {
	r      io.Reader
	buf    []byte
	at, n  int   // unread bytes are buf[at:n]
	marked int   // bytes before it are in crc already
	base   int64 // offset of buf[0]
	crc    uint32
}

func newRawReader(size int) *rawReader { return &rawReader{buf: make([]byte, size)} }

// reset starts to read r, whose first byte is at offset.
func (r *rawReader) reset(src io.Reader, offset int64) {
	*r = rawReader{r: src, buf: r.buf, base: offset}
}

func (r *rawReader) offset() int64 { return r.base + int64(r.at) }

func (r *rawReader) mark() { r.marked, r.crc = r.at, 0 }

func (r *rawReader) sum() uint32 {
	r.crc = crc32.Update(r.crc, crc32.IEEETable, r.buf[r.marked:r.at])
	r.marked = r.at
	return r.crc
}

func (r *rawReader) fill() error {
	r.sum()
	r.base += int64(r.n)
	n, err := r.r.Read(r.buf)
	r.at, r.marked, r.n = 0, 0, n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return unexpected(err)
}

func (r *rawReader) ReadByte() (byte, error) {
	if r.at == r.n {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	c := r.buf[r.at]
	r.at++
	return c, nil
}

func (r *rawReader) Read(p []byte) (int, error) {
	if r.at == r.n {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.buf[r.at:r.n])
	r.at += n
	return n, nil
}

// readEntryHeader reads type, size and base of the entry at the current
// offset. The base of an offset delta is returned as an offset.
func readEntryHeader(r *rawReader) (e entry, baseAt int64, err error) {
	e.offset, e.base = r.offset(), -1
	c, err := r.ReadByte()
	if err != nil {
		return e, 0, err
	}
	e.typ = plumbing.ObjectType(c >> 4 & 7)
	e.size = int64(c & 15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = r.ReadByte(); err != nil {
			return e, 0, err
		}
		if shift > 53 {
			return e, 0, corrupt("an object of impossible size at byte %d", e.offset)
		}
		e.size |= int64(c&0x7f) << shift
	}
	if e.size > maxObject {
		return e, 0, corrupt("an object of %d bytes at byte %d", e.size, e.offset)
	}
	switch e.typ {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		var back int64
		if back, err = readBackOffset(r); err != nil {
			return e, 0, err
		}
		baseAt = e.offset - back
	case plumbing.REFDeltaObject:
		_, err = io.ReadFull(r, e.baseRef[:])
	default:
		return e, 0, corrupt("an object of unknown type %d at byte %d", e.typ, e.offset)
	}
	return e, baseAt, err
}

// readBackOffset reads the distance of an offset delta to its base.
func readBackOffset(r *rawReader) (int64, error) {
	c, err := r.ReadByte()
	if err != nil {
		return 0, err
	}
	back := int64(c & 0x7f)
	for i := 0; c&0x80 != 0; i++ {
		if i > 7 {
			return 0, corrupt("an impossible delta offset before byte %d", r.offset())
		}
		if c, err = r.ReadByte(); err != nil {
			return 0, err
		}
		back = (back+1)<<7 | int64(c&0x7f)
	}
	return back, nil
}

// An inflater inflates one zlib stream after the other. Its zero value is ready.
type inflater struct {
	z   io.ReadCloser
	raw *rawReader // of inflateAt
}

// inflate reads the stream at r, which must hold size bytes, into buf.
func (f *inflater) inflate(r io.Reader, size int64, buf []byte) ([]byte, error) {
	if err := f.reset(r); err != nil {
		return nil, err
	}
	// The size is only a claim: memory follows what arrives.
	if int64(cap(buf)) < size {
		buf = make([]byte, 0, min(size, 1<<20))
	}
	buf = buf[:0]
	for int64(len(buf)) < size {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(size, 2*int64(cap(buf))))
			copy(grown, buf)
			buf = grown
		}
		n, err := f.z.Read(buf[len(buf):min(int64(cap(buf)), size)])
		buf = buf[:len(buf)+n]
		if err != nil && (err != io.EOF || int64(len(buf)) < size) {
			return nil, unexpected(err)
		}
	}
	return buf, f.finish()
}

// finish reads the end of the stream and so its checksum.
func (f *inflater) finish() error {
	var one [1]byte
	if n, err := f.z.Read(one[:]); n != 0 || err != io.EOF {
		if err != nil && err != io.EOF {
			return unexpected(err)
		}
		return errors.New("more content than announced")
	}
	return nil
}

func (f *inflater) reset(r io.Reader) error {
	if f.z == nil {
		z, err := zlib.NewReader(r)
		if err != nil {
			return unexpected(err)
		}
		f.z = z
		return nil
	}
	return unexpected(f.z.(zlib.Resetter).Reset(r, nil))
}

// inflateAt reads the content of entry e of pack.
func (f *inflater) inflateAt(pack io.ReaderAt, e *entry, buf []byte) ([]byte, error) {
	if f.raw == nil {
		f.raw = newRawReader(4 << 10)
	}
	f.raw.reset(io.NewSectionReader(pack, e.offset, 1<<62), e.offset)
	if _, _, err := readEntryHeader(f.raw); err != nil {
		return nil, err
	}
	return f.inflate(f.raw, e.size, buf)
}

// zlib takes no byte more than it needs from a reader of bytes.
var _ io.ByteReader = (*rawReader)(nil)
