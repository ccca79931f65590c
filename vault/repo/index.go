package repo

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrIndexCorrupt: git's index cannot be read. RebuildIndex, or git reset, makes a
// new one from HEAD.
var ErrIndexCorrupt = errors.New("git index is corrupt")

// Layout of an index entry (gitformat-index(5)): ten 32-bit numbers, the object
// id, 16 bits of flags, 16 more in some, the name, and padding.
const (
	entryFixed   = 62
	flagExtended = 0x4000
	flagStage    = 0x3000
	flagNameLen  = 0x0fff
	extSkipWT    = 0x4000 // skip-worktree
	extIntent    = 0x2000 // intent-to-add
	indexHead    = 12
)

// indexFile is git's index as it lies on disk, entries and extensions untouched.
type indexFile struct {
	body    []byte        // of version 2 or 3, without the checksum
	sum     plumbing.Hash // the checksum of the file; zero with index.skipHash
	names   string        // the same bytes, which nobody changes: entry names are slices of it
	version uint32
	count   int
	stamp   stamp // time of the file: entries as young as that may be out of date
}

// indexEntry is one entry, still in the index's bytes.
type indexEntry struct {
	raw  []byte // with its padding
	name string
}

func (e indexEntry) num(i int) uint32    { return binary.BigEndian.Uint32(e.raw[4*i:]) }
func (e indexEntry) hash() plumbing.Hash { return plumbing.Hash(e.raw[40:60]) }
func (e indexEntry) flags() uint16       { return binary.BigEndian.Uint16(e.raw[60:]) }
func (e indexEntry) stage() int          { return int(e.flags()&flagStage) >> 12 }
func (e indexEntry) mode() uint32        { return e.num(6) }

func (e indexEntry) extended() uint16 {
	if e.flags()&flagExtended == 0 {
		return 0
	}
	return binary.BigEndian.Uint16(e.raw[62:])
}

func (e indexEntry) stat() fileStat {
	return fileStat{
		ctime: stamp{e.num(0), e.num(1)}, mtime: stamp{e.num(2), e.num(3)},
		dev: e.num(4), ino: e.num(5), mode: e.num(6), uid: e.num(7), gid: e.num(8), size: e.num(9),
	}
}

// indexPath is the index of this work tree.
func (g *GitDir) indexPath() string { return filepath.Join(g.dir, "index") }

