package repo

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// PackfileWriter takes a pack from a peer. Close checks every object, indexes the
// pack, and makes it durable and readable; an error there leaves nothing behind.
// Deltas against objects of the store (a thin pack) are refused: do not ask for
// thin packs.
func (g *GitDir) PackfileWriter() (io.WriteCloser, error) {
	p, err := createPackFile(g.objects)
	if err != nil {
		return nil, err
	}
	return &incomingPack{g: g, p: p}, nil
}

type incomingPack struct {
	g *GitDir
	p *packFile
	n int64
}

func (w *incomingPack) Write(b []byte) (int, error) {
	w.n += int64(len(b))
	return w.p.buf.Write(b)
}

func (w *incomingPack) Close() error {
	defer w.p.discard()
	if w.n == 0 {
		return nil // the peer had nothing to send
	}
	if err := w.p.buf.Flush(); err != nil {
		return err
	}
	x := packIndexer{f: w.p.f, inf: newInflater()}
	if err := x.run(); err != nil {
		return fmt.Errorf("received pack: %w", err)
	}
	if len(x.entries) == 0 {
		return nil
	}
	if _, err := publishPack(filepath.Dir(w.p.f.Name()), w.p.f, x.entries, x.sum); err != nil {
		return err
	}
	return w.g.db.list()
}

// packIndexer works out the id of every object in a pack: first of the whole
// ones, front to back, then of the deltas, from each base down its tree.
type packIndexer struct {
	f       *os.File
	inf     *inflater
	sum     plumbing.Hash
	entries []packEntry
	bases   []int                   // entries that are whole objects
	byOfs   map[int64][]int         // deltas by offset of their base
	byHash  map[plumbing.Hash][]int // deltas by id of their base
	heads   []entryHeader           // of entries
	done    int                     // entries with an id
	raw     []byte                  // of the entry at hand
}

func (x *packIndexer) run() error {
	x.byOfs, x.byHash = map[int64][]int{}, map[plumbing.Hash][]int{}
	if err := x.scan(); err != nil {
		return err
	}
	for _, i := range x.bases {
		if x.isBase(i) {
			content, err := x.inf.inflate(x.f, x.heads[i].data, x.heads[i].size)
			if err != nil {
				return err
			}
			if err := x.descend(i, x.heads[i].t, content); err != nil {
				return err
			}
		}
	}
	if x.done < len(x.entries) {
		return fmt.Errorf("%w: %d deltas have no base in it", errPack, len(x.entries)-x.done)
	}
	return nil
}

func (x *packIndexer) isBase(i int) bool {
	return len(x.byOfs[x.entries[i].offset]) > 0 || len(x.byHash[x.entries[i].hash]) > 0
}

// descend names the deltas against entry i, whose content is given, and theirs.
func (x *packIndexer) descend(i int, t plumbing.ObjectType, content []byte) error {
	type level struct {
		content []byte
		kids    []int
	}
	kids := func(i int) []int {
		all := append(x.byOfs[x.entries[i].offset], x.byHash[x.entries[i].hash]...)
		delete(x.byOfs, x.entries[i].offset)
		delete(x.byHash, x.entries[i].hash)
		return all
	}
	stack := []level{{content, kids(i)}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.kids) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		k := top.kids[0]
		top.kids = top.kids[1:]
		delta, err := x.inf.inflate(x.f, x.heads[k].data, x.heads[k].size)
		if err != nil {
			return err
		}
		b, err := applyDelta(top.content, delta)
		if err != nil {
			return err
		}
		x.entries[k].hash = ObjectHash(t, b)
		x.done++
		if x.isBase(k) {
			stack = append(stack, level{b, kids(k)})
		}
	}
	return nil
}

// scan reads the pack front to back, names the whole objects and notes the deltas.
func (x *packIndexer) scan() error {
	st, err := x.f.Stat()
	if err != nil {
		return err
	}
	end := st.Size() - int64(len(x.sum))
	sum := sha1.New()
	body := &countingReader{r: io.TeeReader(io.NewSectionReader(x.f, 0, end), sum)}
	r := bufio.NewReaderSize(body, 1<<16)
	head := make([]byte, 12)
	if _, err := io.ReadFull(r, head); err != nil {
		return fmt.Errorf("%w: %w", errPack, err)
	}
	if !bytes.HasPrefix(head, []byte("PACK\x00\x00\x00\x02")) {
		return fmt.Errorf("%w: not a pack of version 2", errPack)
	}
	offset := int64(12)
	for range binary.BigEndian.Uint32(head[8:]) {
		if err := x.scanEntry(r, offset); err != nil {
			return fmt.Errorf("%w at %d: %w", errPack, offset, err)
		}
		next := body.n - int64(r.Buffered())
		if err := x.checksum(offset, next); err != nil {
			return err
		}
		offset = next
	}
	if offset != end {
		return fmt.Errorf("%w: bytes behind the last object", errPack)
	}
	if _, err := x.f.ReadAt(x.sum[:], end); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), x.sum[:]) {
		return fmt.Errorf("%w: checksum does not match", errPack)
	}
	return nil
}

// scanEntry reads the entry at offset, where r stands.
func (x *packIndexer) scanEntry(r *bufio.Reader, offset int64) error {
	peek, err := r.Peek(48)
	if err != nil && err != io.EOF {
		return err
	}
	e, used, ok := parseEntryHeader(peek, offset)
	if !ok {
		return errors.New("bad header")
	}
	r.Discard(used)
	e.data = offset + int64(used)
	i := len(x.entries)
	x.heads = append(x.heads, e)
	x.entries = append(x.entries, packEntry{offset: offset})
	content, err := x.inf.from(r, e.size)
	if err != nil {
		return err
	}
	switch e.t {
	case plumbing.OFSDeltaObject:
		x.byOfs[e.base] = append(x.byOfs[e.base], i)
	case plumbing.REFDeltaObject:
		x.byHash[e.baseHash] = append(x.byHash[e.baseHash], i)
	default:
		x.entries[i].hash = ObjectHash(e.t, content)
		x.bases = append(x.bases, i)
		x.done++
	}
	return nil
}

// checksum notes the CRC of the last entry, which ends before next.
func (x *packIndexer) checksum(offset, next int64) error {
	x.raw = slices.Grow(x.raw[:0], int(next-offset))[:next-offset]
	if _, err := x.f.ReadAt(x.raw, offset); err != nil {
		return err
	}
	x.entries[len(x.entries)-1].crc = crc32.ChecksumIEEE(x.raw)
	return nil
}

// countingReader counts what is read through it.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}
