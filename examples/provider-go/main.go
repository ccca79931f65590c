// Command provider-go is a memory provider for vade in one file, with the
// standard library only: copy it and make it your own.
//
// It speaks vade.provider/1 (docs/provider-protocol.md): JSON-RPC 2.0, one
// message a line, requests on stdin, answers on stdout, everything else on
// stderr. It keeps each memory as a file in the folder memories of its working
// directory, which vade sets to one of the provider's own, and finds them by
// their words.
//
// The same loop serves both modes. Long-lived: vade leaves stdin open and sends
// more. One-shot: vade sends one line and closes stdin, and the loop ends.
//
//	go build -o provider . && vade provider eval jsonrpc --command "$PWD/provider"
package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// about is what this provider says of itself. Each promise is tested by vade's
// kit: say only what is true. Delete what you do not implement, and its case in
// answer.
const about = `{
	"protocol": "vade.provider/1", "name": "provider-go", "version": "1.0",
	"capabilities": {
		"put_batch": true, "delete": true, "resolve": true, "find": true, "list": true, "cleanup": true, "purge": true,
		"filter": true, "verbatim": true, "attribution": true, "idempotent": true, "replaces": true, "read_your_writes": true,
		"score": "similarity", "max_batch": 100, "max_in_flight": 4
	}
}`

// Item is what vade puts, as far as this provider looks at it: it keeps what it
// gives back, and ignores the rest.
type Item struct {
	ID        string    `json:"id"`
	Version   string    `json:"version"`
	Part      int       `json:"part"`
	Vault     string    `json:"vault,omitempty"`
	Title     string    `json:"title,omitempty"`
	Text      string    `json:"text"`
	Workspace string    `json:"workspace,omitempty"`
	Created   time.Time `json:"created,omitzero"`
	Expires   time.Time `json:"expires,omitzero"`
}

// Hit is what it gives back.
type Hit struct {
	Ref     string    `json:"ref"`
	ID      string    `json:"id,omitempty"`
	Version string    `json:"version,omitempty"`
	Part    int       `json:"part,omitempty"`
	Vault   string    `json:"vault,omitempty"`
	Text    string    `json:"text"`
	Score   float64   `json:"score,omitempty"`
	Created time.Time `json:"created,omitzero"`
}

// Receipt says what became of a write.
type Receipt struct {
	State string   `json:"state"`
	Refs  []string `json:"refs,omitempty"`
}

// Error is an answer that is an error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

func main() {
	log.SetFlags(0) // to stderr, which vade shows when something goes wrong
	if err := serve(os.Stdin, os.Stdout, &Store{dir: "memories"}); err != nil {
		log.Fatal(err)
	}
}

