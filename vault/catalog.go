package vault

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// catalog is a derived cache of what the vault's files say about themselves,
// so that filters, references and the search for an equal text need not read
// every file. It is keyed by (path, blob): an entry is right for ever or not
// asked for, so a stale catalog costs time and never a wrong answer.
//
// On disk, in index/catalog, all numbers little-endian:
//
//	magic    "vadecat" and a format byte
//	crc      uint32, IEEE, of everything that follows
//	cursor   20 bytes: the commit that it is complete for
//	keyID    4 bytes: which digest key the digests were made with
//	count    uint32
//	blobs    count × 20 bytes
//	digests  count × 16 bytes
//	expiries count × 8 bytes: Unix seconds, 0 for never
//	offsets  (count+1) × uint32 into records
//	records  by path: path, then the fields of a Memory; see encodeRecord
type catalog struct {
	cursor   plumbing.Hash
	crc      uint32 // as in the file: which catalog this is
	n        int
	blobs    []byte
	digests  []byte
	expiries []byte
	offsets  []byte
	records  []byte
	unmap    func() // lets go of the file; nil when it was read
}

const (
	catalogMagic  = "vadecat\x02"
	catalogHeader = len(catalogMagic) + 4 + 20 + 4 + 4
)

var errCatalog = errors.New("catalog is damaged or of another format")

// catalogRow is one entry on its way into a catalog.
type catalogRow struct {
	Path   string
	Blob   plumbing.Hash
	Digest Digest
	// Memory is nil for a tombstone, whose Digest is what it forbids.
	Memory *Memory
	// record is the encoded form of an entry that comes out of a catalog.
	record  []byte
	expires int64 // of such an entry
}

// openCatalog opens the catalog at path. Any damage, and digests made with
// another key, give an empty catalog: it is derived. whole checks every byte;
// without it only what is asked for is read, which writers do, who verify the
// few entries that they find against git.
func openCatalog(path string, key []byte, whole bool) *catalog {
	raw, unmap, err := mapFile(path)
	if err != nil {
		return &catalog{}
	}
	c, err := parseCatalog(raw, key, whole)
	if err != nil {
		unmap()
		return &catalog{}
	}
	c.unmap = sync.OnceFunc(unmap)
	runtime.AddCleanup(c, func(unmap func()) { unmap() }, c.unmap)
	return c
}

// close lets go of the file. Nothing that still aliases it may be used after.
func (c *catalog) close() {
	if unmap := c.unmap; unmap != nil {
		*c = catalog{}
		unmap()
	}
}

func parseCatalog(raw, key []byte, whole bool) (*catalog, error) {
	if len(raw) < catalogHeader || string(raw[:len(catalogMagic)]) != catalogMagic {
		return nil, errCatalog
	}
	rest := raw[len(catalogMagic):]
	if whole && crc32.ChecksumIEEE(rest[4:]) != binary.LittleEndian.Uint32(rest) {
		return nil, errCatalog
	}
	c := &catalog{crc: binary.LittleEndian.Uint32(rest)}
	rest = rest[4:]
	copy(c.cursor[:], rest)
	if !bytes.Equal(rest[20:24], keyID(key)) {
		return nil, errCatalog
	}
	c.n = int(binary.LittleEndian.Uint32(rest[24:]))
	rest = rest[28:]
	if c.n > len(rest)/(20+len(Digest{})+8+4) {
		return nil, errCatalog
	}
	c.blobs, rest = rest[:c.n*20], rest[c.n*20:]
	c.digests, rest = rest[:c.n*len(Digest{})], rest[c.n*len(Digest{}):]
	c.expiries, rest = rest[:c.n*8], rest[c.n*8:]
	if len(rest) < (c.n+1)*4 {
		return nil, errCatalog
	}
	c.offsets, c.records = rest[:(c.n+1)*4], rest[(c.n+1)*4:]
	return c, nil
}

// keyID tells digest keys apart without giving them away.
func keyID(key []byte) []byte {
	d := NewDigest(key, "vade catalog", "")
	return d[:4]
}

func (c *catalog) blob(i int) plumbing.Hash { return plumbing.Hash(c.blobs[i*20 : i*20+20]) }

