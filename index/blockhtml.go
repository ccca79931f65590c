package index

import (
	"bytes"
	"strings"
)

// openHTML reads the start of an HTML block: section 4.6 of CommonMark knows
// seven kinds, the last of which does not interrupt a paragraph.
func (s *blockScanner) openHTML(rest []byte, at int, interrupts bool, closeRest func()) bool {
	if rest[0] != '<' {
		return false
	}
	end, ok := htmlKind(rest)
	if !ok {
		if interrupts || !wholeTag(rest) {
			return false
		}
	}
	closeRest()
	s.found = append(s.found, block{at: at})
	if end == "" || !endsHTML(rest, end) {
		s.leaf, s.htmlEnd = html, end
	}
	return true
}

// rawEnd stands for the end tag of any of the elements whose text is raw.
const rawEnd = "</"

// htmlKind returns what ends the block that starts with rest, "" for a blank
// line; ok is false when none of the first six kinds does.
func htmlKind(rest []byte) (end string, ok bool) {
	for _, k := range []struct{ start, end string }{{"<!--", "-->"}, {"<?", "?>"}, {"<![CDATA[", "]]>"}} {
		if bytes.HasPrefix(rest, []byte(k.start)) {
			return k.end, true
		}
	}
	if len(rest) > 2 && rest[1] == '!' && letter(rest[2]) {
		return ">", true
	}
	name, after := tagName(bytes.TrimPrefix(rest[1:], []byte("/")))
	open := !bytes.HasPrefix(rest[1:], []byte("/"))
	switch {
	case name == "":
		return "", false
	case rawElement(name):
		return rawEnd, open && (len(after) == 0 || after[0] == ' ' || after[0] == '\t' || after[0] == '>')
	case blockElement(name):
		return "", len(after) == 0 || after[0] == ' ' || after[0] == '\t' || after[0] == '>' || bytes.HasPrefix(after, []byte("/>"))
	}
	return "", false
}

func endsHTML(line []byte, end string) bool {
	if end != rawEnd {
		return bytes.Contains(line, []byte(end))
	}
	low := bytes.ToLower(line)
	for _, name := range []string{"script", "pre", "style", "textarea"} {
		if bytes.Contains(low, []byte("</"+name+">")) {
			return true
		}
	}
	return false
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// tagName returns the name at the start of text in lower case, and what follows.
func tagName(text []byte) (string, []byte) {
	n := 0
	for n < len(text) && (letter(text[n]) || n > 0 && (text[n] >= '0' && text[n] <= '9' || text[n] == '-')) {
		n++
	}
	return strings.ToLower(string(text[:n])), text[n:]
}

func rawElement(name string) bool {
	return name == "script" || name == "pre" || name == "style" || name == "textarea"
}

func blockElement(name string) bool {
	switch name {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col", "colgroup", "dd",
		"details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset",
		"h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe", "legend", "li", "link", "main", "menu",
		"menuitem", "nav", "noframes", "ol", "optgroup", "option", "p", "param", "search", "section", "summary", "table", "tbody",
		"td", "tfoot", "th", "thead", "title", "tr", "track", "ul":
		return true
	}
	return false
}

// wholeTag reports whether the line is one complete tag.
func wholeTag(rest []byte) bool {
	closing := rest[1:]
	if bytes.HasPrefix(closing, []byte("/")) {
		name, after := tagName(closing[1:])
		return name != "" && !rawElement(name) && string(bytes.Trim(after, " \t")) == ">"
	}
	name, after := tagName(rest[1:])
	if name == "" || rawElement(name) {
		return false
	}
	for {
		trimmed := bytes.TrimLeft(after, " \t")
		attribute, ok := cutAttribute(trimmed)
		if !ok || len(trimmed) == len(after) {
			after = trimmed
			break
		}
		after = attribute
	}
	after = bytes.TrimPrefix(after, []byte("/"))
	return string(bytes.TrimRight(after, " \t")) == ">"
}

// cutAttribute returns what follows the attribute at the start of text.
func cutAttribute(text []byte) (rest []byte, ok bool) {
	n := 0
	for n < len(text) && (letter(text[n]) || text[n] == '_' || text[n] == ':' ||
		n > 0 && (text[n] >= '0' && text[n] <= '9' || text[n] == '.' || text[n] == '-')) {
		n++
	}
	if n == 0 {
		return text, false
	}
	value, ok := bytes.CutPrefix(bytes.TrimLeft(text[n:], " \t"), []byte("="))
	if !ok {
		return text[n:], true
	}
	value = bytes.TrimLeft(value, " \t")
	if len(value) == 0 {
		return text, false
	}
	if value[0] == '"' || value[0] == '\'' {
		end := bytes.IndexByte(value[1:], value[0])
		if end < 0 {
			return text, false
		}
		return value[end+2:], true
	}
	end := bytes.IndexAny(value, " \t\"'=<>`")
	if end < 0 {
		end = len(value)
	}
	return value[end:], end > 0
}
