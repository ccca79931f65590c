package settings

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// JSON is a settings file in JSON. It is a value: edits return another.
type JSON struct {
	src  []byte
	root *node
}

// ParseJSON reads a file. One with nothing in it is an object with no members.
func ParseJSON(src []byte) (*JSON, error) {
	root, err := parseJSON(src)
	if err != nil {
		return nil, err
	}
	if root != nil && root.kind != '{' {
		return nil, &Error{Line: 1, What: "it is no object"}
	}
	return &JSON{src: src, root: root}, nil
}

// Bytes is the file. The caller must not change it.
func (d *JSON) Bytes() []byte { return d.src }

// Empty reports whether the file says nothing: no member, and no comment.
func (d *JSON) Empty() bool {
	return d.root == nil && len(bytes.TrimSpace(bytes.TrimPrefix(d.src, []byte(bom)))) == 0 ||
		d.root != nil && len(d.root.items) == 0 && strings.Join(strings.Fields(strings.TrimPrefix(string(d.src), bom)), "") == "{}"
}

// at finds the value at path. It is nil when there is none; a key that is
// there twice, and anything but objects on the way, are errors.
func (d *JSON) at(path []string) (*node, error) {
	n := d.root
	for i, key := range path {
		if n == nil {
			return nil, nil
		}
		if n.kind != '{' {
			return nil, d.errorAt(n, strings.Join(path[:i], ".")+" is no object")
		}
		var next *node
		for _, it := range n.items {
			if it.key != key {
				continue
			}
			if next != nil {
				return nil, d.errorAt(it.value, strings.Join(path[:i+1], ".")+" is there twice")
			}
			next = it.value
		}
		n = next
	}
	return n, nil
}

func (d *JSON) errorAt(n *node, what string) error {
	return &Error{Line: 1 + bytes.Count(d.src[:n.start], []byte("\n")), What: what}
}

// Get is the value at path as standard JSON, nil when there is none.
func (d *JSON) Get(path ...string) (json.RawMessage, error) {
	n, err := d.at(path)
	if err != nil || n == nil {
		return nil, err
	}
	return d.plain(n), nil
}

// Keys are those of the object at path, in order.
func (d *JSON) Keys(path ...string) ([]string, error) {
	n, err := d.at(path)
	if err != nil || n == nil {
		return nil, err
	}
	if n.kind != '{' {
		return nil, d.errorAt(n, strings.Join(path, ".")+" is no object")
	}
	var keys []string
	for _, it := range n.items {
		keys = append(keys, it.key)
	}
	return keys, nil
}

// Elements are those of the array at path, as standard JSON.
func (d *JSON) Elements(path ...string) ([]json.RawMessage, error) {
	n, err := d.at(path)
	if err != nil || n == nil {
		return nil, err
	}
	if n.kind != '[' {
		return nil, d.errorAt(n, strings.Join(path, ".")+" is no list")
	}
	var list []json.RawMessage
	for _, it := range n.items {
		list = append(list, d.plain(it.value))
	}
	return list, nil
}

// plain is n without comments, white space and trailing commas.
func (d *JSON) plain(n *node) json.RawMessage {
	var b bytes.Buffer
	var write func(n *node)
	write = func(n *node) {
		if n.kind != '{' && n.kind != '[' {
			b.Write(d.src[n.start:n.end])
			return
		}
		b.WriteByte(n.kind)
		for i, it := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			if n.kind == '{' {
				key, _ := json.Marshal(it.key) // a string
				b.Write(key)
				b.WriteByte(':')
			}
			write(it.value)
		}
		b.WriteByte(n.kind + 2)
	}
	write(n)
	return b.Bytes()
}

// Set makes value, which is JSON, the value at path. Objects on the way are
// made when they are missing. A value that says the same stays as it is.
func (d *JSON) Set(value string, path ...string) (*JSON, error) {
	n, err := d.at(path)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return d.insert(value, path)
	}
	if same(d.plain(n), []byte(value)) {
		return d, nil
	}
	return d.splice(n.start, n.end, d.style().format(value, d.indentAt(n.start)))
}

// Append adds value to the end of the array at path, which is made when it is
// missing.
func (d *JSON) Append(value string, path ...string) (*JSON, error) {
	n, err := d.at(path)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return d.insert("["+value+"]", path)
	}
	if n.kind != '[' {
		return nil, d.errorAt(n, strings.Join(path, ".")+" is no list")
	}
	return d.add(n, "", value)
}

// insert adds what is missing of path, and value at its end.
func (d *JSON) insert(value string, path []string) (*JSON, error) {
	if d.root == nil {
		nl, before := d.style().newline, ""
		if rest := bytes.TrimPrefix(d.src, []byte(bom)); len(rest) > 0 && rest[len(rest)-1] != '\n' {
			before = nl
		}
		made, err := d.splice(len(d.src), len(d.src), before+"{}"+nl)
		if err != nil {
			return nil, err
		}
		return made.insert(value, path)
	}
	known := len(path) - 1
	for ; known > 0; known-- {
		if n, err := d.at(path[:known]); err != nil {
			return nil, err
		} else if n != nil {
			break
		}
	}
	for _, key := range slices.Backward(path[known+1:]) {
		quoted, _ := json.Marshal(key) // a string
		value = "{" + string(quoted) + ":" + value + "}"
	}
	n, err := d.at(path[:known])
	if err != nil {
		return nil, err
	}
	if n.kind != '{' {
		return nil, d.errorAt(n, strings.Join(path[:known], ".")+" is no object")
	}
	return d.add(n, path[known], value)
}

// splice replaces src[from:to].
func (d *JSON) splice(from, to int, text string) (*JSON, error) {
	return ParseJSON(slices.Concat(d.src[:from], []byte(text), d.src[to:]))
}

// same reports whether two JSON texts say the same, whatever the order of keys.
func same(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, errP := json.Marshal(x)
	q, errQ := json.Marshal(y)
	return errP == nil && errQ == nil && bytes.Equal(p, q)
}