func (c *catalog) digest(i int) Digest {
	size := len(Digest{})
	return Digest(c.digests[i*size : (i+1)*size])
}

// expired reports whether entry i's time is over at now.
func (c *catalog) expired(i int, now time.Time) bool {
	at := c.expiry(i)
	return at != 0 && now.Unix() >= at
}

func (c *catalog) expiry(i int) int64 { return int64(binary.LittleEndian.Uint64(c.expiries[i*8:])) }

func (c *catalog) record(i int) []byte {
	from := binary.LittleEndian.Uint32(c.offsets[i*4:])
	to := binary.LittleEndian.Uint32(c.offsets[i*4+4:])
	if from > to || int(to) > len(c.records) {
		return nil
	}
	return c.records[from:to]
}

// path returns entry i's path as a slice of the catalog's own bytes.
func (c *catalog) path(i int) []byte {
	r := fieldReader{rest: c.record(i)}
	return r.bytes()
}

// memory decodes entry i; nil for a tombstone.
func (c *catalog) memory(i int) *Memory {
	m := decodeRecord(c.record(i))
	if m != nil {
		m.Version = Version(c.blob(i).String())
	}
	return m
}

// find returns the entry of path, or -1.
func (c *catalog) find(path string) int {
	lo, hi := 0, c.n
	for lo < hi {
		mid := (lo + hi) / 2
		if string(c.path(mid)) < path {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < c.n && string(c.path(lo)) == path {
		return lo
	}
	return -1
}

// withDigest returns the entries whose text has digest d.
func (c *catalog) withDigest(d Digest) []int {
	var found []int
	size := len(d)
	for from := 0; ; {
		at := bytes.Index(c.digests[from:], d[:])
		if at < 0 {
			return found
		}
		at += from
		if at%size == 0 {
			found = append(found, at/size)
		}
		from = at + 1
	}
}

// row returns entry i in a form that goes into another catalog. It aliases c.
func (c *catalog) row(i int) catalogRow {
	return catalogRow{Path: string(c.path(i)), Blob: c.blob(i), Digest: c.digest(i), record: c.record(i), expires: c.expiry(i)}
}

// memory decodes the row's memory; nil for a tombstone.
func (r *catalogRow) memory() *Memory {
	if r.record == nil {
		return r.Memory
	}
	m := decodeRecord(r.record)
	if m != nil {
		m.Version = Version(r.Blob.String())
	}
	return m
}

// tombstone reports whether the row is one's.
func (r *catalogRow) tombstone() bool { return IsTombstone(r.Path) }

// writeCatalog replaces the file at path. rows are sorted here; of several with
// one path the first counts. The rename is atomic and not fsynced: a lost
// catalog is made again.
func writeCatalog(path string, cursor plumbing.Hash, key []byte, rows []catalogRow) error {
	raw := encodeCatalog(cursor, key, rows)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".catalog-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(raw); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func encodeCatalog(cursor plumbing.Hash, key []byte, rows []catalogRow) []byte {
	slices.SortStableFunc(rows, func(a, b catalogRow) int { return strings.Compare(a.Path, b.Path) })
	rows = slices.CompactFunc(rows, func(a, b catalogRow) bool { return a.Path == b.Path })
	var records []byte
	offsets := make([]byte, 0, (len(rows)+1)*4)
	out := make([]byte, 0, catalogHeader+len(rows)*(20+len(Digest{})+8+4+200))
	out = append(out, catalogMagic...)
	out = append(out, 0, 0, 0, 0)
	out = append(out, cursor[:]...)
	out = append(out, keyID(key)...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(rows)))
	for _, r := range rows {
		out = append(out, r.Blob[:]...)
	}
	for _, r := range rows {
		out = append(out, r.Digest[:]...)
	}
	for _, r := range rows {
		out = binary.LittleEndian.AppendUint64(out, uint64(r.expiry()))
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(records)))
		records = appendRecord(records, r)
	}
	offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(records)))
	out = append(out, offsets...)
	out = append(out, records...)
	binary.LittleEndian.PutUint32(out[len(catalogMagic):], crc32.ChecksumIEEE(out[len(catalogMagic)+4:]))
	return out
}

