package merge

import "bytes"

var bom = []byte("\ufeff")

// lineEnd is how the lines of a text end.
type lineEnd int

const (
	anyEnd   lineEnd = iota // there are no line ends
	lf                      // every line
	crlf                    // every line
	mixedEnd                // the lines keep their own
)

func lineEndOf(text []byte) lineEnd {
	lines := bytes.Count(text, []byte{'\n'})
	switch returns := bytes.Count(text, []byte("\r\n")); {
	case lines == 0:
		return anyEnd
	case returns == 0:
		return lf
	case returns == lines:
		return crlf
	}
	return mixedEnd
}

// to gives all lines of text the line end e.
func (e lineEnd) to(text []byte) []byte {
	if now := lineEndOf(text); now == e || now == anyEnd || e == anyEnd || e == mixedEnd {
		return text
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte{'\n'})
	if e == crlf {
		text = bytes.ReplaceAll(text, []byte{'\n'}, []byte("\r\n"))
	}
	return text
}

// style is what two texts may differ in without any line differing. It is
// merged as a property of the whole text, so that an editor that changes every
// line end conflicts with nobody.
type style struct {
	end lineEnd
	bom bool
}

func styleOf(text []byte) style {
	return style{end: lineEndOf(text), bom: bytes.HasPrefix(text, bom)}
}

// mergeStyle returns the style of the merged text: that of the side that
// changed it, else the winner's. A nil base is none.
func mergeStyle(base, winner, loser []byte) style {
	s, l, b := styleOf(winner), styleOf(loser), styleOf(base)
	if base != nil && s.bom == b.bom {
		s.bom = l.bom
	}
	if s.end == anyEnd || base != nil && s.end == b.end && l.end != anyEnd {
		s.end = l.end
	}
	return s
}

// apply gives a text without BOM the style s.
func (s style) apply(text []byte) []byte {
	text = s.end.to(text)
	if s.bom {
		text = append(bytes.Clone(bom), text...)
	}
	return text
}
