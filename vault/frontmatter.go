package vault

import "fmt"

// keyOrder is the order of the known keys in a file that vade writes, and
// where it puts one that a file does not have yet.
var keyOrder = [...]string{
	"id", "title", "type", "tier", "tags", "aliases", "created", "updated", "expires",
	"origin", "scope", "workspace", "supersedes", "superseded_by", "merged_ids",
	"conflict_of", "source", "why", "trust",
}

// keyRank returns the place of key in keyOrder; len(keyOrder) for unknown keys.
func keyRank(key string) int {
	for i, k := range keyOrder {
		if k == key {
			return i
		}
	}
	return len(keyOrder)
}

// BrokenError says where front matter stopped making sense. It is ErrBroken.
type BrokenError struct {
	Line   int // 1-based line of the file
	Reason string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%v: line %d: %s", ErrBroken, e.Line, e.Reason)
}

// Unwrap returns ErrBroken.
func (e *BrokenError) Unwrap() error { return ErrBroken }

// entry is one key of the front matter, and whole lines of its text.
type entry struct {
	key  string
	val  node
	lead int // where the comment lines directly above start
	// text[start:end] are the lines of the key and its value.
	start, end int
}

// header is the text between the fences, taken apart.
type header struct {
	text    string // "" or whole lines
	entries []entry
	merged  []entry // what "<<" brings in; never edited
	indent  int     // columns before each key
	inline  bool    // the whole header is one {…}
	notMap  bool    // no mapping at all: prose between two rules
	broken  *BrokenError
}

// parseHeader takes the text between the fences apart.
func parseHeader(text string) header {
	if entries, ok := scanHeader(text); ok {
		return header{text: text, entries: entries}
	}
	return parseYAML(text)
}

// find returns the entry of key; nil when there is none.
func (h *header) find(key string) *entry {
	for i := range h.entries {
		if h.entries[i].key == key {
			return &h.entries[i]
		}
	}
	return nil
}

// get returns the value of key, its own or a merged one; nil when there is none.
func (h *header) get(key string) *node {
	if e := h.find(key); e != nil {
		return &e.val
	}
	for i := range h.merged {
		if h.merged[i].key == key {
			return &h.merged[i].val
		}
	}
	return nil
}

// insertAt returns where a new entry of key goes: behind the known keys that
// come before it in keyOrder, at the end for an unknown key.
func (h *header) insertAt(key string) int {
	rank := keyRank(key)
	if rank == len(keyOrder) {
		return len(h.text)
	}
	best, at := -1, -1
	next := len(h.text)
	for i := range h.entries {
		e := &h.entries[i]
		switch r := keyRank(e.key); {
		case r < rank && r > best:
			best, at = r, e.end
		case r > rank && r < len(keyOrder):
			next = min(next, e.lead)
		}
	}
	if at >= 0 {
		return at
	}
	return next
}
