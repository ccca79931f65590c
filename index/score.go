package index

import "slices"

// The score of a chunk is
//
//	s = BM25(chunk) · coverage^0.3 + 0.75 · BM25(its note) + context
//
// where coverage is the share of the question's terms that the chunk has; it
// tells the chunks of a note apart and counts 1 for a note of one chunk.
// Context is, for each term that the chunk lacks, what the term adds to the
// nearest chunks of the note that have it, times 0.4, 0.3 or 0.2 for one, two or
// three chunks away, the largest of these: an answer need not repeat what was
// asked just before it, and what it does repeat counts once.
//
// BM25 is Okapi's (Robertson and Zaragoza, The Probabilistic Relevance
// Framework, 2009) with the idf that is never negative, ln(1 + (N - df + ½) /
// (df + ½)). Chunks are of similar length by their making, so length says less
// about them than about notes. All constants were chosen on the dev halves of
// docs/benchmarks.md; none of them is at a sharp optimum.
const (
	okapiK1 = 0.9
	chunkB  = 0.4
	noteB   = 0.75

	coverageExponent = 0.3
	noteShare        = 0.75

	// A term that is in more than this share of the chunks, and in more than
	// commonFloor, only re-scores chunks that a rarer term found.
	commonShare = 20 // one in
	commonFloor = 2000
)

// contextShare is what a term is worth that a chunk lacks and one at this
// distance has, from 1 on.
var contextShare = [...]float64{0.4, 0.3, 0.2}