// readIndex reads the index; nil when there is none. verify checks its checksum,
// as a writer must, lest it blesses a broken file.
func (g *GitDir) readIndex(verify bool) (*indexFile, error) {
	f, err := os.Open(g.indexPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, st.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	x, err := parseIndex(b, verify)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	x.stamp = stampOf(st.ModTime())
	return x, nil
}

// parseIndex checks the frame of an index file. Entries are checked as they are
// walked.
func parseIndex(b []byte, verify bool) (*indexFile, error) {
	if len(b) < indexHead+sha1.Size || !bytes.HasPrefix(b, []byte("DIRC")) {
		return nil, ErrIndexCorrupt
	}
	body, sum := b[:len(b)-sha1.Size], b[len(b)-sha1.Size:]
	// Zeros are what git writes with index.skipHash.
	if verify && !bytes.Equal(sum, make([]byte, sha1.Size)) {
		if got := sha1.Sum(body); !bytes.Equal(got[:], sum) {
			return nil, fmt.Errorf("checksum: %w", ErrIndexCorrupt)
		}
	}
	x := &indexFile{
		body: body, sum: plumbing.Hash(sum), version: binary.BigEndian.Uint32(b[4:]),
		count: int(binary.BigEndian.Uint32(b[8:])),
	}
	switch x.version {
	case 2, 3:
	case 4:
		var err error
		if x.body, err = expandV4(body, x.count); err != nil {
			return nil, err
		}
		x.version = binary.BigEndian.Uint32(x.body[4:])
	default:
		return nil, &UnsupportedError{fmt.Sprintf("index version %d", x.version), "run `git update-index --index-version 2` in it"}
	}
	if x.count > len(body)/entryFixed {
		return nil, ErrIndexCorrupt
	}
	x.names = stringOf(x.body)
	return x, nil
}

// stringOf is b as a string, without a copy: the names of 50,000 entries are some
// megabytes.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// next returns the entry at offset at, which is indexHead for the first one, and
// the offset behind it.
func (x *indexFile) next(at int) (indexEntry, int, error) {
	b := x.body
	if at+entryFixed > len(b) {
		return indexEntry{}, 0, ErrIndexCorrupt
	}
	flags := binary.BigEndian.Uint16(b[at+60:])
	name := at + entryFixed
	if flags&flagExtended != 0 {
		name += 2
	}
	n := int(flags & flagNameLen)
	if n == flagNameLen { // longer than 12 bits can say
		i := bytes.IndexByte(b[min(name, len(b)):], 0)
		if i < n {
			return indexEntry{}, 0, ErrIndexCorrupt
		}
		n = i
	}
	end := at + (name-at+n+8)&^7 // 1 to 8 NULs
	if n == 0 && bytes.Contains(b, []byte("link")) {
		return indexEntry{}, 0, errSplitIndex // has entries without a name
	}
	if n == 0 || end > len(b) || b[name+n] != 0 {
		return indexEntry{}, 0, ErrIndexCorrupt
	}
	return indexEntry{raw: b[at:end], name: x.names[name : name+n]}, end, nil
}

// entries yields every entry in order; an error ends the sequence.
func (x *indexFile) entries() iter.Seq2[indexEntry, error] {
	return func(yield func(indexEntry, error) bool) {
		at := indexHead
		for range x.count {
			e, next, err := x.next(at)
			if !yield(e, err) || err != nil {
				return
			}
			at = next
		}
	}
}

// expandV4 turns an index of version 4, whose names share prefixes and have no
// padding, into version 2, or 3 where an entry has extended flags.
func expandV4(b []byte, count int) ([]byte, error) {
	out := make([]byte, 0, len(b)*3/2)
	out = append(out, b[:indexHead]...)
	version := uint32(2)
	var name []byte
	at := indexHead
	for range count {
		fixed := entryFixed
		if at+fixed > len(b) {
			return nil, ErrIndexCorrupt
		}
		if binary.BigEndian.Uint16(b[at+60:])&flagExtended != 0 {
			fixed += 2
			version = 3
		}
		start := len(out)
		if at+fixed > len(b) {
			return nil, ErrIndexCorrupt
		}
		out = append(out, b[at:at+fixed]...)
		at += fixed
		strip, used := indexVarint(b[at:])
		at += used
		n := bytes.IndexByte(b[min(at, len(b)):], 0)
		if used == 0 || n < 0 || strip > len(name) {
			return nil, ErrIndexCorrupt
		}
		name = append(name[:len(name)-strip], b[at:at+n]...)
		at += n + 1
		out = append(out, name...)
		out = append(out, make([]byte, 8-(len(out)-start)%8)...)
	}
	binary.BigEndian.PutUint32(out[4:], version)
	return append(out, b[at:]...), nil
}

// indexVarint decodes the number of bytes to strip; used is 0 when b ends early.
func indexVarint(b []byte) (v, used int) {
	for i, c := range b {
		if i > 0 {
			v++
		}
		v = v<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return v, i + 1
		}
		if i > 6 {
			break
		}
	}
	return 0, 0
}

// indexExtension is one extension behind the entries.
type indexExtension struct {
	name string
	raw  []byte // with name and size
}

func (e indexExtension) data() []byte { return e.raw[8:] }

// extensions returns what lies behind the entries, which end at offset at.
func (x *indexFile) extensions(at int) ([]indexExtension, error) {
	var exts []indexExtension
	for at < len(x.body) {
		if at+8 > len(x.body) {
			return nil, ErrIndexCorrupt
		}
		n := int(binary.BigEndian.Uint32(x.body[at+4:]))
		if n > len(x.body)-at-8 {
			return nil, ErrIndexCorrupt
		}
		e := indexExtension{name: x.names[at : at+4], raw: x.body[at : at+8+n]}
		if err := e.check(); err != nil {
			return nil, err
		}
		exts = append(exts, e)
		at += 8 + n
	}
	return exts, nil
}

// check refuses extensions without which the entries mean something else. Those
// that start with a capital letter may be ignored.
func (e indexExtension) check() error {
	switch {
	case e.name == "link":
		return errSplitIndex
	case e.name == "sdir":
		return errSparse
	case e.name[0] < 'A' || e.name[0] > 'Z':
		return &UnsupportedError{fmt.Sprintf("the index extension %q", e.name), "use a newer vade"}
	}
	return nil
}
