package vault

import (
	"strings"
	"unicode/utf8"
)

// scanner reads the YAML that nearly all front matter is made of, one key a
// line, without the YAML library: about ten times faster, and it knows where each
// value stands. It gives up on everything else, and then the library reads.
// FuzzScannerAgreesWithYAML holds the two together.
type scanner struct {
	s string
	i int // offset of the next byte

	// loose is for edits, when the library has read the text already: anchors,
	// aliases, tags, comments inside and lists over several lines are taken too.
	loose bool
	depth int
}

const (
	maxDepth   = 16  // lists in lists
	maxEntries = 256 // more are left to the library, which looks keys up in a map
)

// scanHeader takes apart the text between the fences. It reports false when
// only the YAML library can.
func scanHeader(text string) ([]entry, bool) {
	if !scannable(text) {
		return nil, false
	}
	sc := scanner{s: text}
	entries := make([]entry, 0, 1+strings.Count(text, "\n"))
	lead := -1 // where the comment lines directly above start
	for sc.i < len(text) {
		line := sc.i
		switch indent := sc.skipSpaces(); {
		case sc.atLineEnd():
			sc.nextLine()
			lead = -1
		case text[sc.i] == '#':
			sc.i += lineLen(text[sc.i:])
			switch {
			case indent > 0 && len(entries) > 0:
				entries[len(entries)-1].end = sc.i
				lead = -1
			case indent == 0 && lead < 0:
				lead = line
			case indent > 0:
				lead = -1
			}
		case indent > 0:
			return nil, false
		default:
			e, ok := sc.entry(0)
			if !ok || isDuplicate(entries, e.key) || len(entries) == maxEntries {
				return nil, false
			}
			if e.lead = line; lead >= 0 {
				e.lead = lead
			}
			lead = -1
			entries = append(entries, e)
		}
	}
	return entries, true
}

func isDuplicate(entries []entry, key string) bool {
	for i := range entries {
		if entries[i].key == key {
			return true
		}
	}
	return false
}

// scannable reports whether text has only characters that stand for
// themselves everywhere: no tabs, controls, lone CR, Unicode line breaks.
func scannable(text string) bool {
	ascii := true
	for i := range len(text) {
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			ascii = false
		case c == '\n' || c >= ' ' && c != 0x7f:
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
		default:
			return false
		}
	}
	if ascii {
		return true
	}
	for _, r := range text {
		if r == utf8.RuneError || !plainRune(r) {
			return false
		}
	}
	return true
}

// plainRune reports whether r may stand in YAML unescaped and on one line.
func plainRune(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return false
	}
	return true
}

// entry reads one key and its value, whose key stands at column indent and at
// sc.i. It ends after the last line of the value.
func (sc *scanner) entry(indent int) (entry, bool) {
	e := entry{start: sc.i - indent}
	key, ok := sc.key()
	if !ok {
		return e, false
	}
	e.key = key
	e.val, ok = sc.entryValue(indent)
	e.end = sc.i
	return e, ok
}

// entryValue reads what follows "key:", to the end of its last line.
func (sc *scanner) entryValue(indent int) (node, bool) {
	colon := sc.i
	spaces := sc.skipSpaces()
	if !sc.atLineEnd() && (sc.s[sc.i] != '#' || spaces == 0) {
		if spaces == 0 {
			return node{}, false
		}
		n, ok := sc.value(false)
		return n, ok && sc.endLine() && !sc.continued(indent)
	}
	null := node{plain: true, start: colon, end: colon, prop: colon}
	sc.i += lineLen(sc.s[sc.i:])
	after := sc.i
	at, below, ok := sc.peekContent()
	switch {
	case !ok || at < indent:
		return null, true
	case sc.dashAt(below):
		return sc.blockList(at)
	case at == indent:
		sc.i = after
		return null, true
	}
	return sc.blockMap(at)
}

// key reads a plain ASCII key and its colon. In loose mode it may be quoted,
// or in any script.
func (sc *scanner) key() (string, bool) {
	start := sc.i
	if sc.loose && sc.i < len(sc.s) && (sc.s[sc.i] == '"' || sc.s[sc.i] == '\'') {
		n, ok := sc.quoted(sc.s[sc.i])
		sc.skipSpaces()
		return n.text, ok && sc.eat(':')
	}
	for sc.i < len(sc.s) && (keyByte(sc.s[sc.i]) || sc.loose && sc.s[sc.i] >= utf8.RuneSelf) {
		sc.i++
	}
	key := sc.s[start:sc.i]
	if sc.loose {
		sc.skipSpaces()
	}
	return key, key != "" && len(key) <= 128 && key[0] != '-' && sc.eat(':')
}

