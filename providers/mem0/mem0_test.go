package mem0

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"vademecum/providers"
	"vademecum/providers/providertest"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

func TestConfigThatIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		config Config
		says   string
	}{
		"user with a space":   {Config{Name: "m", User: "a b"}, `the user "a b" has a space`},
		"unknown score":       {Config{Name: "m", Score: "stars"}, `score "stars" is none of`},
		"http to the world":   {Config{Name: "m", BaseURL: "http://mem0.example.org", Key: "sesame"}, "neither https nor on this machine"},
		"password in the url": {Config{Name: "m", BaseURL: "https://me:sesame@example.org"}, "holds credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewServer(test.config)
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "sesame") {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
	if _, err := NewCloud(Config{}); err == nil {
		t.Error("the cloud without a key")
	}
}

func TestKeyGoesWhereTheServerLooks(t *testing.T) {
	const jwt = "eyJhbGciOi.eyJzdWIi.c2lnbmF0"
	for key, want := range map[rest.Secret]string{"m0sk_1": "|m0sk_1", jwt: "Bearer " + jwt + "|"} {
		got := ""
		url := loopback(t, func(r *http.Request) string {
			got = r.Header.Get("Authorization") + "|" + r.Header.Get("X-API-Key")
			return `{"results":[]}`
		})
		s, err := NewServer(Config{BaseURL: url, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Health(t.Context()); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
}

// TestRefsThatNameEverything: a path without an id deletes all that there is.
func TestRefsThatNameEverything(t *testing.T) {
	f, url := newFake(t)
	for _, p := range []providers.Deleter{server(t, url, Config{}), cloud(t, url, Config{})} {
		for _, ref := range []providers.Ref{"", ".", "..", "/", "../", " ", `\`} {
			if _, err := p.Delete(t.Context(), ref); !providers.Is(err, providers.Permanent) {
				t.Errorf("%q: %v", ref, err)
			}
		}
		if _, err := p.Delete(t.Context(), "../search?a=b"); err != nil { // one that is not there
			t.Error(err)
		}
	}
	for _, asked := range f.asked {
		if !strings.HasPrefix(asked, "DELETE /memories/../search?a=b") && !strings.HasPrefix(asked, "DELETE /v1/memories/../search?a=b/") {
			t.Errorf("asked %s", asked)
		}
	}
}

// TestWrongURL: that a path is not there says nothing about a memory.
func TestWrongURL(t *testing.T) {
	for _, answer := range []string{`{"detail":"Not Found"}`, "<h1>Not Found</h1>", ""} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, answer)
		}))
		defer s.Close()
		for _, p := range []providers.Deleter{server(t, s.URL, Config{}), cloud(t, s.URL, Config{})} {
			_, err := p.Delete(t.Context(), uuid)
			if !providers.Is(err, providers.Permanent) || !strings.Contains(err.Error(), "is the url right?") {
				t.Errorf("%q: %v", answer, err)
			}
		}
	}
}

// TestAnswersWithoutNames: an addition is not taken for done because of a status.
func TestAnswersWithoutNames(t *testing.T) {
	for answer, want := range map[string]providers.Class{
		`{"message":"ok"}`:                               providers.Protocol,
		`{"results":[{"memory":"x","event":"ADD"}]}`:     providers.Protocol,
		`{"results":[{"id":"a","event":"NONE"}]}`:        "", // nothing new
		`{"results":[{"id":"a"},{"id":"a"},{"id":"b"}]}`: "",
	} {
		url := loopback(t, func(*http.Request) string { return answer })
		for _, p := range []providers.Provider{server(t, url, Config{}), cloud(t, url, Config{})} {
			r, err := p.Put(t.Context(), providertest.Item(1, "x"))
			if providers.ClassOf(err) != want || want != "" && !providers.Ambiguous(err) {
				t.Errorf("%s: %+v, %v", answer, r, err)
			}
			if strings.Contains(answer, "NONE") && r.State != journal.Empty || strings.Contains(answer, `"b"`) && !slices.Equal(r.Refs, []providers.Ref{"a", "b"}) {
				t.Errorf("%s: %+v", answer, r)
			}
		}
	}
}

// TestPendingVerbatim: the platform's default may change again (mem0#3585).
func TestPendingVerbatim(t *testing.T) {
	url := loopback(t, func(*http.Request) string { return `{"event_id":"e1","status":"PENDING","results":[]}` })
	r, err := cloud(t, url, Config{}).Put(t.Context(), providertest.Item(1, "x"))
	if err != nil || r.State != journal.Accepted || r.Handle != "e1" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestSameTextAgain(t *testing.T) {
	for infer, want := range map[bool]journal.State{true: journal.Empty, false: journal.Stored} {
		_, url := newFake(t)
		s := server(t, url, Config{Infer: infer})
		for _, want := range []journal.State{journal.Stored, want} {
			if r, err := s.Put(t.Context(), providertest.Item(1, "x")); err != nil || r.State != want {
				t.Errorf("got %+v, %v; want %s", r, err, want)
			}
		}
	}
}

type scoped interface {
	providers.Provider
	providers.Purger
	providers.Finder
	providers.Lister
}

func TestPurgeLeavesOthersAlone(t *testing.T) {
	for _, name := range []string{"server", "cloud"} {
		f, url := newFake(t)
		p := map[string]scoped{"server": server(t, url, Config{}), "cloud": cloud(t, url, Config{})}[name]
		f.kept = append(f.kept, &fakeMemory{ID: "theirs", Memory: "not ours", User: "vade"}, &fakeMemory{ID: "x", Memory: "x", User: "bob"})
		for i := range 450 {
			f.kept = append(f.kept, &fakeMemory{ID: fmt.Sprint("m", i), Memory: "ours", User: "vade", Metadata: map[string]any{"vault_id": fmt.Sprint(i % 225)}})
		}
		if hits, err := p.FindByID(t.Context(), "7", "224"); len(hits) != 4 || err != nil {
			t.Errorf("%s: found %v, %v", name, hits, err)
		}
		if n, err := p.PurgeScope(t.Context()); n != 450 || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if len(f.kept) != 2 {
			t.Errorf("%s: left %d", name, len(f.kept))
		}
	}
}

// TestDeletesThatAreNotDone: mem0#4957.
func TestDeletesThatAreNotDone(t *testing.T) {
	f, url := newFake(t)
	p := server(t, url, Config{})
	if _, err := p.Put(t.Context(), providertest.Item(1, "x")); err != nil {
		t.Fatal(err)
	}
	f.keeps = true
	if n, err := p.PurgeScope(t.Context()); !providers.Is(err, providers.Protocol) || n != 1 {
		t.Errorf("got %d, %v", n, err)
	}
}

func TestMoreThanTheServerLists(t *testing.T) {
	f, url := newFake(t)
	for i := range maxLimit + 1 {
		f.kept = append(f.kept, &fakeMemory{ID: fmt.Sprint("m", i), Memory: "theirs", User: "vade"})
	}
	p := server(t, url, Config{})
	if _, _, err := p.List(t.Context(), "", 10); !providers.Is(err, providers.Unsupported) {
		t.Errorf("list: %v", err)
	}
	if _, err := p.PurgeScope(t.Context()); !providers.Is(err, providers.Unsupported) {
		t.Errorf("purge: %v", err)
	}
}

func TestExpirationDateIsNeverTooEarly(t *testing.T) {
	for text, want := range map[string]string{
		"2026-12-01T00:00:00Z":      "2026-12-02",
		"2026-12-31T23:59:59Z":      "2027-01-01",
		"2026-12-01T01:00:00+09:00": "2026-12-01",
	} {
		if got := expirationDate(at(text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if got := expirationDate(time.Time{}); got != "" {
		t.Errorf("never: %s", got)
	}
}

func FuzzRecords(f *testing.F) {
	for _, seed := range []string{goodSearch, `[{"id":"a"}]`, `{"results":null}`, `null`, `{"results":[{"metadata":[1],"created_at":5,"score":"NaN"}]}`} {
		f.Add(seed)
	}
	c := &client{}
	f.Fuzz(func(t *testing.T, text string) {
		var got records
		if json.Unmarshal([]byte(text), &got) != nil {
			return
		}
		seen := map[providers.Ref]bool{}
		for _, h := range c.hits(got.Results, 3) {
			if h.Ref == "" || h.Text == "" || seen[h.Ref] {
				t.Errorf("%+v in %s", h, text)
			}
			seen[h.Ref] = true
		}
		if len(seen) > 3 {
			t.Errorf("%d hits", len(seen))
		}
	})
}

func TestKeyIsInNoError(t *testing.T) {
	url := loopback(t, func(*http.Request) string { return "your key is m0sk_sesame" })
	p, err := NewCloud(Config{BaseURL: url, Key: "m0sk_sesame"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Search(t.Context(), providers.Query{Text: "x", Limit: 1})
	e, _ := errors.AsType[*providers.Error](err)
	if e == nil || strings.Contains(err.Error()+fmt.Sprintf("%+v %v", p.Config, e.Err), "sesame") {
		t.Errorf("got %v", err)
	}
}