// request is a line of stdin. One without ID is a notification: no answer.
type request struct {
	ID     *string         `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type response struct {
	JSONRPC string  `json:"jsonrpc"`
	ID      *string `json:"id"` // null for a line that cannot be read
	Result  any     `json:"result,omitempty"`
	Error   *Error  `json:"error,omitempty"`
}

// serve answers until in ends, several requests at once: vade makes no more than
// max_in_flight.
func serve(in io.Reader, out io.Writer, store *Store) error {
	var (
		answers sync.Mutex // a line is written as a whole
		running sync.WaitGroup
		cancels sync.Map // id → context.CancelFunc
	)
	answer := func(r response) {
		r.JSONRPC = "2.0"
		line, err := json.Marshal(r)
		if err != nil {
			log.Print(err)
			return
		}
		answers.Lock()
		defer answers.Unlock()
		_, _ = out.Write(append(line, '\n'))
	}
	defer running.Wait()     // stdin was closed: finish, then end
	r := bufio.NewReader(in) // not a Scanner: a line may have 4 MiB
	for {
		line, err := r.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		var req request
		if err := json.Unmarshal(line, &req); err != nil {
			code := -32600 // JSON, but no request
			if !json.Valid(line) {
				code = -32700
			}
			answer(response{Error: &Error{code, err.Error()}})
			continue
		}
		if req.ID == nil {
			if req.Method == "vade.cancel" {
				var p struct{ ID string }
				_ = json.Unmarshal(req.Params, &p)
				if cancel, ok := cancels.Load(p.ID); ok {
					cancel.(context.CancelFunc)()
				}
			}
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancels.Store(*req.ID, cancel)
		running.Go(func() {
			defer cancel()
			defer cancels.Delete(*req.ID)
			result, err := store.answer(ctx, req)
			if err != nil {
				answer(response{ID: req.ID, Error: asError(err)})
				return
			}
			answer(response{ID: req.ID, Result: result})
		})
	}
}

// asError gives err a code of the protocol.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{-32800, err.Error()}
	}
	return &Error{-32001, err.Error()} // a file system that is full or away: again, later
}

// params are those of all methods.
type params struct {
	DeadlineMS int64           `json:"deadline_ms"`
	Text       string          `json:"text"`
	Limit      int             `json:"limit"`
	Workspace  string          `json:"workspace"`
	Item       *Item           `json:"item"`
	Items      []Item          `json:"items"`
	Ref        string          `json:"ref"`
	Receipt    json.RawMessage `json:"receipt"`
	IDs        []string        `json:"ids"`
	Cursor     string          `json:"cursor"`
	Now        time.Time       `json:"now"`
}

// answer is the whole protocol.
func (s *Store) answer(ctx context.Context, r request) (any, error) {
	var p params
	if len(r.Params) > 0 {
		if err := json.Unmarshal(r.Params, &p); err != nil {
			return nil, &Error{-32602, err.Error()}
		}
	}
	if p.DeadlineMS > 0 { // vade does not wait longer; neither should we work longer
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(p.DeadlineMS)*time.Millisecond)
		defer cancel()
	}
	switch r.Method {
	case "vade.initialize":
		return json.RawMessage(about), nil
	case "vade.health":
		_, err := s.list()
		return map[string]any{"version": "1.0", "warnings": []string{}}, err
	case "vade.search":
		hits, err := s.search(ctx, p)
		return map[string]any{"hits": hits}, err
	case "vade.put":
		if p.Item == nil {
			return nil, &Error{-32602, "no item"}
		}
		return s.put(*p.Item)
	case "vade.put_batch":
		results := []Receipt{}
		for _, item := range p.Items {
			receipt, err := s.put(item)
			if err != nil {
				return nil, err
			}
			results = append(results, receipt)
		}
		return map[string]any{"results": results}, nil
	case "vade.delete":
		_, err := s.remove(func(ref string, _ Item) bool { return ref == p.Ref })
		return Receipt{State: "deleted"}, err // what is not there is deleted, too
	case "vade.resolve":
		var receipt Receipt // puts are stored at once, so there is nothing to wait for
		err := json.Unmarshal(p.Receipt, &receipt)
		receipt.State = "stored"
		return receipt, err
	case "vade.find":
		hits, err := s.hits(func(_ string, i Item) bool { return slices.Contains(p.IDs, i.ID) })
		return map[string]any{"hits": hits}, err
	case "vade.list":
		hits, err := s.hits(func(ref string, _ Item) bool { return ref > p.Cursor })
		next := ""
		if p.Limit > 0 && len(hits) > p.Limit {
			hits = hits[:p.Limit]
			next = hits[p.Limit-1].Ref
		}
		return map[string]any{"hits": hits, "next": next}, err
	case "vade.cleanup":
		n, err := s.remove(func(_ string, i Item) bool { return expired(i, p.Now) })
		return map[string]int{"removed": n}, err
	case "vade.purge":
		n, err := s.remove(func(string, Item) bool { return true })
		return map[string]int{"removed": n}, err
	}
	return nil, &Error{-32601, "no method " + r.Method}
}

// Store keeps each memory in a file that is named by its ref. Several processes
// may use it at once, because a file is replaced as a whole.
type Store struct {
	dir string
	mu  sync.Mutex
	was map[string]cached // what list read before
}

type cached struct {
	written time.Time
	size    int64
	item    Item
}

// put returns after the memory is on disk: an answer is a promise.
func (s *Store) put(i Item) (Receipt, error) {
	if i.ID == "" {
		return Receipt{}, &Error{-32602, "an item without id"}
	}
	// A long memory comes in parts. Each part has a place of its own, the same for
	// every version: that makes puts idempotent, and a new version replace the old.
	sum := sha256.Sum256(fmt.Appendf(nil, "%s#%d", i.ID, i.Part))
	ref := hex.EncodeToString(sum[:16])
	b, err := json.Marshal(i)
	if err != nil {
		return Receipt{}, err
	}
	if err := s.write(ref, b); err != nil {
		return Receipt{}, err
	}
	_, err = s.remove(func(_ string, old Item) bool { return old.ID == i.ID && old.Version != i.Version })
	return Receipt{State: "stored", Refs: []string{ref}}, err
}

// write makes a file that is there as a whole or not at all.
func (s *Store) write(ref string, b []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, "new-*") // list takes no notice of it
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails when all went well
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(s.dir, ref+".json")); err != nil {
		return err
	}
	if d, err := os.Open(s.dir); err == nil { // the name, too, survives a power cut
		_ = errors.Join(d.Sync(), d.Close()) // where folders can be synced
	}
	return nil
}

// list reads what changed since it was called last, and returns everything.
func (s *Store) list() (map[string]Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	now, all := map[string]cached{}, map[string]Item{}
	for _, e := range entries {
		ref, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // deleted in this instant
		}
		c, ok := s.was[ref]
		if !ok || !c.written.Equal(info.ModTime()) || c.size != info.Size() {
			b, err := os.ReadFile(filepath.Join(s.dir, e.Name()))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return nil, err
			}
			c = cached{written: info.ModTime(), size: info.Size()}
			if err := json.Unmarshal(b, &c.item); err != nil {
				log.Printf("%s: %v", e.Name(), err)
				continue
			}
		}
		now[ref], all[ref] = c, c.item
	}
	s.was = now
	return all, nil
}

// remove deletes what goes says, and returns how many.
func (s *Store) remove(goes func(ref string, i Item) bool) (int, error) {
	all, err := s.list()
	n := 0
	for ref, item := range all {
		if !goes(ref, item) {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, ref+".json")); err == nil {
			n++
		} else if !errors.Is(err, fs.ErrNotExist) {
			return n, err
		}
	}
	return n, err
}

// hits are the memories that want says, by ref.
func (s *Store) hits(want func(ref string, i Item) bool) ([]Hit, error) {
	all, err := s.list()
	hits := []Hit{}
	for ref, i := range all {
		if want(ref, i) {
			hits = append(hits, toHit(ref, i))
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Ref, b.Ref) })
	return hits, err
}

func toHit(ref string, i Item) Hit {
	return Hit{Ref: ref, ID: i.ID, Version: i.Version, Part: i.Part, Vault: i.Vault, Text: i.Text, Created: i.Created}
}

func expired(i Item, now time.Time) bool { return !i.Expires.IsZero() && !i.Expires.After(now) }

// search returns the memories that have a word of the question, those with more
// and rarer words first; of this workspace, and those that belong to none.
func (s *Store) search(ctx context.Context, p params) ([]Hit, error) {
	all, err := s.list()
	if err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	for _, w := range words(p.Text) {
		asked[w] = true
	}
	seen := map[string]int{}             // in how many memories a word is
	found := map[string]map[string]int{} // ref → word → how often
	for ref, i := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if expired(i, time.Now()) || p.Workspace != "" && i.Workspace != "" && i.Workspace != p.Workspace {
			continue
		}
		counts := map[string]int{}
		for _, w := range words(i.Title + " " + i.Text) {
			if asked[w] {
				counts[w]++
			}
		}
		for w := range counts {
			seen[w]++
			found[ref] = counts
		}
	}
	hits := []Hit{}
	for ref, counts := range found {
		h := toHit(ref, all[ref])
		for w, n := range counts { // a rare word says more; saying it twice says little more
			h.Score += math.Log(1+float64(len(all))/float64(seen[w])) * float64(n) / float64(n+1)
		}
		h.Score = math.Round(h.Score*1e6) / 1e6 // in whatever order it was summed up
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Ref, b.Ref)) })
	if p.Limit > 0 && len(hits) > p.Limit {
		hits = hits[:p.Limit]
	}
	return hits, ctx.Err()
}

func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}
