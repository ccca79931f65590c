package main

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"vademecum/vault"
)

// maskConfig is the text of a config with all that may be a secret masked. What
// cannot be read as YAML is not shown: nothing tells what in it is a key.
func maskConfig(raw []byte) (string, error) {
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	if !utf8.Valid(raw) {
		return "", errors.New("the file is not text in UTF-8")
	}
	m := &masker{text: string(raw), starts: []int{0}, walk: &configWalk{fields: map[reflect.Type]map[string]reflect.Type{}}}
	for i, c := range raw {
		if c == '\n' {
			m.starts = append(m.starts, i+1)
		}
	}
	var docs []*yaml.Node
	for dec := yaml.NewDecoder(bytes.NewReader(raw)); ; {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", errors.New(syntaxProblem(raw, err).String())
		}
		m.collect(&doc)
		docs = append(docs, &doc)
	}
	for i, doc := range docs {
		t := reflect.TypeFor[config]()
		if i > 0 {
			t = nil // nobody knows what this is
		}
		m.node(doc.Content[0], t, "", false)
	}
	m.remarks()
	return replaceSpans(m.text, m.spans), nil
}

// masker finds what to mask in a text.
type masker struct {
	text   string
	starts []int // of the lines
	nodes  []int // where the nodes of the text start, in order
	spans  []span
	hidden []string // the values that were masked
	walk   *configWalk
}

// collect notes where n and what is in it stand.
func (m *masker) collect(n *yaml.Node) {
	if n.Kind != yaml.DocumentNode {
		m.nodes = append(m.nodes, m.offset(n))
	}
	for _, inner := range n.Content {
		m.collect(inner)
	}
}

// offset is where n starts, in bytes.
func (m *masker) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(m.starts) {
		return len(m.text)
	}
	at := m.starts[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(m.text[at:])
		at += size
	}
	return at
}

// node masks what is secret in n, which is read into a t; nil where nobody reads
// it. secret says that all of it is.
func (m *masker) node(n *yaml.Node, t reflect.Type, name string, secret bool) {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n.Kind {
	case yaml.AliasNode:
		if n.Alias.Kind == yaml.ScalarNode { // else its own place says what it is
			m.scalar(n.Alias, t, name, secret)
		}
	case yaml.ScalarNode:
		m.scalar(n, t, name, secret)
	case yaml.SequenceNode:
		before := ""
		for _, item := range n.Content {
			m.node(item, elemOf(t), nameOf(name, before), secret || t == reflect.TypeFor[secretConfig]())
			before = item.Value // --token TEXT
		}
	case yaml.MappingNode:
		m.members(n, t, name, secret)
	}
}

// elemOf is the type of what is in a list that is read into a t.
func elemOf(t reflect.Type) reflect.Type {
	if t != nil && t.Kind() == reflect.Slice {
		return t.Elem()
	}
	return t
}

func (m *masker) members(n *yaml.Node, t reflect.Type, name string, secret bool) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		inner, hidden := m.typeOf(t, key)
		switch {
		case key.ShortTag() == "!!merge":
			inner, hidden = t, false
		case t == reflect.TypeFor[secretConfig]() && key.Value == "command" && value.Kind == yaml.SequenceNode:
			inner, hidden = reflect.TypeFor[[]string](), false
		}
		if len(vault.FindSecrets(key.Value)) > 0 || looksDrawn(key.Value) || (secret || t == reflect.TypeFor[secretConfig]()) && key.Value != "command" {
			m.mask(key)
		}
		m.node(value, inner, key.Value, secret || hidden)
	}
}

// typeOf is what the value of key in a t is read into, and whether it is hidden
// because nobody knows what it is.
func (m *masker) typeOf(t reflect.Type, key *yaml.Node) (inner reflect.Type, hidden bool) {
	switch {
	case t == nil:
		return nil, true
	case t == reflect.TypeFor[secretConfig]():
		return nil, true
	case t.Kind() == reflect.Map:
		return t.Elem(), false
	case t.Kind() == reflect.Interface:
		return t, false
	case t.Kind() == reflect.Struct:
		inner, ok := m.walk.keysOf(t)[key.Value]
		return inner, !ok
	}
	return nil, true
}

