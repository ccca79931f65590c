package openviking

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vademecum/providers"
	"vademecum/providers/providertest"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

func newProvider(t *testing.T, url string, key rest.Secret, transport http.RoundTripper) *Provider {
	t.Helper()
	p, err := New(Config{BaseURL: url, Key: key, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newExtractor(t *testing.T, url string) *Extractor {
	t.Helper()
	x, err := NewExtractor(Config{BaseURL: url, Key: "user-key"})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestSuite(t *testing.T) {
	providertest.Run(t, providertest.Config{New: func(t *testing.T) providers.Provider {
		_, url := newServer(t)
		return newProvider(t, url, "user-key", nil)
	}})
}

func TestSuiteOfExtraction(t *testing.T) {
	providertest.Run(t, providertest.Config{Extracts: true, New: func(t *testing.T) providers.Provider {
		_, url := newServer(t)
		return newExtractor(t, url)
	}})
}

// around answers what goes before and after a write.
func around(r *http.Request, _ []byte) (int, string) {
	switch r.URL.Path {
	case "/api/v1/fs/mkdir", "/api/v1/content/set_tags", "/health":
		return 200, `{"status":"ok","result":{}}`
	case "/api/v1/fs/ls":
		return 200, `{"status":"ok","result":[]}`
	}
	return 0, ""
}

const stored = `{"status":"ok","result":{"created":["viking://user/alice/memories/events/vault/01JDZ3M8000000000000000001.md"]}}`

func TestFaults(t *testing.T) {
	providertest.Faults(t, providertest.FaultConfig{
		New: func(t *testing.T, url string, transport http.RoundTripper) providers.Provider {
			return newProvider(t, url, "user-key", transport)
		},
		Search: `{"status":"ok","result":{"memories":[{"uri":"viking://user/alice/memories/x.md","score":0.4,"abstract":"tide"}]}}`,
		Put:    stored,
		Delete: `{"status":"ok","result":{"uri":"viking://user/alice/memories/events/vault/01J1.md"}}`,
		Ref:    folder + "01J1.md",
		Around: around,
		InOK: map[providers.Class]string{
			providers.Retryable:   `{"status":"error","error":{"code":"UNAVAILABLE","message":"later"}}`,
			providers.Auth:        `{"status":"error","error":{"code":"UNAUTHENTICATED","message":"no"}}`,
			providers.RateLimited: `{"status":"error","error":{"code":"RESOURCE_EXHAUSTED","message":"quota"}}`,
			providers.Permanent:   `{"status":"error","error":{"code":"INVALID_URI","message":"no"}}`,
		},
		ScoreAnswer: `{"status":"ok","result":{"memories":[{"uri":"viking://user/alice/memories/x.md","score":%s,"abstract":"tide"}]}}`,
	})
}

func TestFixtures(t *testing.T) {
	item := providers.Item{ID: "01J1", Version: "abc", Parts: 1, Text: "Releases ship on Tuesdays\n"}
	search := func(want func(t *testing.T, hits []providers.Hit, err error)) func(*testing.T, providers.Provider) {
		return func(t *testing.T, p providers.Provider) {
			hits, err := p.Search(t.Context(), providers.Query{Text: "release day", Limit: 10})
			want(t, hits, err)
		}
	}
	class := func(c providers.Class, words string) func(*testing.T, []providers.Hit, error) {
		return func(t *testing.T, _ []providers.Hit, err error) {
			if !providers.Is(err, c) || !strings.Contains(err.Error(), words) {
				t.Errorf("got %v", err)
			}
		}
	}
	put := func(t *testing.T, p providers.Provider) {
		r, err := p.Put(t.Context(), item)
		if err != nil || r.State != journal.Stored || !slices.Equal(r.Refs, []providers.Ref{folder + "01J1.md"}) || r.Note != "" {
			t.Errorf("%+v, %v", r, err)
		}
	}
	providertest.Fixtures(t, providertest.FixtureConfig{
		Dir: "testdata/fixtures", Spec: "testdata/openviking.json",
		New: func(t *testing.T, url string) providers.Provider { return newProvider(t, url, "user-key", nil) },
		Around: func(r *http.Request, body []byte) (int, string) {
			if r.URL.Path == "/api/v1/content/batch-write" {
				return 200, `{"status":"ok","result":{"created":["viking://user/alice/memories/events/vault/01J1.md"]}}`
			}
			return around(r, body)
		},
		Plays: map[string]func(*testing.T, providers.Provider){
			"batch_upsert": put,
			"set_tags":     put,
			"find": search(func(t *testing.T, hits []providers.Hit, err error) {
				score := 0.62
				want := []providers.Hit{{Ref: folder + "01J1.md", ID: "01J1", Text: "Releases ship on Tuesdays", Score: &score}}
				if diff := cmp.Diff(want, hits); err != nil || diff != "" {
					t.Error(diff, err)
				}
			}),
			"error_429":         search(class(providers.RateLimited, "RESOURCE_EXHAUSTED")),
			"error_root_key":    search(class(providers.Auth, "key of a user")),
			"error_uidless_uri": search(class(providers.Permanent, "INVALID_URI")),
			"health": func(t *testing.T, p providers.Provider) {
				if _, err := p.Health(t.Context()); err != nil {
					t.Error(err)
				}
			},
			"read": func(t *testing.T, p providers.Provider) {
				hits, err := p.(providers.Finder).FindByID(t.Context(), "01J1")
				want := []providers.Hit{{Ref: folder + "01J1.md", ID: "01J1", Text: "Releases ship on Tuesdays\n"}}
				if diff := cmp.Diff(want, hits); err != nil || diff != "" {
					t.Error(diff, err)
				}
			},
			"rm_idempotent": func(t *testing.T, p providers.Provider) {
				if r, err := p.(providers.Deleter).Delete(t.Context(), folder+"01J1.md"); err != nil || r.State != journal.Deleted {
					t.Error(r, err)
				}
			},
		},
		Skip: map[string]string{
			"find_unknown_field_400": "a mistake",
			"write_create":           "batch-write upserts; a create fails when the file is there",
		},
	})
}

func TestFixturesOfExtraction(t *testing.T) {
	put := func(t *testing.T, p providers.Provider) {
		r, err := p.Put(t.Context(), providers.Item{ID: "01J1", Parts: 1, Text: "hi"})
		if err != nil || r.State != journal.Accepted || r.Handle != "t1" {
			t.Errorf("%+v, %v", r, err)
		}
	}
	resolve := func(want journal.State) func(*testing.T, providers.Provider) {
		return func(t *testing.T, p providers.Provider) {
			r, err := p.(providers.Resolver).Resolve(t.Context(), providers.Receipt{State: journal.Accepted, Handle: "t1"})
			if err != nil || r.State != want {
				t.Errorf("%+v, %v", r, err)
			}
		}
	}
	providertest.Fixtures(t, providertest.FixtureConfig{
		Dir: "testdata/extraction", Spec: "testdata/openviking.json",
		New: func(t *testing.T, url string) providers.Provider { return newExtractor(t, url) },
		Around: func(r *http.Request, _ []byte) (int, string) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/messages/batch"):
				return 200, `{"status":"ok","result":{"added":1}}`
			case strings.HasSuffix(r.URL.Path, "/commit"):
				return 200, `{"status":"ok","result":{"status":"accepted","task_id":"t1"}}`
			}
			return 200, `{"status":"ok","result":{"session_id":"x"}}`
		},
		Plays: map[string]func(*testing.T, providers.Provider){
			"session_create":      put,
			"task_completed":      resolve(journal.Stored),
			"task_completed_zero": resolve(journal.Empty),
		},
		Skip: map[string]string{
			"session_messages":        "its path has a session's name, which is a new one each time: see TestSessions",
			"session_commit_accepted": "likewise",
		},
	})
}

func TestSessions(t *testing.T) {
	s, url := newServer(t)
	x := newExtractor(t, url)
	end := func(text string) (providers.Receipt, error) {
		t.Helper()
		r, err := x.Put(t.Context(), providers.Item{ID: "v:a/b.md", Parts: 1, Text: text})
		if err != nil || r.State != journal.Accepted {
			t.Fatal(r, err)
		}
		if r, err = x.Resolve(t.Context(), r); err != nil || r.State != journal.Accepted {
			t.Fatalf("still running: %+v, %v", r, err)
		}
		return x.Resolve(t.Context(), r)
	}
	if r, err := end("releases ship on Tuesdays"); err != nil || r.State != journal.Stored {
		t.Error(r, err)
	}
	if r, err := end("small talk"); err != nil || r.State != journal.Empty || r.Note == "" {
		t.Error(r, err)
	}
	if _, err := end("explode"); !providers.Terminal(err) || !strings.Contains(err.Error(), "on fire") {
		t.Error(err)
	}
	if n := len(s.sessions); n != 3 {
		t.Errorf("%d sessions for 3 items", n)
	}
	if _, err := x.Resolve(t.Context(), providers.Receipt{State: journal.Accepted, Handle: "gone"}); !providers.Terminal(err) {
		t.Error(err)
	}
}

func TestASessionWithoutMessagesIsNoSuccess(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/commit") {
			t.Error("committed")
		}
		_, _ = w.Write([]byte(`{"status":"ok","result":{"session_id":"x","added":0}}`))
	}))
	defer h.Close()
	if _, err := newExtractor(t, h.URL).Put(t.Context(), providers.Item{ID: "01J1", Text: "x"}); !providers.Is(err, providers.Protocol) {
		t.Error(err)
	}
}

