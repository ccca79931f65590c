package vault

import (
	"slices"
	"strings"
)

// AddToList appends those items that key's list does not have yet. The list
// keeps its style: [a, b], one item a line, or "a, b".
func (d *Document) AddToList(key string, items ...string) error {
	if err := d.editable(key); err != nil {
		return err
	}
	have := d.Strings(key)
	want := slices.Clone(have)
	for _, item := range trimmed(slices.Clone(items)) {
		if !slices.Contains(want, item) {
			want = append(want, item)
		}
	}
	if len(want) == len(have) {
		return nil
	}
	return d.setList(key, want)
}

// RemoveFromList removes items from key's list; an empty list stays.
func (d *Document) RemoveFromList(key string, items ...string) error {
	if err := d.editable(key); err != nil {
		return err
	}
	drop := trimmed(slices.Clone(items))
	have := d.Strings(key)
	want := slices.DeleteFunc(slices.Clone(have), func(s string) bool { return slices.Contains(drop, s) })
	if len(want) == len(have) {
		return nil
	}
	return d.setList(key, want)
}

func (d *Document) setList(key string, want []string) error {
	if n := d.head.get(key); n != nil && n.kind == mapNode {
		return &editError{key, "is a mapping, not a list"}
	}
	return d.Set(key, want)
}

// listEdits returns texts for e's lines that hold want, the gentlest first.
func (d *Document) listEdits(e *entry, want []string) []string {
	text := d.head.text[e.start:e.end]
	sc := scanner{s: text, loose: true}
	got, ok := sc.entry(sc.skipSpaces())
	ok = ok && onlyComments(text[sc.i:])
	rendered := flowList(want)
	var edits []string
	l := listEdit{text: text, list: &got.val, eol: d.eol()}
	switch {
	case !ok && e.val.kind == listNode:
		edits = l.appendBelow(e.val.strings(), want)
	case !ok:
	case got.val.kind == listNode:
		l.decode(&e.val)
		if out, ok := l.keepAndAppend(want); ok {
			edits = append(edits, out)
		}
		if !got.val.block {
			edits = append(edits, text[:got.val.start]+l.reordered(want)+text[got.val.end:])
		}
	case got.val.kind == scalarNode:
		n := &got.val
		if out, ok := commaList(n, text, want); ok {
			edits = append(edits, text[:n.start]+out+text[n.end:])
		}
		if n.start == n.end {
			rendered = " " + rendered
		}
		edits = append(edits, text[:n.start]+rendered+text[n.end:])
	}
	return append(edits, d.replaceValue(text, flowList(want))...)
}

// commaList keeps "a, b" a list without brackets.
func commaList(n *node, text string, want []string) (string, bool) {
	if n.alias || !strings.Contains(n.text, ",") || len(want) == 0 {
		return "", false
	}
	sep := ","
	if strings.Contains(n.text, ", ") {
		sep = ", "
	}
	out := strings.Join(want, sep)
	if was := n.strings(); len(want) > len(was) && slices.Equal(want[:len(was)], was) {
		out = strings.TrimRight(n.text, ", ") + sep + strings.Join(want[len(was):], sep)
	}
	return quote(out, styleOf(text[n.start:n.end]), false), true
}

// listEdit changes the text of one entry whose value is a list.
type listEdit struct {
	text string
	list *node
	eol  string
}

// decode gives the scanned items the values that the library read: aliases
// followed, escapes resolved.
func (l *listEdit) decode(read *node) {
	if read.kind != listNode || len(read.items) != len(l.list.items) {
		return
	}
	for i := range read.items {
		l.list.items[i].text = strings.TrimSpace(read.items[i].scalar())
	}
}

// keepAndAppend drops the items that want lacks and appends those that it has
// more. It reports false when that does not give want's order.
func (l *listEdit) keepAndAppend(want []string) (string, bool) {
	var drop []int
	kept := 0
	for i := range l.list.items {
		switch {
		case kept < len(want) && l.list.items[i].text == want[kept]:
			kept++
		default:
			drop = append(drop, i)
		}
	}
	added := want[kept:]
	for _, i := range drop {
		if slices.Contains(want, l.list.items[i].text) && !l.repeated(i) {
			return "", false // it only moves
		}
	}
	if l.list.block {
		return l.blockEdit(drop, added), len(drop) < len(l.list.items) || len(added) > 0
	}
	return l.flowEdit(drop, added), true
}

// repeated reports whether an item like item i stands before it.
func (l *listEdit) repeated(i int) bool {
	for j := range i {
		if l.list.items[j].text == l.list.items[i].text {
			return true
		}
	}
	return false
}

