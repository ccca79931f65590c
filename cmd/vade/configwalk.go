package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// parseConfig reads a config and names all that is wrong with it, in the order
// of the file. look, if it is not nil, also looks at what the config leads to on
// this machine: variables, files, programs; that gives warnings only. The config
// is of use when no problem is more than a warning.
func parseConfig(raw []byte, look *app) (c config, problems []configProblem) {
	w := &configWalk{look: look, fields: map[reflect.Type]map[string]reflect.Type{}}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF), err == nil && isNull(doc.Content[0]):
		return c, nil
	case err != nil:
		return c, []configProblem{syntaxProblem(raw, err)}
	}
	root := doc.Content[0]
	_, w.providers = member(root, "providers")
	w.visit(root, reflect.TypeFor[config](), spot{})
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		w.add(configProblem{Problem: "there is more than one document", Remedy: "take out the lines that are nothing but --- or ..."})
	}
	if _, bad := firstProblem(w.problems); !bad {
		if err := doc.Decode(&c); err != nil {
			w.add(syntaxProblem(raw, err))
		}
	}
	return c, sortProblems(w.problems)
}

// configWalk holds the nodes of a file against the types of config, and the
// values against rule.
type configWalk struct {
	look      *app
	problems  []configProblem
	providers *yaml.Node // the mapping of providers; nil for none
	fields    map[reflect.Type]map[string]reflect.Type
	visits    int
}

// spot is where in the config a value stands.
type spot struct {
	key  *yaml.Node // of the value; nil in lists
	path string     // for a person: providers.mem0.url
	rule string     // with * for names: providers.*.url
}

func (s spot) below(key *yaml.Node, path, rule string) spot {
	dot := "."
	if key == nil || s.path == "" {
		dot = ""
	}
	path, rule = s.path+dot+path, s.rule+dot+rule
	return spot{key: key, path: path, rule: rule}
}

// Bounds on configs that refer to themselves: far above what a person writes.
const (
	mostVisits   = 100_000
	mostProblems = 1000
)

func (w *configWalk) add(p configProblem) {
	if len(w.problems) < mostProblems {
		w.problems = append(w.problems, p)
	}
}

// bad reports a problem at n; its remedy may be "".
func (w *configWalk) bad(n *yaml.Node, at spot, problem, remedy string) {
	w.add(configProblem{Line: n.Line, Column: n.Column, Key: at.path, Problem: problem, Remedy: remedy})
}

func (w *configWalk) warn(n *yaml.Node, at spot, problem, remedy string) {
	w.add(configProblem{Line: n.Line, Column: n.Column, Key: at.path, Problem: problem, Remedy: remedy, Warning: true})
}

// visit checks the value n that is read into a t.
func (w *configWalk) visit(n *yaml.Node, t reflect.Type, at spot) {
	if w.visits++; w.visits > mostVisits {
		return
	}
	n = resolved(n)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	sound := true
	switch {
	case isNull(n): // as if the key were not there
		sound = at.rule == "providers.*"
	case t == reflect.TypeFor[secretConfig]():
	case t == reflect.TypeFor[duration]():
		sound = w.duration(n, at)
	case t.Kind() == reflect.Struct:
		sound = w.object(n, t, at)
	case t.Kind() == reflect.Map:
		sound = w.named(n, t, at)
	case t.Kind() == reflect.Slice:
		sound = w.list(n, t, at)
	case t.Kind() == reflect.Interface:
		w.free(n, at)
	default:
		sound = w.leaf(n, t, at)
	}
	if sound {
		w.rule(n, at)
	}
}

// pair is a key with its value.
type pair struct{ key, value *yaml.Node }

// pairs are the members of a mapping, with those that << brings. A key that is
// there twice is a problem.
func (w *configWalk) pairs(n *yaml.Node, at spot) []pair {
	list, twice := pairsOf(n, 0)
	for _, key := range twice {
		w.bad(key, at.below(key, shownKey(key.Value), "*"), "this key is there twice", "keep one of them")
	}
	return list
}