func TestFileNames(t *testing.T) {
	long := strings.Repeat("long/", 40)
	for _, test := range []struct {
		id   string
		part int
		want string // "": any that says the id
	}{
		{"01JDZ3M8Q4X0W3K2V7N5T9R6BC", 0, "01JDZ3M8Q4X0W3K2V7N5T9R6BC.md"},
		{"01JDZ3M8Q4X0W3K2V7N5T9R6BC", 2, "01JDZ3M8Q4X0W3K2V7N5T9R6BC.2.md"},
		{"01JDZ0:memories/../../x.md", 0, ""},
		{"..", 0, ""},
		{"%2e%2e/", 1, ""},
		{"01jdz3m8q4x0w3k2v7n5t9r6bc", 0, ""},
		{"x-aaaa", 0, ""},
		{"01JDZ0:노트/데이터베이스.md", 3, ""},
		{"a", 0, ""},
		{"", 0, ""},
		{long, 1, "d-"},
	} {
		name := fileName(test.id, test.part)
		if !safe(name) || len(name) > 255 || test.want != "" && !strings.HasPrefix(name, test.want) {
			t.Errorf("%q is %s", test.id, name)
		}
		id, part := parseName(name)
		if want := test.id; id != want && id+test.want != "d-" || part != test.part {
			t.Errorf("%s is read as %q, part %d; want %q, %d", name, id, part, test.id, test.part)
		}
	}
}

