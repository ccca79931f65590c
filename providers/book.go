package providers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"vademecum/sync/journal"
	"vademecum/vault"
)

// Book is what a provider has of ours by its own receipts, a line for each
// change of an entry, so that the last one counts:
//
//	providers/NAME/receipts.jsonl
//
// Only the holder of the provider's lane writes it. It may be read by any
// number of goroutines and processes meanwhile. A book that is lost makes
// deletes and updates depend on what the provider can be asked; no more.
type Book struct {
	path string

	mu      sync.Mutex
	log     *journal.Log[Entry]
	entries map[string]*Entry
	refs    map[Ref]string // nil until it is needed
	looks   int            // without reading all of it
}

// Entry is what a provider has of one memory.
type Entry struct {
	ID string `json:"id"`
	// Version is what it was given last and confirmed; "" when nothing was.
	Version vault.Version `json:"version,omitempty"`
	Refs    []Ref         `json:"refs,omitempty"` // of Version, by part
	// Stale are its other things of the memory: of earlier versions, and of what
	// was not confirmed. They are to be deleted.
	Stale   []Ref     `json:"stale,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	Gone    bool      `json:"gone,omitempty"` // nothing is left
}

// OpenBook names the book at path. It reads nothing.
func OpenBook(path string) *Book {
	return &Book{path: path, log: journal.OpenLog[Entry](path, "receipt"), entries: map[string]*Entry{}}
}

// load brings the entries up to date. mu is held.
func (b *Book) load() error {
	reset := func() { b.entries, b.refs = map[string]*Entry{}, nil }
	err := b.log.Load(reset, func(e *Entry) {
		if e.Gone {
			delete(b.entries, e.ID)
			return
		}
		b.entries[e.ID] = e
		for _, ref := range b.indexed(e) {
			b.refs[ref] = e.ID
		}
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", b.path, err)
	}
	return nil
}

// indexed are e's refs once there is an index of them.
func (b *Book) indexed(e *Entry) []Ref {
	if b.refs == nil {
		return nil
	}
	return e.all()
}

// all are e's refs, each once.
func (e *Entry) all() []Ref { return without(slices.Concat(e.Refs, e.Stale), nil) }

// without is refs, each once, less those of others.
func without(refs, others []Ref) []Ref {
	var rest []Ref
	for _, r := range refs {
		if r != "" && !slices.Contains(others, r) && !slices.Contains(rest, r) {
			rest = append(rest, r)
		}
	}
	return rest
}

// fewLooks is how often a book is searched for one entry before it is read as
// a whole: who remembers one thing does not wait for that.
const fewLooks = 3

// Of returns what the provider has of id.
func (b *Book) Of(id string) (Entry, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var e *Entry
	if b.log.Lines() == 0 && b.looks < fewLooks {
		b.looks++
		if data, err := os.ReadFile(b.path); err == nil {
			e = lastLine(data, id, func(e *Entry) bool { return e.ID == id })
		}
	} else if b.load() == nil {
		e = b.entries[id]
	}
	if e == nil || e.Gone {
		return Entry{ID: id}, false
	}
	return *e, true
}

// All are the entries by id.
func (b *Book) All() ([]Entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(); err != nil {
		return nil, err
	}
	list := make([]Entry, 0, len(b.entries))
	for _, id := range slices.Sorted(maps.Keys(b.entries)) {
		list = append(list, *b.entries[id])
	}
	return list, nil
}

// Lookup returns whose a provider's own ref is. A process that asks once does
// not read the whole book for it.
func (b *Book) Lookup(ref Ref) (id string, version vault.Version, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refs == nil {
		if e := b.grep(ref); e != nil {
			return e.ID, e.Version, true
		}
		return "", "", false
	}
	if b.load() != nil {
		return "", "", false
	}
	id = b.refs[ref]
	e := b.entries[id]
	if e == nil || !slices.Contains(e.all(), ref) {
		return "", "", false
	}
	return id, e.Version, true
}

// Index makes Lookup fast for whoever asks often.
func (b *Book) Index() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.load() != nil || b.refs != nil {
		return
	}
	b.refs = map[Ref]string{}
	for _, e := range b.entries {
		for _, ref := range e.all() {
			b.refs[ref] = e.ID
		}
	}
}

// grep finds the entry that has ref among the lines of the file: the last
// that names the memory counts, if that still names the ref.
func (b *Book) grep(ref Ref) *Entry {
	data, err := os.ReadFile(b.path)
	if err != nil {
		return nil
	}
	has := func(e *Entry) bool { return slices.Contains(e.all(), ref) }
	e := lastLine(data, string(ref), has)
	if e == nil {
		return nil
	}
	id := e.ID
	if e = lastLine(data, id, func(e *Entry) bool { return e.ID == id }); e == nil || !has(e) {
		return nil
	}
	return e
}

// lastLine is the last whole line of data that has text as a JSON string and
// that is accepted.
func lastLine(data []byte, text string, accept func(*Entry) bool) *Entry {
	var quote bytes.Buffer
	enc := json.NewEncoder(&quote)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil {
		return nil
	}
	quoted := bytes.TrimSpace(quote.Bytes())
	var last *Entry
	for {
		n := bytes.Index(data, quoted) // forwards: that is several times faster
		if n < 0 {
			return last
		}
		begin := bytes.LastIndexByte(data[:n], '\n') + 1
		line, rest, whole := bytes.Cut(data[begin:], []byte{'\n'})
		var v struct {
			Receipt *Entry `json:"receipt"`
		}
		if whole && json.Unmarshal(line, &v) == nil && v.Receipt != nil && accept(v.Receipt) {
			last = v.Receipt
		}
		data = rest
	}
}

// slackReceipts is how many more lines than entries a book may have, besides
// twice as many.
const slackReceipts = 200

// write notes entries, durably. The lane is held.
func (b *Book) write(list ...*Entry) error {
	if len(list) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return err
	}
	err := b.log.Append(list...)
	if err == nil {
		err = b.load()
	}
	if n := len(b.entries); err == nil && b.log.Lines() > 2*n+slackReceipts {
		err = b.log.Replace(slices.SortedFunc(maps.Values(b.entries), func(a, c *Entry) int { return strings.Compare(a.ID, c.ID) }))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", b.path, err)
	}
	return nil
}

// setAside keeps the book of a provider that is not used any more, out of the
// way of another one of that name.
func (b *Book) setAside() error {
	err := os.Rename(b.path, b.path+".removed")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// expired are the entries whose time is over at now. A book without any that
// will ever be is not read for it.
func (b *Book) expired(now time.Time) ([]Entry, error) {
	if data, err := os.ReadFile(b.path); err != nil || !bytes.Contains(data, []byte(`"expires":"`)) {
		return nil, nil
	}
	all, err := b.All()
	return slices.DeleteFunc(all, func(e Entry) bool { return e.Expires.IsZero() || now.Before(e.Expires) }), err
}
