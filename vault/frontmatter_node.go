package vault

import (
	"slices"
	"strconv"
	"strings"
)

// node is one value of the front matter. Both readers make it: the line
// scanner, which also says where it stands, and the YAML library.
type node struct {
	kind  nodeKind
	plain bool   // a scalar without quotes, which may be null, a bool or a number
	alias bool   // *name, not followed yet; text is the name
	block bool   // a list or mapping with one item a line
	text  string // of a scalar, decoded
	items []node // of a list; of a mapping: key, value, key, value, …

	// From the line scanner only: offsets into the text that it scanned.
	prop       int // where its anchor or tag starts; start when there is none
	start, end int // the value itself
}

type nodeKind uint8

const (
	scalarNode nodeKind = iota
	listNode
	mapNode
)

func (n *node) isNull() bool {
	return n.kind == scalarNode && n.plain && isNullWord(n.text)
}

// scalar returns the text of a scalar; "" for null, lists and mappings.
func (n *node) scalar() string {
	if n.kind != scalarNode || n.isNull() {
		return ""
	}
	return n.text
}

// strings returns the scalars of a list; those of a scalar split at commas.
func (n *node) strings() []string {
	switch {
	case n.kind == listNode:
		out := make([]string, len(n.items))
		for i := range n.items {
			out[i] = n.items[i].scalar()
		}
		return trimmed(out)
	case n.kind == mapNode || n.isNull():
		return nil
	case !strings.Contains(n.text, ","):
		return trimmed([]string{n.text})
	}
	return trimmed(strings.Split(n.text, ","))
}

// trimmed returns items without space around and without empty ones, in place.
func trimmed(items []string) []string {
	out := items[:0]
	for _, s := range items {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// field returns the value of key in a mapping; nil when there is none.
func (n *node) field(key string) *node {
	if n.kind != mapNode {
		return nil
	}
	for i := 0; i < len(n.items); i += 2 {
		if n.items[i].text == key {
			return &n.items[i+1]
		}
	}
	return nil
}

// value returns n as Go data.
func (n *node) value() any {
	switch n.kind {
	case listNode:
		out := make([]any, len(n.items))
		for i := range n.items {
			out[i] = n.items[i].value()
		}
		return out
	case mapNode:
		out := make(map[string]any, len(n.items)/2)
		for i := 0; i < len(n.items); i += 2 {
			out[n.items[i].text] = n.items[i+1].value()
		}
		return out
	}
	if !n.plain {
		return n.text
	}
	return plainValue(n.text)
}

// plainValue returns what YAML's core schema makes of a scalar without quotes.
// Dates stay strings.
func plainValue(s string) any {
	switch {
	case isNullWord(s):
		return nil
	case s == "true" || s == "True" || s == "TRUE":
		return true
	case s == "false" || s == "False" || s == "FALSE":
		return false
	case !strings.Contains("0123456789+-.", s[:1]):
		return s
	}
	if i, err := strconv.Atoi(s); err == nil {
		return i
	}
	if i, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 0, 64); err == nil {
		return int(i)
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f
	}
	return s
}

func isNullWord(s string) bool {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// same reports whether two nodes mean the same value; order in a mapping counts.
func (n *node) same(o *node) bool {
	if n.kind != o.kind {
		return false
	}
	if n.kind == scalarNode {
		return n.text == o.text && n.plain == o.plain
	}
	return slices.EqualFunc(n.items, o.items, func(a, b node) bool { return a.same(&b) })
}
