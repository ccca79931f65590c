package providers

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vademecum/sync/journal"
	"vademecum/vault"
)

// Verified says how a provider differs from the vault.
type Verified struct {
	Checked int `json:"checked"` // memories that it should have
	OK      int `json:"ok"`
	Owed    int `json:"owed"` // not looked at: their delivery is on its way
	// Unverifiable: there is no way to ask the provider; what it has by its own
	// receipts is in OK all the same.
	Unverifiable int      `json:"unverifiable"`
	Missing      []string `json:"missing"`  // ids
	Stale        []string `json:"stale"`    // it has another version, not all parts, or more than one copy
	Orphaned     []string `json:"orphaned"` // it has what it should not have, or not any more
	Mending      int      `json:"mending"`  // deliveries that were queued
}

// mendWait is how long to wait for who delivers to the provider, before the
// book can be mended.
const mendWait = 10 * time.Second

// Verify asks the provider called name for n memories that it should have, evenly
// spread over the vault; n <= 0: for all, and what else it has. With mend it
// queues what puts it right.
func (o *Outbox) Verify(ctx context.Context, name string, n int, mend bool) (Verified, error) {
	v := Verified{Missing: []string{}, Stale: []string{}, Orphaned: []string{}}
	t, err := o.target(name)
	if err != nil {
		return v, err
	}
	if err := o.CatchUp(ctx); err != nil {
		return v, err
	}
	if err := o.lane(t).verify(ctx, n, mend, &v); err != nil {
		return v, fmt.Errorf("verify %s: %w", name, err)
	}
	return v, nil
}

// check is one verification.
type check struct {
	*lane
	v      *Verified
	should map[string]*vault.Memory
	hits   map[string][]Hit
}

func (l *lane) verify(ctx context.Context, n int, mend bool, v *Verified) error {
	should, err := l.o.should(l.t)
	if err != nil {
		return err
	}
	c := &check{lane: l, v: v, should: should}
	ids, err := c.settled(spread(slices.Sorted(maps.Keys(should)), n))
	if err != nil {
		return err
	}
	v.Checked = len(ids)
	can, err := c.askFor(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if can {
			c.compare(id)
		} else {
			c.byBook(id)
		}
	}
	if can && n <= 0 {
		if err := c.orphans(ctx); err != nil {
			return err
		}
	}
	if mend {
		return c.mend(ctx)
	}
	return nil
}

// spread is n of ids, evenly spread; n <= 0: all.
func spread(ids []string, n int) []string {
	if n <= 0 || n >= len(ids) {
		return ids
	}
	list := make([]string, n)
	for i := range list {
		list[i] = ids[i*len(ids)/n]
	}
	return list
}

// settled is ids without those of which something is on its way.
func (c *check) settled(ids []string) ([]string, error) {
	var list []string
	for _, id := range ids {
		owed, err := c.o.Journal.Owed(c.name, id)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(owed, func(d journal.Delivery) bool { return d.State != journal.Dead }) {
			c.v.Owed++
			continue
		}
		list = append(list, id)
	}
	return list, nil
}

// askFor asks the provider what it has of ids; can is false where it cannot be
// asked.
func (c *check) askFor(ctx context.Context, ids []string) (can bool, err error) {
	f, finds := c.p.(Finder)
	_, lists := c.p.(Lister)
	switch {
	case finds:
		c.hits, err = c.findAll(ctx, f, ids)
		return true, err
	case lists && c.is.Attribution:
		c.hits, err = c.list(ctx)
		return true, err
	}
	return false, nil
}

