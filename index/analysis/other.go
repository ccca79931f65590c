package analysis

import (
	"unicode"
	"unicode/utf8"
)

// otherWord emits the word of another alphabet at at, in lower case and with
// its marks, and returns its end.
func (a *Analyzer) otherWord(b []byte, at int) int {
	if mark, size := isMark(b, at); mark { // on nothing, or on an emoji
		return at + size
	}
	end := at
	t := a.term[:0]
	for end < len(b) {
		if b[end] < utf8.RuneSelf {
			break
		}
		r, size := utf8.DecodeRune(b[end:])
		joiner := r == 0x200C || r == 0x200D // inside Persian and Indic words
		if classOf(r) != other && !joiner {
			break
		}
		if !joiner {
			t = utf8.AppendRune(t, unicode.ToLower(r))
		}
		end += size
	}
	a.term = t
	a.put(t, Word, at, end)
	return end
}
