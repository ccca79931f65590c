package providertest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vademecum/providers"
	"vademecum/sync/journal"
)

// Memory is a whole provider in memory: every ability, at once, in order. It may
// be used by any number of goroutines.
type Memory struct {
	name string

	mu    sync.Mutex
	next  int
	items map[string]stored // by Item.ID and part
	calls []string
}

type stored struct {
	ref  providers.Ref
	item providers.Item
}

var (
	_ providers.Describer   = (*Memory)(nil)
	_ providers.BatchPutter = (*Memory)(nil)
	_ providers.Deleter     = (*Memory)(nil)
	_ providers.Finder      = (*Memory)(nil)
	_ providers.Lister      = (*Memory)(nil)
	_ providers.Cleaner     = (*Memory)(nil)
	_ providers.Purger      = (*Memory)(nil)
)

// NewMemory returns an empty provider.
func NewMemory(name string) *Memory { return &Memory{name: name, items: map[string]stored{}} }

// Name implements providers.Provider.
func (m *Memory) Name() string { return m.name }

// Properties implements providers.Describer.
func (m *Memory) Properties() providers.Properties {
	return providers.Properties{
		Kind: "memory", Batch: true, Delete: true, Find: true, List: true, Cleanup: true, PurgeAll: true,
		Verbatim: true, Idempotent: true, Replaces: true, ReadYourWrites: true, Attribution: true,
		Score: providers.Similarity, MaxItemBytes: 1 << 20, MaxBatch: 100,
	}
}

// Health implements providers.Provider.
func (m *Memory) Health(ctx context.Context) (providers.Health, error) {
	return providers.Health{Version: "1", Warnings: []string{}}, m.enter(ctx, "health")
}

// enter notes a call; the error is ctx's.
func (m *Memory) enter(ctx context.Context, call string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, call)
	return ctx.Err()
}

// Calls are the calls so far: "put ID@VERSION", "delete REF", "search …".
func (m *Memory) Calls() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

// Items are what it holds, by id and part.
func (m *Memory) Items() []providers.Item {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []providers.Item
	for _, s := range m.sorted() {
		list = append(list, s.item)
	}
	return list
}

// sorted is what it holds, in order. mu is held.
func (m *Memory) sorted() []stored {
	var list []stored
	for _, s := range m.items {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b stored) int {
		return cmp.Or(cmp.Compare(a.item.ID, b.item.ID), cmp.Compare(a.item.Part, b.item.Part))
	})
	return list
}

// Put implements providers.Provider.
func (m *Memory) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	if err := m.enter(ctx, "put "+item.Key()); err != nil {
		return providers.Receipt{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := item.ID + "#" + strconv.Itoa(item.Part)
	s := m.items[key]
	if s.ref == "" {
		m.next++
		s.ref = providers.Ref(fmt.Sprint("m", m.next))
	}
	s.item = item
	m.items[key] = s
	return providers.Receipt{State: journal.Stored, Refs: []providers.Ref{s.ref}}, nil
}

// PutBatch implements providers.BatchPutter.
func (m *Memory) PutBatch(ctx context.Context, items []providers.Item) []providers.PutResult {
	var results []providers.PutResult
	for _, item := range items {
		r, err := m.Put(ctx, item)
		results = append(results, providers.PutResult{Receipt: r, Err: err})
	}
	return results
}

// Search implements providers.Provider: by the share of the query's words that
// an item has.
func (m *Memory) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	if err := m.enter(ctx, "search "+q.Text); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	words := strings.Fields(strings.ToLower(q.Text))
	var hits []providers.Hit
	for _, s := range m.sorted() {
		text, n := strings.ToLower(s.item.Text), 0
		for _, w := range words {
			if strings.Contains(text, w) {
				n++
			}
		}
		if n > 0 {
			score := float64(n) / float64(len(words))
			h := s.hit()
			h.Score = &score
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b providers.Hit) int { return cmp.Compare(*b.Score, *a.Score) })
	return hits[:min(len(hits), q.Limit)], nil
}

func (s stored) hit() providers.Hit {
	h := providers.Hit{Ref: s.ref, Text: s.item.Text, Created: s.item.Created}
	h.Identify(s.item.Metadata())
	return h
}

// Delete implements providers.Deleter.
func (m *Memory) Delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error) {
	if err := m.enter(ctx, "delete "+string(ref)); err != nil {
		return providers.Receipt{}, err
	}
	m.remove(func(s stored) bool { return s.ref == ref })
	return providers.Receipt{State: journal.Deleted, Refs: []providers.Ref{ref}}, nil
}

func (m *Memory) remove(pick func(stored) bool) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, s := range m.items {
		if pick(s) {
			delete(m.items, key)
			n++
		}
	}
	return n
}

// FindByID implements providers.Finder.
func (m *Memory) FindByID(ctx context.Context, ids ...string) ([]providers.Hit, error) {
	if err := m.enter(ctx, "find "+strings.Join(ids, " ")); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var hits []providers.Hit
	for _, s := range m.sorted() {
		if slices.Contains(ids, s.item.ID) {
			hits = append(hits, s.hit())
		}
	}
	return hits, nil
}

// List implements providers.Lister; the cursor is how many were read.
func (m *Memory) List(ctx context.Context, cursor string, n int) ([]providers.Hit, string, error) {
	if err := m.enter(ctx, "list "+cursor); err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.sorted()
	from, _ := strconv.Atoi(cursor)
	from = min(from, len(all))
	to := min(from+max(n, 1), len(all))
	var hits []providers.Hit
	for _, s := range all[from:to] {
		hits = append(hits, s.hit())
	}
	if to == len(all) {
		return hits, "", nil
	}
	return hits, strconv.Itoa(to), nil
}

// CleanupExpired implements providers.Cleaner.
func (m *Memory) CleanupExpired(ctx context.Context, now time.Time) (int, error) {
	if err := m.enter(ctx, "cleanup"); err != nil {
		return 0, err
	}
	return m.remove(func(s stored) bool { return !s.item.Expires.IsZero() && !s.item.Expires.After(now) }), nil
}

// PurgeScope implements providers.Purger.
func (m *Memory) PurgeScope(ctx context.Context) (int, error) {
	if err := m.enter(ctx, "purge"); err != nil {
		return 0, err
	}
	return m.remove(func(stored) bool { return true }), nil
}
