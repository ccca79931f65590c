package index

import (
	"bytes"
	"strings"
)

// A block is where a leaf block of markdown starts: a paragraph, a heading,
// code or HTML, by the rules of CommonMark 0.31. at is the start of its first
// line, with the markers of quotes and list items that stand before it.
type block struct {
	at    int
	level int // of a heading; 0 for other blocks
	title string
}

// blocksOf returns the leaf blocks of src that have text, in order.
//
// It is a scanner of our own because goldmark, which judges it in the tests,
// compiles regular expressions and fills tables at every start of the program:
// 120 page faults and a third of what vade cost above an empty one.
func blocksOf(src []byte) []block {
	s := blockScanner{}
	for at := 0; at < len(src); {
		end := len(src)
		if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		s.line(src[at:end], at)
		at = end
	}
	return s.found
}

type leafKind int

const (
	noLeaf leafKind = iota
	paragraph
	indented
	fenced
	html
)

// container is a block quote, or a list item with the columns that its content
// is indented by.
type container struct {
	item   bool
	indent int
	empty  bool // an item whose first line was blank and that has nothing yet
}

type blockScanner struct {
	found []block
	open  []container

	leaf      leafKind
	fence     byte   // of a fenced leaf
	fenceLen  int    //
	fenceAt   int    // -1 when the block was found already
	htmlEnd   string // what ends an HTML leaf; "" is a blank line
	paraIndex int    // in found, of the open paragraph
}

// line reads one line, which starts at byte at.
func (s *blockScanner) line(text []byte, at int) {
	c := cursor{line: bytes.TrimRight(text, "\r\n")}
	matched := s.match(&c)
	all := matched == len(s.open)
	if all && s.goOn(&c, at) {
		return
	}
	s.start(c, at, matched)
}

// match consumes the markers of the open containers that go on in this line,
// and returns how many do.
func (s *blockScanner) match(c *cursor) int {
	for i := range s.open {
		o := &s.open[i]
		switch {
		case !o.item:
			if c.indent() > 3 || c.peek() != '>' {
				return i
			}
			c.quote()
		case c.blank():
			if o.empty {
				return i
			}
		case c.indent() >= o.indent:
			c.skip(o.indent)
			o.empty = false
		default:
			return i
		}
	}
	return len(s.open)
}

// goOn reports whether the line belongs to the open leaf of what it matched, and
// cannot start anything else.
func (s *blockScanner) goOn(c *cursor, at int) bool {
	switch s.leaf {
	case fenced:
		if c.indent() < 4 && closesFence(c.rest(), s.fence, s.fenceLen) {
			s.leaf = noLeaf
		} else if s.fenceAt >= 0 {
			s.found = append(s.found, block{at: s.fenceAt})
			s.fenceAt = -1
		}
		return true
	case html:
		if s.htmlEnd == "" && c.blank() || s.htmlEnd != "" && endsHTML(c.rest(), s.htmlEnd) {
			s.leaf = noLeaf
		}
		return true
	case indented:
		if c.indent() >= 4 || c.blank() {
			return true
		}
		s.leaf = noLeaf
	case paragraph:
		if level := setext(c); level > 0 {
			s.found[s.paraIndex].level = level
			s.leaf = noLeaf
			return true
		}
	}
	return false
}

// start reads the rest of a line that matched so many of the open containers.
func (s *blockScanner) start(c cursor, at, matched int) {
	lazy := s.leaf == paragraph
	opened := false
	closeRest := func() {
		if !opened {
			s.open = s.open[:matched]
			s.leaf = noLeaf
			opened = true
		}
	}
	for c.indent() < 4 && !c.blank() {
		rest := c.rest()
		switch {
		case rest[0] == '>':
			closeRest()
			c.quote()
			s.open = append(s.open, container{})
		case s.heading(rest, at, closeRest), s.openFence(rest, at, closeRest), s.openHTML(rest, at, lazy && !opened, closeRest), thematicBreak(rest):
			closeRest()
			return
		default:
			width, ok := listMarker(rest, lazy && !opened && matched == len(s.open))
			if !ok {
				s.text(c, at, matched, opened, closeRest)
				return
			}
			closeRest()
			s.item(&c, width)
		}
	}
	s.text(c, at, matched, opened, closeRest)
}

