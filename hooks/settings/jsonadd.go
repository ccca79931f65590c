package settings

import (
	"bytes"
	"encoding/json"
	"strings"
)

// style is how a file is laid out.
type style struct{ newline, indent string }

// style is taken from the first line end, and the first line of the root's
// that is indented; two spaces where there is none.
func (d *JSON) style() style {
	s := style{"\n", "  "}
	if i := bytes.IndexByte(d.src, '\n'); i > 0 && d.src[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if d.root == nil {
		return s
	}
	for _, it := range d.root.items {
		if indent, alone := d.lineIndent(it.start); alone && indent != "" {
			s.indent = indent
			break
		}
	}
	return s
}

// format lays out value as one that starts on a line indented by indent.
func (s style) format(value, indent string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(value), indent, s.indent) != nil {
		return value
	}
	return strings.ReplaceAll(b.String(), "\n", s.newline)
}

// lineIndent is the white space that the line of offset at starts with, and
// whether nothing else comes before at in it.
func (d *JSON) lineIndent(at int) (indent string, alone bool) {
	start := bytes.LastIndexByte(d.src[:at], '\n') + 1
	line := strings.TrimPrefix(string(d.src[start:at]), bom)
	rest := strings.TrimLeft(line, " \t")
	return line[:len(line)-len(rest)], rest == ""
}

func (d *JSON) indentAt(at int) string {
	indent, _ := d.lineIndent(at)
	return indent
}

// add puts an item after the last one of n, and after the comments that
// follow that one.
func (d *JSON) add(n *node, key, value string) (*JSON, error) {
	s, end := d.style(), d.lastOf(n)
	name := ""
	if n.kind == '{' {
		quoted, _ := json.Marshal(key) // a string
		name = string(quoted) + ": "
	}
	if len(n.items) == 0 {
		outer := d.indentAt(n.start)
		inner := outer + s.indent
		text := s.newline + inner + name + s.format(value, inner)
		closing := n.end - 1
		if !bytes.ContainsRune(d.src[end:closing], '\n') {
			return d.splice(end, closing, text+s.newline+outer)
		}
		return d.splice(end, end, text)
	}
	last := n.items[len(n.items)-1]
	text := " " + name + value
	if indent, alone := d.lineIndent(last.start); alone || lineComment(d.src[last.value.end:end]) {
		text = s.newline + indent + name + s.format(value, indent)
	}
	stop := last.value.end
	if d.commaAfter(stop, n) >= 0 {
		return d.splice(end, end, text+",")
	}
	return d.splice(stop, end, ","+string(d.src[stop:end])+text)
}

// lineComment reports whether what follows an item, up to the last thing
// before the bracket, ends in a comment that goes on to the end of its line.
// What is no such comment but looks like one costs a line end.
func lineComment(trivia []byte) bool {
	return bytes.Contains(trivia[bytes.LastIndexByte(trivia, '\n')+1:], []byte("//"))
}

// lastOf is where the last thing in n ends, be it an item, a comma or a
// comment; after the opening bracket when there is none.
func (d *JSON) lastOf(n *node) int {
	return lastThing(d.src, n.start+1, n.end-1)
}

// commaAfter is the offset of the comma that follows an item which ends at
// offset end, -1 when none does.
func (d *JSON) commaAfter(end int, n *node) int {
	p := &parser{src: d.src, at: end}
	if p.skip() == nil && p.at < n.end && p.peek() == ',' {
		return p.at
	}
	return -1
}
