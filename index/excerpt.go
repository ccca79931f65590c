package index

import (
	"bytes"
	"math/bits"
	"strings"

	"vademecum/index/analysis"
)

const (
	// wholeText is the size up to which a memory is shown whole, and the size
	// of an excerpt otherwise, in bytes. An excerpt of 800 bytes holds the
	// sentence sought in 86 to 94 of 100 notes, one of 480 in 74 to 87.
	wholeText = 800
	// maxSegment is the size at which a sentence is cut, in bytes.
	maxSegment = 400
	// segmentCost makes a window of fewer sentences win.
	segmentCost = 0.02
)

// passage is a stretch of a file that is shown.
type passage struct {
	text string
	line int  // 1-based line of the file where text starts
	part bool // text is not all there is
}

// show returns the part of raw, whose text starts at body, that answers best:
// all of it when it fits, else the best window of at most size bytes in and
// around anchor.
func (e *excerpter) show(raw []byte, body int, anchor span, size int) passage {
	all := trim(raw, span{min(body, len(raw)), len(raw)})
	if all.end-all.start <= min(size, wholeText) {
		return e.passage(raw, all, false)
	}
	anchor = span{max(anchor.start, all.start), min(anchor.end, all.end)}
	if anchor.start >= anchor.end { // the file changed since it was analysed
		anchor = all
	}
	// Only what can be in a window with the anchor is looked at.
	from := lineOrRune(raw, max(all.start, anchor.start-size), anchor.start)
	to := all.end
	if anchor.end+size < to {
		to = runeStart(raw, anchor.end+size)
	}
	if to-from > 8*size {
		to = runeStart(raw, from+8*size)
	}
	window := e.best(raw, segments(raw, from, to, min(size, maxSegment)), size)
	return e.passage(raw, trim(raw, window), true)
}

// lineOrRune returns the first line start in raw[at:limit], else at moved to a rune start.
func lineOrRune(raw []byte, at, limit int) int {
	if at == 0 || at >= limit || raw[at-1] == '\n' {
		return at
	}
	if i := bytes.IndexByte(raw[at:limit], '\n'); i >= 0 {
		return at + i + 1
	}
	return runeStart(raw, at)
}

func (e *excerpter) passage(raw []byte, s span, part bool) passage {
	return passage{
		text: strings.ToValidUTF8(string(raw[s.start:s.end]), "\uFFFD"),
		line: 1 + bytes.Count(raw[:s.start], []byte{'\n'}),
		part: part,
	}
}

// trim takes blank lines off the start of s, and white space off its end.
func trim(raw []byte, s span) span {
	for s.end > s.start && isSpace(raw[s.end-1]) {
		s.end--
	}
	for at := s.start; at < s.end && isSpace(raw[at]); at++ {
		if raw[at] == '\n' {
			s.start = at + 1
		}
	}
	return s
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// segments cuts raw[from:to] into lines and sentences of at most limit bytes.
func segments(raw []byte, from, to, limit int) []span {
	var list []span
	start := from
	for i := from; i < to; i++ {
		end := i + 1
		switch {
		case raw[i] == '\n', end-start >= 3 && sentenceEnd(raw[start:], end-start):
		case end-start >= limit:
			end = start + max(1, runeStart(raw[start:to], end-start))
		default:
			continue
		}
		list = append(list, span{start, end})
		start = end
		i = end - 1
	}
	if start < to {
		list = append(list, span{start, to})
	}
	return list
}

// excerpter finds passages that answer one question.
type excerpter struct {
	terms  *analysis.Analyzer
	place  map[string]int // term to its place in weight
	weight []float64
}

// newExcerpter keeps the first 64 terms: their sets are bit masks.
func newExcerpter(terms []queryTerm) *excerpter {
	e := &excerpter{terms: analyzer(), place: map[string]int{}}
	for _, t := range terms {
		if len(e.weight) == 64 {
			break
		}
		e.place[t.Text] = len(e.weight)
		e.weight = append(e.weight, t.chunkIDF)
	}
	return e
}

// best returns the window of segments of at most size bytes with the largest
// sum of idf over distinct terms, filled up with its neighbours: two behind it
// for each one before.
func (e *excerpter) best(raw []byte, list []span, size int) span {
	sets := make([]uint64, len(list))
	for i, s := range list {
		e.terms.Each(raw[s.start:s.end], func(t analysis.Token) {
			if k, ok := e.place[string(t.Term)]; ok {
				sets[i] |= 1 << k
			}
		})
	}
	first, last, top := 0, 0, -1.0
	for i := range list {
		var set uint64
		for j := i; j < len(list) && list[j].end-list[i].start <= size; j++ {
			set |= sets[j]
			if score := float64(e.sum(set) * (1 - float64(segmentCost*float64(j-i)))); score > top {
				first, last, top = i, j, score
			}
		}
	}
	return fill(list, first, last, size)
}

func (e *excerpter) sum(set uint64) float64 {
	total := 0.0
	for ; set != 0; set &= set - 1 {
		total += e.weight[bits.TrailingZeros64(set)]
	}
	return total
}

// fill extends list[first:last+1] by neighbours as long as size allows.
func fill(list []span, first, last, size int) span {
	if len(list) == 0 {
		return span{}
	}
	fits := func(i, j int) bool {
		return i >= 0 && j < len(list) && list[j].end-list[i].start <= size
	}
	for turn := 0; ; turn++ {
		after, before := fits(first, last+1), fits(first-1, last)
		switch {
		case after && (turn%3 != 2 || !before):
			last++
		case before:
			first--
		default:
			return span{list[first].start, max(list[last].end, list[first].start)}
		}
	}
}
