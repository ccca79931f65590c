package vault

import (
	"fmt"
	"slices"
	"strings"
)

// editError: a sound header that cannot be changed as asked. It is ErrBroken to
// callers, who have the same way out: a person with an editor.
type editError struct{ key, why string }

func (e *editError) Error() string {
	return fmt.Sprintf("%s not changed: %s; change it in an editor (vade edit)", e.key, e.why)
}

// Unwrap returns ErrBroken.
func (e *editError) Unwrap() error { return ErrBroken }

// Set gives key a value: nil, a string, []string, bool, int, float64,
// time.Time, Origin, Scope, or a map of strings to strings, bools and numbers. An entry that says so already is not touched;
// else only the lines that have to change do, in the style that they have. A
// new entry goes where the file format has it, or last; a file without front
// matter gets one. It returns ErrBroken, wrapped, with nothing changed, when
// the front matter is broken.
func (d *Document) Set(key string, value any) error {
	want, err := newSetting(value)
	if err == nil {
		err = want.check()
	}
	if err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	if err := d.editable(key); err != nil {
		return err
	}
	e := d.head.find(key)
	if e == nil {
		return d.insert(key, want)
	}
	if want.holds(&e.val) {
		return nil
	}
	if want.list != nil {
		return d.change(e, want.holds, d.listEdits(e, want.list)...)
	}
	return d.change(e, want.holds, d.scalarEdits(e, want)...)
}

// insert adds the entry of a key that is not there.
func (d *Document) insert(key string, want setting) error {
	line := strings.Repeat(" ", d.head.indent) + renderKey(key) + ": " + want.render(plainStyle, false) + d.eol()
	at := d.head.insertAt(key)
	return d.splice(key, at, at, line, want.holds)
}

// SetRaw gives key the lines that Raw returned, here or in another document.
// They take this file's line ends. Nothing changes, and an error says why,
// when they are not exactly this key's entry or do not fit here.
func (d *Document) SetRaw(key string, lines []byte) error {
	if err := d.editable(key); err != nil {
		return err
	}
	text := withEOL(string(lines), d.eol())
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += d.eol()
	}
	at, end := d.head.insertAt(key), 0
	if e := d.head.find(key); e != nil {
		at, end = e.lead, e.end
	}
	return d.splice(key, at, max(at, end), text, func(n *node) bool { return n != nil })
}

// Delete removes key's entry with the comment lines directly above it. A key
// that is not there is no error.
func (d *Document) Delete(key string) error {
	if err := d.editable(key); err != nil {
		return err
	}
	e := d.head.find(key)
	if e == nil {
		return nil
	}
	return d.splice(key, e.lead, e.end, "", func(n *node) bool { return n == nil })
}

// editable says why the header cannot be changed.
func (d *Document) editable(key string) error {
	switch {
	case d.err != nil:
		return fmt.Errorf("%s not changed: %w; mend the header in an editor (vade edit)", key, d.err)
	case d.head.inline:
		return &editError{key, "all keys stand on one line in {…}; give each its own line"}
	}
	return nil
}

// change tries the texts that could replace e's lines, the gentlest first.
func (d *Document) change(e *entry, holds func(*node) bool, edits ...string) error {
	var err error = &editError{e.key, "its key is written in a way that only an editor can change"}
	for _, text := range edits {
		if err = d.splice(e.key, e.start, e.end, text, holds); err == nil {
			return nil
		}
	}
	return err
}

// splice replaces text[start:end] of the header, provided that the YAML
// library then reads what holds wants of key and every other key as before.
func (d *Document) splice(key string, start, end int, lines string, holds func(*node) bool) error {
	old := &d.head
	text := old.text[:start] + lines + old.text[end:]
	next := parseYAML(text)
	if next.broken != nil {
		moved, ok := moveAnchors(old.text[start:end], lines, old.text[end:])
		if !ok {
			return &editError{key, "the header would break (" + next.broken.Reason + ")"}
		}
		text = old.text[:start] + lines + moved
		next = parseYAML(text)
	}
	anchored := strings.Contains(old.text[start:end], "&")
	if next.broken != nil || !holds(next.ownValue(key)) || !sameOthers(old, &next, key, anchored) {
		return &editError{key, "other keys would change with it"}
	}
	if d.opener == "" {
		d.opener, d.closer = "---"+d.eol(), "---"+d.eol()
	}
	d.head = parseHeader(text)
	return nil
}

// ownValue returns the value of key's own entry.
func (h *header) ownValue(key string) *node {
	if e := h.find(key); e != nil {
		return &e.val
	}
	return nil
}

// sameOthers reports whether all keys but one are the same, in the same order.
// Entries that repeat an anchor of the changed one may follow it.
func sameOthers(a, b *header, key string, anchored bool) bool {
	others := func(h *header) []*entry {
		var out []*entry
		for i := range h.entries {
			if h.entries[i].key != key {
				out = append(out, &h.entries[i])
			}
		}
		return out
	}
	return slices.EqualFunc(others(a), others(b), func(x, y *entry) bool {
		follows := anchored && strings.Contains(a.text[x.start:x.end], "*")
		return x.key == y.key && (follows || x.val.same(&y.val))
	})
}