// expiry is when the row's memory expires, in Unix seconds; 0 for never.
func (r *catalogRow) expiry() int64 {
	if r.record != nil {
		return r.expires
	}
	if r.Memory == nil || r.Memory.Expires.IsZero() {
		return 0
	}
	return r.Memory.Expires.Unix()
}

// appendRecord encodes one row: path, a kind byte (0 tombstone, 1 memory, 2
// broken memory), then the fields in a fixed order. Times are Unix seconds and nanoseconds.
func appendRecord(b []byte, r catalogRow) []byte {
	if r.record != nil {
		return append(b, r.record...)
	}
	b = appendString(b, r.Path)
	m := r.Memory
	switch {
	case m == nil:
		return append(b, 0)
	case m.Broken != nil:
		b = append(b, 2)
		b = appendString(b, m.Broken.Error())
	default:
		b = append(b, 1)
	}
	for _, s := range []string{
		string(m.ID), m.Title, string(m.Type), string(m.Tier), m.Workspace, m.SupersededBy,
		m.ConflictOf, m.Source, m.Why, m.Trust, m.Origin.User, m.Origin.Agent, m.Origin.Host,
		m.Origin.Session, m.Scope.Type, m.Scope.ID,
	} {
		b = appendString(b, s)
	}
	b = binary.AppendVarint(b, int64(m.Origin.Turn))
	for _, t := range []time.Time{m.Created, m.Updated, m.Expires} {
		b = appendTime(b, t)
	}
	b = appendStrings(b, m.Tags)
	b = appendStrings(b, m.Aliases)
	b = appendStrings(b, m.Supersedes)
	ids := make([]string, len(m.MergedIDs))
	for i, id := range m.MergedIDs {
		ids[i] = string(id)
	}
	return appendStrings(b, ids)
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

func appendTime(b []byte, t time.Time) []byte {
	b = binary.AppendVarint(b, t.Unix())
	return binary.AppendUvarint(b, uint64(t.Nanosecond()))
}

// decodeRecord is appendRecord's inverse; nil for a tombstone or damage.
func decodeRecord(raw []byte) *Memory {
	r := fieldReader{rest: raw}
	m := &Memory{Path: r.string()}
	switch r.byte() {
	case 1:
	case 2:
		m.Broken = brokenText(r.string())
	default:
		return nil
	}
	m.ID = ID(r.string())
	m.Title = r.string()
	m.Type = Type(r.string())
	m.Tier = Tier(r.string())
	for _, s := range []*string{
		&m.Workspace, &m.SupersededBy, &m.ConflictOf, &m.Source, &m.Why, &m.Trust,
		&m.Origin.User, &m.Origin.Agent, &m.Origin.Host, &m.Origin.Session, &m.Scope.Type, &m.Scope.ID,
	} {
		*s = r.string()
	}
	m.Origin.Turn = int(r.varint())
	for _, t := range []*time.Time{&m.Created, &m.Updated, &m.Expires} {
		*t = r.time()
	}
	m.Tags, m.Aliases, m.Supersedes = r.strings(), r.strings(), r.strings()
	for _, id := range r.strings() {
		m.MergedIDs = append(m.MergedIDs, ID(id))
	}
	if r.bad {
		return nil
	}
	return m
}

// brokenText is an ErrBroken that came out of the catalog.
type brokenText string

func (e brokenText) Error() string        { return string(e) }
func (e brokenText) Is(target error) bool { return target == ErrBroken }

// fieldReader reads what the append functions wrote; past the end it gives
// zero values and sets bad.
type fieldReader struct {
	rest []byte
	bad  bool
}

func (r *fieldReader) byte() byte {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *fieldReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *fieldReader) varint() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *fieldReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *fieldReader) string() string { return string(r.bytes()) }

func (r *fieldReader) strings() []string {
	n := r.uvarint()
	if n == 0 || n > uint64(len(r.rest)) {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, r.string())
	}
	return list
}

func (r *fieldReader) time() time.Time {
	seconds, nanoseconds := r.varint(), r.uvarint()
	return time.Unix(seconds, int64(nanoseconds)).UTC()
}
