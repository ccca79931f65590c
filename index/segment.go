package index

import (
	"sync"

	segapi "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// segmentDoc is a chunk as the zap writer wants to see it.
type segmentDoc struct {
	fields [3]segmentField
	n      int
}

var _ segapi.Document = (*segmentDoc)(nil)

func (d *segmentDoc) add(name string, length int, terms []termCount) {
	d.fields[d.n] = segmentField{name: name, length: max(length, 1), terms: terms}
	d.n++
}

// VisitFields calls visit for the id, which the format asks for and we do not
// use, and for each field.
func (d *segmentDoc) VisitFields(visit segapi.FieldVisitor) {
	visit(&noID)
	for i := range d.n {
		visit(&d.fields[i])
	}
}

func (d *segmentDoc) ID() string                                  { return "" }
func (d *segmentDoc) Size() int                                   { return 0 }
func (d *segmentDoc) VisitComposite(segapi.CompositeFieldVisitor) {}
func (d *segmentDoc) HasComposite() bool                          { return false }
func (d *segmentDoc) NumPlainTextBytes() uint64                   { return 0 }
func (d *segmentDoc) AddIDField()                                 {}
func (d *segmentDoc) StoredFieldsBytes() uint64                   { return 0 }
func (d *segmentDoc) Indexed() bool                               { return true }

// segmentField is one field of a segmentDoc: terms, how often, and how many
// in all. A length of 0 would be lost when segments are merged.
type segmentField struct {
	name   string
	length int
	terms  []termCount
	freqs  segapi.TokenFrequencies
	asked  int
}

var (
	_    segapi.Field = (*segmentField)(nil)
	noID              = segmentField{name: "_id"}
)

// AnalyzedTokenFrequencies makes the map that the writer reads twice, and lets
// go of it then: a segment's worth of them is large.
func (f *segmentField) AnalyzedTokenFrequencies() segapi.TokenFrequencies {
	freqs := f.freqs
	if freqs == nil {
		freqs = make(segapi.TokenFrequencies, len(f.terms))
		for _, t := range f.terms {
			freqs[t.term] = frequency(t.n)
		}
	}
	f.asked++
	f.freqs = freqs
	if f.asked == 2 {
		f.freqs = nil
	}
	return freqs
}

// frequency returns a TokenFreq of n. The writer only reads them, so those of
// small n are shared.
func frequency(n int) *segapi.TokenFreq {
	if small := frequencies(); n < len(small) {
		return &small[n]
	}
	f := &segapi.TokenFreq{}
	f.SetFrequency(n)
	return f
}

var frequencies = sync.OnceValue(func() []segapi.TokenFreq {
	list := make([]segapi.TokenFreq, 256)
	for n := range list {
		list[n].SetFrequency(n)
	}
	return list
})

func (f *segmentField) Name() string              { return f.name }
func (f *segmentField) Value() []byte             { return nil }
func (f *segmentField) ArrayPositions() []uint64  { return nil }
func (f *segmentField) EncodedFieldType() byte    { return 't' }
func (f *segmentField) Analyze()                  {}
func (f *segmentField) AnalyzedLength() int       { return f.length }
func (f *segmentField) NumPlainTextBytes() uint64 { return 0 }

func (f *segmentField) Options() segapi.FieldIndexingOptions {
	if f.name == noID.name {
		return segapi.IndexField | segapi.StoreField
	}
	return segapi.IndexField
}

// segmentBuilder collects notes for one segment.
type segmentBuilder struct {
	docs     []segapi.Document
	rows     []tableRow
	postings int
}

const (
	// A segment is written out before it holds more than this, so that memory
	// does not grow with the vault: a posting takes a few hundred bytes meanwhile.
	segmentNotes    = 2000
	segmentPostings = 1 << 17
)

func (b *segmentBuilder) full() bool {
	return len(b.rows) >= segmentNotes || b.postings >= segmentPostings
}

// add appends the note n of path and blob.
func (b *segmentBuilder) add(key noteKey, n *analysedNote) {
	row := tableRow{path: key.path, blob: key.blob, firstDoc: len(b.docs)}
	field := chunkField
	if len(n.chunks) == 1 {
		field = soloField
	}
	for _, c := range n.chunks {
		d := &segmentDoc{}
		d.add(field, c.length, c.terms)
		b.postings += len(c.terms)
		row.chunkLen += c.length
		row.spans = append(row.spans, span{c.start, c.end})
		b.docs = append(b.docs, d)
	}
	first := b.docs[row.firstDoc].(*segmentDoc)
	row.noteLen = row.chunkLen
	if len(n.chunks) > 1 {
		row.noteLen = n.whole.length
		first.add(noteField, n.whole.length, n.whole.terms)
		b.postings += len(n.whole.terms)
	}
	if len(n.keys) > 0 {
		keys := make([]termCount, len(n.keys))
		for i, k := range n.keys {
			keys[i] = termCount{k, 1}
		}
		first.add(keyField, len(keys), keys)
	}
	b.rows = append(b.rows, row)
}

// write makes a segment at path of what was added, and empties b.
func (b *segmentBuilder) write(path string) ([]tableRow, error) {
	seg, _, err := plugin.New(b.docs)
	if err != nil {
		return nil, err
	}
	defer seg.Close()
	rows := b.rows
	*b = segmentBuilder{}
	return rows, seg.(segment.UnpersistedSegment).Persist(path)
}
