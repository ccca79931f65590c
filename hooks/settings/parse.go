package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of what is parsed.
const maxDepth = 200

// node is a value and where it is.
type node struct {
	kind       byte // '{', '[', '"', or 0 for numbers and words
	start, end int  // src[start:end] is the value
	items      []item
}

// item is an element of an array, or a member of an object.
type item struct {
	key   string
	start int // of the key, or of the element
	value *node
}

// find is the place of key among n's items, -1 when it is not there.
func (n *node) find(key string) int {
	for i, it := range n.items {
		if it.key == key {
			return i
		}
	}
	return -1
}

// parser reads JSON with comments and trailing commas.
type parser struct {
	src []byte
	at  int
}

const bom = "\uFEFF"

// parseJSON returns the root value of src; nil when there is none.
func parseJSON(src []byte) (*node, error) {
	p := &parser{src: src}
	if bytes.HasPrefix(src, []byte(bom)) {
		p.at = len(bom)
	}
	if !utf8.Valid(src) {
		return nil, p.errorf("it is not UTF-8")
	}
	if err := p.skip(); err != nil {
		return nil, err
	}
	if p.at == len(src) {
		return nil, nil
	}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.skip(); err != nil {
		return nil, err
	}
	if p.at < len(src) {
		return nil, p.errorf("there is more after the end")
	}
	return root, nil
}

func (p *parser) errorf(format string, args ...any) error {
	return &Error{Line: 1 + bytes.Count(p.src[:min(p.at, len(p.src))], []byte("\n")), What: fmt.Sprintf(format, args...)}
}

// skip goes over white space and comments.
func (p *parser) skip() error {
	for p.at < len(p.src) {
		rest := p.src[p.at:]
		switch {
		case isSpace(rest[0]):
			p.at++
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			p.at += n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return p.errorf("a comment does not end")
			}
			p.at += n + 4
		default:
			return nil
		}
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (p *parser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *parser) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.errorf("it is nested too deeply")
	}
	n := &node{start: p.at}
	var err error
	switch c := p.peek(); c {
	case '{', '[':
		n.kind = c
		err = p.items(n, depth)
	case '"':
		n.kind = c
		_, err = p.text()
	default:
		err = p.word()
	}
	n.end = p.at
	return n, err
}

// items reads what is between brackets.
func (p *parser) items(n *node, depth int) error {
	closing := n.kind + 2 // in ASCII, ] and } come two after [ and {
	p.at++
	for {
		if err := p.skip(); err != nil {
			return err
		}
		if p.peek() == closing {
			p.at++
			return nil
		}
		it, err := p.item(n, depth)
		if err != nil {
			return err
		}
		n.items = append(n.items, it)
		if err := p.skip(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.at++
		case closing:
		default:
			return p.errorf("a comma or %c is missing", closing)
		}
	}
}

func (p *parser) item(n *node, depth int) (it item, err error) {
	it.start = p.at
	if n.kind == '{' {
		if p.peek() != '"' {
			return it, p.errorf("a key in double quotes is missing")
		}
		if it.key, err = p.text(); err != nil {
			return it, err
		}
		if err := p.skip(); err != nil {
			return it, err
		}
		if p.peek() != ':' {
			return it, p.errorf("a colon is missing")
		}
		p.at++
		if err := p.skip(); err != nil {
			return it, err
		}
	}
	it.value, err = p.value(depth + 1)
	return it, err
}

// text reads a string.
func (p *parser) text() (s string, err error) {
	start := p.at
	for p.at++; p.at < len(p.src); p.at++ {
		switch p.src[p.at] {
		case '\\':
			p.at++
		case '\n':
			return "", p.errorf("a string does not end")
		case '"':
			p.at++
			if json.Unmarshal(p.src[start:p.at], &s) != nil {
				return "", p.errorf("a string is broken")
			}
			return s, nil
		}
	}
	p.at = len(p.src)
	return "", p.errorf("a string does not end")
}

// word reads a number, true, false or null.
func (p *parser) word() error {
	start := p.at
	for p.at < len(p.src) && strings.IndexByte("{}[],:\"/ \t\r\n", p.src[p.at]) < 0 {
		p.at++
	}
	if word := p.src[start:p.at]; !json.Valid(word) {
		p.at = start
		if len(word) == 0 && start < len(p.src) {
			return p.errorf("%q is not expected", p.src[start])
		}
		return p.errorf("%q is no value", word)
	}
	return nil
}
