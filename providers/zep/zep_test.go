package zep

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vademecum/providers"
	"vademecum/providers/providertest"
	"vademecum/sync/journal"
)

func open(t testing.TB, c Config) *Provider {
	t.Helper()
	c.Key = "z_test"
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*Provider)
}

func TestSuite(t *testing.T) {
	for name, c := range map[string]Config{
		"own graph": {}, "user": {User: "u1"}, "graph, cross encoder": {Graph: "team", Reranker: "cross_encoder"},
		"v4": {User: "u1", Dialect: "v4"}, "v4, cross encoder": {User: "u1", Dialect: "v4", Reranker: "cross_encoder"},
	} {
		t.Run(name, func(t *testing.T) {
			providertest.Run(t, providertest.Config{New: func(t *testing.T) providers.Provider {
				c := c
				_, c.BaseURL = newService(t)
				return open(t, c)
			}})
		})
	}
}

// around answers where a graph of dialect v4 is: where its name says.
func around(r *http.Request, body []byte) (int, string) {
	if r.URL.Path != "/graphs/lookup" && r.URL.Path != "/users/lookup" {
		return 0, ""
	}
	var w whose
	if json.Unmarshal(body, &w) != nil {
		return 400, `{}`
	}
	return 200, fmt.Sprintf(`{"uuid":%q}`, w.GraphID+w.UserID)
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]providertest.FaultConfig{
		"v3": {
			Search:      `{"episodes":[{"uuid":"e1","content":"the tide is high","relevance":0.5}]}`,
			Put:         `{"uuid":"e1","processed":false}`,
			ScoreAnswer: `{"episodes":[{"uuid":"e1","content":"the tide is high","relevance":%s}]}`,
		},
		"v4": {
			Search:      `{"items":[{"uuid":"e1","content":"the tide is high","relevance":0.5}],"next_cursor":null}`,
			Put:         `{"episode":{"uuid":"e1","processed":false}}`,
			ScoreAnswer: `{"items":[{"uuid":"e1","content":"the tide is high","relevance":%s}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.Delete, c.Ref, c.Around = `{"message":"Episode deleted"}`, "e1", around
			c.New = func(t *testing.T, url string, transport http.RoundTripper) providers.Provider {
				c := Config{BaseURL: url, Transport: transport, Dialect: name, Reranker: "cross_encoder"}
				if name == "v4" {
					c.Graph = graphUUID
				}
				return open(t, c)
			}
			providertest.Faults(t, c)
		})
	}
}

const uuid = "7c0f2f2e-1f6c-4b1b-8a80-0d2f0f6a1c11"

func found1(ref providers.Ref, score float64) func(*testing.T, providers.Provider) {
	return func(t *testing.T, p providers.Provider) {
		hits, err := p.Search(t.Context(), providers.Query{Text: "release day", Limit: 10})
		if err != nil || len(hits) == 0 {
			t.Fatal(hits, err)
		}
		want := providers.Hit{Ref: ref, ID: "01J1", Text: "Releases ship on Tuesdays", Score: &score, Created: hits[0].Created}
		if diff := cmp.Diff(want, hits[0]); diff != "" {
			t.Error(diff)
		}
	}
}

func puts(uuid string) func(*testing.T, providers.Provider) {
	return func(t *testing.T, p providers.Provider) {
		r, err := p.Put(t.Context(), providertest.Item(1, "Releases ship on Tuesdays"))
		if err != nil || r.State != journal.Accepted || r.Handle != uuid || !slices.Equal(r.Refs, []providers.Ref{providers.Ref(uuid)}) {
			t.Errorf("got %+v, %v", r, err)
		}
	}
}

func deleted(ref providers.Ref) func(*testing.T, providers.Provider) {
	return func(t *testing.T, p providers.Provider) {
		if r, err := p.(providers.Deleter).Delete(t.Context(), ref); err != nil || r.State != journal.Deleted {
			t.Errorf("got %+v, %v", r, err)
		}
	}
}

func TestFixtures(t *testing.T) {
	providertest.Fixtures(t, providertest.FixtureConfig{
		Dir: "testdata/fixtures", Spec: "testdata/zep-v3.json",
		New: func(t *testing.T, url string) providers.Provider {
			c := Config{BaseURL: url, User: "u1"}
			if strings.Contains(t.Name(), "cross_encoder") {
				c.Reranker = "cross_encoder"
			}
			if strings.Contains(t.Name(), "edges") {
				c.User, c.Graph, c.Facts = "", "vault-1", true
			}
			if strings.Contains(t.Name(), "/v4_") {
				c = Config{BaseURL: url, Graph: "{graph_uuid}", Dialect: "v4", Reranker: "cross_encoder"}
			}
			if strings.Contains(t.Name(), "invalid_identifier") {
				c.Graph = "my-old-graph-id"
			}
			if strings.Contains(t.Name(), "user_lookup") {
				c.User, c.Graph = "u1", ""
			}
			return open(t, c)
		},
		Plays: map[string]func(*testing.T, providers.Provider){
			"add_episode": puts(uuid),
			"user_add": func(t *testing.T, p providers.Provider) {
				if _, err := p.Put(t.Context(), providertest.Item(1, "x")); !missing(err) {
					t.Errorf("got %v", err) // the graph stays away: once is enough
				}
			},
			"get_episode_processed": func(t *testing.T, p providers.Provider) {
				r, err := p.(providers.Resolver).Resolve(t.Context(), providers.Receipt{State: journal.Accepted, Handle: uuid, Refs: []providers.Ref{uuid}})
				if err != nil || r.State != journal.Stored || r.Refs[0] != uuid {
					t.Errorf("got %+v, %v", r, err)
				}
			},
			"delete_episode": deleted(uuid),
			"error_404":      deleted("missing"),
			"ping_project_info": func(t *testing.T, p providers.Provider) {
				if _, err := p.Health(t.Context()); err != nil {
					t.Error(err)
				}
			},
			"search_episodes_rrf":           found1(uuid, 1),
			"search_episodes_cross_encoder": found1(uuid, 0.83),
			"search_empty": func(t *testing.T, p providers.Provider) {
				if hits, err := p.Search(t.Context(), providers.Query{Text: "nothing", Limit: 10}); err != nil || len(hits) != 0 {
					t.Error(hits, err)
				}
			},
			"search_edges": func(t *testing.T, p providers.Provider) {
				hits, err := p.Search(t.Context(), providers.Query{Text: "release day", Limit: 5})
				if err != nil || len(hits) != 1 || hits[0].Ref != uuid || hits[0].Text != "Releases ship on Tuesdays" {
					t.Errorf("got %+v, %v", hits, err)
				}
			},
			"error_429_plaintext": func(t *testing.T, p providers.Provider) {
				_, err := p.Search(t.Context(), providers.Query{Text: "q", Limit: 1})
				if !providers.Is(err, providers.RateLimited) || providers.RetryAfter(err) != time.Minute {
					t.Errorf("got %v", err)
				}
			},
			"v4_add_episode":     puts("e1"),
			"v4_search_episodes": found1("e1", 0.83),
			"v4_error_invalid_identifier": func(t *testing.T, p providers.Provider) {
				_, err := p.Put(t.Context(), providertest.Item(1, "x"))
				if !providers.Terminal(err) || !strings.Contains(err.Error(), "invalid_identifier") {
					t.Errorf("got %v", err)
				}
			},
			"v4_user_lookup": func(t *testing.T, p providers.Provider) {
				if h, err := p.Health(t.Context()); err != nil || len(h.Warnings) != 1 {
					t.Error(h, err)
				}
			},
		},
		Skip: map[string]string{
			"add_batch_deprecated":         "the service gave it up; one episode after the other",
			"error_metadata_too_many_keys": "a mistake",
			"error_two_targets":            "a mistake, which New refuses",
		},
		Around: func(r *http.Request, body []byte) (int, string) {
			if r.Method == http.MethodPost && r.URL.Path == "/graph" { // around user_add
				return http.StatusNotFound, `{"message":"user not found"}`
			}
			return around(r, body)
		},
	})
}

// What is asked by listing is in the document too.
func TestListsAreWhatTheDocumentAllows(t *testing.T) {
	providertest.Fixtures(t, providertest.FixtureConfig{
		Dir: "testdata/lists", Spec: "testdata/zep-v3.json",
		New: func(t *testing.T, url string) providers.Provider {
			if strings.Contains(t.Name(), "user") {
				return open(t, Config{BaseURL: url, User: "u1"})
			}
			return open(t, Config{BaseURL: url, Graph: "vault-1"})
		},
		Plays: map[string]func(*testing.T, providers.Provider){
			"find_in_graph": func(t *testing.T, p providers.Provider) {
				hits, err := p.(providers.Finder).FindByID(t.Context(), "01J1", "01J2")
				if err != nil || len(hits) != 1 || hits[0].Ref != uuid {
					t.Errorf("got %+v, %v", hits, err) // the second of the answer has another id
				}
			},
			"list_of_user": func(t *testing.T, p providers.Provider) {
				hits, next, err := p.(providers.Lister).List(t.Context(), "c1", 500)
				if err != nil || len(hits) != 1 || next != "c2" {
					t.Errorf("got %+v, %q, %v", hits, next, err)
				}
			},
		},
	})
}

func TestTheUserIsMadeOnce(t *testing.T) {
	for _, strange := range []bool{false, true} {
		s, url := newService(t)
		s.strange = strange
		p := open(t, Config{BaseURL: url, User: "u1"})
		for n := range 3 {
			if _, err := p.Put(t.Context(), providertest.Item(n, "text")); err != nil {
				t.Fatal(err)
			}
		}
		if s.made != 1 || len(s.list) != 3 || s.about["user_id"] != "u1" || s.about["disable_default_ontology"] != true {
			t.Errorf("made %d, %+v, holds %s", s.made, s.about, s.names())
		}
	}
}

func TestAKeyThatIsRefusedMakesNothing(t *testing.T) {
	s, url := newService(t)
	p, err := New(Config{BaseURL: url, Key: "other-key", User: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Put(t.Context(), providertest.Item(1, "x")); !providers.Is(err, providers.Auth) || s.made != 0 {
		t.Error(err, s.made)
	}
}

func TestOnlyWhatVadeMadeIsDeletedWhole(t *testing.T) {
	for _, dialect := range []string{"v3", "v4"} {
		s, url := newService(t)
		s.about = map[string]any{"user_id": "u1"} // somebody else made it
		s.list = []episode{{UUID: "theirs", Content: "their tide", Metadata: map[string]any{"a": 1}}}
		p := open(t, Config{BaseURL: url, User: "u1", Dialect: dialect})
		for n := range maxLimit + 2 {
			if _, err := p.Put(t.Context(), providertest.Item(n, "text")); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := p.PurgeScope(t.Context()); err != nil || n != maxLimit+2 || len(s.list) != 1 || s.list[0].UUID != "theirs" {
			t.Errorf("%s: %d, %v, left %d", dialect, n, err, len(s.list))
		}
	}
}

func TestDeletionsOfV4AreFollowed(t *testing.T) {
	_, url := newService(t)
	p := open(t, Config{BaseURL: url, User: "u1", Dialect: "v4"})
	put, err := p.Put(t.Context(), providertest.Item(1, "text"))
	if err != nil {
		t.Fatal(err)
	}
	waiting := providers.Receipt{State: journal.Accepted, Handle: deletes + put.Handle}
	if r, err := p.Resolve(t.Context(), waiting); err != nil || r.State != journal.Accepted {
		t.Errorf("while it is there: %+v, %v", r, err)
	}
	r, err := p.Delete(t.Context(), put.Refs[0])
	if err != nil || r.State != journal.Accepted || r.Handle != waiting.Handle {
		t.Fatal(r, err)
	}
	if r, err = p.Resolve(t.Context(), r); err != nil || r.State != journal.Deleted {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := p.Resolve(t.Context(), put); !providers.Terminal(err) {
		t.Errorf("an episode that is gone: %v", err)
	}
}

func TestAGraphOfV4IsNotMade(t *testing.T) {
	s, url := newService(t)
	p := open(t, Config{BaseURL: url, Graph: "team", Dialect: "v4"})
	_, err := p.Put(t.Context(), providertest.Item(1, "x"))
	if !providers.Is(err, providers.Auth) || !strings.Contains(err.Error(), "UUID") || s.made != 0 {
		t.Error(err)
	}
}

func TestLongQuestionsAreCut(t *testing.T) {
	_, url := newService(t)
	p := open(t, Config{BaseURL: url})
	if _, err := p.Put(t.Context(), providertest.Item(1, "x")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Search(t.Context(), providers.Query{Text: strings.Repeat("배포 ", 1000), Limit: 500}); err != nil {
		t.Error(err)
	}
}

func TestRefusedConfigs(t *testing.T) {
	for _, c := range []Config{
		{Graph: "g", User: "u"}, {Dialect: "v5"}, {Reranker: "mmr"}, {BaseURL: "http://api.getzep.com"}, {Dialect: "v4", Facts: true},
	} {
		if p, err := New(c); err == nil {
			t.Errorf("%+v gave %v", c, p)
		}
	}
}

func BenchmarkSuite(b *testing.B) {
	providertest.Bench(b, func(b *testing.B) providers.Provider {
		_, url := newService(b)
		return open(b, Config{BaseURL: url})
	})
}