// reordered renders want in brackets, known items as they are written.
func (l *listEdit) reordered(want []string) string {
	out := make([]string, len(want))
	for i, s := range want {
		out[i] = quote(s, plainStyle, true)
		for j := range l.list.items {
			if item := &l.list.items[j]; item.text == s && !item.alias {
				out[i] = l.text[item.prop:item.end]
			}
		}
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// blockEdit drops and appends "- item" lines.
func (l *listEdit) blockEdit(drop []int, added []string) string {
	items := l.list.items
	last := lineEnd(l.text, items[len(items)-1].start)
	dash := l.text[lineStart(l.text, items[0].prop):items[0].prop] // "  - "
	var below strings.Builder
	for _, s := range added {
		below.WriteString(dash + quote(s, plainStyle, false) + l.eol)
	}
	out := l.text[:last] + below.String() + l.text[last:]
	for _, i := range slices.Backward(drop) {
		start := lineStart(l.text, items[i].start)
		out = out[:start] + out[lineEnd(out, start):]
	}
	return out
}

// flowEdit drops and appends items between brackets.
func (l *listEdit) flowEdit(drop []int, added []string) string {
	out := l.flowAppend(added)
	last := len(l.list.items) - 1 // moves down with the items behind it gone
	for _, i := range slices.Backward(drop) {
		isLast := i == last && len(added) == 0
		if isLast {
			last--
		}
		out = l.flowDrop(out, i, isLast)
	}
	if len(drop) == len(l.list.items) && len(added) == 0 {
		inside := out[l.list.start+1 : l.list.start+1+strings.IndexByte(out[l.list.start+1:], ']')]
		if strings.Trim(inside, " ,\r\n") == "" {
			out = out[:l.list.start] + "[]" + out[l.list.start+1+len(inside)+1:]
		}
	}
	return out
}

// flowAppend puts items behind the last one: on its line, or on lines of
// their own where the others have that.
func (l *listEdit) flowAppend(added []string) string {
	if len(added) == 0 {
		return l.text
	}
	fresh := flowList(added)
	fresh = fresh[1 : len(fresh)-1]
	if len(l.list.items) == 0 {
		if strings.TrimSpace(l.text[l.list.start+1:l.list.end-1]) == "" {
			return l.text[:l.list.start+1] + fresh + l.text[l.list.end-1:]
		}
		return l.text[:l.list.start+1] + fresh + l.text[l.list.start+1:]
	}
	last := l.list.items[len(l.list.items)-1]
	start, end := lineStart(l.text, last.prop), lineEnd(l.text, last.end)
	if start <= l.list.start || strings.TrimSpace(l.text[start:last.prop]) != "" || end > l.list.end {
		return l.text[:last.end] + ", " + fresh + l.text[last.end:]
	}
	indent := l.text[start:last.prop]
	comma := strings.HasPrefix(strings.TrimLeft(l.text[last.end:], " \t"), ",")
	var below strings.Builder
	for i, s := range added {
		below.WriteString(indent + quote(s, plainStyle, true))
		if comma || i < len(added)-1 {
			below.WriteByte(',')
		}
		below.WriteString(l.eol)
	}
	if comma {
		return l.text[:end] + below.String() + l.text[end:]
	}
	return l.text[:last.end] + "," + l.text[last.end:end] + below.String() + l.text[end:]
}

// flowDrop cuts item i out of text, whose offsets up to the item's end are
// still those of l.text. Comments stay.
func (l *listEdit) flowDrop(text string, i int, isLast bool) string {
	item := l.list.items[i]
	if !isLast {
		rest := text[item.end:]
		comma := strings.IndexByte(rest, ',') + 1
		gap := len(rest[comma:]) - len(strings.TrimLeft(rest[comma:], " \t\r\n"))
		if strings.HasPrefix(rest[comma+gap:], "#") {
			gap = 0
		}
		return text[:item.prop] + rest[comma+gap:]
	}
	from := item.prop
	if i > 0 {
		if prev := l.list.items[i-1].end; !strings.Contains(text[prev:from], "#") {
			from = prev
		}
	}
	return text[:from] + text[item.end:]
}

// appendBelow serves lists of one item a line that the scanner cannot read
// (nested values, text over several lines): new items go below the last line.
func (l *listEdit) appendBelow(have, want []string) []string {
	if len(want) <= len(have) || !slices.Equal(want[:len(have)], have) {
		return nil
	}
	for line := range strings.Lines(l.text[lineLen(l.text):]) {
		item := strings.TrimLeft(line, " ")
		if strings.TrimSpace(item) == "" || item[0] == '#' {
			continue
		}
		if !strings.HasPrefix(item, "- ") {
			return nil
		}
		var out strings.Builder
		out.WriteString(l.text)
		for _, s := range want[len(have):] {
			out.WriteString(line[:len(line)-len(item)] + "- " + quote(s, plainStyle, false) + l.eol)
		}
		return []string{out.String()}
	}
	return nil
}
