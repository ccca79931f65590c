package repo

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// packCopier writes objects of existing packs into a new one as they are:
// compressed bytes untouched, deltas kept where their base goes along.
type packCopier struct {
	out    *packEncoder
	wanted func(plumbing.Hash) bool        // goes into the new pack
	done   map[plumbing.Hash]int64         // offset in the new pack
	layout map[*pack]map[int64]copiedEntry // by offset in the old pack
}

// copiedEntry is where an entry of a pack ends, and what it is.
type copiedEntry struct {
	packEntry
	end int64
}

func newPackCopier(out *packEncoder, wanted func(plumbing.Hash) bool) *packCopier {
	return &packCopier{
		out: out, wanted: wanted,
		done: map[plumbing.Hash]int64{}, layout: map[*pack]map[int64]copiedEntry{},
	}
}

// entriesOf lists what is in p, by offset.
func (c *packCopier) entriesOf(p *pack) (map[int64]copiedEntry, error) {
	if l, ok := c.layout[p]; ok {
		return l, nil
	}
	if err := p.open(); err != nil {
		return nil, err
	}
	st, err := p.f.Stat()
	if err != nil {
		return nil, err
	}
	entries, err := p.idx.all()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b packEntry) int { return cmp.Compare(a.offset, b.offset) })
	l := make(map[int64]copiedEntry, len(entries))
	for i, e := range entries {
		end := st.Size() - int64(len(e.hash))
		if i+1 < len(entries) {
			end = entries[i+1].offset
		}
		l[e.offset] = copiedEntry{e, end}
	}
	c.layout[p] = l
	return l, nil
}

// copy writes the entry at offset of p, and its delta bases first. It reports
// false, with nothing written, for a delta whose base does not go along.
func (c *packCopier) copy(p *pack, offset int64) (bool, error) {
	entries, err := c.entriesOf(p)
	if err != nil {
		return false, err
	}
	var chain []copyLink
	for {
		e, ok := entries[offset]
		if !ok || len(chain) > 4095 {
			return false, fmt.Errorf("%s: %w", p.path, errPack)
		}
		if _, ok := c.done[e.hash]; ok {
			break
		}
		if !c.wanted(e.hash) {
			return false, nil
		}
		raw, h, err := readRawEntry(p, e)
		if err != nil {
			return false, err
		}
		if h.t == plumbing.REFDeltaObject {
			if h.base, ok, err = p.idx.find(h.baseHash); err != nil || !ok {
				return false, err
			}
		}
		chain = append(chain, copyLink{e.hash, raw, h})
		if h.t != plumbing.REFDeltaObject && h.t != plumbing.OFSDeltaObject {
			break
		}
		offset = h.base
	}
	for _, l := range slices.Backward(chain) {
		if err := c.write(l, entries); err != nil {
			return false, err
		}
	}
	return true, nil
}

// copyLink is an entry as it lies in a pack.
type copyLink struct {
	hash plumbing.Hash
	raw  []byte
	head entryHeader // its data counts from the start of raw
}

func readRawEntry(p *pack, e copiedEntry) ([]byte, entryHeader, error) {
	raw := make([]byte, e.end-e.offset)
	if _, err := p.f.ReadAt(raw, e.offset); err != nil {
		return nil, entryHeader{}, err
	}
	h, used, ok := parseEntryHeader(raw, e.offset)
	if !ok || crc32.ChecksumIEEE(raw) != e.crc {
		return nil, h, fmt.Errorf("%s at %d: %w", p.path, e.offset, errPack)
	}
	h.data = int64(used)
	return raw, h, nil
}

func (c *packCopier) write(l copyLink, entries map[int64]copiedEntry) error {
	raw := l.raw
	if l.head.t == plumbing.REFDeltaObject || l.head.t == plumbing.OFSDeltaObject {
		raw = appendEntryHeader(nil, plumbing.OFSDeltaObject, int(l.head.size))
		raw = appendOffset(raw, c.out.offset-c.done[entries[l.head.base].hash])
		raw = append(raw, l.raw[l.head.data:]...)
	}
	c.done[l.hash] = c.out.offset
	return c.out.raw(l.hash, raw)
}
