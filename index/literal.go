package index

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// literalHit is a note that has the question's exact text.
type literalHit struct {
	source int // place in the source
	count  int // how often
	at     int // where in the file it occurs first
}

// maxLiteral is how many notes are read for a question that has no search term.
const maxLiteral = 2000

// literal answers a question that has no search term, such as "the who" or
// "???", by reading notes and looking for exactly that, whatever the case. Of
// more than maxLiteral notes it reads the last by path: memories are in folders
// by month. all is false then. It stops early, with what it has, when ctx ends.
func literal(ctx context.Context, src Source, text string) (hits []literalHit, unreadable []string, all bool) {
	needle := lowerASCII([]byte(strings.Join(strings.Fields(text), " ")))
	if len(needle) == 0 {
		return nil, nil, true
	}
	places := lastMemories(src, maxLiteral)
	for _, i := range places {
		if ctx.Err() != nil {
			break
		}
		raw, err := src.Read(i)
		if err != nil {
			path, _ := src.Key(i)
			unreadable = append(unreadable, path)
			continue
		}
		if h := (literalHit{source: i}); h.find(raw, needle) {
			hits = append(hits, h)
		}
	}
	return hits, unreadable, len(places) == src.Len()
}

// lastMemories returns the places of at most n notes, ascending: what was
// remembered rather than captured, and of that the last by path.
func lastMemories(src Source, n int) []int {
	from := search(src, 0, src.Len(), sessionsFolder)
	to := search(src, from, src.Len(), afterSessions)
	var places []int
	for _, part := range [][2]int{{to, src.Len()}, {0, from}, {from, to}} {
		for i := part[1] - 1; i >= part[0] && len(places) < n; i-- {
			places = append(places, i)
		}
	}
	slices.Sort(places)
	return places
}

// find counts needle in raw, as a word of its own if it is made of letters.
func (h *literalHit) find(raw, needle []byte) bool {
	low := lowerASCII(raw)
	for at := 0; ; {
		i := bytes.Index(low[at:], needle)
		if i < 0 {
			return h.count > 0
		}
		i += at
		if apart(low, i, i+len(needle)) {
			if h.count == 0 {
				h.at = i
			}
			h.count++
		}
		at = i + len(needle)
	}
}

// apart reports whether low[start:end] does not continue a word at either end.
func apart(low []byte, start, end int) bool {
	before, _ := utf8.DecodeLastRune(low[:start])
	first, _ := utf8.DecodeRune(low[start:])
	last, _ := utf8.DecodeLastRune(low[:end])
	after, _ := utf8.DecodeRune(low[end:])
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return !(word(before) && word(first)) && !(word(last) && word(after))
}

// lowerASCII keeps every offset as it is.
func lowerASCII(raw []byte) []byte {
	low := bytes.Clone(raw)
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	return low
}
