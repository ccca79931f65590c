package vault

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxNodes bounds what aliases may multiply a header into.
const maxNodes = 100_000

// parseYAML takes text apart with the YAML library and finds the lines of
// each key.
func parseYAML(text string) header {
	h := header{text: text}
	if i := documentMarker(text); i >= 0 {
		return h.fail(i, "a second YAML document starts here")
	}
	var doc yaml.Node
	if err := unmarshal(text, &doc); err != nil {
		line, reason := splitYAMLError(err)
		return h.fail(line, reason)
	}
	if len(doc.Content) == 0 {
		return h // nothing, or comments
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" && root.Value == "" {
		return h
	}
	if root.Kind != yaml.MappingNode {
		h.notMap = true
		return h.fail(root.Line-1, "not keys with values")
	}
	h.inline = root.Style&yaml.FlowStyle != 0
	h.readMapping(root)
	return h
}

// unmarshal reads the one document that text must be. A panic of the library
// becomes an error: a file must never take the program down.
func unmarshal(text string, doc *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil // nothing, or comments
		}
		return err
	}
	// A line that is less indented than the keys ends the document for the
	// library, which then leaves the rest unread.
	var more yaml.Node
	switch err := dec.Decode(&more); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("yaml: line %d: indented less than the keys above", more.Line)
}

// fail returns h as broken at a 0-based line of its text.
func (h *header) fail(line int, reason string) header {
	h.broken = &BrokenError{Line: max(line, 0) + 2, Reason: reason} // the fence is line 1
	h.entries, h.merged = nil, nil
	return *h
}

// splitYAMLError returns the 0-based line and the reason of a library error.
// The library names no line when it means the first.
func splitYAMLError(err error) (int, string) {
	reason := strings.TrimPrefix(err.Error(), "yaml: ")
	rest, ok := strings.CutPrefix(reason, "line ")
	if !ok {
		return 0, reason
	}
	number, rest, _ := strings.Cut(rest, ": ")
	line, convErr := strconv.Atoi(number)
	if convErr != nil {
		return 0, reason
	}
	return line - 1, rest
}

// documentMarker returns the line of a "--- text" or "... text" line; -1 when
// there is none. The library would stop reading there and say nothing.
func documentMarker(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if len(line) > 3 && (line[:3] == "---" || line[:3] == "...") && strings.IndexByte(" \t\r\n", line[3]) >= 0 {
			return n
		}
		n++
	}
	return -1
}

// readMapping fills h from the root mapping.
func (h *header) readMapping(root *yaml.Node) {
	if len(root.Content) == 0 {
		return
	}
	conv := yamlConverter{}
	starts := yamlLines(h.text)
	seen := make(map[string]bool, len(root.Content)/2)
	h.indent = root.Content[0].Column - 1
	for i := 0; i < len(root.Content); i += 2 {
		key, val := root.Content[i], root.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			h.fail(key.Line-1, "a key is not a plain word")
			return
		}
		n, err := conv.node(val)
		if err != nil {
			h.fail(val.Line-1, err.Error())
			return
		}
		if key.Tag == "!!merge" {
			h.merge(n)
		}
		if seen[key.Value] {
			h.fail(key.Line-1, fmt.Sprintf("the key %q is there twice", key.Value))
			return
		}
		seen[key.Value] = true
		start := starts[min(max(key.Line-1, 0), len(starts)-1)]
		h.entries = append(h.entries, entry{key: key.Value, val: n, lead: start, start: start})
	}
	if !h.inline {
		h.setLines()
	}
}

// merge takes the keys of a "<<" value: a mapping or a list of them.
func (h *header) merge(n node) {
	switch n.kind {
	case listNode:
		for _, item := range n.items {
			if item.kind == mapNode {
				h.merge(item)
			}
		}
	case mapNode:
		for i := 0; i < len(n.items); i += 2 {
			h.merged = append(h.merged, entry{key: n.items[i].text, val: n.items[i+1]})
		}
	}
}

// setLines finds where the lines of each entry end and where the comments
// directly above it start.
func (h *header) setLines() {
	end := len(h.text)
	for i := len(h.entries) - 1; i >= 0; i-- {
		e := &h.entries[i]
		floor := 0
		if i > 0 {
			floor = lineEnd(h.text, h.entries[i-1].start)
		}
		for e.lead > floor {
			prev := lineStart(h.text, e.lead-1)
			if !h.isOuterComment(h.text[prev:e.lead]) {
				break
			}
			e.lead = prev
		}
		e.end = h.contentEnd(e.start, end)
		end = e.lead
	}
}

