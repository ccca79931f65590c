package providertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vademecum/providers"
	"vademecum/sync/journal"
	"vademecum/vault"
)

func (s *subject) again(t *testing.T) {
	if !s.is.Idempotent {
		return
	}
	item := Item(30, "said twice and kept once")
	first := s.put(t, item)
	second := s.put(t, item)
	if len(first.Refs) > 0 && len(second.Refs) > 0 && first.Refs[0] != second.Refs[0] {
		t.Errorf("refs %v and %v", first.Refs, second.Refs)
	}
	s.onlyOnce(t, item)
}

// onlyOnce: there is one copy of item, wherever that can be asked.
func (s *subject) onlyOnce(t *testing.T, item providers.Item) {
	t.Helper()
	n := 0
	for _, h := range s.search(t, item.Text, 20) {
		if s.has([]providers.Hit{h}, item) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("found %d copies", n)
	}
	if f, ok := s.Provider.(providers.Finder); ok {
		if hits, err := f.FindByID(t.Context(), item.ID); len(hits) != 1 || err != nil {
			t.Errorf("holds %v, %v", hits, err)
		}
	}
}

func (s *subject) replaces(t *testing.T) {
	if !s.is.Replaces {
		return
	}
	old, now := Item(31, "the anchor weighs forty pounds"), Item(31, "the anchor weighs fifty pounds")
	now.Version = vault.Version(strings.Repeat("f", 40))
	s.put(t, old)
	s.put(t, now)
	s.onlyOnce(t, now)
	for _, h := range s.search(t, "anchor pounds", 5) {
		if strings.Contains(h.Text, "forty") {
			t.Errorf("the old version is still found: %+v", h)
		}
	}
}

func (s *subject) batch(t *testing.T) {
	p, ok := s.Provider.(providers.BatchPutter)
	if !ok {
		return
	}
	var items []providers.Item
	for i := range 5 {
		items = append(items, Item(40+i, fmt.Sprint("batch of buoys number ", i)))
	}
	results := p.PutBatch(t.Context(), items)
	if len(results) != len(items) {
		t.Fatalf("%d results for %d items", len(results), len(items))
	}
	for i, r := range results {
		if got := s.settled(t, r.Receipt, r.Err); len(got.Refs) == 0 && got.State == journal.Stored && !s.is.Find {
			t.Errorf("item %d: no ref in %+v", i, got)
		}
	}
	hits := s.search(t, "batch of buoys", 20)
	for _, item := range items {
		if !s.has(hits, item) && !s.Extracts {
			t.Errorf("%q was not found", item.Text)
		}
	}
}

// refs are the names that the provider has for item.
func (s *subject) refs(t *testing.T, item providers.Item, r providers.Receipt) []providers.Ref {
	t.Helper()
	if len(r.Refs) > 0 {
		return r.Refs
	}
	f, ok := s.Provider.(providers.Finder)
	if !ok {
		t.Fatalf("no way to name what was put: %+v", r)
	}
	hits, err := f.FindByID(t.Context(), item.ID)
	if err != nil || len(hits) == 0 {
		t.Fatalf("find: %v, %v", hits, err)
	}
	return []providers.Ref{hits[0].Ref}
}

func (s *subject) delete(t *testing.T) {
	p, ok := s.Provider.(providers.Deleter)
	if !ok {
		return
	}
	item, other := Item(50, "the wreck lies east of the pier"), Item(51, "the pier is closed")
	r := s.put(t, item)
	s.put(t, other)
	refs := s.refs(t, item, r)
	for _, ref := range append(refs, refs...) { // what is not there is deleted too
		got, err := p.Delete(t.Context(), ref)
		if err != nil || got.State != journal.Deleted && got.State != journal.Accepted {
			t.Fatalf("delete %s: %+v, %v", ref, got, err)
		}
	}
	if hits := s.search(t, "wreck east pier", 10); s.has(hits, item) {
		t.Errorf("still found: %+v", hits)
	} else if !s.has(hits, other) {
		t.Errorf("another one is gone too: %+v", hits)
	}
}

func (s *subject) find(t *testing.T) {
	p, ok := s.Provider.(providers.Finder)
	if !ok {
		return
	}
	a, b := Item(60, "a red buoy"), Item(61, "a green buoy")
	s.put(t, a)
	s.put(t, b)
	hits, err := p.FindByID(t.Context(), a.ID, ID(69), b.ID)
	if err != nil || len(hits) != 2 {
		t.Fatalf("got %+v, %v", hits, err)
	}
	for _, h := range hits {
		s.checkHitName(t, h, a, b)
	}
	if hits, err := p.FindByID(t.Context(), ID(69)); len(hits) != 0 || err != nil {
		t.Errorf("what is not there: %+v, %v", hits, err)
	}
	if hits, err := p.FindByID(t.Context()); len(hits) != 0 || err != nil {
		t.Errorf("nothing asked: %+v, %v", hits, err)
	}
}

func (s *subject) checkHitName(t *testing.T, h providers.Hit, items ...providers.Item) {
	t.Helper()
	for _, i := range items {
		if h.ID == i.ID && h.Ref != "" && (h.Version == "" || h.Version == i.Version) {
			return
		}
	}
	t.Errorf("%+v is none of those that were put", h)
}

func (s *subject) list(t *testing.T) {
	p, ok := s.Provider.(providers.Lister)
	if !ok {
		return
	}
	want := map[string]bool{}
	for i := range 7 {
		item := Item(70+i, fmt.Sprint("listed buoy number ", i))
		s.put(t, item)
		want[item.ID] = true
	}
	seen, cursor := map[providers.Ref]bool{}, ""
	for page := 0; ; page++ {
		hits, next, err := p.List(t.Context(), cursor, 3)
		if err != nil || page > 20 {
			t.Fatalf("page %d: %v", page, err)
		}
		for _, h := range hits {
			if seen[h.Ref] {
				t.Errorf("%s comes twice", h.Ref)
			}
			seen[h.Ref] = true
			delete(want, h.ID)
		}
		if cursor = next; next == "" {
			break
		}
	}
	if len(seen) != 7 || s.is.Attribution && len(want) > 0 {
		t.Errorf("listed %d, missing %v", len(seen), want)
	}
}

func (s *subject) cleanup(t *testing.T) {
	p, ok := s.Provider.(providers.Cleaner)
	if !ok {
		return
	}
	old, kept := Item(80, "low water today"), Item(81, "low water every day")
	old.Expires = old.Created.Add(time.Hour)
	s.put(t, old)
	s.put(t, kept)
	if n, err := p.CleanupExpired(t.Context(), old.Created); n != 0 || err != nil {
		t.Errorf("before its time: %d, %v", n, err)
	}
	if n, err := p.CleanupExpired(t.Context(), old.Expires); n != 1 || err != nil {
		t.Errorf("at its time: %d, %v", n, err)
	}
	if hits := s.search(t, "low water", 5); s.has(hits, old) || !s.has(hits, kept) {
		t.Errorf("found %+v", hits)
	}
}

func (s *subject) purge(t *testing.T) {
	p, ok := s.Provider.(providers.Purger)
	if !ok {
		return
	}
	item := Item(90, "everything goes")
	s.put(t, item)
	s.put(t, Item(91, "this goes too"))
	if n, err := p.PurgeScope(t.Context()); n != -1 && n != 2 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if hits := s.search(t, "everything goes too", 5); len(hits) > 0 {
		t.Errorf("found %+v", hits)
	}
	if n, err := p.PurgeScope(t.Context()); n > 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
	s.put(t, item) // and it can be used again
}
