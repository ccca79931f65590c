package vault

import (
	"strings"
	"time"
)

// bom is the byte order mark that some Windows editors put first.
const bom = "\ufeff"

// Document is a file of the vault, byte for byte, with its front matter taken
// apart just far enough to read it and to change single lines of it. It never
// renders what it did not change: comments, the order of keys, unknown keys,
// quotes, line ends, a BOM and a missing final newline stay.
//
// A Document may be used by one goroutine at a time.
type Document struct {
	mark   string // the BOM, or ""
	opener string // the first fence with its line end; "" without front matter
	head   header
	closer string // the last fence with its line end, if it has one
	body   string

	toml  bool         // fenced by +++; never edited
	loose []entry      // what single lines of a broken header still say
	err   *BrokenError // why there is no sound header
}

// ParseDocument takes raw apart. It never fails: what cannot be understood is
// kept as it is and named by Broken.
func ParseDocument(raw []byte) *Document {
	d := &Document{}
	s := string(raw)
	if strings.HasPrefix(s, bom) {
		d.mark, s = bom, s[len(bom):]
	}
	d.body = s
	switch opener := s[:lineLen(s)]; fence(opener) {
	case "---":
		d.split(opener, isYAMLCloser)
		d.parseYAML()
	case "+++":
		d.split(opener, func(f string) bool { return f == "+++" })
		d.parseTOML()
	}
	return d
}

// fence returns line without trailing space and line end.
func fence(line string) string { return strings.TrimRight(line, " \t\r\n") }

func isYAMLCloser(f string) bool { return f == "---" || f == "..." }

// split finds the closing fence and parts opener, header, closer and body.
// Without one nothing changes.
func (d *Document) split(opener string, closes func(string) bool) {
	s := d.body
	if !strings.HasSuffix(opener, "\n") {
		return
	}
	for i := len(opener); i < len(s); {
		n := lineLen(s[i:])
		if c := s[i]; (c == '-' || c == '.' || c == '+') && closes(fence(s[i:i+n])) {
			d.opener, d.closer = opener, s[i:i+n]
			// A copy, so that whoever keeps a title does not keep the whole file.
			d.head.text, d.body = strings.Clone(s[len(opener):i]), s[i+n:]
			return
		}
		i += n
	}
}

// parseYAML reads the header that split found. Prose between two rules is no
// header: the whole file is body then, so that no word of it is lost.
func (d *Document) parseYAML() {
	if d.opener == "" {
		d.err = &BrokenError{Line: 1, Reason: `no closing "---" follows`}
		d.loose = looseEntries(firstBlock(d.body[lineLen(d.body):]))
		return
	}
	d.head = parseHeader(d.head.text)
	if d.err = d.head.broken; d.err == nil {
		return
	}
	if d.head.notMap || mostlyProse(d.head.text) {
		d.body = d.opener + d.head.text + d.closer + d.body
		d.opener, d.closer, d.head = "", "", header{}
		return
	}
	d.loose = looseEntries(d.head.text)
}

// Bytes returns the whole file: exactly the parsed bytes while no edit changed any.
func (d *Document) Bytes() []byte {
	b := make([]byte, 0, len(d.mark)+len(d.opener)+len(d.head.text)+len(d.closer)+len(d.body))
	b = append(b, d.mark...)
	b = append(b, d.opener...)
	b = append(b, d.head.text...)
	b = append(b, d.closer...)
	return append(b, d.body...)
}

// Body returns the text after the front matter, line ends as in the file. It
// is the whole file where there is no front matter, or none that ends.
func (d *Document) Body() string { return d.body }

// BodyLine returns the 1-based line of the file on which Body starts.
func (d *Document) BodyLine() int {
	return 1 + strings.Count(d.opener, "\n") + strings.Count(d.head.text, "\n") + strings.Count(d.closer, "\n")
}

// HasHeader reports whether the file has front matter between two fences,
// sound or not.
func (d *Document) HasHeader() bool { return d.opener != "" }

// Broken says why the front matter cannot be understood, or not be edited, as
// a *BrokenError; nil when it is sound or when there is none.
func (d *Document) Broken() error {
	if d.err == nil {
		return nil
	}
	return d.err
}

// get returns the value of key: of a sound header, or what could be read of a
// broken one.
func (d *Document) get(key string) *node {
	if d.err == nil {
		return d.head.get(key)
	}
	for i := range d.loose {
		if d.loose[i].key == key {
			return &d.loose[i].val
		}
	}
	return nil
}

// Keys returns the keys of the front matter in the order of the file; none
// when it is broken.
func (d *Document) Keys() []string {
	keys := make([]string, len(d.head.entries))
	for i := range d.head.entries {
		keys[i] = d.head.entries[i].key
	}
	return keys
}

// Has reports whether the front matter has key, be it with an empty value.
func (d *Document) Has(key string) bool { return d.get(key) != nil }

// Raw returns the exact lines of key's entry with the comment lines directly
// above it; nil when there is none, or when the entry has no lines of its own.
func (d *Document) Raw(key string) []byte {
	e := d.head.find(key)
	if e == nil || d.head.inline {
		return nil
	}
	return []byte(d.head.text[e.lead:e.end])
}

// Value returns key's value as nil, string, bool, int, float64, []any or
// map[string]any, and whether key is there. Dates are strings as written.
func (d *Document) Value(key string) (any, bool) {
	n := d.get(key)
	if n == nil {
		return nil, false
	}
	return n.value(), true
}

// String returns key's scalar as written: "yes" for yes, "123" for 123. It is
// "" when key is absent, null, a list or a mapping.
func (d *Document) String(key string) string {
	if n := d.get(key); n != nil {
		return n.scalar()
	}
	return ""
}

// Strings returns key's list, its scalars as written; a scalar is split at
// commas. Empty items are left out.
func (d *Document) Strings(key string) []string {
	if n := d.get(key); n != nil {
		return n.strings()
	}
	return nil
}

// Time returns key's time ([ParseTime]); the zero time when there is none.
func (d *Document) Time(key string) time.Time {
	t, _ := ParseTime(d.String(key))
	return t
}
