package providers_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"vademecum/index/eval"
	"vademecum/providers"
	"vademecum/vault"
)

// collections is for measuring with sets that are not ours:
//
//	go test ./providers -run MixedSet -v -args -collections DIR
var collections = flag.String("collections", "", "folder of BEIR collections for TestMixedSet")

// TestMixedSet: the answers are spread over the vault and three providers, of
// which one scores everything alike and one scores distances, worst first.
func TestMixedSet(t *testing.T) {
	sets := []*eval.Collection{services()}
	if *collections != "" {
		dirs, err := eval.Find(*collections)
		if err != nil {
			t.Fatal(err)
		}
		sets = nil
		for _, dir := range dirs {
			c, err := eval.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			sets = append(sets, c)
		}
	}
	for _, c := range sets {
		t.Run(c.Set, func(t *testing.T) { newMixed(t, c).check(t) })
	}
}

// mixed is a collection whose documents are at different places.
type mixed struct {
	*eval.Collection
	texts map[string]string
	place map[string]int
	found [4]eval.Run // by place, 0 being the vault
}

func newMixed(t *testing.T, c *eval.Collection) *mixed {
	m := &mixed{Collection: c, texts: map[string]string{}, place: map[string]int{}}
	var parts [4]eval.Collection
	for i, d := range c.Docs {
		at := i % 4
		d.Metadata.Session = "" // a document is a memory here
		m.place[d.ID], m.texts[d.ID] = at, d.Title+"\n"+d.Text
		parts[at].Docs = append(parts[at].Docs, d)
	}
	for at := range parts {
		parts[at].Queries = c.Queries
		run, err := parts[at].Answers(t.Context(), t.TempDir(), eval.Depth, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		m.found[at] = run
	}
	return m
}

func (m *mixed) check(t *testing.T) {
	fused := eval.Run{}
	for _, q := range m.Queries {
		fused[q.ID] = m.recall(t, q)
	}
	all := m.recallAt5(fused, nil)
	best := 0.0
	var singles []string
	for _, run := range m.found {
		r := m.recallAt5(run, nil)
		best = max(best, r)
		singles = append(singles, fmt.Sprintf("%.3f", r))
	}
	inVault := func(doc string) bool { return m.place[doc] == 0 }
	alone, with := m.recallAt5(m.found[0], inVault), m.recallAt5(fused, inVault)
	t.Logf("recall@5: fused %.3f, vault and providers alone %s; of what the vault holds %.3f, alone %.3f", all, strings.Join(singles, " "), with, alone)
	if all < best {
		t.Errorf("fused %.3f is worse than the best list %.3f", all, best)
	}
	if *collections == "" && with < alone {
		t.Errorf("of what the vault holds, fused finds %.3f and the vault alone %.3f", with, alone)
	}
}

// recallAt5 is the mean share of the answers that count which are among the
// first five.
func (m *mixed) recallAt5(r eval.Run, counts func(doc string) bool) float64 {
	sum, n := 0.0, 0
	for _, q := range m.Queries {
		gold := maps.Clone(m.Gold[q.ID])
		maps.DeleteFunc(gold, func(doc string, _ int) bool { return counts != nil && !counts(doc) })
		if len(gold) > 0 {
			sum += eval.Measure(r[q.ID], gold).Recall5
			n++
		}
	}
	return sum / float64(max(n, 1))
}

func (m *mixed) recall(t *testing.T, q eval.Query) []eval.Found {
	r := &providers.Router{}
	for at, kind := range []providers.ScoreKind{1: providers.Similarity, 2: providers.Similarity, 3: providers.Distance} {
		if at == 0 {
			continue
		}
		var hits []providers.Hit
		for rank, f := range m.found[at][q.ID][:min(9, len(m.found[at][q.ID]))] { // as many as a recall of five asks for
			score := f.Score
			switch at {
			case 2:
				score = 1
			case 3:
				score = 1 / (1 + f.Score)
			}
			h := providers.Hit{Ref: providers.Ref(f.ID), Text: m.texts[f.ID], Score: &score}
			if hits = append(hits, h); at == 3 && rank > 0 {
				copy(hits[1:], hits) // the worst comes first
				hits[0] = h
			}
		}
		r.Sources = append(r.Sources, providers.Source{Provider: found{fmt.Sprint("p", at), kind, hits}})
	}
	a, err := r.Recall(t.Context(), providers.Query{Text: q.Text, Limit: 5}, mixedVault{m, q})
	if err != nil {
		t.Fatal(err)
	}
	var list []eval.Found
	for _, h := range a.Hits {
		list = append(list, eval.Found{ID: firstOf(h.Ref, h.Path)})
	}
	return list
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// found is a provider that found these hits.
type found struct {
	name string
	kind providers.ScoreKind
	hits []providers.Hit
}

func (f found) Name() string { return f.name }

func (f found) Health(context.Context) (h providers.Health, err error) { return h, nil }

func (f found) Properties() providers.Properties { return providers.Properties{Score: f.kind} }

func (f found) Put(context.Context, providers.Item) (r providers.Receipt, err error) { return r, nil }

func (f found) Search(_ context.Context, q providers.Query) ([]providers.Hit, error) {
	return f.hits[:min(len(f.hits), q.Limit)], nil
}

type mixedVault struct {
	m *mixed
	q eval.Query
}

func (v mixedVault) Search(context.Context) ([]vault.Hit, error) {
	var hits []vault.Hit
	for _, f := range v.m.found[0][v.q.ID][:min(5, len(v.m.found[0][v.q.ID]))] {
		hits = append(hits, vault.Hit{Path: f.ID, Text: v.m.texts[f.ID], Providers: []string{"vault"}})
	}
	return hits, nil
}

func (v mixedVault) Look(string) (*vault.Hit, providers.Fate) { return nil, providers.Unknown }

// services is a collection of facts that differ in a word or two, and questions
// that put them in other words.
func services() *eval.Collection {
	c := &eval.Collection{Set: "services", Gold: map[string]map[string]int{}}
	names := strings.Fields("billing checkout ledger search gallery mailer notifier scheduler gateway indexer thumbnailer importer exporter auditor reporter archiver")
	facts := []struct{ fact, question string }{
		{"The %s service retries a failed request %d times before it gives up", "how often does %s try again when a request fails?"},
		{"Deploys of %s need an approval by %d people of the platform team", "who has to approve a deploy of %s?"},
		{"The database of %s is backed up every %d hours to cold storage", "when is the %s database backed up?"},
		{"Logs of %s are kept for %d days and then deleted", "how long do we keep %s logs?"},
		{"The rate limit of %s is %d requests per second for each tenant", "what rate limit has %s?"},
		{"%s listens on port %d behind the internal proxy", "which port does %s listen on?"},
		{"Feature flags of %s are read from the config service every %d seconds", "where do the feature flags of %s come from?"},
		{"The on-call rotation for %s changes after %d days, on Monday", "when does the on-call for %s change?"},
	}
	for i, name := range names {
		for k, f := range facts {
			id := fmt.Sprintf("%s-%d", name, k)
			d := eval.Doc{ID: id, Text: fmt.Sprintf(f.fact, name, 3+(i*7+k*5)%40)}
			c.Docs = append(c.Docs, d)
			c.Queries = append(c.Queries, eval.Query{ID: id, Text: fmt.Sprintf(f.question, name)})
			c.Gold[id] = map[string]int{id: 1}
		}
	}
	slices.SortFunc(c.Docs, func(a, b eval.Doc) int { return strings.Compare(a.Text, b.Text) }) // so that each place has some of all
	return c
}