func (c *check) findAll(ctx context.Context, f Finder, ids []string) (map[string][]Hit, error) {
	all := map[string][]Hit{}
	for chunk := range slices.Chunk(ids, pageSize) {
		var hits []Hit
		err := c.call(ctx, "find", func(ctx context.Context) (err error) {
			hits, err = f.FindByID(ctx, chunk...)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if c.ours(&h) {
				all[h.ID] = append(all[h.ID], h)
			}
		}
	}
	return all, nil
}

// compare tells whether the provider has exactly what it should of id.
func (c *check) compare(id string) {
	m, hits := c.should[id], c.hits[id]
	if len(hits) == 0 {
		c.v.Missing = append(c.v.Missing, id)
		return
	}
	parts := 1
	if whole, err := c.o.memory(m.Path, m.Version); err == nil {
		parts = len(items(c.p, c.is, c.o.Vault.Config().VaultID, whole))
	}
	has := map[int]int{}
	for _, h := range hits {
		if h.Version == m.Version || h.Version == "" {
			has[h.Part]++
		}
	}
	if len(has) == parts && len(hits) == parts {
		c.v.OK++
		return
	}
	c.v.Stale = append(c.v.Stale, id)
}

// byBook is what can be said of id without asking.
func (c *check) byBook(id string) {
	c.v.Unverifiable++
	if e, ok := c.book.Of(id); ok && e.Version == c.should[id].Version {
		c.v.OK++
	} else if ok {
		c.v.Stale = append(c.v.Stale, id)
	} else {
		c.v.Missing = append(c.v.Missing, id)
	}
}

// orphans finds what the provider has and should not have: by its list, else
// by what the book says it had.
func (c *check) orphans(ctx context.Context) error {
	all := map[string][]Hit{}
	var err error
	if _, ok := c.p.(Lister); ok && c.is.Attribution {
		all, err = c.list(ctx)
	} else if f, ok := c.p.(Finder); ok {
		var entries []Entry
		if entries, err = c.book.All(); err != nil {
			return err
		}
		var ids []string
		for _, e := range entries {
			if c.should[e.ID] == nil {
				ids = append(ids, e.ID)
			}
		}
		all, err = c.findAll(ctx, f, ids)
	}
	if err != nil {
		return err
	}
	var ids []string
	for id, hits := range all {
		_, known := c.book.Of(id)
		if c.should[id] == nil && (known || hits[0].Vault != "") {
			ids = append(ids, id)
		}
		c.hits[id] = hits
	}
	slices.Sort(ids)
	c.v.Orphaned, err = c.settled(ids)
	return err
}

// mend queues what puts right what was found. The book forgets that the
// provider has what it has not.
func (c *check) mend(ctx context.Context) error {
	if len(c.v.Missing)+len(c.v.Stale)+len(c.v.Orphaned) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(c.o.Dir, c.name), 0o700); err != nil {
		return err
	}
	unlock, err := vault.LockPath(ctx, c.o.file(c.name, "lock"), mendWait)
	if err != nil {
		return err
	}
	defer unlock()
	var owed []journal.Delivery
	var entries []*Entry
	again := map[string]bool{}
	for _, id := range slices.Concat(c.v.Missing, c.v.Stale) {
		e, _ := c.book.Of(id)
		stale := e.all()
		for _, h := range c.hits[id] {
			stale = append(stale, h.Ref)
		}
		if len(stale) > 0 || e.Version != "" {
			entries = append(entries, &Entry{ID: id, Stale: without(stale, nil)})
		}
		again[id] = true
		owed = append(owed, putting(c.t, id, c.should[id]))
	}
	for _, id := range c.v.Orphaned {
		d := c.o.deletion(c.t, id, "orphan", id)
		d.Unsure = true
		for _, h := range c.hits[id] {
			d.Parts = append(d.Parts, journal.Part{Refs: []string{string(h.Ref)}})
		}
		owed = append(owed, d)
	}
	if err := c.book.write(entries...); err != nil {
		return err
	}
	if err := c.o.Journal.Queue(ctx, owed...); err != nil {
		return err
	}
	// What is dead stays so when it is queued; here somebody asked for it.
	if _, err := c.o.Journal.Retry(ctx, func(d journal.Delivery) bool { return d.To == c.name && again[d.Group] }); err != nil {
		return err
	}
	c.v.Mending = len(owed)
	return nil
}
