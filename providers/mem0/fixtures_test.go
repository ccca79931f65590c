package mem0

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vademecum/providers"
	"vademecum/providers/providertest"
	"vademecum/sync/journal"
)

type play = func(*testing.T, providers.Provider)

var (
	put = func(t *testing.T, p providers.Provider) (providers.Receipt, error) {
		t.Helper()
		item := providertest.Item(1, "Releases ship on Tuesdays")
		item.Expires = item.Created.Add(time.Hour)
		return p.Put(t.Context(), item)
	}
	search = func(t *testing.T, p providers.Provider) ([]providers.Hit, error) {
		t.Helper()
		return p.Search(t.Context(), providers.Query{Text: "which region is the staging database in", Limit: 5})
	}
)

// puts wants a receipt of a put, and finds what class of error it is otherwise.
func puts(want providers.Receipt) play {
	return func(t *testing.T, p providers.Provider) {
		got, err := put(t, p)
		got.Note = ""
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

// fails wants an error of a call.
func fails(call func(*testing.T, providers.Provider) error, want providers.Error) play {
	return func(t *testing.T, p providers.Provider) {
		err := call(t, p)
		e, ok := errors.AsType[*providers.Error](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		if want.Class != e.Class || want.Code != e.Code || want.Ambiguous != e.Ambiguous || want.RequestID != e.RequestID ||
			want.RetryAfter != e.RetryAfter || !strings.Contains(e.Msg, want.Msg) || e.Msg == "" {
			t.Errorf("got %+v", e)
		}
	}
}

// finds wants hits of a search.
func finds(want ...providers.Hit) play {
	return func(t *testing.T, p providers.Provider) {
		got, err := search(t, p)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

func resolves(handle string, want providers.Receipt) play {
	return func(t *testing.T, p providers.Provider) {
		got, err := p.(*Cloud).Resolve(t.Context(), providers.Receipt{State: journal.Accepted, Handle: handle})
		got.Note = ""
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

func lists(want ...providers.Hit) play {
	return func(t *testing.T, p providers.Provider) {
		got, next, err := p.(providers.Lister).List(t.Context(), "", 50)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || next != "" {
			t.Error(err, diff, next)
		}
	}
}

func deletes(ref providers.Ref) play {
	return func(t *testing.T, p providers.Provider) {
		if got, err := p.(providers.Deleter).Delete(t.Context(), ref); err != nil || got.State != journal.Deleted {
			t.Error(got, err)
		}
	}
}

func putError(t *testing.T, p providers.Provider) error { _, err := put(t, p); return err }

func searchError(t *testing.T, p providers.Provider) error { _, err := search(t, p); return err }

func healthError(t *testing.T, p providers.Provider) error {
	_, err := p.Health(t.Context())
	return err
}

// isOf reports whether t is the test of one of fixtures.
func isOf(t *testing.T, fixtures ...string) bool {
	return slices.ContainsFunc(fixtures, func(name string) bool { return strings.HasSuffix(t.Name(), "/"+name) })
}

func at(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

func TestFixturesOfServer(t *testing.T) {
	stored := providers.Receipt{State: journal.Stored, Refs: []providers.Ref{uuid}}
	providertest.Fixtures(t, providertest.FixtureConfig{
		Dir: "testdata/fixtures/server", Spec: "testdata/server.json",
		New: func(t *testing.T, url string) providers.Provider {
			c := Config{User: "u1", Infer: isOf(t, "add_infer_true", "add_infer_true_duplicate_empty")}
			if isOf(t, "search_legacy_bare_list_distance") {
				c.Score = providers.Distance
			}
			if isOf(t, "error_401") {
				return anonymous(t, url)
			}
			return server(t, url, c)
		},
		Plays: map[string]play{
			"add_infer_false":                puts(stored),
			"add_infer_true":                 puts(stored),
			"add_infer_true_duplicate_empty": puts(providers.Receipt{State: journal.Empty}),
			"delete":                         deletes(uuid),
			"delete_missing":                 deletes(uuid),
			"error_400_whitespace_id":        fails(searchError, providers.Error{Class: providers.Permanent, Msg: "whitespace"}),
			"error_401":                      fails(searchError, providers.Error{Class: providers.Auth, Msg: "Invalid API key"}),
			"error_502_auth": fails(putError, providers.Error{
				Class: providers.Auth, Code: "provider_auth_failed", RequestID: "1a2b3c4d", Msg: "the server's own key",
			}),
			"error_502_rate_limited": fails(putError, providers.Error{
				Class: providers.RateLimited, Code: "provider_rate_limited", RequestID: "1a2b3c4d", Ambiguous: true, RetryAfter: modelRetry, Msg: "Retry shortly",
			}),
			"list": lists(providers.Hit{Ref: uuid, ID: "01J1", Text: "m", Created: at("2026-11-30T16:59:47Z")}),
			"search": finds(providers.Hit{
				Ref: uuid, ID: "01J2", Text: "The staging database lives in eu-west-1", Score: new(0.42968079067993264), Created: at("2026-11-30T17:04:36.859Z"),
			}),
			"search_legacy_bare_list_distance": finds(
				providers.Hit{Ref: "a", Text: "Likes drinking coffee in the morning", Score: new(0.5115)},
				providers.Hit{Ref: "b", Text: "Enjoys reading books at night", Score: new(0.7755)},
			),
			"search_legacy_scope_error": fails(searchError, providers.Error{Class: providers.Retryable, Msg: "must be provided"}),
			"search_score_null":         finds(providers.Hit{Ref: uuid, Text: "m"}),
		},
		Skip: map[string]string{
			"error_400_no_identifier": "a mistake: the user is always named",
			"error_422_pydantic":      "a mistake: there is always a message",
			"get_missing_null":        "no memory is read by its own id",
		},
	})
}

// anonymous has no key.
func anonymous(t *testing.T, url string) providers.Provider {
	t.Helper()
	s, err := NewServer(Config{BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFixturesOfCloud(t *testing.T) {
	const (
		handle = "2c4d1f44-4f7b-4b2f-9f6e-7b5b4f5a1234"
		ref    = "3f0c9b0e-6f7a-4f0e-9d57-0a1b2c3d4e5f"
	)
	stored := providers.Receipt{State: journal.Stored, Refs: []providers.Ref{ref}}
	running := providers.Receipt{State: journal.Accepted, Handle: handle}
	providertest.Fixtures(t, providertest.FixtureConfig{
		Dir: "testdata/fixtures/cloud", Spec: "testdata/cloud.json",
		New: func(t *testing.T, url string) providers.Provider {
			return cloud(t, url, Config{User: "alice", Infer: isOf(t, "add_pending")})
		},
		Plays: map[string]play{
			"add_infer_false_sync": puts(stored),
			"add_pending":          puts(running),
			"delete":               deletes(ref),
			"error_404":            deletes(ref),
			"error_429":            fails(searchError, providers.Error{Class: providers.RateLimited, RetryAfter: 5 * time.Second, Msg: "throttled"}),
			"event_failed": fails(func(t *testing.T, p providers.Provider) error {
				_, err := p.(*Cloud).Resolve(t.Context(), running)
				return err
			}, providers.Error{Class: providers.Permanent, Code: "FAILED", Msg: "extraction failed"}),
			"event_running":                  resolves(handle, running),
			"event_succeeded":                resolves(handle, stored),
			"event_succeeded_nothing_stored": resolves(handle, providers.Receipt{State: journal.Empty}),
			"list":                           lists(providers.Hit{Ref: ref, ID: "01J1", Text: "m", Created: at("2026-01-15T10:30:00Z")}),
			"ping": func(t *testing.T, p providers.Provider) {
				if err := healthError(t, p); err != nil {
					t.Error(err)
				}
			},
			"ping_401": fails(healthError, providers.Error{Class: providers.Auth, Msg: "Invalid API key"}),
			"search":   finds(providers.Hit{Ref: ref, ID: "01J1", Text: "User moved to San Francisco", Score: new(0.82), Created: at("2026-01-15T10:30:00Z")}),
		},
		Skip: map[string]string{
			"delete_all_async":       "what is ours is deleted one by one: others may use the same user",
			"error_400_add":          "a mistake: there is always a message",
			"error_400_top_level_id": "a mistake: the user is in the filters",
		},
	})
}