// moveAnchors moves each anchor that is in was but not in now to the first
// place in rest that repeats it. It reports false when there is none to move.
func moveAnchors(was, now, rest string) (string, bool) {
	sc := scanner{s: was, loose: true}
	sc.skipComments()
	e, ok := sc.entry(sc.skipSpaces())
	if !ok {
		return "", false
	}
	found := false
	for _, n := range withProperties(&e.val, nil) {
		source := was[n.prop:n.end]
		name := anchorName(source)
		at := aliasAt(rest, name)
		if name != "" && at >= 0 && !strings.Contains(now, "&"+name) && !strings.Contains(source, "\n") {
			rest = rest[:at] + source + rest[at+1+len(name):]
			found = true
		}
	}
	return rest, found
}

// withProperties appends the nodes in n that carry an anchor or a tag.
func withProperties(n *node, out []*node) []*node {
	if n.prop < n.start {
		out = append(out, n)
	}
	for i := range n.items {
		out = withProperties(&n.items[i], out)
	}
	return out
}

// anchorName returns the name of the anchor that source starts with; "" when
// it starts with none.
func anchorName(source string) string {
	for word := range strings.FieldsSeq(source) {
		switch word[0] {
		case '&':
			return word[1:]
		case '!':
			continue
		}
		break
	}
	return ""
}

// aliasAt returns where "*name" stands in s; -1 when it does not.
func aliasAt(s, name string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], "*"+name)
		if i < 0 {
			return -1
		}
		i += from
		from = i + 1 + len(name)
		if from == len(s) || strings.IndexByte(" \t\r\n,]}", s[from]) >= 0 {
			return i
		}
	}
}

// onlyComments reports whether s is blank lines and comments.
func onlyComments(s string) bool {
	sc := scanner{s: s}
	sc.skipComments()
	return sc.i >= len(s)
}

// skipComments moves behind blank and comment lines.
func (sc *scanner) skipComments() {
	for sc.i < len(sc.s) {
		line := strings.TrimLeft(sc.s[sc.i:lineEnd(sc.s, sc.i)], " \t\r\n")
		if line != "" && line[0] != '#' {
			return
		}
		sc.nextLine()
	}
}

// scalarEdits returns texts for e's lines that hold want, the gentlest first.
func (d *Document) scalarEdits(e *entry, want setting) []string {
	text := d.head.text[e.start:e.end]
	sc := scanner{s: text, loose: true}
	var edits []string
	if got, ok := sc.entry(sc.skipSpaces()); ok && onlyComments(text[sc.i:]) && !got.val.block {
		n := &got.val
		val := want.render(styleOf(text[n.start:n.end]), false)
		if n.start == n.end {
			val = " " + val
		}
		edits = append(edits, text[:n.start]+val+text[n.end:])
	}
	if block, ok := d.mapEdit(text, want); ok {
		edits = append(edits, block)
	}
	if block, ok := d.literalEdit(text, want); ok {
		edits = append(edits, block)
	}
	return append(edits, d.replaceValue(text, want.render(plainStyle, false))...)
}

// styleOf returns how the scalar with this source is quoted.
func styleOf(source string) quoting {
	if source != "" && (source[0] == '"' || source[0] == '\'') {
		return quoting(source[0])
	}
	return plainStyle
}

// replaceValue returns entry's first line with val in place of all that
// follows the colon; its comment stays where the value was on later lines.
func (d *Document) replaceValue(entry, val string) []string {
	sc := scanner{s: entry, loose: true}
	sc.skipSpaces()
	if _, ok := sc.key(); !ok {
		return nil
	}
	rest := entry[sc.i:lineEnd(entry, sc.i)]
	comment := ""
	if trimmed := strings.TrimLeft(rest, " \t"); strings.HasPrefix(trimmed, "#") {
		comment = strings.TrimRight(rest, "\r\n")
	}
	return []string{entry[:sc.i] + " " + val + comment + d.eol()}
}

// literalEdit keeps a literal block a literal block.
func (d *Document) literalEdit(entry string, want setting) (string, bool) {
	sc := scanner{s: entry, loose: true}
	sc.skipSpaces()
	if _, ok := sc.key(); !ok || want.text == nil {
		return "", false
	}
	if sc.skipSpaces(); sc.i >= len(entry) || entry[sc.i] != '|' {
		return "", false
	}
	below := entry[lineEnd(entry, sc.i):]
	for below != "" && strings.TrimSpace(firstLine(below)) == "" {
		below = below[lineLen(below):]
	}
	indent := below[:len(below)-len(strings.TrimLeft(below, " "))]
	if indent == "" {
		indent = strings.Repeat(" ", d.head.indent+2)
	}
	block, ok := literalBlock(*want.text, indent, d.eol())
	return entry[:sc.i] + block, ok
}

// eol returns the line end of the file: of its first line.
func (d *Document) eol() string {
	first := d.opener
	if first == "" {
		first = firstLine(d.body)
	}
	if strings.HasSuffix(first, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// withEOL returns s with every line end as eol.
func withEOL(s, eol string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if eol == "\r\n" {
		s = strings.ReplaceAll(s, "\n", eol)
	}
	return s
}
