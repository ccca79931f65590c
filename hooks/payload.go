package hooks

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"vademecum/sync/journal"
)

// object is a JSON object that an agent sent. Its values are string, number,
// bool, nil, object and []any. Looking for what is not there, or is of another
// type, gives nothing.
type object map[string]any

type number = json.Number

const (
	// maxInput is how much of stdin is looked at; agents send some KB, and a
	// tool's output at times some MB.
	maxInput = 64 << 20
	// headString and tailString are how much of the two ends of a long string
	// is kept: what an event may hold, and so much more that a secret which is
	// cut by it is not in the event. People paste, and then ask.
	headString = journal.MaxText*3/4 + overlap
	tailString = journal.MaxText/4 + overlap
	// maxKept bounds all strings of a payload together, maxValues all values,
	// maxNested how deep they lie.
	maxKept   = 8 << 20
	maxValues = 1 << 16
	maxNested = 64
)

// payload is what came in on stdin.
type payload struct {
	object
	size int64 // bytes read
	// broken: it is no JSON object, or ends too early. What could be read is there.
	broken bool
	// cut is how many bytes of strings were left out.
	cut int
}

// readPayload reads one JSON object from r. It stops at the end of the object:
// some clients leave the pipe open. Nothing in r is an error.
func readPayload(r io.Reader) payload {
	p := &reader{in: r, buf: make([]byte, 64<<10)}
	v := p.value(0)
	out := payload{size: p.read, broken: p.bad, cut: p.cut}
	var ok bool
	if out.object, ok = v.(object); !ok {
		out.object, out.broken = object{}, true
	}
	return out
}

// reader is a JSON reader that takes what it can get: at a mistake or the end
// of the input it stops and gives what it has.
type reader struct {
	in      io.Reader
	buf     []byte
	at, end int
	read    int64
	kept    int
	values  int
	cut     int
	bad     bool
	roomy   bool // no bounds but the input's: it is a file whose size is known
}

// next returns the next byte without taking it.
func (p *reader) next() (byte, bool) {
	for p.at == p.end {
		if p.bad || p.read >= maxInput {
			p.bad = true
			return 0, false
		}
		n, err := p.in.Read(p.buf)
		p.at, p.end = 0, n
		p.read += int64(n)
		if n == 0 && err != nil {
			p.bad = true
			return 0, false
		}
	}
	return p.buf[p.at], true
}

// skip moves to the next byte that is no space and returns it without taking it.
func (p *reader) skip() byte {
	for {
		c, ok := p.next()
		switch {
		case !ok:
			return 0
		case c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0xEF || c == 0xBB || c == 0xBF: // a BOM
			p.at++
		default:
			return c
		}
	}
}

func (p *reader) value(depth int) any {
	c := p.skip()
	p.values++
	if p.bad || depth > maxNested || p.values > maxValues && !p.roomy {
		p.bad = true
		return nil
	}
	switch {
	case c == '{':
		p.at++
		return p.object(depth)
	case c == '[':
		p.at++
		return p.array(depth)
	case c == '"':
		p.at++
		return p.string()
	}
	return p.literal()
}

func (p *reader) object(depth int) object {
	o := object{}
	for {
		switch c := p.skip(); {
		case c == '}':
			p.at++
			return o
		case c == ',':
			p.at++
		case c == '"':
			p.at++
			key := p.string()
			if p.skip() != ':' {
				p.bad = true
				return o
			}
			p.at++
			if v := p.value(depth + 1); v != nil || !p.bad {
				o[key] = v
			}
		default:
			p.bad = true
		}
		if p.bad {
			return o
		}
	}
}

func (p *reader) array(depth int) []any {
	list := []any{}
	for {
		switch p.skip() {
		case ']':
			p.at++
			return list
		case ',':
			p.at++
		case 0:
			p.bad = true
		default:
			if v := p.value(depth + 1); v != nil || !p.bad {
				list = append(list, v)
			}
		}
		if p.bad {
			return list
		}
	}
}

// literal reads true, false, null and numbers.
func (p *reader) literal() any {
	var b []byte
	for {
		c, ok := p.next()
		if !ok || len(b) > 64 || !strings.ContainsRune("+-.0123456789abcdefghijklmnopqrstuvwxyzE", rune(c)) {
			break
		}
		b = append(b, c)
		p.at++
	}
	switch s := string(b); s {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	default:
		if _, err := strconv.ParseFloat(s, 64); err == nil && json.Valid(b) {
			return number(s)
		}
	}
	p.bad = true
	return nil
}

