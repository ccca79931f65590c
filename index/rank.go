package index

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"vademecum/vault"
)

const (
	// keepShare: a hit below this share of the best one is noise.
	keepShare = 0.2
	// sessionWeight: what was said in a session counts less than what
	// somebody chose to remember.
	sessionWeight = 0.5
	// namedBonus lifts what the question names by id, path or file name above
	// everything that only shares words with it.
	namedBonus = 100.0

	sessionsFolder = "sessions/"
	// belowFloor is how many notes below keepShare are looked at for one that
	// supersedes a better one.
	belowFloor = 8
)

// entry is a note that was found: of hundreds of thousands at times, so it is small.
type entry struct {
	part   *scoredPart
	note   int32 // in part
	doc    int32 // best chunk
	source int32 // place in the source
	named  bool  // by the question
	text   float64
}

// score is what entries are ordered by.
func (e entry) score() float64 {
	if e.named {
		return e.text + namedBonus
	}
	return e.text
}

// candidate is a note that is looked at because it may be a hit.
type candidate struct {
	part   *scoredPart
	note   int // in part
	doc    int // best chunk
	source int // place in the source
	text   float64
	named  string // how the question names it, "" if it does not
	meta   *vault.Memory
	low    bool   // below keepShare
	raised string // path of the note that it was put before
	above  string // id of the note that supersedes it
}

// score is that of the entry.
func (c *candidate) score() float64 { return entry{text: c.text, named: c.named != ""}.score() }

// ranking chooses hits from candidates, best first, asking the source about as
// few of them as it can.
type ranking struct {
	src    Source
	filter filter
	heap   entryHeap
	least  float64        // what has a lower score may not be in heap
	short  bool           // the ranking needs more than heap is sure to have
	names  map[int]string // how the question names notes, by place in the source
	limit  int
	kept   []*candidate
	// At most passages hits are kept of a note; of counts those of each source.
	passages int
	of       map[int]int
	dropped  map[string]int // how many a filter dropped, by reason
	floor    float64
	lows     int

	captured int          // hits kept of sessions
	more     []*candidate // of sessions, behind everything else
}

// maxCaptured is how many captured turns may stand among what somebody chose
// to remember; the others come behind. Nor does the best of them stand above
// all of that: it counts for at most capturedCap of the best.
const (
	maxCaptured = 2
	capturedCap = 0.95
)

// run fills kept, in order.
func (r *ranking) run() {
	window := max(16, 3*r.limit)
	for len(r.kept) < window && r.lows < belowFloor {
		if len(r.heap) == 0 || r.heap[0].score() < r.least {
			r.short = r.least > 0
			break
		}
		for _, c := range r.group() {
			switch {
			case r.of[c.source] >= r.passages:
			case inSessions(c.meta.Path) && r.captured == maxCaptured:
				r.more = append(r.more, c)
			default:
				r.keep(c)
			}
		}
	}
	for _, c := range r.more[:min(len(r.more), r.limit)] {
		r.keep(c)
	}
	r.kept = related(r.kept)
	r.kept = slices.DeleteFunc(r.kept, func(c *candidate) bool { return c.low && c.raised == "" })
	if len(r.kept) > r.limit {
		r.kept = r.kept[:r.limit]
	}
}

func (r *ranking) candidate(e entry) *candidate {
	c := &candidate{part: e.part, note: int(e.note), doc: int(e.doc), source: int(e.source), text: e.text}
	if e.named {
		c.named = r.names[c.source]
	}
	return c
}

// group pops all candidates with the best score that pass the filter, the
// latest first, then by path.
func (r *ranking) group() []*candidate {
	var list []*candidate
	best := r.heap[0].score()
	for len(r.heap) > 0 && r.heap[0].score() == best {
		c := r.candidate(r.heap.pop())
		if reason := r.filter.drops(r.src, c); reason != "" {
			r.dropped[reason]++
			continue
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *candidate) int {
		if c := lastChange(b.meta).Compare(lastChange(a.meta)); c != 0 {
			return c
		}
		// The source is sorted by path, the documents of a note by their place.
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.doc, b.doc))
	})
	return list
}

func (r *ranking) keep(c *candidate) {
	r.of[c.source]++
	if inSessions(c.meta.Path) {
		r.captured++
	}
	r.floor = max(r.floor, float64(keepShare*c.text))
	if c.text < r.floor && c.named == "" {
		c.low = true
		r.lows++
	}
	r.kept = append(r.kept, c)
}

func lastChange(m *vault.Memory) time.Time {
	if m.Updated.IsZero() {
		return m.Created
	}
	return m.Updated
}

// related puts each note that another one of the list supersedes, or whose
// losing side it is, directly behind that one if it stood before it.
func related(list []*candidate) []*candidate {
	byName := map[string][]*candidate{} // by path and ids: the passages of a note, best first
	for _, c := range list {
		byName[c.meta.Path] = append(byName[c.meta.Path], c)
		for _, id := range append([]vault.ID{c.meta.ID}, c.meta.MergedIDs...) {
			if id != "" {
				byName[string(id)] = append(byName[string(id)], c)
			}
		}
	}
	betters := map[*candidate]*candidate{}
	for _, c := range list {
		for _, old := range c.meta.Supersedes {
			for _, o := range byName[old] {
				if o.source != c.source && betters[o] == nil {
					betters[o] = c
					o.above = string(c.meta.ID)
				}
			}
		}
	}
	for _, c := range list {
		for _, name := range []string{c.meta.SupersededBy, c.meta.ConflictOf} {
			if o := byName[name]; len(o) > 0 && o[0].source != c.source {
				betters[c] = o[0]
			}
		}
		if c.meta.SupersededBy != "" {
			c.above = c.meta.SupersededBy
		}
	}
	return betterFirst(list, betters)
}

// betterFirst keeps the order of list, but takes each note's better one before it.
func betterFirst(list []*candidate, betters map[*candidate]*candidate) []*candidate {
	out := make([]*candidate, 0, len(list))
	state := map[*candidate]int{} // 1: being placed, 2: placed
	var place func(c *candidate)
	place = func(c *candidate) {
		state[c] = 1
		if o := betters[c]; o != nil && state[o] == 0 {
			if !c.low || c.raised != "" {
				o.raised = c.meta.Path
			}
			place(o)
		}
		if state[c] == 1 {
			state[c] = 2
			out = append(out, c)
		}
	}
	for _, c := range list {
		if state[c] == 0 {
			place(c)
		}
	}
	return out
}

// entryHeap is a binary heap, best entry first; of equals, the first
// of the source.
type entryHeap []entry

func (h entryHeap) less(i, j int) bool {
	if a, b := h[i].score(), h[j].score(); a != b {
		return a > b
	}
	if h[i].source != h[j].source {
		return h[i].source < h[j].source
	}
	return h[i].doc < h[j].doc
}

func (h entryHeap) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *entryHeap) pop() entry {
	old := *h
	best, last := old[0], len(old)-1
	old[0] = old[last]
	*h = old[:last]
	h.down(0)
	return best
}

func (h entryHeap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if right := child + 1; right < len(h) && h.less(right, child) {
			child = right
		}
		if !h.less(child, i) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// inSessions reports whether path is a captured session.
func inSessions(path string) bool { return strings.HasPrefix(path, sessionsFolder) }
