package providertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vademecum/providers"
	"vademecum/sync/journal"
	"vademecum/vault"
)

// Config says which provider Run is about.
type Config struct {
	// New returns a provider that holds nothing. Run closes it.
	New func(t *testing.T) providers.Provider
	// Extracts: what it gives back is not what was put. Then only what needs no
	// text is checked.
	Extracts bool
}

// Run is the suite of the contract in package providers.
func Run(t *testing.T, c Config) {
	for _, test := range []struct {
		name string
		run  func(*subject, *testing.T)
	}{
		{"Properties", (*subject).properties},
		{"Health", (*subject).health},
		{"FindsWhatWasPut", (*subject).roundTrip},
		{"Texts", (*subject).texts},
		{"Limit", (*subject).limit},
		{"SameKeyAgain", (*subject).again},
		{"AnotherVersion", (*subject).replaces},
		{"Batch", (*subject).batch},
		{"Delete", (*subject).delete},
		{"Find", (*subject).find},
		{"List", (*subject).list},
		{"Cleanup", (*subject).cleanup},
		{"Purge", (*subject).purge},
		{"Cancelled", (*subject).cancelled},
		{"ManyAtOnce", (*subject).manyAtOnce},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &subject{Provider: c.New(t), Config: c}
			s.is = providers.PropertiesOf(s.Provider)
			t.Cleanup(func() {
				if err := providers.Close(s.Provider); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			test.run(s, t)
		})
	}
}

// subject is the provider under test.
type subject struct {
	providers.Provider
	Config
	is providers.Properties
}

// ID returns the n-th id of the suite, a ULID.
func ID(n int) string { return fmt.Sprintf("01JDZ3M8%018d", n) }

// Item is the n-th item of the suite.
func Item(n int, text string) providers.Item {
	at := time.Date(2026, 11, 30, 16, 0, n%60, 0, time.UTC)
	return providers.Item{
		ID: ID(n), Version: vault.Version(fmt.Sprintf("%040x", 0xabc000+n)), Parts: 1, Vault: "01JDZ000000000000000000000",
		Title: fmt.Sprint("item ", n), Text: text, Type: vault.TypeDecision, Tier: vault.LTM, Tags: []string{"ci"},
		Workspace: "github.com/acme/app", Scope: vault.Scope{Type: "personal", ID: "me"},
		Origin: vault.Origin{User: "me", Agent: "codex", Host: "laptop"}, Created: at, Updated: at,
	}
}

// put hands over item and follows it to its end.
func (s *subject) put(t *testing.T, item providers.Item) providers.Receipt {
	t.Helper()
	r, err := s.Put(t.Context(), item)
	return s.settled(t, r, err)
}

func (s *subject) settled(t *testing.T, r providers.Receipt, err error) providers.Receipt {
	t.Helper()
	if err != nil {
		t.Fatalf("put: %v", err)
	}
	for range 20 {
		if r.State != journal.Accepted {
			break
		}
		if !s.is.Async || r.Handle == "" && !s.is.Find {
			t.Fatalf("accepted, and nobody can ask what became of it: %+v", r)
		}
		resolver, ok := s.Provider.(providers.Resolver)
		if !ok {
			return r
		}
		if r, err = resolver.Resolve(t.Context(), r); err != nil {
			t.Fatalf("resolve: %v", err)
		}
	}
	if r.State != journal.Stored && r.State != journal.Empty {
		t.Fatalf("put ended as %q, want %q or %q", r.State, journal.Stored, journal.Empty)
	}
	return r
}

func (s *subject) search(t *testing.T, text string, limit int) []providers.Hit {
	t.Helper()
	hits, err := s.Search(t.Context(), providers.Query{Text: text, Limit: limit})
	if err != nil {
		t.Fatalf("search %q: %v", text, err)
	}
	return hits
}

// has reports whether hits hold what was put as item.
func (s *subject) has(hits []providers.Hit, item providers.Item) bool {
	return slices.ContainsFunc(hits, func(h providers.Hit) bool {
		if s.is.Attribution {
			return h.ID == item.ID
		}
		return strings.Contains(h.Text, item.Text)
	})
}

func (s *subject) properties(t *testing.T) {
	p := s.Provider
	has := providers.Abilities(p)
	for name, pair := range map[string][2]bool{
		"Batch": {s.is.Batch, has.Batch}, "Delete": {s.is.Delete, has.Delete}, "Resolve": {s.is.Resolve, has.Resolve},
		"Find": {s.is.Find, has.Find}, "List": {s.is.List, has.List}, "Close": {s.is.Close, has.Close},
		"Cleanup": {s.is.Cleanup, has.Cleanup}, "PurgeAll": {s.is.PurgeAll, has.PurgeAll}, "Turns": {s.is.Turns, has.Turns},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: the properties say %v, the methods %v", name, pair[0], pair[1])
		}
	}
	if s.Name() == "" {
		t.Error("no name")
	}
	if s.is.Kind == "" || s.is.Score == "" {
		t.Errorf("kind %q, score %q", s.is.Kind, s.is.Score)
	}
	if s.is.Batch && s.is.MaxBatch == 1 {
		t.Error("batches of one")
	}
}

