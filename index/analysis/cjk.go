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
	prev, prevHan, n := -1, false, 0
	edge := true
	end := at
	for end < len(b) {
		c, size := classAt(b, end)
		if c != han && c != kana {
			break
		}
		if prev >= 0 {
			pair := b[prev : end+size]
			a.put(pair, Pair, prev, end+size)
			if edge && prevHan && c == han {
				a.term = append(append(a.term[:0], edgeMark), pair...)
				a.put(a.term, Edge, prev, end+size)
			}
			edge = !prevHan
		}
		if c == han {
			a.put(b[end:end+size], Single, end, end+size)
		}
		prev, prevHan = end, c == han
		end += size
		n++
	}
	if n == 1 && !prevHan && isKatakana(b[at:end]) {
		a.put(b[at:end], Word, at, end)
	}
	a.shortMix(b, at, last)
	return end
}

func isKatakana(b []byte) bool {
	r, _ := utf8.DecodeRune(b)
	return r >= 0x30A0
}

// shortMix emits words such as C盘, K线, 3月: up to two Latin letters or digits
// with the Han character behind them.
func (a *Analyzer) shortMix(b []byte, at int, last run) {
	if last.class != latin || last.end != at || at-last.start > 2 {
		return
	}
	c, size := classAt(b, at)
	if c != han {
		return
	}
	a.term = append(a.term[:0], a.low...)
	a.term = append(a.term, b[at:at+size]...)
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
