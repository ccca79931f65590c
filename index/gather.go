package index

// gathering makes entries of what the scorer found. Of the hundreds of
// thousands of notes that share a word with a question, a ranking looks at a
// few dozen; the others get no entry.
type gathering struct {
	src      Source
	names    map[int]string // see named: these are always entries
	passages bool           // every chunk is an entry, not only the best of its note
	keep     int            // how many of the best are certain to be entries; 0: all

	list      []entry
	found     int       // all there are
	best, top float64   // the highest score of what somebody chose to remember, and of what was captured
	high      []float64 // a heap of the keep highest scores, the lowest first
}

// floor is the score from which on every one has its entry.
func (g *gathering) floor() float64 {
	if g.keep == 0 || len(g.high) < g.keep {
		return 0
	}
	return g.high[0]
}

// add takes what was found in p.
func (g *gathering) add(p *scoredPart) {
	var place []int32 // of the notes of several chunks: in list, from 1; -1: found, but not there
	var of noteDocs
	for _, doc := range p.touched {
		p.locate(doc, &of)
		chunk, whole, context := p.chunkScore(doc, of.first)
		note := of.note
		e := entry{part: p, note: int32(note), doc: int32(doc), source: p.source[note], text: chunk + whole + context}
		if p.inSession(g.src, note) {
			e.text = float64(e.text * sessionWeight)
			g.top = max(g.top, e.text)
		} else {
			g.best = max(g.best, e.text)
		}
		if g.passages || of.first == of.last {
			g.found++
			if g.wants(e) {
				g.list = append(g.list, e)
			}
			continue
		}
		if place == nil {
			place = make([]int32, p.notes)
		}
		switch at := place[note]; {
		case at > 0:
			// The best chunk of the note counts: for ties, the first.
			if old := &g.list[at-1]; e.text > old.text || e.text == old.text && e.doc < old.doc {
				*old = e
			}
		case g.wants(e):
			g.list = append(g.list, e)
			place[note] = int32(len(g.list))
			if at == 0 {
				g.found++
			}
		case at == 0:
			g.found++
			place[note] = -1
		}
	}
}

// wants reports whether e is to have its entry.
func (g *gathering) wants(e entry) bool {
	if g.keep == 0 {
		return true
	}
	if len(g.high) < g.keep {
		g.high = append(g.high, e.text)
		for i := len(g.high) - 1; i > 0 && g.high[i] < g.high[(i-1)/2]; i = (i - 1) / 2 {
			g.high[i], g.high[(i-1)/2] = g.high[(i-1)/2], g.high[i]
		}
		return true
	}
	if e.text < g.high[0] {
		_, named := g.names[int(e.source)]
		return named
	}
	g.high[0] = e.text
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < len(g.high) && g.high[child+1] < g.high[child] {
			child++
		}
		if child >= len(g.high) || g.high[i] <= g.high[child] {
			return true
		}
		g.high[i], g.high[child] = g.high[child], g.high[i]
		i = child
	}
}
