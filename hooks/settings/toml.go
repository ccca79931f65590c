package settings

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The lines around what we write into a TOML file.
const (
	tomlOpen  = `# >>> vade: written by "vade setup", taken out by "vade uninstall"`
	tomlClose = "# <<< vade"
)

// TOML is a settings file in TOML, of which only the tables are understood.
type TOML struct {
	src    []byte
	tables []table
}

// table is a header and where what it heads is.
type table struct {
	path       []string // of keys; of the root it is empty
	start, end int      // src[start:end] is the header and all up to the next
	keys       [][]string
}

// ParseTOML reads a file.
func ParseTOML(src []byte) (*TOML, error) {
	p := &tomlParser{parser{src: src}}
	if bytes.HasPrefix(src, []byte(bom)) {
		p.at = len(bom)
	}
	if !utf8.Valid(src) {
		return nil, p.errorf("it is not UTF-8")
	}
	d := &TOML{src: src, tables: []table{{start: p.at}}}
	for {
		p.blank()
		if p.at == len(src) {
			break
		}
		here := &d.tables[len(d.tables)-1]
		if p.peek() == '[' {
			here.end = p.at
			path, err := p.header()
			if err != nil {
				return nil, err
			}
			d.tables = append(d.tables, table{path: path, start: here.end})
			continue
		}
		key, err := p.assignment()
		if err != nil {
			return nil, err
		}
		here.keys = append(here.keys, key)
	}
	d.tables[len(d.tables)-1].end = len(src)
	return d, nil
}

// Bytes is the file. The caller must not change it.
func (d *TOML) Bytes() []byte { return d.src }

// Has reports whether the table at path is there, in whatever form, and
// whether the file allows for another header for it.
func (d *TOML) Has(path ...string) (has, open bool) {
	open = true
	for _, t := range d.tables {
		has = has || within(path, t.path)
		for _, key := range t.keys {
			full := append(append([]string(nil), t.path...), key...)
			has = has || within(path, full)
			// mcp_servers = { … } closes the table for good.
			if len(full) < len(path) && within(full, path) {
				open = false
			}
		}
	}
	return has, open
}

// Tables are the paths of all headers.
func (d *TOML) Tables() [][]string {
	var paths [][]string
	for _, t := range d.tables[1:] {
		paths = append(paths, t.path)
	}
	return paths
}

// within reports whether path begins with prefix.
func within(prefix, path []string) bool {
	if len(prefix) > len(path) {
		return false
	}
	for i, key := range prefix {
		if path[i] != key {
			return false
		}
	}
	return true
}

// Block is what we wrote into the file, without the lines around it; "" when
// there is nothing.
func (d *TOML) Block() string {
	from, to := d.block()
	if from < 0 {
		return ""
	}
	lines := strings.SplitAfter(string(d.src[from:to]), "\n")
	var inner strings.Builder
	for _, l := range lines {
		if text := strings.TrimSpace(l); text != "" && text != tomlOpen && text != tomlClose {
			inner.WriteString(strings.TrimRight(l, "\r\n") + "\n")
		}
	}
	return inner.String()
}

// block is where our lines are, with the empty line before them; -1 when
// there are none.
func (d *TOML) block() (from, to int) {
	from = bytes.Index(d.src, []byte(tomlOpen))
	if from < 0 || from > d.tables[0].start && d.src[from-1] != '\n' {
		return -1, -1
	}
	n := bytes.Index(d.src[from:], []byte(tomlClose))
	if n < 0 {
		return -1, -1
	}
	to = from + n + len(tomlClose)
	for _, end := range []string{"\r\n", "\n"} {
		if bytes.HasPrefix(d.src[to:], []byte(end)) {
			to += len(end)
			break
		}
	}
	return from, to
}

// SetBlock makes lines, which end in "\n", our block at the end of the file;
// where there is one already it stays where it is.
func (d *TOML) SetBlock(lines string) (*TOML, error) {
	if d.Block() == lines {
		return d, nil
	}
	nl := "\n"
	if i := bytes.IndexByte(d.src, '\n'); i > 0 && d.src[i-1] == '\r' {
		nl = "\r\n"
	}
	text := strings.ReplaceAll(tomlOpen+"\n"+lines+tomlClose+"\n", "\n", nl)
	if from, to := d.block(); from >= 0 {
		return d.splice(from, to, text)
	}
	if body := bytes.TrimPrefix(d.src, []byte(bom)); len(body) > 0 {
		if body[len(body)-1] != '\n' {
			text = nl + text
		}
		text = nl + text
	}
	return d.splice(len(d.src), len(d.src), text)
}

// RemoveBlock takes our block out again: the exact opposite of SetBlock when
// before is the file before that, or nil for one that ended in a line end.
func (d *TOML) RemoveBlock(before *TOML) (*TOML, error) {
	from, to := d.block()
	if from < 0 {
		return d, nil
	}
	if blank := cutNewline(d.src, from); cutNewline(d.src, blank) < blank {
		from = blank // an empty line
		if before != nil && !bytes.HasSuffix(before.src, []byte("\n")) && bytes.HasPrefix(d.src[:from], before.src) {
			from = len(before.src) // its last line had no end
		}
	}
	return d.splice(from, to, "")
}

// cutNewline is at without the line end before it.
func cutNewline(src []byte, at int) int {
	switch {
	case bytes.HasSuffix(src[:at], []byte("\r\n")):
		return at - 2
	case bytes.HasSuffix(src[:at], []byte("\n")):
		return at - 1
	}
	return at
}