func (m *masker) scalar(n *yaml.Node, t reflect.Type, name string, secret bool) {
	switch {
	case n.Value == "" || isNull(n):
	case secret || t == nil:
		m.mask(n)
	case t == reflect.TypeFor[secretConfig]():
		if !isReference(n.Value) && (name == "key" || saysSecret(name, n.Value)) {
			m.mask(n)
		}
	case name == "url":
		if hidden := maskURL(n.Value); hidden != n.Value {
			m.maskAs(n, hidden)
			m.hidden = append(m.hidden, secretsOfURL(n.Value)...)
		}
	case t.Kind() == reflect.String || t.Kind() == reflect.Interface:
		if hiddenValue(name, n.Value) != n.Value {
			m.mask(n)
		}
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map || t.Kind() == reflect.Slice:
		m.mask(n) // nobody knows what it is doing there
	}
}

func (m *masker) mask(n *yaml.Node) {
	m.maskAs(n, masked)
	m.hidden = append(m.hidden, strings.Fields(n.Value)...)
}

// secretsOfURL lists what maskURL may have hidden in raw.
func secretsOfURL(raw string) []string {
	u, err := url.Parse(raw)
	if err != nil {
		return []string{raw}
	}
	password, _ := u.User.Password()
	words := []string{u.User.Username(), password, u.RawQuery, u.Fragment}
	for _, values := range u.Query() {
		words = append(words, values...)
	}
	return words
}

// maskAs shows something else in the place of the scalar n: of a word in one
// line just that, else all up to what follows.
func (m *masker) maskAs(n *yaml.Node, with string) {
	start := m.offset(n)
	end := len(m.text)
	for _, at := range m.nodes {
		if at > start {
			end = min(end, at)
		}
	}
	switch quote := m.text[start:end]; {
	case n.Style == 0 && strings.HasPrefix(quote, n.Value):
		end = start + len(n.Value)
	case n.Style == yaml.DoubleQuotedStyle && strings.HasPrefix(quote, `"`+n.Value+`"`), n.Style == yaml.SingleQuotedStyle && strings.HasPrefix(quote, `'`+n.Value+`'`):
		end = start + len(n.Value) + 2
		with = quote[:1] + with + quote[:1]
	default:
		with = masked
		if i := strings.LastIndexByte(quote, '\n'); i >= 0 && strings.Trim(quote[i:], "\n -?") == "" {
			end = start + i // what follows keeps its line
		}
	}
	m.spans = append(m.spans, span{start, end, with})
}

// remarks masks what has the shape of a secret anywhere else: in comments, most
// of all.
func (m *masker) remarks() {
	for _, s := range vault.FindSecrets(m.text) {
		if !isReference(strings.Trim(m.text[s.Start:s.End], `"'`)) {
			m.spans = append(m.spans, span{s.Start, s.End, masked})
		}
	}
	for i, start := range m.starts {
		end := len(m.text)
		if i+1 < len(m.starts) {
			end = m.starts[i+1]
		}
		line := m.text[start:end]
		hash := strings.IndexByte(line, '#')
		if hash < 0 {
			continue
		}
		m.repeated(start+hash, start+len(line))
		for _, found := range commentedSecret().FindAllStringSubmatchIndex(line[hash:], -1) {
			if value := line[hash+found[2] : hash+found[3]]; !isReference(value) && value != "{command:" {
				m.spans = append(m.spans, span{start + hash + found[2], start + hash + found[3], masked})
			}
		}
	}
}

// repeated masks what was masked elsewhere and stands again in the comment
// between start and end. Of less than four characters it would hide chance
// neighbours and save nothing.
func (m *masker) repeated(start, end int) {
	for _, value := range m.hidden {
		if len(value) < 4 {
			continue
		}
		for at := start; ; at += len(value) {
			i := strings.Index(m.text[at:end], value)
			if i < 0 {
				break
			}
			at += i
			m.spans = append(m.spans, span{at, at + len(value), masked})
		}
	}
}
