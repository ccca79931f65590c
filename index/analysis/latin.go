package analysis

import (
	"unicode"
	"unicode/utf8"
)

// A compound is a run of identifiers that single connectors hold together:
// vault/repo/store.go:42, gen-itgc, v1.0.21. An identifier is a run of letters,
// digits and underscores, and falls into parts: parseHTTPHeader2 gives parse,
// http, header, 2.
type (
	part struct {
		from, to   int // in Analyzer.low
		start, end int // in the normalised text
	}
	ident struct {
		first, last int // parts [first, last)
		from, to    int // in Analyzer.low
		start, end  int
		opaque      bool // a hash or another token that has no words in it
		glue        byte // connector before it; 0 for the first
	}
)

const (
	// A hash, ULID or base64 word changes between letters and digits often;
	// its pieces would only be noise.
	maxDigitChanges = 4
	maxParts        = 12
	// Longer paths are found by their parts.
	maxIdents = 8
)

// compound emits the terms of the compound that starts at at and returns its end.
func (a *Analyzer) compound(b []byte, at int) int {
	a.low, a.parts, a.idents = a.low[:0], a.parts[:0], a.idents[:0]
	end := at
	for glue := byte(0); ; {
		end = a.ident(b, end, glue)
		next, c := connector(b, end)
		if next == 0 {
			break
		}
		end, glue = next, c
	}
	for _, id := range a.idents {
		a.putIdent(id)
	}
	if len(a.idents) > 1 {
		a.putCompound()
	}
	return a.suffix(b, end)
}

// connector returns where the next identifier of a compound starts, and what
// connects it; 0 when the compound ends at at.
func connector(b []byte, at int) (next int, glue byte) {
	if at+1 >= len(b) {
		return 0, 0
	}
	switch c := b[at]; c {
	case '-', '.', '/', ':', '@', '\\':
		next = at + 1
		if c == ':' && b[next] == ':' {
			next++
		}
		if next < len(b) && startsIdent(b, next) {
			return next, c
		}
	}
	return 0, 0
}

func startsIdent(b []byte, at int) bool {
	c, _ := classAt(b, at)
	return c == latin || b[at] == '_' && at+1 < len(b) && isAlnum(b[at+1])
}

// ident reads one identifier into a.parts and a.idents and returns its end.
func (a *Analyzer) ident(b []byte, at int, glue byte) int {
	id := ident{first: len(a.parts), from: len(a.low), start: at, glue: glue}
	s := splitter{a: a, at: at}
	digitChanges := 0
	for s.at < len(b) {
		c := b[s.at]
		switch {
		case c == '_':
			s.close()
			s.at++
			continue
		case isAlnum(c):
			digit := isDigit(c)
			if s.open && digit != s.digit {
				digitChanges++
				s.close()
			}
			s.letter(b, c)
			s.digit = digit
			continue
		}
		if size := s.apostrophe(b); size > 0 {
			s.at += size
			continue
		}
		if !s.wide(b) {
			break
		}
	}
	s.close()
	id.last, id.to, id.end = len(a.parts), len(a.low), s.at
	id.opaque = digitChanges > maxDigitChanges || id.last-id.first > maxParts ||
		utf8.RuneCount(a.low[id.from:id.to]) > MaxRunes
	a.idents = append(a.idents, id)
	return s.at
}

// splitter finds the parts of one identifier.
type splitter struct {
	a          *Analyzer
	at         int
	open       bool // a part is being read
	from       int  // its start in a.low
	start, end int  // its range in the text
	upper      int  // how many capitals it ends in
	lower      bool // whether it ends in a small letter
	digit      bool
}

func (s *splitter) begin() {
	if !s.open {
		s.open, s.from, s.start, s.upper, s.lower = true, len(s.a.low), s.at, 0, false
	}
}

func (s *splitter) close() {
	if s.open {
		s.a.parts = append(s.a.parts, part{s.from, len(s.a.low), s.start, s.end})
		s.open = false
	}
}

// letter takes the ASCII letter or digit c.
func (s *splitter) letter(b []byte, c byte) {
	switch {
	case isUpper(c):
		if s.open && s.lower {
			s.close()
		}
		s.begin()
		s.upper, s.lower = s.upper+1, false
		s.a.low = append(s.a.low, c+'a'-'A')
	case isLower(c):
		if s.open && s.upper > 1 && !s.pluralEnd(b, c) {
			s.splitLastCapital()
		}
		s.begin()
		s.upper, s.lower = 0, true
		s.a.low = append(s.a.low, c)
	default:
		s.begin()
		s.a.low = append(s.a.low, c)
	}
	s.at++
	s.end = s.at
}

