package index

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"
)

// A chunk is the unit that is scored: a section, or as many neighbouring
// paragraphs and list items as make 400 to 1,200 bytes. The chunks of a note
// tile its text.
type chunk struct {
	start, end int    // bytes of the text
	path       string // headings that the chunk stands under and does not contain
}

const (
	minChunk = 400
	maxChunk = 1200
	// parseWindow bounds the syntax tree of a huge note.
	parseWindow = 128 << 10
	// maxLine is the length above which a line is not read as markdown, nor is
	// what stands around it.
	maxLine = 8 << 10
)

// cutPoint is a place where a chunk may start: the start of a block.
type cutPoint struct {
	at    int
	level int // of a heading; 0 for other blocks
	title string
}

// split cuts body into chunks. There is always at least one.
func split(body []byte) []chunk {
	if len(body) <= maxChunk {
		return []chunk{{end: len(body)}}
	}
	points := splitLong(body, blockStarts(body))
	var chunks []chunk
	var path headings
	start, startPath := 0, ""
	onlyHeadings := true
	for i, p := range points {
		end := len(body)
		if i+1 < len(points) {
			end = points[i+1].at
		}
		size := p.at - start
		if size >= minChunk || size > 0 && end-start > maxChunk && !onlyHeadings {
			chunks = append(chunks, chunk{start, p.at, startPath})
			start, startPath, onlyHeadings = p.at, path.under(p.level), true
		}
		if p.level > 0 {
			path.enter(p.level, p.title)
		} else {
			onlyHeadings = false
		}
	}
	return append(chunks, chunk{start, len(body), startPath})
}

// splitAt cuts body, which starts at byte from of its file, at those of cuts
// that are inside it.
func splitAt(body []byte, cuts []int, from int) []chunk {
	var chunks []chunk
	start := 0
	for _, at := range cuts {
		if at -= from; at > start && at < len(body) {
			chunks = append(chunks, chunk{start: start, end: at})
			start = at
		}
	}
	return append(chunks, chunk{start: start, end: len(body)})
}

// headings is the stack of headings that the reader is under.
type headings struct {
	levels []int
	titles []string
}

// under returns the path of a chunk that starts with a heading of level, or
// with another block when level is 0.
func (h *headings) under(level int) string {
	n := len(h.levels)
	for n > 0 && level > 0 && h.levels[n-1] >= level {
		n--
	}
	return strings.Join(h.titles[:n], " › ")
}

func (h *headings) enter(level int, title string) {
	n := len(h.levels)
	for n > 0 && h.levels[n-1] >= level {
		n--
	}
	h.levels = append(h.levels[:n], level)
	h.titles = append(h.titles[:n], title)
}

// blockStarts returns the starts of all blocks of body, in order, the first at 0.
func blockStarts(body []byte) []cutPoint {
	points := []cutPoint{{}}
	for at := 0; at < len(body); {
		end := windowEnd(body, at)
		points = appendBlocks(points, body, at, end)
		at = end
	}
	sort.SliceStable(points, func(i, j int) bool { return points[i].at < points[j].at })
	return compact(points)
}

// compact keeps one cut point for each place: the heading, if there is one.
func compact(points []cutPoint) []cutPoint {
	out := points[:1]
	for _, p := range points[1:] {
		if last := &out[len(out)-1]; last.at != p.at {
			out = append(out, p)
		} else if p.level > 0 {
			*last = p
		}
	}
	return out
}

// windowEnd returns where to end the window that starts at at: at a blank line
// if there is one in its second half, else at a line end.
func windowEnd(body []byte, at int) int {
	if len(body)-at <= parseWindow {
		return len(body)
	}
	window := body[at : at+parseWindow]
	for _, sep := range []string{"\n\n", "\n"} {
		if i := bytes.LastIndex(window, []byte(sep)); i > parseWindow/2 {
			return at + i + len(sep)
		}
	}
	return at + runeStart(window, parseWindow)
}

// appendBlocks adds the block starts of body[from:to].
func appendBlocks(points []cutPoint, body []byte, from, to int) []cutPoint {
	window := body[from:to]
	points = append(points, cutPoint{at: from})
	if longestLine(window) > maxLine {
		return points
	}
	for _, b := range blocksOf(window) {
		points = append(points, cutPoint{at: from + b.at, level: b.level, title: b.title})
	}
	return points
}

func longestLine(b []byte) int {
	longest := 0
	for line := range bytes.SplitSeq(b, []byte{'\n'}) {
		longest = max(longest, len(line))
	}
	return longest
}

func lineStart(b []byte, at int) int { return bytes.LastIndexByte(b[:at], '\n') + 1 }

// splitLong adds cut points so that no two are further apart than maxChunk.
func splitLong(body []byte, points []cutPoint) []cutPoint {
	out := make([]cutPoint, 0, len(points))
	for i, p := range points {
		end := len(body)
		if i+1 < len(points) {
			end = points[i+1].at
		}
		out = append(out, p)
		for at := p.at; end-at > maxChunk; {
			at += softCut(body[at:at+maxChunk], minChunk)
			out = append(out, cutPoint{at: at})
		}
	}
	return out
}

// softCut returns the best place to cut b behind its first atLeast bytes: after a line, a
// sentence, a word, and if need be between two runes.
func softCut(b []byte, atLeast int) int {
	if i := bytes.LastIndexByte(b, '\n'); i >= atLeast {
		return i + 1
	}
	for i := len(b); i > atLeast; i-- {
		if sentenceEnd(b, i) {
			return i
		}
	}
	if i := bytes.LastIndexByte(b, ' '); i >= atLeast {
		return i + 1
	}
	return runeStart(b, len(b))
}

// sentenceEnd reports whether a sentence ends right before at.
func sentenceEnd(b []byte, at int) bool {
	if at >= 2 && b[at-1] == ' ' {
		switch b[at-2] {
		case '.', '!', '?':
			return true
		}
	}
	if at >= 3 {
		switch string(b[at-3 : at]) {
		case "。", "！", "？":
			return true
		}
	}
	return false
}

// runeStart returns the largest offset up to at that is not inside a rune of
// b; at itself when b is not text there.
func runeStart(b []byte, at int) int {
	for i := at; i > 0 && at-i < utf8.UTFMax; i-- {
		if i == len(b) {
			// The end may cut the rune that goes on behind b.
			if r, size := utf8.DecodeLastRune(b); r != utf8.RuneError || size > 1 {
				return i
			}
			continue
		}
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return at
}