func keyByte(c byte) bool {
	return asciiLetter(c) || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// value reads a value that starts on this line and, in strict mode, ends on it.
func (sc *scanner) value(inFlow bool) (node, bool) {
	prop := sc.i
	ok := sc.properties()
	if !ok || sc.i >= len(sc.s) {
		return node{}, false
	}
	var n node
	switch c := sc.s[sc.i]; {
	case c == '"' || c == '\'':
		n, ok = sc.quoted(c)
	case c == '[' || c == '{':
		n, ok = sc.flow(c)
	case c == '*' && sc.loose:
		n, ok = sc.aliasName()
	default:
		n, ok = sc.plain(inFlow)
	}
	n.prop = prop
	return n, ok
}

// properties skips &anchor and !tag, which only loose mode takes.
func (sc *scanner) properties() bool {
	for sc.i < len(sc.s) && (sc.s[sc.i] == '&' || sc.s[sc.i] == '!') {
		word := sc.s[sc.i:]
		sc.i += strings.IndexAny(word+" ", " \t\r\n,]}")
		if !sc.loose || sc.skipSpaces() == 0 {
			return false
		}
	}
	return true
}

func (sc *scanner) aliasName() (node, bool) {
	start := sc.i
	name := sc.s[start+1:]
	name = name[:strings.IndexAny(name+" ", " \t\r\n,]}")]
	sc.i += 1 + len(name)
	return node{alias: true, text: name, start: start, end: sc.i}, name != ""
}

// plain reads a scalar without quotes.
func (sc *scanner) plain(inFlow bool) (node, bool) {
	start, s := sc.i, sc.s
	if !plainStart(s[start:]) {
		return node{}, false
	}
	i := start
scan:
	for ; i < len(s); i++ {
		switch c := s[i]; c {
		case '\n', '\r':
			break scan
		case '#':
			if s[i-1] == ' ' || s[i-1] == '\t' {
				break scan
			}
		case ':':
			if i+1 == len(s) || !colonInside(s[i+1], inFlow) {
				return node{}, false
			}
		case ',', ']', '}':
			if inFlow {
				break scan
			}
		case '[', '{', '?':
			if inFlow {
				return node{}, false
			}
		}
	}
	text := strings.TrimRight(s[start:i], " \t")
	sc.i = start + len(text)
	return node{plain: true, text: text, start: start, end: sc.i}, true
}

// plainStart reports whether a scalar without quotes may start like s.
func plainStart(s string) bool {
	c := s[0]
	switch {
	case c == '-':
		return len(s) > 1 && (keyByte(s[1]) || s[1] == '.')
	case c >= utf8.RuneSelf, asciiLetter(c), '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("_./+~()$^;=<\\", c) >= 0
}

// colonInside reports whether a colon before next is part of a plain scalar.
func colonInside(next byte, inFlow bool) bool {
	if inFlow {
		return next == '/' || keyByte(next)
	}
	return next != ' ' && next != '\t' && next != '\n' && next != '\r'
}

// quoted reads a scalar in quotes with the escapes that people write.
func (sc *scanner) quoted(quote byte) (node, bool) {
	start, s := sc.i, sc.s
	escaped := false
	for i := start + 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote && quote == '\'' && i+1 < len(s) && s[i+1] == '\'':
			escaped = true
			i++
		case c == quote:
			text := s[start+1 : i]
			sc.i = i + 1
			ok := true
			if escaped {
				text, ok = unescapeQuoted(text, quote)
			}
			return node{text: text, start: start, end: sc.i}, ok || sc.loose
		case c == '\\' && quote == '"':
			escaped = true
			i++
		case (c == '\n' || c == '\r') && !sc.loose:
			return node{}, false
		}
	}
	return node{}, false
}

func unescapeQuoted(s string, quote byte) (string, bool) {
	if quote == '\'' {
		return strings.ReplaceAll(s, "''", "'"), true
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case i == len(s):
			return "", false
		case s[i] == '"' || s[i] == '\\' || s[i] == '/':
			b.WriteByte(s[i])
		case s[i] == 'n':
			b.WriteByte('\n')
		case s[i] == 't':
			b.WriteByte('\t')
		default:
			return "", false
		}
	}
	return b.String(), true
}

// endLine reports whether only space and a comment are left on the line, and
// moves behind it.
func (sc *scanner) endLine() bool {
	spaces := sc.skipSpaces()
	if !sc.atLineEnd() && (sc.s[sc.i] != '#' || spaces == 0) {
		return false
	}
	sc.i += lineLen(sc.s[sc.i:])
	return true
}

// continued reports whether the next line with content is deeper than indent,
// so that it belongs to the value above.
func (sc *scanner) continued(indent int) bool {
	at, _, ok := sc.peekContent()
	return ok && at > indent
}

// peekContent returns the column and offset of the next content that is not a
// comment, without moving.
func (sc *scanner) peekContent() (indent, offset int, ok bool) {
	p := scanner{s: sc.s, i: sc.i, loose: sc.loose}
	for p.i < len(p.s) {
		indent = p.skipSpaces()
		if !p.atLineEnd() && p.s[p.i] != '#' {
			return indent, p.i, true
		}
		p.i += lineLen(p.s[p.i:])
	}
	return 0, 0, false
}

func (sc *scanner) dashAt(i int) bool {
	return sc.s[i] == '-' && i+1 < len(sc.s) && strings.IndexByte(" \r\n", sc.s[i+1]) >= 0
}

func (sc *scanner) skipSpaces() int {
	from := sc.i
	for sc.i < len(sc.s) && (sc.s[sc.i] == ' ' || sc.loose && sc.s[sc.i] == '\t') {
		sc.i++
	}
	return sc.i - from
}

func (sc *scanner) eat(c byte) bool {
	if sc.i < len(sc.s) && sc.s[sc.i] == c {
		sc.i++
		return true
	}
	return false
}

func (sc *scanner) atLineEnd() bool {
	return sc.i >= len(sc.s) || sc.s[sc.i] == '\n' || sc.s[sc.i] == '\r'
}

func (sc *scanner) nextLine() { sc.i += lineLen(sc.s[sc.i:]) }

// lineLen is the length of the first line of s with its line end.
func lineLen(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}