// string reads the rest of a string. What is no UTF-8 becomes U+FFFD.
func (p *reader) string() string {
	var k keeper
	for {
		if _, ok := p.next(); !ok {
			break
		}
		from := p.at
		for p.at < p.end && p.buf[p.at] != '"' && p.buf[p.at] != '\\' {
			p.at++
		}
		p.keep(&k, p.buf[from:p.at])
		if p.at == p.end {
			continue
		}
		p.at++
		if p.buf[p.at-1] == '"' {
			break
		}
		p.keep(&k, p.escape())
	}
	text, cut := k.text()
	p.cut += cut
	return text
}

// keep adds more to what k keeps, as long as there is room for all strings.
func (p *reader) keep(k *keeper, more []byte) {
	n := len(more)
	if !p.roomy {
		n = min(n, max(0, maxKept-p.kept))
	}
	before := len(k.head)
	k.add(more[:n])
	k.cut += len(more) - n
	p.kept += len(k.head) - before
}

// escape reads what follows a backslash.
func (p *reader) escape() []byte {
	c, ok := p.next()
	if !ok {
		return nil
	}
	p.at++
	switch c {
	case 'n':
		return []byte{'\n'}
	case 't':
		return []byte{'\t'}
	case 'r':
		return []byte{'\r'}
	case 'b':
		return []byte{'\b'}
	case 'f':
		return []byte{'\f'}
	case 'u':
		return p.unicode()
	}
	return []byte{c}
}

// unicode reads the four digits of \uXXXX, and those of a second one that
// makes a pair with it.
func (p *reader) unicode() []byte {
	r, ok := p.hex()
	if !ok {
		return utf8.AppendRune(nil, utf8.RuneError)
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(nil, r)
	}
	if c, ok := p.next(); !ok || c != '\\' {
		return utf8.AppendRune(nil, utf8.RuneError)
	}
	p.at++
	if c, ok := p.next(); !ok || c != 'u' {
		return append(utf8.AppendRune(nil, utf8.RuneError), p.escape()...)
	}
	p.at++
	low, _ := p.hex()
	return utf8.AppendRune(nil, utf16.DecodeRune(r, low))
}

func (p *reader) hex() (rune, bool) {
	var r rune
	for range 4 {
		c, ok := p.next()
		if !ok {
			return 0, false
		}
		d, err := strconv.ParseUint(string(rune(c)), 16, 8)
		if err != nil {
			return 0, false
		}
		p.at++
		r = r<<4 | rune(d)
	}
	return r, true
}

// get returns the value at a path of keys.
func (o object) get(path ...string) any {
	for i, key := range path {
		v := o[key]
		if i == len(path)-1 {
			return v
		}
		var ok bool
		if o, ok = v.(object); !ok {
			return nil
		}
	}
	return nil
}

// object returns the object at a path of keys; an empty one when there is none.
func (o object) object(path ...string) object {
	sub, _ := o.get(path...).(object)
	return sub
}

// list returns the array at a path of keys.
func (o object) list(path ...string) []any {
	l, _ := o.get(path...).([]any)
	return l
}

// string returns the string or number at a path of keys; "" for anything else.
func (o object) string(path ...string) string {
	switch v := o.get(path...).(type) {
	case string:
		return v
	case number:
		return string(v)
	}
	return ""
}

// is reports whether the value at a path of keys is true.
func (o object) is(path ...string) bool {
	switch v := o.get(path...).(type) {
	case bool:
		return v
	case string:
		return v == "true"
	}
	return false
}

// text returns the value at a path of keys as text for a reader.
func (o object) text(path ...string) string { return plain(o.get(path...)) }

// textKeys are where agents put the text of an answer or a tool's output, the
// first one that is there counts.
var textKeys = [...]string{"text", "textResultForLlm", "llmContent", "content", "output", "result", "message"}

// plain is v as text for a reader: strings as they are, the texts of a list
// line by line, what an object says rather than how; JSON when nothing else is known.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		var parts []string
		for _, e := range v {
			if s := plain(e); s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, "\n")
	case object:
		if _, ok := v["stdout"]; ok {
			return strings.Join(nonEmpty(v.string("stdout"), v.string("stderr")), "\n")
		}
		for _, key := range textKeys {
			if s := plain(v[key]); s != "" {
				return s
			}
		}
	}
	return compact(v)
}

func nonEmpty(list ...string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// compact is v as JSON on one line, keys sorted.
func compact(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if v == nil || enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
