package memos

import (
	"context"
	"errors"
	"fmt"
	"io"
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

func newServer(t testing.TB, url string) *Server {
	t.Helper()
	s, err := NewServer(Config{BaseURL: url, Key: "krlk_test", User: "u1", Cube: "c1"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newCloud(t testing.TB, url string) *Cloud {
	t.Helper()
	c, err := NewCloud(Config{BaseURL: url, Key: "mpg-test", User: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSuite(t *testing.T) {
	t.Run("server", func(t *testing.T) {
		providertest.Run(t, providertest.Config{New: func(t *testing.T) providers.Provider {
			_, url := newService(t, false)
			return newServer(t, url)
		}})
	})
	t.Run("cloud", func(t *testing.T) {
		providertest.Run(t, providertest.Config{New: func(t *testing.T) providers.Provider {
			_, url := newService(t, true)
			return newCloud(t, url)
		}})
	})
}

const (
	node  = `{"id":"m1","memory":"user: tide","metadata":{"relativity":0.4,"info":{"vault_id":"01J1"}}}`
	nodes = `{"code":200,"message":"ok","data":{"text_mem":[{"cube_id":"c1","memories":[%s],"total_nodes":1}]}}`
)

func TestFaultsOfTheServer(t *testing.T) {
	t.Parallel()
	providertest.Faults(t, providertest.FaultConfig{
		New: func(t *testing.T, url string, transport http.RoundTripper) providers.Provider {
			s, err := NewServer(Config{BaseURL: url, Key: "krlk_test", Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Search: fmt.Sprintf(nodes, node),
		Put:    `{"code":200,"message":"ok","data":[{"memory":"user: tide","memory_id":"m1"}]}`,
		Delete: `{"code":200,"message":"ok","data":{"status":"success"}}`,
		Ref:    "m1",
		InOK: map[providers.Class]string{
			providers.Auth:        `{"code":401,"message":"Missing API key","data":null}`,
			providers.RateLimited: `{"code":429,"message":"slow down","data":null}`,
			providers.Retryable:   `{"code":500,"message":"boom","data":null}`,
			providers.Permanent:   `{"code":400,"message":"bad","data":null}`,
			providers.Protocol:    `{"message":"no code"}`,
		},
		ScoreAnswer: fmt.Sprintf(nodes, strings.Replace(node, "0.4", "%s", 1)),
	})
}

func TestFaultsOfTheCloud(t *testing.T) {
	t.Parallel()
	found := `{"code":0,"message":"ok","data":{"memory_detail_list":[{"id":"m1","memory_value":"tide","relativity":%s,"info":null}]}}`
	providertest.Faults(t, providertest.FaultConfig{
		New: func(t *testing.T, url string, transport http.RoundTripper) providers.Provider {
			c, err := NewCloud(Config{BaseURL: url, Key: "mpg-test", Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			return c
		},
		Search: fmt.Sprintf(found, "0.4"),
		Put:    `{"code":0,"message":"ok","data":{"success":true,"task_id":"t","status":"running"}}`,
		Delete: `{"code":0,"message":"ok","data":{"success":true}}`,
		Ref:    "m1",
		InOK: map[providers.Class]string{
			providers.Auth:        `{"code":40132,"message":"API key invalid or expired","data":null}`,
			providers.RateLimited: `{"code":40300,"message":"call limit exceeded","data":null}`,
			providers.Retryable:   `{"code":50002,"message":"busy","data":null}`,
			providers.Permanent:   `{"code":40305,"message":"too long","data":null}`,
			providers.Protocol:    `{"data":null}`,
		},
		ScoreAnswer: found,
	})
}

// play returns what searches, and looks at what came of it.
func search(look func(t *testing.T, hits []providers.Hit, err error)) func(*testing.T, providers.Provider) {
	return func(t *testing.T, p providers.Provider) {
		hits, err := p.Search(t.Context(), providers.Query{Text: "release day", Limit: 10})
		look(t, hits, err)
	}
}

func found(want providers.Hit, score float64) func(*testing.T, providers.Provider) {
	want.Score = &score
	return search(func(t *testing.T, hits []providers.Hit, err error) {
		if diff := cmp.Diff([]providers.Hit{want}, hits); err != nil || diff != "" {
			t.Error(diff, err)
		}
	})
}

func fails(class providers.Class, code string, after time.Duration) func(*testing.T, providers.Provider) {
	return search(func(t *testing.T, _ []providers.Hit, err error) {
		e, ok := errors.AsType[*providers.Error](err)
		if !ok || e.Class != class || e.Code != code || e.RetryAfter != after {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

func puts(state journal.State, refs ...providers.Ref) func(*testing.T, providers.Provider) {
	return func(t *testing.T, p providers.Provider) {
		r, err := p.Put(t.Context(), providers.Item{ID: "01J1", Parts: 1, Text: "Releases ship on Tuesdays"})
		if err != nil || r.State != state || !slices.Equal(r.Refs, refs) {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func deletes(t *testing.T, p providers.Provider) {
	r, err := p.(providers.Deleter).Delete(t.Context(), "0b8e1f7c-9c0a-4b8a-9a52-5d7a3a6f0e11")
	if err != nil || r.State != journal.Deleted {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestFixturesOfTheServer(t *testing.T) {
	providertest.Fixtures(t, providertest.FixtureConfig{
		Dir: "testdata/server", Spec: "testdata/server.json",
		New: func(t *testing.T, url string) providers.Provider { return newServer(t, url) },
		Around: func(r *http.Request, _ []byte) (int, string) {
			if r.URL.Path == "/product/get_memory" {
				return 200, `{"code":200,"message":"ok","data":{"text_mem":[]}}`
			}
			return 0, ""
		},
		Plays: map[string]func(*testing.T, providers.Provider){
			"health": func(t *testing.T, p providers.Provider) {
				if h, err := p.Health(t.Context()); err != nil || h.Version != "1.0.1" || len(h.Warnings) != 0 {
					t.Error(h, err)
				}
			},
			"add_sync_fast":         puts(journal.Stored, "0b8e1f7c-9c0a-4b8a-9a52-5d7a3a6f0e11"),
			"add_success_but_empty": puts(journal.Empty),
			"search": found(providers.Hit{
				Ref: "0b8e1f7c-9c0a-4b8a-9a52-5d7a3a6f0e11", ID: "01J1", Text: "Releases ship on Tuesdays", Created: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC),
			}, 0.71),
			"error_429": fails(providers.RateLimited, "", 12*time.Second),
			"delete":    deletes,
		},
		Skip: map[string]string{"delete_two_modes_failure": "a mistake", "error_422": "a mistake"},
	})
}

func TestFixturesOfTheCloud(t *testing.T) {
	providertest.Fixtures(t, providertest.FixtureConfig{
		Dir: "testdata/cloud", Spec: "testdata/cloud.json",
		New: func(t *testing.T, url string) providers.Provider { return newCloud(t, url) },
		Plays: map[string]func(*testing.T, providers.Provider){
			"add_running": puts(journal.Accepted),
			"status_completed_list": func(t *testing.T, p providers.Provider) {
				r, err := p.(providers.Resolver).Resolve(t.Context(), providers.Receipt{State: journal.Accepted, Handle: "t"})
				if err != nil || r.State != journal.Stored || !slices.Equal(r.Refs, []providers.Ref{"0b8e1f7c-9c0a-4b8a-9a52-5d7a3a6f0e11"}) {
					t.Errorf("%+v, %v", r, err)
				}
			},
			"search": found(providers.Hit{
				Ref: "0b8e1f7c-9c0a-4b8a-9a52-5d7a3a6f0e11", ID: "01J1", Text: "Releases ship on Tuesdays", Created: time.UnixMilli(1764500000000).UTC(),
			}, 0.62),
			"error_auth":            fails(providers.Auth, "40132", 0),
			"error_business_in_200": fails(providers.RateLimited, "40304", 15*time.Minute),
			"delete":                deletes,
		},
		Skip: map[string]string{"add_unknown_field_metadata": "a mistake", "delete_two_conditions": "a mistake"},
	})
}

func TestYesIsLookedInto(t *testing.T) {
	s, url := newService(t, false)
	p := newServer(t, url)
	shy := providertest.Item(1, "shy but kept")
	other := shy // an older version that is there does not count
	other.Version = "older"
	if _, err := p.Put(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	r, err := p.Put(t.Context(), shy)
	if err != nil || r.State != journal.Stored || len(r.Refs) != 1 || string(r.Refs[0]) != s.order[1] {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = p.Put(t.Context(), providertest.Item(2, "it will vanish")); err != nil || r.State != journal.Empty || r.Note == "" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTasksOfTheCloud(t *testing.T) {
	_, url := newService(t, true)
	p := newCloud(t, url)
	end := func(n int, text string) (providers.Receipt, error) {
		t.Helper()
		r, err := p.Put(t.Context(), providertest.Item(n, text))
		if err != nil || r.State != journal.Accepted {
			t.Fatal(r, err)
		}
		if r, err = p.Resolve(t.Context(), r); err != nil || r.State == journal.Stored {
			return r, err
		}
		return p.Resolve(t.Context(), r)
	}
	if r, err := end(1, "kept"); err != nil || r.State != journal.Stored || len(r.Refs) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := end(2, "it will vanish"); err != nil || r.State != journal.Empty || r.Note == "" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := end(3, "it will explode"); !providers.Terminal(err) {
		t.Error(err)
	}
	if _, err := p.Resolve(t.Context(), providers.Receipt{State: journal.Accepted, Handle: "gone"}); !providers.Terminal(err) {
		t.Error(err)
	}
	one := providertest.Item(1, "")
	kept := providers.Receipt{State: journal.Accepted, Handle: asked{"gone", string(one.Version), 0, one.ID}.handle()}
	if r, err := p.Resolve(t.Context(), kept); err != nil || r.State != journal.Stored || len(r.Refs) != 1 {
		t.Errorf("a task that was forgotten: %+v, %v", r, err)
	}
	kept.Handle = asked{"gone", "other", 0, one.ID}.handle()
	if _, err := p.Resolve(t.Context(), kept); !providers.Terminal(err) {
		t.Error(err)
	}
	if got, want := parseHandle(asked{"t", "v", 2, "vault:a b c.md"}.handle()), (asked{"t", "v", 2, "vault:a b c.md"}); got != want {
		t.Errorf("%+v", got)
	}
}

func TestAFilterThatIsForgottenIsNotBelieved(t *testing.T) {
	s, url := newService(t, false)
	p := newServer(t, url)
	for n := range 3 {
		if _, err := p.Put(t.Context(), providertest.Item(n, "text")); err != nil {
			t.Fatal(err)
		}
	}
	p.idKey = "" // no memory has it: as if there were no filter
	for id := range s.infos {
		s.infos[id][""] = providertest.ID(1)
	}
	hits, err := p.FindByID(t.Context(), providertest.ID(1))
	if err != nil || len(hits) != 1 {
		t.Errorf("%+v, %v", hits, err)
	}
}

func TestManyPages(t *testing.T) {
	s, url := newService(t, false)
	p := newServer(t, url)
	for n := range pageSize + 1 {
		if _, err := p.Put(t.Context(), providertest.Item(n, "text")); err != nil {
			t.Fatal(err)
		}
	}
	theirs := s.keep(&http.Request{}, "another program's", map[string]string{"a": "b"})
	if n, err := p.PurgeScope(t.Context()); err != nil || n != pageSize+1 {
		t.Error(n, err)
	}
	if !slices.Equal(s.order, []string{theirs}) {
		t.Errorf("left: %v", s.order)
	}
}

func TestPurgeThatDoesNothingEnds(t *testing.T) {
	_, url := newService(t, false)
	p := newServer(t, url)
	if _, err := p.Put(t.Context(), providertest.Item(1, "text")); err != nil {
		t.Fatal(err)
	}
	p.api = deaf{p.api}
	if _, err := p.PurgeScope(t.Context()); !providers.Is(err, providers.Retryable) {
		t.Error(err)
	}
}

// deaf says that it deleted.
type deaf struct{ api }

func (deaf) remove(context.Context, string, []string) error { return nil }

func TestWarnings(t *testing.T) {
	_, url := newService(t, false)
	s, err := NewServer(Config{BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Health(t.Context()); !providers.Is(err, providers.Auth) {
		t.Error(err)
	}
	open, err := NewServer(Config{BaseURL: "http://memos.example", AllowInsecure: true, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"status":"healthy","code":200}`))}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	h, err := open.Health(t.Context())
	if err != nil || len(h.Warnings) != 2 || !strings.Contains(h.Warnings[0], "without a key") || !strings.Contains(h.Warnings[1], "unencrypted") {
		t.Errorf("%q, %v", h.Warnings, err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestMoments(t *testing.T) {
	want := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	for _, raw := range []string{`"2026-11-30T10:00:00"`, `"2026-11-30T10:00:00Z"`, `"2026-11-30T11:00:00+01:00"`, `"2026-11-30 10:00:00"`, fmt.Sprint(want.UnixMilli())} {
		var m moment
		if err := m.UnmarshalJSON([]byte(raw)); err != nil || !m.Equal(want) {
			t.Errorf("%s is %s, %v", raw, m, err)
		}
	}
	for _, raw := range []string{`null`, `"soon"`, `{}`, `-1`, `1e400`} {
		var m moment
		if err := m.UnmarshalJSON([]byte(raw)); err != nil || !m.IsZero() {
			t.Errorf("%s is %s, %v", raw, m, err)
		}
	}
}

func BenchmarkSuite(b *testing.B) {
	providertest.Bench(b, func(b *testing.B) providers.Provider {
		_, url := newService(b, false)
		return newServer(b, url)
	})
}
