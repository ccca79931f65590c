package repo

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// packEntry is one object in a pack.
type packEntry struct {
	hash   plumbing.Hash
	offset int64
	crc    uint32 // of the entry's bytes in the pack
}

var errPackIndex = errors.New("pack index is malformed")

const idxHeaderSize = 8 + 256*4

// packIndex looks objects up in an .idx file, version 2 (gitformat-pack(5)). It
// reads only the slices of the file that a look-up needs, and keeps them.
type packIndex struct {
	r       io.ReaderAt
	fanout  [256]uint32
	buckets [256]*idxBucket // by first byte of the hash
}

// idxBucket is the part of an index for one first byte.
type idxBucket struct {
	names   []byte // 20 bytes each, sorted
	offsets []byte // 4 bytes each
}

func openPackIndex(r io.ReaderAt, size int64) (*packIndex, error) {
	head := make([]byte, idxHeaderSize)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, errPackIndex
	}
	if !bytes.HasPrefix(head, []byte("\xfftOc\x00\x00\x00\x02")) {
		return nil, fmt.Errorf("%w: not version 2; run git gc", errPackIndex)
	}
	x := &packIndex{r: r}
	last := uint32(0)
	for i := range x.fanout {
		x.fanout[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if x.fanout[i] < last {
			return nil, errPackIndex
		}
		last = x.fanout[i]
	}
	if size < idxHeaderSize+int64(x.count())*28+40 {
		return nil, errPackIndex
	}
	return x, nil
}

func (x *packIndex) count() int { return int(x.fanout[255]) }

// find returns the offset of h in the pack.
func (x *packIndex) find(h plumbing.Hash) (offset int64, ok bool, err error) {
	b, err := x.bucket(h[0])
	if err != nil {
		return 0, false, err
	}
	lo, hi := 0, len(b.names)/20
	for lo < hi {
		mid := (lo + hi) / 2
		switch c := bytes.Compare(b.names[mid*20:mid*20+20], h[:]); {
		case c == 0:
			offset, err := x.offset(b.offsets[mid*4:])
			return offset, err == nil, err
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false, nil
}

func (x *packIndex) bucket(first byte) (*idxBucket, error) {
	if b := x.buckets[first]; b != nil {
		return b, nil
	}
	start := int64(0)
	if first > 0 {
		start = int64(x.fanout[first-1])
	}
	n := int64(x.fanout[first]) - start
	b := &idxBucket{names: make([]byte, n*20), offsets: make([]byte, n*4)}
	if n > 0 {
		if err := x.readAt(b.names, start*20); err != nil {
			return nil, err
		}
		if err := x.readAt(b.offsets, int64(x.count())*24+start*4); err != nil {
			return nil, err
		}
	}
	x.buckets[first] = b
	return b, nil
}

// readAt reads from the tables behind the header.
func (x *packIndex) readAt(b []byte, at int64) error {
	if _, err := x.r.ReadAt(b, idxHeaderSize+at); err != nil {
		return fmt.Errorf("read pack index: %w", err)
	}
	return nil
}

// offset decodes an entry of the table of offsets; those beyond 2 GiB are in a
// table of their own.
func (x *packIndex) offset(entry []byte) (int64, error) {
	off := binary.BigEndian.Uint32(entry)
	if off&0x8000_0000 == 0 {
		return int64(off), nil
	}
	var b [8]byte
	if err := x.readAt(b[:], int64(x.count())*28+int64(off&0x7fff_ffff)*8); err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(b[:]) & math.MaxInt64), nil
}

// all returns every entry, by hash.
func (x *packIndex) all() ([]packEntry, error) {
	n := x.count()
	raw := make([]byte, n*28)
	if err := x.readAt(raw, 0); err != nil {
		return nil, err
	}
	entries := make([]packEntry, n)
	for i := range entries {
		off, err := x.offset(raw[n*24+i*4:])
		if err != nil {
			return nil, err
		}
		entries[i] = packEntry{
			hash:   plumbing.Hash(raw[i*20 : i*20+20]),
			crc:    binary.BigEndian.Uint32(raw[n*20+i*4:]),
			offset: off,
		}
	}
	return entries, nil
}

// writePackIndex writes the .idx, version 2, of a pack with this checksum. It
// sorts entries by hash and drops repeated objects.
func writePackIndex(w io.Writer, entries []packEntry, pack plumbing.Hash) error {
	slices.SortFunc(entries, func(a, b packEntry) int {
		return cmp.Or(compareHashes(a.hash, b.hash), cmp.Compare(a.offset, b.offset))
	})
	entries = slices.CompactFunc(entries, func(a, b packEntry) bool { return a.hash == b.hash })
	sum := sha1.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<16)
	out.WriteString("\xfftOc\x00\x00\x00\x02")
	var four [4]byte
	put := func(v uint32) {
		binary.BigEndian.PutUint32(four[:], v)
		out.Write(four[:])
	}
	i := 0
	for b := range 256 {
		for i < len(entries) && int(entries[i].hash[0]) == b {
			i++
		}
		put(uint32(i))
	}
	for _, e := range entries {
		out.Write(e.hash[:])
	}
	for _, e := range entries {
		put(e.crc)
	}
	var far []int64
	for _, e := range entries {
		if e.offset <= math.MaxInt32 {
			put(uint32(e.offset))
			continue
		}
		put(0x8000_0000 | uint32(len(far)))
		far = append(far, e.offset)
	}
	for _, off := range far {
		put(uint32(off >> 32))
		put(uint32(off))
	}
	out.Write(pack[:])
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}
