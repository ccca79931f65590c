package repo

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// EncodePack writes a pack with these objects to w and returns its checksum. What a
// [GitDir] has compressed already is copied, with the deltas whose bases are in the
// list; there are no others, so that any git can read the pack.
func EncodePack(w io.Writer, s Store, hashes []plumbing.Hash) (plumbing.Hash, error) {
	hashes = distinct(hashes)
	p := newPackEncoder(w)
	if err := p.header(len(hashes)); err != nil {
		return plumbing.ZeroHash, err
	}
	copied, err := copyPacked(p, s, hashes)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	for _, h := range hashes {
		if copied[h] {
			continue
		}
		t, b, err := ReadObject(s, h)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if err := p.object(h, t, b); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	return p.trailer()
}

// distinct is hashes in their order, each once.
func distinct(hashes []plumbing.Hash) []plumbing.Hash {
	seen := make(map[plumbing.Hash]bool, len(hashes))
	out := make([]plumbing.Hash, 0, len(hashes))
	for _, h := range hashes {
		if !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	return out
}

// copyThreshold is how many objects make it worth while to read the whole index of
// a pack.
const copyThreshold = 500

// copyPacked writes those of the objects that s can copy from a pack, and returns
// them.
func copyPacked(p *packEncoder, s Store, hashes []plumbing.Hash) (map[plumbing.Hash]bool, error) {
	g, ok := s.(*GitDir)
	if !ok || len(hashes) < copyThreshold {
		return nil, nil
	}
	wanted := make(map[plumbing.Hash]bool, len(hashes))
	for _, h := range hashes {
		wanted[h] = true
	}
	c := newPackCopier(p, func(h plumbing.Hash) bool { return wanted[h] })
	for _, h := range hashes {
		if _, ok := c.done[h]; ok {
			continue
		}
		q, off, err := g.db.findPacked(h)
		if err != nil {
			return nil, err
		}
		if q == nil {
			continue
		}
		if _, err := c.copy(q, off); err != nil {
			return nil, err
		}
	}
	copied := make(map[plumbing.Hash]bool, len(c.done))
	for h := range c.done {
		copied[h] = true
	}
	return copied, nil
}

// packEncoder writes the pack format, version 2 (gitformat-pack(5)).
type packEncoder struct {
	w       io.Writer
	sum     hash.Hash
	offset  int64
	entries []packEntry // what was written, for the index
	buf     bytes.Buffer
	best    *zlib.Writer // git's default level
	fast    *zlib.Writer // for what is too small to gain by it
}

// fastObject is up to where the fast level is used: setting up the better one
// costs more than it saves there.
const fastObject = 256

func newPackEncoder(w io.Writer) *packEncoder {
	p := &packEncoder{w: w, sum: sha1.New()}
	p.best = zlib.NewWriter(&p.buf)
	p.fast, _ = zlib.NewWriterLevel(&p.buf, zlib.BestSpeed)
	return p
}

func (p *packEncoder) write(b []byte) error {
	p.sum.Write(b)
	p.offset += int64(len(b))
	_, err := p.w.Write(b)
	return err
}

func (p *packEncoder) header(count int) error {
	b := []byte("PACK\x00\x00\x00\x02")
	return p.write(binary.BigEndian.AppendUint32(b, uint32(count)))
}

// object writes one whole object.
func (p *packEncoder) object(h plumbing.Hash, t plumbing.ObjectType, content []byte) error {
	return p.entry(h, appendEntryHeader(nil, t, len(content)), content)
}

// delta writes an object as a delta against the entry at base, which must have
// been written before.
func (p *packEncoder) delta(h plumbing.Hash, base int64, delta []byte) error {
	head := appendEntryHeader(nil, plumbing.OFSDeltaObject, len(delta))
	return p.entry(h, appendOffset(head, p.offset-base), delta)
}

func (p *packEncoder) entry(h plumbing.Hash, head, content []byte) error {
	p.buf.Reset()
	p.buf.Write(head)
	z := p.best
	if len(content) <= fastObject {
		z = p.fast
	}
	z.Reset(&p.buf)
	if _, err := z.Write(content); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return p.raw(h, p.buf.Bytes())
}

// raw writes an entry that is encoded already.
func (p *packEncoder) raw(h plumbing.Hash, entry []byte) error {
	p.entries = append(p.entries, packEntry{hash: h, offset: p.offset, crc: crc32.ChecksumIEEE(entry)})
	return p.write(entry)
}

func (p *packEncoder) trailer() (plumbing.Hash, error) {
	h := plumbing.Hash(p.sum.Sum(nil))
	_, err := p.w.Write(h[:])
	return h, err
}

// appendEntryHeader encodes type and size: 4 bits of the size in the first byte,
// 7 in each that follows.
func appendEntryHeader(b []byte, t plumbing.ObjectType, size int) []byte {
	c := byte(t)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(b, c)
}

// appendOffset encodes how far back the base of a delta lies.
func appendOffset(b []byte, dist int64) []byte {
	var buf [10]byte
	i := len(buf) - 1
	buf[i] = byte(dist & 0x7f)
	for dist >>= 7; dist > 0; dist >>= 7 {
		dist--
		i--
		buf[i] = 0x80 | byte(dist&0x7f)
	}
	return append(b, buf[i:]...)
}
