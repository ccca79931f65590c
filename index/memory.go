package index

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// memoryPart is the part of a search that is analysed for it: the notes that
// no generation holds. It keeps postings of the question's terms only.
type memoryPart struct {
	notes []memoryNote
	docs  []memoryDoc
	lists map[fieldTerm][]posting
	keys  map[string][]posting
}

type memoryNote struct {
	source           int
	firstDoc, chunks int
}

type memoryDoc struct {
	note int
	span span
}

type fieldTerm struct{ field, term string }

// batch bounds how many files are held in memory at once.
const (
	batchNotes = 256
	batchBytes = 2 << 20
)

// reading is a note on its way from the source through the analysis.
type reading struct {
	source int
	path   string
	blob   plumbing.Hash
	raw    []byte
	err    error
	cuts   []int // see Divided; nil: by its markdown
	note   *analysedNote
	exact  bool // raw is what blob names
}

// readAll reads and analyses the notes at places of src, and calls fn for
// each in order. Reading is done here, analysis by as many workers as there
// are processors. cached gives the analysis of notes that need no reading.
func readAll(ctx context.Context, src Source, places []int, cached func(noteKey) *analysedNote, fn func(reading)) error {
	workers := newWorkers()
	for len(places) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch, n := readBatch(src, places, cached)
		workers.analyse(batch)
		for _, r := range batch {
			fn(r)
		}
		places = places[n:]
	}
	return nil
}

func readBatch(src Source, places []int, cached func(noteKey) *analysedNote) (batch []reading, n int) {
	size := 0
	divided, _ := src.(Divided)
	for _, i := range places {
		if len(batch) == batchNotes || size > batchBytes {
			break
		}
		r := reading{source: i}
		r.path, r.blob = src.Key(i)
		if r.note = cached(noteKey{r.path, r.blob}); r.note == nil {
			r.raw, r.err = src.Read(i)
			size += len(r.raw)
			if divided != nil {
				r.cuts = divided.Passages(i)
			}
		}
		batch = append(batch, r)
	}
	return batch, len(batch)
}

// workers are the analyzers of one run, one for each processor.
type workers []*noteAnalyzer

func newWorkers() workers {
	return make(workers, max(1, runtime.GOMAXPROCS(0)))
}

// analyse fills in the notes of batch.
func (w workers) analyse(batch []reading) {
	todo := len(batch)
	if todo == 0 {
		return
	}
	if todo < 8 {
		w.run(0, 1, batch)
		return
	}
	var wg sync.WaitGroup
	for k := range w {
		wg.Go(func() { w.run(k, len(w), batch) })
	}
	wg.Wait()
}

// run analyses every step-th note from k on.
func (w workers) run(k, step int, batch []reading) {
	if w[k] == nil {
		w[k] = newNoteAnalyzer()
	}
	for i := k; i < len(batch); i += step {
		r := &batch[i]
		if r.note != nil || r.err != nil {
			continue
		}
		r.exact = blobID(r.raw) == r.blob
		r.note = w[k].analyse(r.path, r.raw, r.cuts)
	}
}

// inMemory analyses the notes at places of src for a question with terms.
func (x *Index) inMemory(ctx context.Context, src Source, places []int, terms []queryTerm) (p *part, unreadable []string, err error) {
	m := &memoryPart{lists: map[fieldTerm][]posting{}, keys: map[string][]posting{}}
	wanted := make(map[string]bool, len(terms))
	for _, t := range terms {
		wanted[t.Text] = true
	}
	p = &part{postings: m}
	err = readAll(ctx, src, places, x.analysed.get, func(r reading) {
		if r.err != nil {
			unreadable = append(unreadable, r.path)
			return
		}
		if r.exact {
			x.analysed.put(noteKey{r.path, r.blob}, r.note)
		}
		p.stats.add(m.add(r.source, r.note, wanted))
	})
	m.fill(p)
	return p, unreadable, err
}

// add takes the wanted terms of n, and returns what n adds to the statistics.
func (m *memoryPart) add(source int, n *analysedNote, wanted map[string]bool) stats {
	note, first := len(m.notes), len(m.docs)
	m.notes = append(m.notes, memoryNote{source, first, len(n.chunks)})
	s := stats{notes: 1, chunks: len(n.chunks)}
	field := chunkField
	if len(n.chunks) == 1 {
		field = soloField
	}
	for i, c := range n.chunks {
		m.docs = append(m.docs, memoryDoc{note, span{c.start, c.end}})
		m.addTerms(field, first+i, c, wanted)
		s.chunkLen += c.length
	}
	s.noteLen = s.chunkLen
	if len(n.chunks) > 1 {
		m.addTerms(noteField, first, n.whole, wanted)
		s.noteLen = n.whole.length
	}
	for _, k := range n.keys {
		m.keys[k] = append(m.keys[k], posting{doc: first, n: 1, len: 1})
	}
	return s
}

func (m *memoryPart) addTerms(field string, doc int, c analysedChunk, wanted map[string]bool) {
	for _, t := range c.terms {
		if wanted[t.term] {
			k := fieldTerm{field, t.term}
			m.lists[k] = append(m.lists[k], posting{doc, t.n, max(c.length, 1)})
		}
	}
}

// fill gives p what m has collected.
func (m *memoryPart) fill(p *part) {
	p.docs, p.notes = len(m.docs), len(m.notes)
	p.source = make([]int32, len(m.notes))
	for i, n := range m.notes {
		p.source[i] = int32(n.source)
	}
	p.noteOf = func(doc int) int { return m.docs[doc].note }
	p.firstDoc = func(note int) int { return m.notes[note].firstDoc }
	p.chunks = func(note int) int { return m.notes[note].chunks }
	p.span = func(doc int) span { return m.docs[doc].span }
}

func (m *memoryPart) list(field, term string) (postingList, error) {
	if field == keyField {
		return memoryList(m.keys[term]), nil
	}
	return memoryList(m.lists[fieldTerm{field, term}]), nil
}

type memoryList []posting

func (l memoryList) count() int { return len(l) }

func (l memoryList) each(fn func(posting)) error {
	for _, p := range l {
		fn(p)
	}
	return nil
}

func (l memoryList) among(docs []int, fn func(posting)) error {
	for _, doc := range docs {
		i, ok := slices.BinarySearchFunc(l, doc, func(p posting, doc int) int { return p.doc - doc })
		if ok {
			fn(l[i])
		}
	}
	return nil
}