// contentEnd cuts blank lines and comments at the column of the keys from the
// end of text[start:end], except what a block scalar with "+" keeps.
func (h *header) contentEnd(start, end int) int {
	first := lineEnd(h.text, start)
	if end <= first {
		return end
	}
	for last := end; last > first; {
		prev := lineStart(h.text, last-1)
		line := h.text[prev:last]
		if strings.TrimSpace(line) != "" && !h.isOuterComment(line) {
			if keepsBlankLines(h.text[start:first]) {
				return h.blankLinesEnd(last, end)
			}
			return last
		}
		last = prev
	}
	return first
}

// blankLinesEnd returns the end of the blank lines that follow offset.
func (h *header) blankLinesEnd(offset, end int) int {
	for offset < end {
		next := lineEnd(h.text, offset)
		if strings.TrimSpace(h.text[offset:next]) != "" {
			break
		}
		offset = next
	}
	return offset
}

// isOuterComment reports whether line is a comment that stands no deeper than
// the keys.
func (h *header) isOuterComment(line string) bool {
	text := strings.TrimLeft(line, " ")
	return strings.HasPrefix(text, "#") && len(line)-len(text) <= h.indent
}

// keepsBlankLines reports whether the first line of an entry opens a block
// scalar whose trailing blank lines count ("|+", ">2+").
func keepsBlankLines(line string) bool {
	_, val, _ := strings.Cut(line, ":")
	val, _, _ = strings.Cut(val, "#")
	i := strings.LastIndexAny(val, "|>")
	return i >= 0 && strings.Contains(val[i:], "+")
}

// yamlLines returns the offset of each line as the library counts them: it
// also breaks lines at a lone CR and at three Unicode separators.
func yamlLines(text string) []int {
	starts := []int{0}
	for i, r := range text {
		switch r {
		case '\n', '\u0085', '\u2028', '\u2029':
		case '\r':
			if strings.HasPrefix(text[i+1:], "\n") {
				continue
			}
		default:
			continue
		}
		starts = append(starts, i+utf8.RuneLen(r))
	}
	return starts
}

// lineStart returns where the line that holds offset starts.
func lineStart(s string, offset int) int {
	return strings.LastIndexByte(s[:offset], '\n') + 1
}

// lineEnd returns where the line that holds offset ends, behind its line end.
func lineEnd(s string, offset int) int {
	return offset + lineLen(s[offset:])
}

// yamlConverter turns the library's nodes into ours.
type yamlConverter struct{ nodes, depth int }

func (c *yamlConverter) node(y *yaml.Node) (node, error) {
	c.depth++
	defer func() { c.depth-- }()
	if c.nodes++; c.nodes > maxNodes || c.depth > 200 {
		return node{}, fmt.Errorf("aliases or nesting multiply beyond reason")
	}
	switch y.Kind {
	case yaml.AliasNode:
		return c.node(y.Alias)
	case yaml.SequenceNode:
		return c.children(y, listNode)
	case yaml.MappingNode:
		return c.children(y, mapNode)
	}
	return node{text: y.Value, plain: isPlain(y)}, nil
}

func (c *yamlConverter) children(y *yaml.Node, kind nodeKind) (node, error) {
	n := node{kind: kind}
	seen := make(map[string]bool, len(y.Content)/2)
	for i, child := range y.Content {
		if kind == mapNode && i%2 == 0 && child.Kind == yaml.ScalarNode {
			if seen[child.Value] {
				return n, fmt.Errorf("the key %q is there twice", child.Value)
			}
			seen[child.Value] = true
			n.items = append(n.items, node{text: child.Value})
			continue
		}
		item, err := c.node(child)
		if err != nil {
			return n, err
		}
		n.items = append(n.items, item)
	}
	return n, nil
}

// isPlain reports whether a scalar may be something else than a string.
func isPlain(y *yaml.Node) bool {
	const quotes = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch {
	case y.Style&quotes != 0:
		return false
	case y.Style&yaml.TaggedStyle == 0:
		return true
	}
	switch y.Tag {
	case "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
		return true
	}
	return false
}