func TestOnlyOurFilesAreTouched(t *testing.T) {
	s, url := newServer(t)
	p := newProvider(t, url, "user-key", nil)
	for _, ref := range []string{
		"", "x", "viking://~/memories/events/vault/", "viking://~/memories/events/vault/../a.md", "viking://~/memories/events/vault/%2e%2e.md",
		"viking://~/memories/events/vault/a/b.md", "viking://~/memories/events/a.md", "viking://user/bob/x/memories/events/vault/A.md",
		"viking://user/memories/events/vault/A.md", "viking://resources/x.md", "viking://~/memories/events/vault/A.md?recursive=true",
		"viking://~/memories/events/vault/.md", "viking://~/memories/events/vault/A..md", "http://~/memories/events/vault/A.md",
		"viking://user//memories/events/vault/A.md", "viking://~/memories/events/vault/A.md\n",
	} {
		if _, err := p.Delete(t.Context(), providers.Ref(ref)); !providers.Terminal(err) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if n := len(s.asked); n != 0 {
		t.Errorf("the server was asked %v", s.asked)
	}
	// Another user's file of that name is ours to read as a hit, and deleted in our own folder.
	if _, err := p.Delete(t.Context(), "viking://user/alice/memories/events/vault/A123.md"); err != nil {
		t.Error(err)
	}
}

func TestAKeyThatIsNotAUsers(t *testing.T) {
	_, url := newServer(t)
	for key, want := range map[rest.Secret]string{"root": "key of a user", "secret-nobody": "key of a user"} {
		_, err := newProvider(t, url, key, nil).Health(t.Context())
		if !providers.Is(err, providers.Auth) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret-nobody") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestRequestsOfAPut(t *testing.T) {
	s, url := newServer(t)
	p := newProvider(t, url, "user-key", nil)
	items := []providers.Item{providertest.Item(1, "one"), providertest.Item(2, "two"), providertest.Item(1, "one again")}
	for range 2 {
		for _, r := range p.PutBatch(t.Context(), items) {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
		}
	}
	if dirs, writes := s.count("POST /api/v1/fs/mkdir"), s.count("POST /api/v1/content/batch-write"); dirs != 1 || writes != 2 {
		t.Errorf("%d mkdir, %d writes: %v", dirs, writes, s.asked)
	}
	hits, err := p.Search(t.Context(), providers.Query{Text: "one", Limit: 3})
	if err != nil || len(hits) != 1 || hits[0].Text != "one again" || hits[0].Version != items[0].Version || hits[0].Vault != items[0].Vault {
		t.Errorf("%+v, %v", hits, err)
	}
}

func TestWhatTheServerDoesNotListIsNotStored(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"ok","result":{"created":["viking://user/alice/memories/events/vault/OTHER.md"]}}`))
	}))
	defer h.Close()
	_, err := newProvider(t, h.URL, "k", nil).Put(t.Context(), providers.Item{ID: "01J1", Text: "x"})
	if !providers.Is(err, providers.Protocol) || !providers.Ambiguous(err) {
		t.Error(err)
	}
}

func TestOthersMemoriesAreForeign(t *testing.T) {
	s, url := newServer(t)
	p := newProvider(t, url, "user-key", nil)
	theirs := "viking://user/alice/memories/preferences/tea.md"
	if _, err := s.files.Put(t.Context(), providers.Item{ID: theirs, Text: "tea before coffee"}); err != nil {
		t.Fatal(err)
	}
	hits, err := p.Search(t.Context(), providers.Query{Text: "tea", Limit: 3})
	if err != nil || len(hits) != 1 || hits[0].ID != "" || hits[0].Ref != providers.Ref(theirs) {
		t.Errorf("%+v, %v", hits, err)
	}
	if _, err := p.PurgeScope(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hits, _ = p.Search(t.Context(), providers.Query{Text: "tea", Limit: 3}); len(hits) != 1 {
		t.Error("the purge took what others put elsewhere")
	}
}

func FuzzURI(f *testing.F) {
	f.Add("viking://user/alice/memories/events/vault/01J1.md")
	f.Add("viking://~/memories/events/vault/x-mfrgg.2.md")
	f.Fuzz(func(t *testing.T, uri string) {
		name, ok := ourName(uri)
		if !ok {
			return
		}
		if strings.ContainsAny(name, "/%\\~ ") || strings.Contains(name, "..") {
			t.Errorf("%q names %q", uri, name)
		}
		if id, part := parseName(name); id != "" && fileName(id, part) != name {
			t.Errorf("%q is another name of %q", name, id)
		}
	})
}

func BenchmarkSuite(b *testing.B) {
	providertest.Bench(b, func(b *testing.B) providers.Provider {
		_, url := newServer(b)
		p, err := New(Config{BaseURL: url, Key: "user-key"})
		if err != nil {
			b.Fatal(err)
		}
		return p
	})
}