// pairsOf are the members of a mapping, those of << behind its own, and the keys
// that stand in it twice.
func pairsOf(n *yaml.Node, depth int) (list []pair, twice []*yaml.Node) {
	var merged []pair
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		key, value := resolved(n.Content[i]), resolved(n.Content[i+1])
		if n.Content[i].ShortTag() == "!!merge" {
			merged = append(merged, mergedPairs(value, depth+1)...)
			continue
		}
		if seen[key.Value] && key.Kind == yaml.ScalarNode {
			twice = append(twice, n.Content[i])
			continue
		}
		seen[key.Value] = true
		list = append(list, pair{key, value})
	}
	for _, p := range merged {
		if !seen[p.key.Value] {
			seen[p.key.Value] = true
			list = append(list, p)
		}
	}
	return list, twice
}

// mostMerges is how deep << may be nested.
const mostMerges = 4

func mergedPairs(n *yaml.Node, depth int) []pair {
	if depth > mostMerges {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		list, _ := pairsOf(n, depth)
		return list
	}
	var all []pair
	for _, part := range n.Content[:min(len(n.Content), mostMerges)] {
		list, _ := pairsOf(resolved(part), depth)
		all = append(all, list...)
	}
	return all
}

// object checks a mapping with the keys of the struct t.
func (w *configWalk) object(n *yaml.Node, t reflect.Type, at spot) bool {
	if n.Kind != yaml.MappingNode {
		w.bad(n, at, "keys with values are wanted here", knownKeys(w.keysOf(t)))
		return false
	}
	fields := w.keysOf(t)
	for _, p := range w.pairs(n, at) {
		if field, ok := fields[p.key.Value]; ok && p.key.Kind == yaml.ScalarNode {
			w.visit(p.value, field, at.below(p.key, p.key.Value, p.key.Value))
			continue
		}
		below := at.below(p.key, shownKey(p.key.Value), "*")
		if p.key.Kind != yaml.ScalarNode {
			w.bad(p.key, at, "a list or a mapping is no key", "put what begins with [, { or ? into quotes")
		} else if like := likelyKey(p.key.Value, slices.Collect(maps.Keys(fields))); like != "" {
			w.bad(p.key, below, "this key is unknown", "did you mean "+like+"?")
		} else {
			w.bad(p.key, below, "this key is unknown", knownKeys(fields))
		}
	}
	return true
}

func knownKeys(fields map[string]reflect.Type) string {
	return "known keys: " + strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
}

// likelyKey is the one of keys that key is meant for: a slip of the pen, or what
// other programs call it.
func likelyKey(key string, keys []string) string {
	if like := closest(strings.ToLower(strings.ReplaceAll(key, "-", "_")), keys); like != "" {
		return like
	}
	meant := ""
	switch strings.ToLower(key) {
	case "api_key", "api-key", "apikey", "token", "secret", "password":
		meant = "key"
	case "base_url", "base-url", "host", "endpoint", "address":
		meant = "url"
	case "user_id":
		meant = "user"
	case "provider", "kind":
		meant = "type"
	}
	if slices.Contains(keys, meant) {
		return meant
	}
	return ""
}

// keysOf are the keys of a struct, those of structs inlined in it too, each with
// the type of its value.
func (w *configWalk) keysOf(t reflect.Type) map[string]reflect.Type {
	if known := w.fields[t]; known != nil {
		return known
	}
	keys := make(map[string]reflect.Type, t.NumField())
	for f := range t.Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case option == "inline":
			maps.Copy(keys, w.keysOf(f.Type))
		case name != "" && name != "-":
			keys[name] = f.Type
		}
	}
	w.fields[t] = keys
	return keys
}

