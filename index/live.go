package index

import (
	"reflect"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/go-git/go-git/v5/plumbing"
)

// part is one thing that a search looks into: a generation, or the notes that
// were analysed in memory. Its documents are chunks; those of a note follow
// each other.
type part struct {
	docs     int
	notes    int
	source   []int32 // note's place in the source; -1 when it is dead
	noteOf   func(doc int) int
	firstDoc func(note int) int
	chunks   func(note int) int
	span     func(doc int) span
	stats    stats
	postings postings
	sessions *noteRange // which notes are sessions; nil: their paths say so
}

// afterSessions is the first path after all that are in sessionsFolder.
const afterSessions = "sessions0" // 0 comes after /

// noteRange is the notes of a generation from from on, before to.
type noteRange struct{ from, to int }

// inSession reports whether a live note of p was said in a session. A search
// asks that of every candidate, so it must not touch the source for each.
func (p *part) inSession(src Source, note int) bool {
	if p.sessions != nil {
		return p.sessions.from <= note && note < p.sessions.to
	}
	path, _ := src.Key(int(p.source[note]))
	return inSessions(path)
}

// stats are counts over live notes.
type stats struct {
	notes, chunks     int // how many
	noteLen, chunkLen int // terms in all of them
}

func (s *stats) add(t stats) {
	s.notes += t.notes
	s.chunks += t.chunks
	s.noteLen += t.noteLen
	s.chunkLen += t.chunkLen
}

// view is a source seen through a snapshot.
type view struct {
	parts   []*part // generations, newest first
	gens    []*openGeneration
	pending []int // places in the source that no generation has
	dead    []int // for each part: documents of notes that are not live
	files   *fileNames
}

// look joins src with the generations of s, once for a source that is searched
// several times in a row: with 100,000 notes that takes longer than the search.
func look(src Source, s *snapshot) *view {
	if !reflect.TypeOf(src).Comparable() {
		return join(src, s)
	}
	s.mu.Lock()
	have, v := s.src, s.view
	s.mu.Unlock()
	if have != src {
		v = join(src, s)
		s.mu.Lock()
		s.src, s.view = src, v
		s.mu.Unlock()
	}
	return v.fresh()
}

// fresh returns v with postings for one search.
func (v *view) fresh() *view {
	u := *v
	u.parts = make([]*part, len(v.parts))
	for i, p := range v.parts {
		q := *p
		z := p.postings.(*zapPostings)
		q.postings = &zapPostings{gen: z.gen, dead: z.dead}
		u.parts[i] = &q
	}
	return &u
}

// join finds what is live in the generations of s. Of several generations that
// have a note as it is, the newest counts.
func join(src Source, s *snapshot) *view {
	v := &view{files: &fileNames{}}
	taken := make([]bool, src.Len())
	for i := len(s.gens) - 1; i >= 0; i-- {
		g := s.gens[i]
		p, dead := g.part(src, taken)
		v.parts = append(v.parts, p)
		v.gens = append(v.gens, g)
		v.dead = append(v.dead, dead)
	}
	for i, t := range taken {
		if !t {
			v.pending = append(v.pending, i)
		}
	}
	return v
}

// part finds g's live notes and marks them in taken.
func (g *openGeneration) part(src Source, taken []bool) (p *part, deadDocs int) {
	t := g.table
	p = &part{
		docs: t.docs, notes: t.notes, source: make([]int32, t.notes),
		noteOf:   func(doc int) int { return at(t.noteOf, doc) },
		firstDoc: func(note int) int { return at(t.firstDoc, note) },
		chunks:   func(note int) int { return at(t.chunks, note) },
		span:     t.span,
		sessions: &noteRange{t.find(sessionsFolder), t.find(afterSessions)},
	}
	var dead *roaring.Bitmap
	find := finder(src, t.notes)
	for note := range t.notes {
		i, blob := find(t.path(note))
		first, n := at(t.firstDoc, note), at(t.chunks, note)
		if i < 0 || taken[i] || blob != t.blob(note) {
			p.source[note] = -1
			if dead == nil {
				dead = roaring.New()
			}
			dead.AddRange(uint64(first), uint64(first+n))
			deadDocs += n
			continue
		}
		taken[i] = true
		p.source[note] = int32(i)
		p.stats.add(stats{1, n, at(t.noteLen, note), at(t.chunkLen, note)})
	}
	p.postings = &zapPostings{gen: g, dead: dead}
	return p, deadDocs
}

// finder returns a function that finds paths in src; they must be asked for in
// ascending order. It walks along when there are many and searches when there
// are few.
func finder(src Source, asked int) func(path string) (int, plumbing.Hash) {
	n, next := src.Len(), 0
	few := asked*16 < n
	return func(path string) (int, plumbing.Hash) {
		if few {
			next = search(src, next, n, path)
		}
		for ; next < n; next++ {
			have, blob := src.Key(next)
			if have == path {
				return next, blob
			}
			if have > path {
				break
			}
		}
		return -1, plumbing.ZeroHash
	}
}

// search returns the first place in [lo, hi) whose path is not before path.
func search(src Source, lo, hi int, path string) int {
	for lo < hi {
		mid := (lo + hi) / 2
		if have, _ := src.Key(mid); have < path {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
