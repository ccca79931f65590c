package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"vademecum/vault"
)

// Result is the answer to a query.
type Result struct {
	// Hits are the best first. The order is the same on every host, and does
	// not depend on what the index holds.
	Hits []vault.Hit
	// Reason says in a sentence why there are no hits; "" when there are.
	Reason string
	// Unreadable are the paths of notes that could not be read, so that they,
	// or their text, are missing here. They are no error.
	Unreadable []string
	// Warnings are things that a person should hear once, such as a damaged
	// index that will be rebuilt.
	Warnings []string
	Stats    Stats
}

// Stats says what a search did.
type Stats struct {
	Notes       int // in the source
	Indexed     int // of those, found in generations
	InMemory    int // of those, analysed for this search
	Generations int
	Terms       int // of the question, that occur
	Candidates  int // notes that share a term with it

	Look    time.Duration // which notes are in which generation
	Analyse time.Duration // those that are in none
	Score   time.Duration
	Rank    time.Duration // filters and order
	Excerpt time.Duration
}

// defaultLimit is how many hits a query gets that does not say.
const defaultLimit = 5

// Search answers q from what src lists now. No question is an error: all of
// q.Text is taken literally, there is no query syntax. The error is ctx's.
func (x *Index) Search(ctx context.Context, src Source, q vault.Query) (Result, error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	q.Passages = max(q.Passages, 1)
	if q.Now.IsZero() {
		q.Now = time.Now()
	}
	for {
		snap := x.acquire()
		s := &searching{x: x, src: src, q: q, snap: snap}
		err := s.run(ctx)
		snap.release()
		if damaged, ok := errors.AsType[*damagedError](err); ok {
			x.distrust(damaged) // another search may have done so
			continue
		}
		return s.result, err
	}
}

// searching is one search.
type searching struct {
	x      *Index
	src    Source
	q      vault.Query
	snap   *snapshot
	result Result
	clock  time.Time
}

// lap adds the time since the last lap to d.
func (s *searching) lap(d *time.Duration) {
	now := time.Now()
	*d += now.Sub(s.clock)
	s.clock = now
}

func (s *searching) run(ctx context.Context) error {
	s.clock = time.Now()
	s.result.Stats.Notes = s.src.Len()
	for _, err := range s.snap.damaged {
		s.result.Warnings = append(s.result.Warnings, err.Error()+"; its notes are searched in memory until the index is rebuilt")
	}
	asked := queryTerms(s.q.Text)
	v, err := s.look(ctx, asked)
	if err != nil {
		return err
	}
	found, err := s.find(v, asked)
	if err != nil {
		return err
	}
	defer found.scorer.done()
	if len(asked) == 0 && len(found.heap) == 0 {
		return s.literally(ctx)
	}
	r, err := s.rank(found)
	if err != nil {
		return err
	}
	s.lap(&s.result.Stats.Rank)
	s.show(r.kept, found.scorer)
	s.lap(&s.result.Stats.Excerpt)
	if len(s.result.Hits) == 0 {
		s.result.Reason = s.whyNone(r.dropped, asked, found)
	}
	return nil
}

// look returns what there is to search: the generations, and in memory what
// they do not have.
func (s *searching) look(ctx context.Context, asked []queryTerm) (*view, error) {
	st := &s.result.Stats
	v := look(s.src, s.snap)
	st.Generations = len(v.parts)
	st.InMemory = len(v.pending)
	st.Indexed = st.Notes - st.InMemory
	s.lap(&st.Look)
	if len(v.pending) == 0 {
		return v, nil
	}
	p, unreadable, err := s.x.inMemory(ctx, s.src, v.pending, asked)
	s.result.Unreadable = unreadable
	s.lap(&st.Analyse)
	v.parts = append(v.parts, p)
	return v, err
}

// found is what a question finds before filters.
type found struct {
	asked  []queryTerm // with their counts
	scorer *scorer
	names  map[int]string

	candidates int // notes that share a term with the question
	heap       entryHeap
	floor      float64 // what has a lower score may not be in heap
}

