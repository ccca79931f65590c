package providers_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vademecum/providers"
	"vademecum/sync/journal"
	"vademecum/vault"
)

// shop is a provider that keeps a copy of whatever it is given, as most do. It
// can be asked nothing; more come with asked and kept.
type shop struct {
	name string
	is   providers.Properties
	// onPut decides about each put, before it is kept; nil keeps all.
	onPut func(ctx context.Context, item providers.Item) error

	mu     sync.Mutex
	next   int
	copies []copied
	calls  []string
}

type copied struct {
	ref  providers.Ref
	item providers.Item
}

func (s *shop) Name() string { return s.name }

func (s *shop) Properties() providers.Properties { return s.is }

func (s *shop) Health(context.Context) (h providers.Health, err error) { return h, nil }

func (s *shop) Search(context.Context, providers.Query) ([]providers.Hit, error) { return nil, nil }

func (s *shop) called(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *shop) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	s.called("put %s", item.Text)
	if s.onPut != nil {
		if err := s.onPut(ctx, item); err != nil {
			return providers.Receipt{}, err
		}
	}
	return providers.Receipt{State: journal.Stored, Refs: []providers.Ref{s.keep(item)}}, nil
}

func (s *shop) keep(item providers.Item) providers.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	ref := providers.Ref(fmt.Sprint(s.name, s.next))
	s.copies = append(s.copies, copied{ref, item})
	return ref
}

// texts are the copies, "text" each, sorted.
func (s *shop) texts() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, c := range s.copies {
		list = append(list, c.item.Text)
	}
	slices.Sort(list)
	return strings.Join(list, " | ")
}

// took is what it was called with since the last time.
func (s *shop) took() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	said := strings.Join(s.calls, " | ")
	s.calls = nil
	return said
}

// kept is a shop that deletes.
type kept struct{ *shop }

func newKept(name string) kept {
	return kept{&shop{name: name, is: providers.Properties{Delete: true}}}
}

func (s kept) Delete(_ context.Context, ref providers.Ref) (providers.Receipt, error) {
	s.called("delete %s", ref)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copies = slices.DeleteFunc(s.copies, func(c copied) bool { return c.ref == ref })
	return providers.Receipt{State: journal.Deleted}, nil
}

// asked is a shop that deletes and can be asked.
type asked struct{ kept }

func newAsked(name string) asked {
	return asked{kept{&shop{name: name, is: providers.Properties{Delete: true, Find: true, List: true, Attribution: true}}}}
}

func (s asked) FindByID(_ context.Context, ids ...string) ([]providers.Hit, error) {
	s.called("find %d", len(ids))
	s.mu.Lock()
	defer s.mu.Unlock()
	var hits []providers.Hit
	for _, c := range s.copies {
		if slices.Contains(ids, c.item.ID) {
			hits = append(hits, c.hit())
		}
	}
	return hits, nil
}

func (c copied) hit() providers.Hit {
	h := providers.Hit{Ref: c.ref, Text: c.item.Text}
	h.Identify(c.item.Metadata())
	return h
}

func (s asked) List(context.Context, string, int) ([]providers.Hit, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var hits []providers.Hit
	for _, c := range s.copies {
		hits = append(hits, c.hit())
	}
	return hits, "", nil
}

// rig is a vault with an outbox.
type rig struct {
	*providers.Outbox
	t       *testing.T
	dir     string
	host    string
	notices []string
	told    map[string]bool // commits that another host has
}

func newRig(t *testing.T, list ...providers.Provider) *rig {
	t.Helper()
	return openRig(t, filepath.Join(t.TempDir(), "todd"), "laptop", list...)
}

func openRig(t *testing.T, dir, host string, list ...providers.Provider) *rig {
	t.Helper()
	r := &rig{t: t, dir: dir, host: host}
	v, err := vault.Open(vault.Options{Dir: dir, Identity: "todd", Origin: vault.Origin{Host: host}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	r.Outbox = &providers.Outbox{
		Vault: v, Journal: journal.Open(filepath.Join(dir, "journal"), journal.Options{Jitter: func() float64 { return 1 }}),
		Dir: filepath.Join(dir, "providers"), Gates: providers.OpenGates(filepath.Join(dir, "providers"), time.Now),
		Notice: func(text string) { r.notices = append(r.notices, text) },
	}
	for _, p := range list {
		r.Targets = append(r.Targets, providers.Target{Provider: p, Fingerprint: "f"})
	}
	r.try(r.Follow(t.Context()))
	return r
}

func (r *rig) try(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// remember keeps text and returns its id.
func (r *rig) remember(text string) string {
	r.t.Helper()
	return r.draft(vault.Memory{Body: text})
}

func (r *rig) draft(m vault.Memory) string {
	r.t.Helper()
	time.Sleep(time.Millisecond) // ids are in the order of their making
	got, err := r.Vault.Put(r.t.Context(), vault.Draft{Memory: m})
	r.try(err)
	return string(got.ID)
}

func (r *rig) edit(id, text string) {
	r.t.Helper()
	_, err := r.Vault.Edit(r.t.Context(), vault.Ref(id), vault.Edit{Title: &text, Body: &text})
	r.try(err)
}

func (r *rig) forget(id string) {
	r.t.Helper()
	_, err := r.Vault.Forget(r.t.Context(), vault.Ref(id), "")
	r.try(err)
}

// round catches up and delivers.
func (r *rig) round() providers.Delivered {
	r.t.Helper()
	r.try(r.CatchUp(r.t.Context()))
	d, err := r.Deliver(r.t.Context())
	r.try(err)
	return d
}

// drain delivers until nothing is due within the time that it may take.
func (r *rig) drain(patience time.Duration) {
	r.t.Helper()
	end := time.Now().Add(patience)
	for d := r.round(); !d.Next.IsZero() && d.Next.Before(end); d = r.round() {
		time.Sleep(time.Until(d.Next))
	}
}

// states are the deliveries to name, "state" or "state: error", by age.
func (r *rig) states(name string) string {
	r.t.Helper()
	list, err := r.Journal.Deliveries()
	r.try(err)
	var said []string
	for _, d := range list {
		if d.To == name {
			said = append(said, string(d.State))
		}
	}
	return strings.Join(said, " ")
}

func (r *rig) same(what, got, want string) {
	r.t.Helper()
	if got != want {
		r.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}