func (s *subject) health(t *testing.T) {
	if _, err := s.Health(t.Context()); err != nil {
		t.Error(err)
	}
}

func (s *subject) roundTrip(t *testing.T) {
	if hits := s.search(t, "anything", 5); len(hits) != 0 {
		t.Errorf("the empty one found %v", hits)
	}
	tide, port := Item(1, "The tide tables are published every morning at seven"), Item(2, "Port 8443 belongs to the gateway")
	s.put(t, tide)
	s.put(t, port)
	hits := s.search(t, "when are the tide tables published?", 5)
	if len(hits) == 0 || !s.has(hits, tide) {
		t.Fatalf("did not find it: %+v", hits)
	}
	if !s.Extracts && !s.has(hits[:1], tide) && s.is.Score != providers.Distance {
		t.Errorf("the better one is not first: %+v", hits)
	}
	for _, h := range hits {
		s.checkHit(t, h, tide, port)
	}
}

func (s *subject) checkHit(t *testing.T, h providers.Hit, items ...providers.Item) {
	t.Helper()
	if h.Ref == "" {
		t.Errorf("a hit without a name: %+v", h)
	}
	if h.Score != nil && s.is.Score == providers.Unscored {
		t.Errorf("a score from one that has none: %+v", h)
	}
	i := slices.IndexFunc(items, func(i providers.Item) bool { return i.ID == h.ID })
	if i < 0 {
		if s.is.Attribution {
			t.Errorf("whose is %+v?", h)
		}
		return
	}
	if h.Version != "" && h.Version != items[i].Version {
		t.Errorf("version %s, want %s", h.Version, items[i].Version)
	}
	if s.is.Verbatim && !s.Extracts && strings.TrimSpace(h.Text) != strings.TrimSpace(items[i].Text) {
		t.Errorf("text %q, want %q", h.Text, items[i].Text)
	}
}

// texts: what people write comes back as it was.
func (s *subject) texts(t *testing.T) {
	long := "lighthouse " + strings.Repeat("The keeper notes the weather of every watch. ", 60)
	if m := s.is.MaxItemBytes; m > 0 && len(long) > m {
		long = long[:m]
	}
	for i, test := range []struct{ text, query string }{
		{"배포는 GitHub Actions로만 한다", "배포는 GitHub Actions로만 한다"},
		{"本番へのデプロイは金曜日に行わない", "本番へのデプロイは金曜日に行わない"},
		{"数据库每天备份一次 🗄️ – “quoted” <b>&amp;</b>", "数据库每天备份一次"},
		{"first line\nsecond: \\ \" ' \t tab\n\n- a list\n", "second list line"},
		{"carriage returns\r\nof another machine", "carriage returns machine"},
		{"--- * (anchor) OR NOT NEAR \"unbalanced", "anchor OR NOT NEAR \"unbalanced ( *"},
		{strings.TrimSpace(long), "lighthouse keeper"},
	} {
		item := Item(10+i, test.text)
		s.put(t, item)
		hits := s.search(t, test.query, 20)
		at := slices.IndexFunc(hits, func(h providers.Hit) bool { return s.has([]providers.Hit{h}, item) })
		if at < 0 && !s.Extracts {
			t.Errorf("%.40q was not found by %q", test.text, test.query)
		} else if at >= 0 {
			s.checkHit(t, hits[at], item)
		}
	}
}

func (s *subject) limit(t *testing.T) {
	for i := range 6 {
		s.put(t, Item(20+i, fmt.Sprint("harbour note number ", i)))
	}
	for _, limit := range []int{1, 3} {
		if hits := s.search(t, "harbour note", limit); len(hits) > limit || len(hits) == 0 {
			t.Errorf("asked for %d, got %d", limit, len(hits))
		}
	}
}

func (s *subject) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	_, err := s.Search(ctx, providers.Query{Text: "tide", Limit: 1})
	_, putErr := s.Put(ctx, Item(95, "too late"))
	for _, err := range []error{err, putErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want it cancelled", err)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}

func (s *subject) manyAtOnce(t *testing.T) {
	const n = 8
	errs := make(chan error, 2*n)
	for i := range n {
		go func() {
			_, err := s.Put(t.Context(), Item(100+i, fmt.Sprint("at once number ", i)))
			errs <- err
		}()
		go func() {
			_, err := s.Search(t.Context(), providers.Query{Text: "at once", Limit: 3})
			errs <- err
		}()
	}
	for range 2 * n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