func (s *searching) find(v *view, asked []queryTerm) (*found, error) {
	st := &s.result.Stats
	many := len(asked) > maxTerms
	for i := range asked {
		if err := asked[i].count(v.parts); err != nil {
			return nil, err
		}
		if many {
			asked[i].lists = nil
		}
	}
	terms := rarest(slices.Clone(asked))
	if many {
		for i := range terms {
			if err := terms[i].count(v.parts); err != nil {
				return nil, err
			}
		}
	}
	f := &found{asked: asked, scorer: newScorer(v.parts, terms)}
	st.Terms = len(terms)
	var err error
	if f.names, err = named(s.src, v, names(s.q.Text)); err != nil {
		return nil, err
	}
	if err := s.score(f, true); err != nil {
		return nil, err
	}
	st.Candidates = max(f.candidates, len(f.heap))
	s.lap(&st.Score)
	return f, nil
}

// score fills in f's candidates.
func (s *searching) score(f *found, cut bool) error {
	if err := f.scorer.score(cut, s.q.Explain); err != nil {
		return err
	}
	s.gather(f, s.x.certain*s.q.Limit)
	return nil
}

// gather makes entries of the best keep candidates at least; 0: of all.
func (s *searching) gather(f *found, keep int) {
	g := gathering{src: s.src, names: f.names, passages: s.q.Passages > 1, keep: keep}
	for _, p := range f.scorer.parts {
		g.add(p)
	}
	s.outrank(g.list, g.best, g.top)
	f.candidates, f.floor = g.found, g.floor()
	f.heap = addNamed(g.list, f.scorer.parts, f.names)
	f.heap.init()
}

// outrank lowers captured turns, the best of which has top, until that stands
// below best, that of what somebody chose to remember, if there is any. Their
// order stays.
func (s *searching) outrank(list []entry, best, top float64) {
	limit := float64(best * capturedCap)
	if best == 0 || top <= limit {
		return
	}
	for i := range list {
		if e := &list[i]; e.part.inSession(s.src, int(e.note)) {
			e.text = float64(e.text * limit / top)
		}
	}
}

// rank chooses the hits. Common terms that were held back are let in when
// nothing else is left: a filter must not make a false empty.
func (s *searching) rank(f *found) (*ranking, error) {
	keep := filter{q: s.q, now: s.q.Now}
	if s.q.Strict {
		if err := keep.require(f.scorer, f.asked); err != nil {
			return nil, err
		}
	}
	for {
		r := s.ranking(keep, f)
		r.run()
		if r.short {
			s.gather(f, 0)
			continue
		}
		if len(r.kept) > 0 || !f.scorer.cut {
			return r, nil
		}
		if err := s.score(f, false); err != nil {
			return nil, err
		}
	}
}

func (s *searching) ranking(keep filter, f *found) *ranking {
	return &ranking{
		src: s.src, filter: keep, heap: f.heap, least: f.floor, names: f.names, limit: s.q.Limit,
		passages: s.q.Passages, of: map[int]int{}, dropped: map[string]int{},
	}
}

// literally answers a question without terms.
func (s *searching) literally(ctx context.Context) error {
	hits, unreadable, all := literal(ctx, s.src, s.q.Text)
	s.result.Unreadable = unreadable
	if !all {
		s.result.Warnings = append(s.result.Warnings, fmt.Sprintf(
			"the question has only stop words or punctuation: just %d of %d memories were read for it", maxLiteral, s.src.Len()))
	}
	p := &scoredPart{part: &part{}}
	p.noteOf = func(doc int) int { return doc }
	p.span = func(doc int) span { return span{hits[doc].at, hits[doc].at + len(s.q.Text)} }
	r := s.ranking(filter{q: s.q, now: s.q.Now}, &found{})
	for i, h := range hits {
		r.heap = append(r.heap, entry{part: p, note: int32(i), doc: int32(i), source: int32(h.source), text: ln(1 + float64(h.count))})
	}
	r.heap.init()
	r.run()
	s.result.Stats.Candidates = len(hits)
	s.lap(&s.result.Stats.Rank)
	s.show(r.kept, &scorer{})
	s.lap(&s.result.Stats.Excerpt)
	if len(s.result.Hits) == 0 {
		s.result.Reason = s.whyNone(r.dropped, nil, nil)
	}
	return ctx.Err()
}