// item opens a list item whose marker has that width.
func (s *blockScanner) item(c *cursor, width int) {
	indent := c.indent() + width
	c.skip(indent)
	gap := c.indent()
	if blank := c.blank(); blank || gap > 4 {
		s.open = append(s.open, container{item: true, indent: indent + 1, empty: blank})
		c.skip(min(gap, 1))
		return
	}
	c.skip(gap)
	s.open = append(s.open, container{item: true, indent: indent + gap})
}

// text reads what starts no other block: a paragraph, a blank line, indented code.
func (s *blockScanner) text(c cursor, at, matched int, opened bool, closeRest func()) {
	switch {
	case c.blank():
		if !opened && matched < len(s.open) {
			s.open = s.open[:matched]
		}
		s.leaf = noLeaf
	case s.leaf == paragraph && !opened:
		// goes on, lazily if need be
	case c.indent() >= 4:
		closeRest()
		s.leaf = indented
		s.found = append(s.found, block{at: at})
	default:
		closeRest()
		s.leaf = paragraph
		s.paraIndex = len(s.found)
		s.found = append(s.found, block{at: at, title: strings.TrimSpace(string(c.rest()))})
	}
}

// heading reads an ATX heading.
func (s *blockScanner) heading(rest []byte, at int, closeRest func()) bool {
	level := 0
	for level < len(rest) && rest[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level < len(rest) && rest[level] != ' ' && rest[level] != '\t' {
		return false
	}
	closeRest()
	title := bytes.Trim(rest[level:], " \t")
	if i := len(bytes.TrimRight(title, "#")); i == 0 || i < len(title) && (title[i-1] == ' ' || title[i-1] == '\t') {
		title = bytes.TrimRight(title[:i], " \t")
	}
	if len(title) > 0 {
		s.found = append(s.found, block{at: at, level: level, title: strings.TrimSpace(string(title))})
	}
	return true
}

func (s *blockScanner) openFence(rest []byte, at int, closeRest func()) bool {
	n := run(rest, rest[0])
	if rest[0] != '`' && rest[0] != '~' || n < 3 || rest[0] == '`' && bytes.IndexByte(rest[n:], '`') >= 0 {
		return false
	}
	closeRest()
	s.leaf, s.fence, s.fenceLen, s.fenceAt = fenced, rest[0], n, at
	return true
}

func closesFence(rest []byte, fence byte, length int) bool {
	n := run(rest, fence)
	return n >= length && len(bytes.Trim(rest[n:], " \t")) == 0
}

// run is how often b stands at the start of text.
func run(text []byte, b byte) int {
	n := 0
	for n < len(text) && text[n] == b {
		n++
	}
	return n
}

// setext returns the level of the heading that an underline makes of the
// paragraph before it, or 0.
func setext(c *cursor) int {
	if c.indent() > 3 || c.blank() {
		return 0
	}
	rest := bytes.TrimRight(c.rest(), " \t")
	if n := run(rest, rest[0]); n < len(rest) {
		return 0
	}
	switch rest[0] {
	case '=':
		return 1
	case '-':
		return 2
	}
	return 0
}

func thematicBreak(rest []byte) bool {
	if rest[0] != '*' && rest[0] != '-' && rest[0] != '_' {
		return false
	}
	n := 0
	for _, b := range rest {
		switch b {
		case rest[0]:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// listMarker returns the width of the marker of a list item. Not every one
// may interrupt a paragraph.
func listMarker(rest []byte, interrupts bool) (width int, ok bool) {
	switch {
	case rest[0] == '-' || rest[0] == '+' || rest[0] == '*':
		width = 1
	default:
		for width < len(rest) && rest[width] >= '0' && rest[width] <= '9' {
			width++
		}
		if width == 0 || width > 9 || width == len(rest) || rest[width] != '.' && rest[width] != ')' {
			return 0, false
		}
		if interrupts && string(rest[:width]) != "1" {
			return 0, false
		}
		width++
	}
	after := rest[width:]
	if len(after) > 0 && after[0] != ' ' && after[0] != '\t' {
		return 0, false
	}
	return width, !interrupts || len(bytes.Trim(after, " \t")) > 0
}
