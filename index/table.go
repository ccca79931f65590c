package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"sort"
	"unsafe"

	"github.com/go-git/go-git/v5/plumbing"
)

// table says which notes a generation holds and where. It is read in one go
// and used as it lies; all numbers are little-endian uint32:
//
//	magic     "vadeidx" and a format byte
//	notes, docs, size of paths
//	blobs     notes × 20 bytes
//	pathEnd   notes: where each path ends in paths
//	firstDoc  notes: document number of the note's first chunk
//	chunks    notes: how many chunks, in consecutive documents
//	chunkLen  notes: terms in all its chunks
//	noteLen   notes: terms in the note as one
//	noteOf    docs: the note of each document
//	spanFrom  docs: where the chunk starts in the file
//	spanTo    docs: where it ends
//	paths     in the order of the notes, which are sorted by path
//	crc       Castagnoli, of everything before
type table struct {
	notes, docs int

	blobs                                        []byte
	pathEnd, firstDoc, chunks, chunkLen, noteLen []byte
	noteOf, spanFrom, spanTo                     []byte
	paths                                        string
}

const (
	tableMagic  = "vadeidx\x01"
	tableHeader = len(tableMagic) + 12
	noteColumns = 5
	docColumns  = 3
)

var errTable = errors.New("table of notes is damaged")

func tableSum(content []byte) uint32 {
	return crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))
}

// tableRow is one note on its way into a table.
type tableRow struct {
	path     string
	blob     plumbing.Hash
	firstDoc int
	chunkLen int
	noteLen  int
	spans    []span // of its chunks
}

// span is a range of bytes of a file.
type span struct{ start, end int }

// encodeTable sorts rows by path and encodes them.
func encodeTable(rows []tableRow) []byte {
	slices.SortFunc(rows, func(a, b tableRow) int { return cmp.Compare(a.path, b.path) })
	docs, pathSize := 0, 0
	for _, r := range rows {
		docs += len(r.spans)
		pathSize += len(r.path)
	}
	size := tableHeader + len(rows)*(20+4*noteColumns) + docs*4*docColumns + pathSize + 4
	b := make([]byte, 0, size)
	b = append(b, tableMagic...)
	for _, n := range []int{len(rows), docs, pathSize} {
		b = appendInt(b, n)
	}
	for _, r := range rows {
		b = append(b, r.blob[:]...)
	}
	end := 0
	for _, r := range rows {
		end += len(r.path)
		b = appendInt(b, end)
	}
	for _, column := range []func(tableRow) int{
		func(r tableRow) int { return r.firstDoc },
		func(r tableRow) int { return len(r.spans) },
		func(r tableRow) int { return r.chunkLen },
		func(r tableRow) int { return r.noteLen },
	} {
		for _, r := range rows {
			b = appendInt(b, column(r))
		}
	}
	b = appendDocs(b, rows, docs)
	for _, r := range rows {
		b = append(b, r.path...)
	}
	return binary.LittleEndian.AppendUint32(b, tableSum(b))
}

// appendDocs appends the columns that have an entry for each document.
func appendDocs(b []byte, rows []tableRow, docs int) []byte {
	noteOf, from, to := make([]int, docs), make([]int, docs), make([]int, docs)
	for i, r := range rows {
		for k, s := range r.spans {
			doc := r.firstDoc + k
			noteOf[doc], from[doc], to[doc] = i, s.start, s.end
		}
	}
	for _, column := range [][]int{noteOf, from, to} {
		for _, n := range column {
			b = appendInt(b, n)
		}
	}
	return b
}

func appendInt(b []byte, n int) []byte { return binary.LittleEndian.AppendUint32(b, uint32(n)) }

// decodeTable checks raw and returns a table that refers to it: raw must not be
// changed any more.
func decodeTable(raw []byte) (*table, error) {
	if len(raw) < tableHeader+4 || string(raw[:len(tableMagic)]) != tableMagic {
		return nil, errTable
	}
	content := raw[:len(raw)-4]
	if tableSum(content) != binary.LittleEndian.Uint32(raw[len(raw)-4:]) {
		return nil, errTable
	}
	t := &table{notes: at(raw[8:], 0), docs: at(raw[8:], 1)}
	if len(content) != tableHeader+t.notes*(20+4*noteColumns)+t.docs*4*docColumns+at(raw[8:], 2) {
		return nil, errTable
	}
	rest := content[tableHeader:]
	take := func(n int) []byte {
		b := rest[:n]
		rest = rest[n:]
		return b
	}
	t.blobs = take(t.notes * 20)
	for _, column := range []*[]byte{&t.pathEnd, &t.firstDoc, &t.chunks, &t.chunkLen, &t.noteLen} {
		*column = take(t.notes * 4)
	}
	for _, column := range []*[]byte{&t.noteOf, &t.spanFrom, &t.spanTo} {
		*column = take(t.docs * 4)
	}
	t.paths = unsafe.String(unsafe.SliceData(rest), len(rest)) // megabytes, and raw does not change
	return t, nil
}

// at returns number i of a column.
func at(column []byte, i int) int { return int(binary.LittleEndian.Uint32(column[i*4:])) }

func (t *table) path(note int) string {
	start := 0
	if note > 0 {
		start = at(t.pathEnd, note-1)
	}
	return t.paths[start:at(t.pathEnd, note)]
}

// find returns the first note whose path is not before path.
func (t *table) find(path string) int {
	return sort.Search(t.notes, func(note int) bool { return t.path(note) >= path })
}

func (t *table) blob(note int) plumbing.Hash { return plumbing.Hash(t.blobs[note*20 : note*20+20]) }

func (t *table) row(note int) tableRow {
	r := tableRow{
		path: t.path(note), blob: t.blob(note), firstDoc: at(t.firstDoc, note),
		chunkLen: at(t.chunkLen, note), noteLen: at(t.noteLen, note),
	}
	for doc := r.firstDoc; doc < r.firstDoc+at(t.chunks, note); doc++ {
		r.spans = append(r.spans, t.span(doc))
	}
	return r
}

func (t *table) span(doc int) span { return span{at(t.spanFrom, doc), at(t.spanTo, doc)} }
