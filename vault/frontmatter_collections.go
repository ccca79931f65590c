package vault

import "strings"

// flow reads [a, b] or {a: b}; open is its first byte.
func (sc *scanner) flow(open byte) (node, bool) {
	if sc.depth++; sc.depth > maxDepth {
		return node{}, false
	}
	defer func() { sc.depth-- }()
	n := node{kind: listNode, start: sc.i}
	closing := byte(']')
	if open == '{' {
		n.kind, closing = mapNode, '}'
	}
	sc.i++
	n.items = make([]node, 0, sc.itemsAhead(n.kind))
	for {
		sc.skipBlank()
		if sc.eat(closing) {
			n.end = sc.i
			return n, true
		}
		if !sc.flowItem(&n) {
			return node{}, false
		}
		sc.skipBlank()
		if sc.i < len(sc.s) && sc.s[sc.i] == closing {
			continue
		}
		if !sc.eat(',') {
			return node{}, false
		}
	}
}

// itemsAhead guesses from the commas on the line how many nodes a list or
// mapping will hold.
func (sc *scanner) itemsAhead(kind nodeKind) int {
	rest := sc.s[sc.i:lineEnd(sc.s, sc.i)]
	n := min(1+strings.Count(rest, ","), 16)
	if kind == mapNode {
		n *= 2
	}
	return n
}

func keyNode(key string, at int) node {
	return node{text: key, prop: at, start: at, end: at + len(key)}
}

// flowItem reads an item of a list, or a key and value of a mapping, into n.
func (sc *scanner) flowItem(n *node) bool {
	if n.kind == mapNode {
		start := sc.i
		key, ok := sc.key()
		if !ok || sc.skipSpaces() == 0 || n.field(key) != nil || len(n.items) > maxEntries {
			return false
		}
		n.items = append(n.items, keyNode(key, start))
	}
	item, ok := sc.value(true)
	if !ok {
		return false
	}
	n.items = append(n.items, item)
	return true
}

// skipBlank skips spaces; in loose mode line ends and comments too.
func (sc *scanner) skipBlank() {
	for {
		spaces := sc.skipSpaces()
		switch {
		case !sc.loose || sc.i >= len(sc.s):
			return
		case sc.s[sc.i] == '\n' || sc.s[sc.i] == '\r':
			sc.i++
		case sc.s[sc.i] == '#' && (spaces > 0 || sc.s[sc.i-1] == '\n'):
			sc.i += lineLen(sc.s[sc.i:])
		default:
			return
		}
	}
}

// blockList reads "- item" lines at column indent, one line an item. sc.i is
// at the start of a line.
func (sc *scanner) blockList(indent int) (node, bool) {
	n := node{kind: listNode, block: true, items: make([]node, 0, 4)}
	end := sc.i
	for {
		at, offset, ok := sc.peekContent()
		if !ok || at < indent || at == indent && !sc.dashAt(offset) {
			sc.i = end
			n.prop, n.start, n.end = n.items[0].prop, n.items[0].prop, end
			return n, true
		}
		if at > indent || !sc.dashAt(offset) {
			return node{}, false
		}
		sc.i = offset + 1
		if sc.skipSpaces() == 0 {
			return node{}, false
		}
		item, ok := sc.value(false)
		if !ok || !sc.endLine() {
			return node{}, false
		}
		n.items = append(n.items, item)
		end = sc.i
	}
}

// blockMap reads "key: value" lines at column indent, whose values stand on
// the same line.
func (sc *scanner) blockMap(indent int) (node, bool) {
	n := node{kind: mapNode, block: true}
	end := sc.i
	for {
		at, offset, ok := sc.peekContent()
		if !ok || at < indent {
			sc.i = end
			n.prop, n.start, n.end = n.items[0].start, n.items[0].start, end
			return n, true
		}
		if at > indent {
			return node{}, false
		}
		sc.i = offset
		key, ok := sc.key()
		if !ok || n.field(key) != nil || len(n.items) > maxEntries || sc.skipSpaces() == 0 || sc.atLineEnd() || sc.s[sc.i] == '#' {
			return node{}, false
		}
		val, ok := sc.value(false)
		if !ok || !sc.endLine() {
			return node{}, false
		}
		n.items = append(n.items, keyNode(key, offset), val)
		end = sc.i
	}
}
