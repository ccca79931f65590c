package vault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// setting is a value that Set was given.
type setting struct {
	text  *string // a string
	list  []string
	pairs []pair // a mapping, in order
	word  string // a bool, a number or a time, as it is written
	time  time.Time
}

type pair struct {
	key string
	val string
	raw bool // a number or bool: no quotes
}

// newSetting takes what Set takes.
func newSetting(value any) (setting, error) {
	s := setting{}
	switch v := value.(type) {
	case string:
		s.text = &v
	case Type:
		return newSetting(string(v))
	case Tier:
		return newSetting(string(v))
	case ID:
		return newSetting(string(v))
	case []string:
		s.list = append([]string{}, v...)
	case []ID:
		s.list = []string{}
		for _, id := range v {
			s.list = append(s.list, string(id))
		}
	case nil, bool, int, float64:
		s.word, _ = wordOf(v)
	case time.Time:
		if v.IsZero() {
			return s, errors.New("the time is zero")
		}
		s.word, s.time = FormatTime(v), v.UTC().Truncate(time.Second)
	case Origin:
		s.pairs = v.pairs()
	case Scope:
		s.pairs = v.pairs()
	case map[string]any:
		return mapSetting(v)
	case map[string]string:
		s.pairs = []pair{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			s.pairs = append(s.pairs, pair{key: key, val: v[key]})
		}
	default:
		return s, fmt.Errorf("front matter cannot hold a %T", value)
	}
	return s, nil
}

// wordOf returns how YAML writes a value that is no text.
func wordOf(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "null", true
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

// mapSetting takes a mapping of strings, bools and numbers.
func mapSetting(m map[string]any) (setting, error) {
	s := setting{pairs: []pair{}}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		word, raw := wordOf(m[key])
		text, ok := m[key].(string)
		if m[key] == nil || !raw && !ok {
			return s, fmt.Errorf("front matter cannot hold a %T in a mapping", m[key])
		}
		s.pairs = append(s.pairs, pair{key: key, val: word + text, raw: raw})
	}
	return s, nil
}

// texts returns every text in s, to read or to change.
func (s *setting) texts() []*string {
	var out []*string
	if s.text != nil {
		out = append(out, s.text)
	}
	for i := range s.list {
		out = append(out, &s.list[i])
	}
	for i := range s.pairs {
		out = append(out, &s.pairs[i].key, &s.pairs[i].val)
	}
	return out
}

// check refuses text that YAML cannot hold.
func (s *setting) check() error {
	for _, t := range s.texts() {
		if !utf8.ValidString(*t) {
			return fmt.Errorf("%s is not valid UTF-8", quoteName(*t))
		}
	}
	return nil
}

// clean puts U+FFFD where YAML cannot hold what is there.
func (s *setting) clean() {
	for _, t := range s.texts() {
		*t = strings.ToValidUTF8(*t, "\ufffd")
	}
}

func (o Origin) pairs() []pair {
	pairs := keepFilled(pair{key: "user", val: o.User}, pair{key: "agent", val: o.Agent},
		pair{key: "host", val: o.Host}, pair{key: "session", val: o.Session})
	if o.Turn != 0 {
		pairs = append(pairs, pair{key: "turn", val: strconv.Itoa(o.Turn), raw: true})
	}
	return pairs
}

func (s Scope) pairs() []pair {
	return keepFilled(pair{key: "type", val: s.Type}, pair{key: "id", val: s.ID})
}

func keepFilled(pairs ...pair) []pair {
	return slices.DeleteFunc(pairs, func(p pair) bool { return p.val == "" })
}

// holds reports whether n says s already.
func (s *setting) holds(n *node) bool {
	switch {
	case n == nil:
		return false
	case s.text != nil:
		return n.kind == scalarNode && !n.isNull() && n.text == *s.text
	case s.list != nil:
		return n.kind != mapNode && slices.Equal(n.strings(), trimmed(slices.Clone(s.list)))
	case s.pairs != nil:
		return s.holdsPairs(n)
	case !s.time.IsZero():
		t, ok := ParseTime(n.scalar())
		return ok && t.Equal(s.time)
	}
	return n.kind == scalarNode && n.plain && (n.text == s.word || s.word == "null" && n.isNull())
}

func (s *setting) holdsPairs(n *node) bool {
	if n.kind != mapNode || len(n.items) != 2*len(s.pairs) {
		return false
	}
	for _, p := range s.pairs {
		if v := n.field(p.key); v == nil || v.kind != scalarNode || v.text != p.val || v.isNull() {
			return false
		}
	}
	return true
}

// empty reports whether s says nothing.
func (s *setting) empty() bool {
	return s.word == "" && len(s.list) == 0 && len(s.pairs) == 0 && (s.text == nil || *s.text == "")
}

// render returns s in one line of YAML.
func (s *setting) render(style quoting, inFlow bool) string {
	switch {
	case s.text != nil:
		return quote(*s.text, style, inFlow)
	case s.list != nil:
		return flowList(s.list)
	case s.pairs != nil:
		return flowMap(s.pairs)
	case style != plainStyle && !s.time.IsZero():
		return quote(s.word, style, inFlow)
	}
	return s.word
}

func flowList(items []string) string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = quote(s, plainStyle, true)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func flowMap(pairs []pair) string {
	out := make([]string, len(pairs))
	for i, p := range pairs {
		out[i] = renderKey(p.key) + ": " + p.render(plainStyle)
	}
	return "{" + strings.Join(out, ", ") + "}"
}

func (p pair) render(style quoting) string {
	if p.raw {
		return p.val
	}
	return quote(p.val, style, true)
}

// mapEdit keeps a block mapping a block mapping: lines of keys that stay are
// kept, others changed, dropped, or added below.
func (d *Document) mapEdit(entry string, want setting) (string, bool) {
	sc := scanner{s: entry, loose: true}
	got, ok := sc.entry(sc.skipSpaces())
	if !ok || want.pairs == nil || !got.val.block || got.val.kind != mapNode {
		return "", false
	}
	items := got.val.items
	out := entry[:lineStart(entry, items[0].start)]
	indent := entry[len(out):items[0].start]
	left := slices.Clone(want.pairs)
	from := len(out)
	for i := 0; i < len(items); i += 2 {
		line, end := lineStart(entry, items[i].start), lineEnd(entry, items[i].start)
		out += entry[from:line]
		from = end
		at := slices.IndexFunc(left, func(p pair) bool { return p.key == items[i].text })
		if at < 0 {
			continue
		}
		val := entry[items[i+1].start:items[i+1].end]
		if items[i+1].text != left[at].val || items[i+1].kind != scalarNode {
			val = left[at].render(styleOf(val))
		}
		out += entry[line:items[i+1].start] + val + entry[items[i+1].end:end]
		left = slices.Delete(left, at, at+1)
	}
	for _, p := range left {
		out += indent + renderKey(p.key) + ": " + p.render(plainStyle) + d.eol()
	}
	return out + entry[from:], true
}