func (d *TOML) splice(from, to int, text string) (*TOML, error) {
	return ParseTOML([]byte(string(d.src[:from]) + text + string(d.src[to:])))
}

// tomlParser reads as much of TOML 1.0 as is needed to find headers and keys,
// and to see that the file is whole.
type tomlParser struct{ parser }

// blank goes over white space, line ends and comments.
func (p *tomlParser) blank() {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == '\r' && !bytes.HasPrefix(p.src[p.at:], []byte("\r\n")):
			return
		case isSpace(c):
			p.at++
		case c == '#':
			p.comment()
		default:
			return
		}
	}
}

func (p *tomlParser) comment() {
	n := bytes.IndexByte(p.src[p.at:], '\n')
	if n < 0 {
		n = len(p.src) - p.at
	}
	p.at += n
}

func (p *tomlParser) spaces() {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.at++
	}
}

// header reads [a.b] or [[a.b]].
func (p *tomlParser) header() ([]string, error) {
	brackets := 1
	p.at++
	if p.peek() == '[' {
		brackets, p.at = 2, p.at+1
	}
	path, err := p.key()
	if err != nil {
		return nil, err
	}
	for range brackets {
		if p.peek() != ']' {
			return nil, p.errorf("a ] is missing")
		}
		p.at++
	}
	return path, p.lineEnd()
}

// lineEnd reads what may follow in a line.
func (p *tomlParser) lineEnd() error {
	p.spaces()
	switch c := p.peek(); {
	case p.at == len(p.src), c == '\n', c == '#':
		return nil
	case c == '\r' && bytes.HasPrefix(p.src[p.at:], []byte("\r\n")):
		return nil
	}
	return p.errorf("the line goes on where it should end")
}

// key reads a.b."c d".
func (p *tomlParser) key() (path []string, err error) {
	for {
		p.spaces()
		var part string
		switch p.peek() {
		case '"', '\'':
			start := p.at
			if err := p.quoted(); err != nil {
				return nil, err
			}
			part = unquote(string(p.src[start:p.at]))
		default:
			start := p.at
			for p.at < len(p.src) && isBare(p.src[p.at]) {
				p.at++
			}
			if part = string(p.src[start:p.at]); part == "" {
				return nil, p.errorf("a key is missing")
			}
		}
		path = append(path, part)
		p.spaces()
		if p.peek() != '.' {
			return path, nil
		}
		p.at++
	}
}

func isBare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= utf8.RuneSelf
}

// unquote is what a key in quotes says; escapes other than \" and \\ stay.
func unquote(s string) string {
	inner := s[1 : len(s)-1]
	if s[0] == '"' {
		inner = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(inner)
	}
	return inner
}

// assignment reads key = value up to the end of its line.
func (p *tomlParser) assignment() ([]string, error) {
	key, err := p.key()
	if err != nil {
		return nil, err
	}
	if p.peek() != '=' {
		return nil, p.errorf("an = is missing after %s", strings.Join(key, "."))
	}
	p.at++
	p.spaces()
	start := p.at
	if err := p.value(0); err != nil {
		return nil, err
	}
	if p.at == start {
		return nil, p.errorf("%s has no value", strings.Join(key, "."))
	}
	return key, p.lineEnd()
}

// value goes over a value; of numbers, words and dates any is taken.
func (p *tomlParser) value(depth int) error {
	if depth > maxDepth {
		return p.errorf("it is nested too deeply")
	}
	switch c := p.peek(); c {
	case '"', '\'':
		return p.quoted()
	case '[', '{':
		return p.brackets(c+2, depth)
	}
	for p.at < len(p.src) && strings.IndexByte(",]}#\r\n\"'[{=", p.src[p.at]) < 0 {
		p.at++
	}
	return nil
}

// brackets goes over an array or an inline table.
func (p *tomlParser) brackets(closing byte, depth int) error {
	open := p.at
	p.at++
	for {
		p.blank()
		switch c := p.peek(); c {
		case closing:
			p.at++
			return nil
		case ',', '=':
			p.at++
			continue
		}
		start := p.at
		if err := p.value(depth + 1); err != nil {
			return err
		}
		if p.at == start {
			p.at = open
			return p.errorf("a %c is missing", closing)
		}
	}
}

// quoted goes over a string of any of the four kinds.
func (p *tomlParser) quoted() error {
	quote, start := p.src[p.at], p.at
	long := fmt.Sprintf("%c%c%c", quote, quote, quote)
	if bytes.HasPrefix(p.src[p.at:], []byte(long)) {
		for p.at += 3; p.at < len(p.src); p.at++ {
			switch {
			case p.src[p.at] == '\\' && quote == '"':
				p.at++
			case bytes.HasPrefix(p.src[p.at:], []byte(long)):
				for p.at += 3; p.peek() == quote; p.at++ { // """" ends one that ends in "
				}
				return nil
			}
		}
		p.at = start
		return p.errorf("a string does not end")
	}
	for p.at++; p.at < len(p.src) && p.src[p.at] != '\n'; p.at++ {
		switch {
		case p.src[p.at] == '\\' && quote == '"':
			p.at++
		case p.src[p.at] == quote:
			p.at++
			return nil
		}
	}
	p.at = start
	return p.errorf("a string does not end")
}