// idf returns the weight of a term that is in df of n units.
func idf(n, df int) float64 {
	return ln(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// lengthNorm returns how much a unit of length terms is held back, where units
// have avg on average. See math.go for the conversions.
func lengthNorm(length int, avg, b float64) float64 {
	return float64(okapiK1 * (1 - b + float64(b*float64(length))/avg))
}

// bm25 returns what n occurrences of a term add to the score of a unit with norm.
func bm25(idf float64, n int, norm float64) float64 {
	tf := float64(n)
	return float64(idf*tf*(okapiK1+1)) / (tf + norm)
}

// norms are lengthNorms, computed once for each of the usual lengths.
type norms struct {
	avg, b float64
	usual  [1024]float64
}

func (n *norms) of(length int) float64 {
	if length >= len(n.usual) {
		return lengthNorm(length, n.avg, n.b)
	}
	if n.usual[length] == 0 {
		n.usual[length] = lengthNorm(length, n.avg, n.b)
	}
	return n.usual[length]
}

// scorer scores the chunks of all parts for one question.
type scorer struct {
	terms                  []queryTerm
	parts                  []*scoredPart
	total                  stats
	share                  map[float64]float64 // coverage to the power of coverageExponent
	lastCovered, lastShare float64             // of the last one asked for
	all                    float64             // what all terms together cover
	cut                    bool                // common terms were held back

	chunkNorms, noteNorms norms

	docs []int     // room for one term's chunks,
	own  []float64 // and what it adds to them
}

// scoredPart is a part with the scores of its documents. Sums are made in the
// order of the terms, so they do not depend on what else is in the part.
type scoredPart struct {
	*part
	scores  []docScore
	touched []int // documents with a chunk score
	noted   []int // with a note score or context besides, some of them several times
	added   []contribution
	room    *scoreRoom // that scores and touched are in
}

// docScore is what one document has so far.
type docScore struct {
	chunk   float64 // BM25 of the chunk, later times coverage^0.3
	covered float64
	note    float64 // BM25 of the note, at its first document
	context float64 // what the chunk borrows from those around it
}

// contribution is what one term adds to a document; kept when a search explains itself.
type contribution struct {
	doc, term int
	note      bool
	n         int
	score     float64
}

func newScorer(parts []*part, terms []queryTerm) *scorer {
	s := &scorer{terms: terms, share: map[float64]float64{}}
	s.chunkNorms.b, s.noteNorms.b = chunkB, noteB
	for _, p := range parts {
		s.total.add(p.stats)
		s.parts = append(s.parts, &scoredPart{part: p})
	}
	s.chunkNorms.avg = float64(s.total.chunkLen) / float64(s.total.chunks)
	s.noteNorms.avg = float64(s.total.noteLen) / float64(s.total.notes)
	for i := range terms {
		t := &terms[i]
		t.chunkIDF = float64(idf(s.total.chunks, t.chunks) * t.Weight)
		t.noteIDF = float64(idf(s.total.notes, t.notes) * t.Weight)
		t.common = t.chunks > max(s.total.chunks/commonShare, commonFloor)
		t.covers = coverage(t.Term)
		s.all += t.covers
	}
	return s
}

// score computes all scores. With cut, common terms only re-score what rarer
// ones found, unless there are no rarer ones.
func (s *scorer) score(cut, explain bool) error {
	rare := 0
	for _, t := range s.terms {
		if !t.common {
			rare++
		}
	}
	s.cut = cut && rare > 0 && rare < len(s.terms)
	for i, p := range s.parts {
		p.reset()
		if err := s.scorePart(i, p, explain); err != nil {
			return err
		}
	}
	return nil
}

func (p *scoredPart) reset() {
	p.done()
	p.room = newRoom(p.docs)
	p.scores, p.touched, p.noted = p.room.scores, p.room.touched[:0], p.room.noted[:0]
	p.added = nil
}

// done gives back what s has room in: its scores are gone then.
func (s *scorer) done() {
	for _, p := range s.parts {
		p.done()
	}
}

// done gives back what p has room in; its scores are gone then.
func (p *scoredPart) done() {
	if r := p.room; r != nil {
		r.touched, r.noted = p.touched, p.noted
		p.room, p.scores, p.touched, p.noted = nil, nil, nil, nil // who takes the room shares nothing with p
		r.clean()
		usedRooms.Put(r)
	}
}

func (s *scorer) scorePart(i int, p *scoredPart, explain bool) error {
	for k, t := range s.terms {
		if s.cut && t.common {
			continue
		}
		if err := s.scoreTerm(p, k, t.lists[i], postingList.each, explain); err != nil {
			return err
		}
	}
	if s.cut {
		if err := s.rescore(i, p, explain); err != nil {
			return err
		}
	}
	var of noteDocs
	for _, doc := range p.touched {
		if p.locate(doc, &of); of.first < of.last {
			d := &p.scores[doc]
			d.chunk = float64(d.chunk * s.coverageShare(d.covered))
		}
	}
	return nil
}

// scoreTerm adds term k to the documents that walk visits.
func (s *scorer) scoreTerm(p *scoredPart, k int, l termLists, walk func(postingList, func(posting)) error, explain bool) error {
	t := s.terms[k]
	chunk := func(x posting) float64 {
		d := &p.scores[x.doc]
		if d.chunk == 0 {
			p.touched = append(p.touched, x.doc)
		}
		add := bm25(t.chunkIDF, x.n, s.chunkNorms.of(x.len))
		d.chunk += add
		d.covered += t.covers
		if explain {
			p.added = append(p.added, contribution{x.doc, k, false, x.n, add})
		}
		return add
	}
	note := func(x posting) {
		add := bm25(t.noteIDF, x.n, s.noteNorms.of(x.len))
		p.scores[x.doc].note += add
		if explain {
			p.added = append(p.added, contribution{x.doc, k, true, x.n, add})
		}
	}
	if err := walk(l.solo, func(x posting) { chunk(x); note(x) }); err != nil {
		return err
	}
	s.docs, s.own = s.docs[:0], s.own[:0]
	if err := walk(l.chunk, func(x posting) {
		s.docs, s.own = append(s.docs, x.doc), append(s.own, chunk(x))
	}); err != nil {
		return err
	}
	if len(s.terms) > 1 { // else there is nobody to borrow: who lacks the term was not found
		p.spread(s.docs, s.own)
	}
	return walk(l.note, func(x posting) {
		p.noted = append(p.noted, x.doc)
		note(x)
	})
}

// found returns the documents with a chunk score, and these with the first
// documents of their notes; both ascending.
func (p *scoredPart) found() (found, within []int) {
	r := p.room
	found, within = r.found[:0], r.within[:0]
	if len(p.touched)*16 > p.docs { // looking at all is faster than sorting
		for doc := range p.scores {
			if p.scores[doc].chunk > 0 {
				found = append(found, doc)
			}
		}
	} else {
		found = append(found, p.touched...)
		slices.Sort(found)
	}
	of := noteDocs{}
	for _, doc := range found {
		before := of
		if p.locate(doc, &of); doc > of.first && before != of {
			within = append(within, of.first)
		}
		within = append(within, doc)
	}
	r.found, r.within = found, within
	return found, within
}

// rescore adds the common terms to the documents that were found, and to
// their notes.
func (s *scorer) rescore(i int, p *scoredPart, explain bool) error {
	found, within := p.found()
	for k, t := range s.terms {
		if !t.common {
			continue
		}
		l := t.lists[i]
		among := func(docs []int) func(postingList, func(posting)) error {
			return func(l postingList, fn func(posting)) error { return l.among(docs, fn) }
		}
		if err := s.scoreTerm(p, k, termLists{memoryList(nil), l.chunk, memoryList(nil)}, among(found), explain); err != nil {
			return err
		}
		if err := s.scoreTerm(p, k, termLists{l.solo, memoryList(nil), l.note}, among(within), explain); err != nil {
			return err
		}
	}
	return nil
}

func (s *scorer) coverageShare(covered float64) float64 {
	if covered == s.lastCovered {
		return s.lastShare
	}
	v, ok := s.share[covered]
	if !ok {
		v = pow(min(covered/s.all, 1), coverageExponent)
		s.share[covered] = v
	}
	s.lastCovered, s.lastShare = covered, v
	return v
}

// noteDocs are the documents of a note.
type noteDocs struct {
	note        int
	first, last int
	known       bool
}

// locate sets of to the note that doc is of. It is fast when that is the one
// that it was set to before.
func (p *part) locate(doc int, of *noteDocs) {
	if !of.known || doc < of.first || doc > of.last {
		note := p.noteOf(doc)
		first := p.firstDoc(note)
		*of = noteDocs{note, first, first + p.chunks(note) - 1, true}
	}
}

// solo reports whether doc is all there is of its note.
func (p *scoredPart) solo(doc int) bool { return p.chunks(p.noteOf(doc)) == 1 }

// chunkScore returns the three summands of the score of doc, a chunk that was
// found, whose note starts at first.
func (p *scoredPart) chunkScore(doc, first int) (chunk, note, context float64) {
	d := &p.scores[doc]
	return d.chunk, float64(noteShare * p.scores[first].note), d.context
}
