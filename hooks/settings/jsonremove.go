package settings

import (
	"encoding/json"
	"slices"
	"strings"
)

// Remove takes out the value at path. Objects on the way that have nothing in
// them afterwards go too, unless before has them: then they are as there. A
// file without path stays as it is; before may be nil.
func (d *JSON) Remove(before *JSON, path ...string) (*JSON, error) {
	n, err := d.at(path)
	if err != nil || n == nil {
		return d, err
	}
	parent, err := d.at(path[:len(path)-1])
	if err != nil {
		return nil, err
	}
	made, err := d.cut(parent, parent.find(path[len(path)-1]))
	if err != nil {
		return nil, err
	}
	return made.prune(before, path[:len(path)-1])
}

// RemoveElements takes those elements out of the array at path that match says
// are to go; what it leaves empty goes as with Remove.
func (d *JSON) RemoveElements(before *JSON, match func(json.RawMessage) bool, path ...string) (*JSON, error) {
	list, err := d.Elements(path...)
	if err != nil {
		return nil, err
	}
	found := false
	for i, raw := range slices.Backward(list) {
		if !match(raw) {
			continue
		}
		n, err := d.at(path)
		if err != nil {
			return nil, err
		}
		if d, err = d.cut(n, i); err != nil {
			return nil, err
		}
		found = true
	}
	if !found {
		return d, nil
	}
	return d.prune(before, path)
}

// SetElement makes value the i-th element of the array at path.
func (d *JSON) SetElement(i int, value string, path ...string) (*JSON, error) {
	n, err := d.at(path)
	if err != nil {
		return nil, err
	}
	if n == nil || n.kind != '[' || i >= len(n.items) {
		return nil, &Error{Line: 1, What: strings.Join(path, ".") + " has no such element"}
	}
	v := n.items[i].value
	if same(d.plain(v), []byte(value)) {
		return d, nil
	}
	indent, alone := d.lineIndent(n.items[i].start)
	if alone {
		value = d.style().format(value, indent)
	}
	return d.splice(v.start, v.end, value)
}

// prune takes out the container at path, and those around it, as long as they
// have nothing in them.
func (d *JSON) prune(before *JSON, path []string) (*JSON, error) {
	n, err := d.at(path)
	if err != nil || n == nil || len(n.items) > 0 {
		return d, err
	}
	if before != nil {
		was, err := before.at(path)
		if err == nil && was != nil && len(was.items) == 0 {
			return d.splice(n.start, n.end, string(before.src[was.start:was.end]))
		}
		if err == nil && was != nil {
			return d, nil
		}
	}
	if len(path) == 0 {
		if before != nil && strings.HasPrefix(string(d.src), string(before.src)) {
			return before, nil
		}
		return d, nil
	}
	return d.Remove(before, path...)
}

// cut takes the i-th item out of n: the exact opposite of add.
func (d *JSON) cut(n *node, i int) (*JSON, error) {
	it := n.items[i]
	from := n.start + 1
	if i > 0 {
		from = n.items[i-1].value.end
	}
	from = lastThing(d.src, from, it.start)
	comma := d.commaAfter(it.value.end, n)
	src := d.src
	switch {
	case comma >= 0:
		src = slices.Concat(src[:from], src[it.value.end:comma], src[comma+1:])
	case i == 0:
		src = slices.Concat(src[:from], src[it.value.end:])
	default:
		comma = d.commaAfter(n.items[i-1].value.end, n)
		src = slices.Concat(src[:comma], src[comma+1:from], src[it.value.end:])
	}
	return ParseJSON(src)
}

// lastThing is where the last comma or comment in src[from:to] ends, from when
// there is none.
func lastThing(src []byte, from, to int) int {
	end := to
	for end > from && isSpace(src[end-1]) {
		end--
	}
	return end
}
