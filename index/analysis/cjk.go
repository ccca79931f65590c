package analysis

import "unicode/utf8"

// edgeMark precedes the term of an [Edge].
const edgeMark = '^'

// runeSize returns the size of the UTF-8 sequence that starts with lead.
func runeSize(lead byte) int {
	switch {
	case lead < 0x80:
		return 1
	case lead < 0xE0:
		return 2
	case lead < 0xF0:
		return 3
	}
	return 4
}

// cjk emits the terms of the run of Han and kana characters at at and returns
// its end.
func (a *Analyzer) cjk(b []byte, at int, last run) int {
	end := at
	for end < len(b) {
		c, size := classAt(b, end)
		if c != han && c != kana {
			break
		}
		end += size
	}
	text := a.simplify(b[at:end])
	prev, prevHan, n := -1, false, 0
	edge := true
	for i := 0; i < len(text); {
		c, size := classAt(text, i)
		if prev >= 0 {
			pair := text[prev : i+size]
			a.put(pair, Pair, at+prev, at+i+size)
			if edge && prevHan && c == han {
				a.term = append(append(a.term[:0], edgeMark), pair...)
				a.put(a.term, Edge, at+prev, at+i+size)
			}
			edge = !prevHan
		}
		if c == han {
			a.put(text[i:i+size], Single, at+i, at+i+size)
		}
		prev, prevHan = i, c == han
		i += size
		n++
	}
	if n == 1 && !prevHan && isKatakana(text) {
		a.put(text, Word, at, end)
	}
	a.shortMix(text, at, last)
	return end
}

func isKatakana(b []byte) bool {
	r, _ := utf8.DecodeRune(b)
	return r >= 0x30A0
}

// shortMix emits words such as C盘, K线, 3月: up to two Latin letters or digits
// with the Han character behind them, which starts text.
func (a *Analyzer) shortMix(text []byte, at int, last run) {
	if last.class != latin || last.end != at || at-last.start > 2 {
		return
	}
	c, size := classAt(text, 0)
	if c != han {
		return
	}
	a.term = append(a.term[:0], a.low...)
	a.term = append(a.term, text[:size]...)
	a.put(a.term, Whole, last.start, at+size)
}

// clusters emits the pairs of clusters of the run at at: a letter with the
// marks on it counts as one.
func (a *Analyzer) clusters(b []byte, at int) int {
	a.runes = a.runes[:0]
	end := at
	for end < len(b) {
		c, size := classAt(b, end)
		if c != cluster {
			break
		}
		if mark, _ := isMark(b, end); mark && len(a.runes) > 0 {
			a.runes[len(a.runes)-1].end += size
		} else {
			a.runes = append(a.runes, place{end, end + size})
		}
		end += size
	}
	for i := 1; i < len(a.runes); i++ {
		from, to := a.runes[i-1].start, a.runes[i].end
		a.put(b[from:to], Pair, from, to)
	}
	if len(a.runes) == 1 {
		a.put(b[at:end], Word, at, end)
	}
	return end
}