// pluralEnd reports whether c is the s of APIs or URLs.
func (s *splitter) pluralEnd(b []byte, c byte) bool {
	return c == 's' && (s.at+1 >= len(b) || !isAlnum(b[s.at+1]))
}

// splitLastCapital turns HTTPHeader, read up to its second H, into http and header.
func (s *splitter) splitLastCapital() {
	last := len(s.a.low) - 1
	s.a.parts = append(s.a.parts, part{s.from, last, s.start, s.end - 1})
	s.from, s.start = last, s.end-1
}

// apostrophe returns how many bytes to leave out: the 's of a possessive, or
// just the apostrophe of don't; 0 when the text goes on otherwise.
func (s *splitter) apostrophe(b []byte) int {
	size := 0
	switch {
	case b[s.at] == '\'':
		size = 1
	case b[s.at] == 0xE2 && s.at+2 < len(b) && b[s.at+1] == 0x80 && b[s.at+2] == 0x99: // ’
		size = 3
	}
	next := s.at + size
	if size == 0 || !s.open || s.digit || next >= len(b) || !isLetter(b[next]) {
		return 0
	}
	if b[next]|0x20 == 's' && (next+1 >= len(b) || !isAlnum(b[next+1])) {
		return size + 1
	}
	return size
}

// wide takes a Latin letter outside ASCII, without its accents.
func (s *splitter) wide(b []byte) bool {
	if b[s.at] < utf8.RuneSelf {
		return false
	}
	r, size := utf8.DecodeRune(b[s.at:])
	mark := s.open && unicode.Is(unicode.Mn, r) && classOf(r) != cluster
	if !mark && classOf(r) != latin {
		return false
	}
	s.begin()
	s.digit = false
	if !mark {
		s.a.low = foldLatin(s.a.low, unicode.ToLower(r))
		s.upper, s.lower = 0, true
	}
	s.at += size
	s.end = s.at
	return true
}

// putIdent emits the parts of id, then id as a whole if it has several.
func (a *Analyzer) putIdent(id ident) {
	if !id.opaque {
		for _, p := range a.parts[id.first:id.last] {
			a.put(a.stem(a.low[p.from:p.to]), Word, p.start, p.end)
		}
	}
	switch {
	case id.opaque:
		a.put(cut(a.low[id.from:id.to]), Word, id.start, id.end)
	case id.last-id.first > 1:
		a.put(a.stem(a.low[id.from:id.to]), Whole, id.start, id.end)
	}
}

// putCompound emits all identifiers joined. Numbers keep their full stops, so
// that 1.0.21 is not 1021, and a version loses its v.
func (a *Analyzer) putCompound() {
	if len(a.idents) > maxIdents || len(a.low)+len(a.idents) > MaxRunes {
		return
	}
	t := a.term[:0]
	for i, id := range a.idents {
		word := a.low[id.from:id.to]
		if i == 0 && len(word) > 1 && word[0] == 'v' && isDigit(word[1]) && a.idents[1].glue == '.' {
			word = word[1:]
		}
		if len(word) == 0 {
			continue
		}
		if id.glue == '.' && len(t) > 0 && isDigit(t[len(t)-1]) && isDigit(word[0]) {
			t = append(t, '.')
		}
		t = append(t, word...)
	}
	a.term = t
	a.put(t, Whole, a.idents[0].start, a.idents[len(a.idents)-1].end)
}

// suffix emits C++ and C#, and returns the end of what it took.
func (a *Analyzer) suffix(b []byte, end int) int {
	id := a.idents[len(a.idents)-1]
	word := a.low[id.from:id.to]
	if len(word) == 0 || isDigit(word[len(word)-1]) || end >= len(b) {
		return end
	}
	size := 0
	switch {
	case b[end] == '+' && end+1 < len(b) && b[end+1] == '+':
		size = 2
	case b[end] == '#' && len(word) == 1 && (end+1 >= len(b) || !isAlnum(b[end+1])):
		size = 1
	default:
		return end
	}
	a.term = append(append(a.term[:0], word...), b[end:end+size]...)
	a.put(a.term, Whole, id.start, end+size)
	return end + size
}

// dotWord emits the .env of .env, then reads on behind the full stop.
func (a *Analyzer) dotWord(b []byte, at int) int {
	end := at + 1
	for end < len(b) && (isAlnum(b[end]) || b[end] == '_') {
		end++
	}
	a.term = append(a.term[:0], '.')
	for _, c := range b[at+1 : end] {
		if isUpper(c) {
			c += 'a' - 'A'
		}
		a.term = append(a.term, c)
	}
	a.put(a.term, Whole, at, end)
	return at + 1
}
