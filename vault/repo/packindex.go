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
	buckets [256][]byte // hashes by first byte
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
	i, ok, err := x.position(h)
	if err != nil || !ok {
		return 0, false, err
	}
	offset, err = x.offset(i)
	return offset, err == nil, err
}

// position returns where h stands in the sorted list of objects.
func (x *packIndex) position(h plumbing.Hash) (int, bool, error) {
	first := 0
	if h[0] > 0 {
		first = int(x.fanout[h[0]-1])
	}
	n := int(x.fanout[h[0]]) - first
	if n == 0 {
		return 0, false, nil
	}
	names := x.buckets[h[0]]
	if names == nil {
		names = make([]byte, n*20)
		if _, err := x.r.ReadAt(names, idxHeaderSize+int64(first)*20); err != nil {
			return 0, false, fmt.Errorf("read pack index: %w", err)
		}
		x.buckets[h[0]] = names
	}
	lo, hi := 0, n
	for lo < hi {
		mid := (lo + hi) / 2
		switch c := bytes.Compare(names[mid*20:mid*20+20], h[:]); {
		case c == 0:
			return first + mid, true, nil
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false, nil
}

func (x *packIndex) offset(i int) (int64, error) {
	n := int64(x.count())
	var b [8]byte
	if _, err := x.r.ReadAt(b[:4], idxHeaderSize+n*24+int64(i)*4); err != nil {
		return 0, fmt.Errorf("read pack index: %w", err)
	}
	off := binary.BigEndian.Uint32(b[:])
	if off&0x8000_0000 == 0 {
		return int64(off), nil
	}
	if _, err := x.r.ReadAt(b[:], idxHeaderSize+n*28+int64(off&0x7fff_ffff)*8); err != nil {
		return 0, fmt.Errorf("read pack index: %w", err)
	}
	return int64(binary.BigEndian.Uint64(b[:]) & math.MaxInt64), nil
}

// all returns every entry, by hash.
func (x *packIndex) all() ([]packEntry, error) {
	n := x.count()
	raw := make([]byte, n*28)
	if _, err := x.r.ReadAt(raw, idxHeaderSize); err != nil {
		return nil, fmt.Errorf("read pack index: %w", err)
	}
	entries := make([]packEntry, n)
	for i := range entries {
		off, err := x.offset(i)
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