// named checks a mapping whose keys are names that the owner gives.
func (w *configWalk) named(n *yaml.Node, t reflect.Type, at spot) bool {
	if n.Kind != yaml.MappingNode {
		w.bad(n, at, "names with values are wanted here", "write one a line: NAME: …")
		return false
	}
	for _, p := range w.pairs(n, at) {
		below := at.below(p.key, shownKey(p.key.Value), "*")
		if p.key.Kind != yaml.ScalarNode || p.key.Value == "" || p.key.ShortTag() == "!!null" {
			w.bad(p.key, below, "this is no name", "")
			continue
		}
		w.visit(p.value, t.Elem(), below)
	}
	return true
}

func (w *configWalk) list(n *yaml.Node, t reflect.Type, at spot) bool {
	if n.Kind != yaml.SequenceNode {
		w.bad(n, at, "a list is wanted here", "write [ONE, ANOTHER], or a line - ONE for each")
		return false
	}
	for i, item := range n.Content {
		w.visit(item, t.Elem(), at.below(nil, fmt.Sprintf("[%d]", i), "[]"))
	}
	return true
}

// free checks what may be anything.
func (w *configWalk) free(n *yaml.Node, at spot) {
	if n.Kind == yaml.MappingNode {
		w.pairs(n, at)
	}
	for i, inner := range n.Content {
		if n.Kind == yaml.SequenceNode || i%2 == 1 {
			w.visit(inner, reflect.TypeFor[any](), at)
		}
	}
}

// leaf checks a word, a number or a truth value.
func (w *configWalk) leaf(n *yaml.Node, t reflect.Type, at spot) bool {
	want, remedy := "a text", ""
	switch t.Kind() {
	case reflect.Bool:
		want, remedy = "true or false", "use true or false"
	case reflect.Int:
		want, remedy = "a whole number", "use a number such as 5"
	case reflect.Float64:
		want, remedy = "a number", "use a number such as 0.7"
	}
	switch {
	case n.Kind != yaml.ScalarNode:
		w.bad(n, at, want+" is wanted here, and this is a list or has keys of its own", remedy)
		return false
	case t.Kind() != reflect.String && n.Decode(reflect.New(t).Interface()) != nil:
		w.bad(n, at, shown(n.Value)+" is not "+want, remedy)
		return false
	case n.ShortTag() == "!!binary": // it would be decoded
		w.bad(n, at, "!!binary is not wanted here", "")
		return false
	}
	return true
}

func (w *configWalk) duration(n *yaml.Node, at spot) bool {
	if _, err := time.ParseDuration(n.Value); err != nil {
		w.bad(n, at, shown(n.Value)+" is no time", "use a time such as 250ms or 2s")
		return false
	}
	return true
}

// resolved is what an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	for range mostMerges {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			return n
		}
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == 0 || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// syntaxProblem is what yaml says of a file that it cannot read. Nothing of the
// file is in it.
func syntaxProblem(raw []byte, err error) configProblem {
	words := err.Error()
	if name, ok := between(words, "unknown anchor '", "' referenced"); ok {
		line := 1 + bytes.Count(raw[:max(bytes.Index(raw, []byte("*"+name)), 0)], []byte("\n"))
		return configProblem{Line: line, Problem: "* refers to something by a name that nothing has", Remedy: "put a text that begins with * into quotes"}
	}
	if strings.Contains(words, "contains itself") || strings.Contains(words, "excessive aliasing") {
		return configProblem{Problem: "a * refers to what it stands in, or to too much", Remedy: "write it out instead"}
	}
	p := configProblem{Problem: "the file is not YAML", Remedy: "look at the indentation, and put texts with : # or * into quotes"}
	if m := regexp.MustCompile(`(?s)line (\d+): ([^'"` + "`" + `!\n]*)`).FindStringSubmatch(words); m != nil {
		_, _ = fmt.Sscan(m[1], &p.Line)
		p.Problem += ": " + strings.TrimRight(strings.TrimSpace(m[2]), ":; ")
	}
	return p
}

// between is what stands in text between two others.
func between(text, before, after string) (string, bool) {
	_, rest, ok := strings.Cut(text, before)
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, after)
	return inner, ok
}
