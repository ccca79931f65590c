package providertest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vademecum/providers"
)

// FixtureConfig says how a provider's adapter makes the exchanges that were
// recorded of its service.
type FixtureConfig struct {
	Dir  string // of the fixtures, a JSON file each
	Spec string // the service's OpenAPI document
	New  func(t *testing.T, baseURL string) providers.Provider
	// Plays make the adapter make a fixture's request and check what it makes of
	// the answer, by the fixture's name. Each fixture has one, or is in Skip with
	// the reason why the adapter never makes that request.
	Plays map[string]func(t *testing.T, p providers.Provider)
	Skip  map[string]string
	// Around answers what the adapter asks before or after a fixture's request: a
	// status and a JSON body; nil or status 0: nothing else may be asked.
	Around func(r *http.Request, body []byte) (status int, answer string)
}

// fixture is one recorded exchange.
type fixture struct {
	API      string          `json:"api"`
	Expect   string          `json:"expect"`   // "request-refused": a mistake that adapters must not make
	Validate json.RawMessage `json:"validate"` // set where the document does not know the request
	RawBody  string          `json:"rawBody"`
	Request  struct {
		Method  string            `json:"method"`
		Path    string            `json:"path"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	} `json:"request"`
	Response struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	} `json:"response"`
}

func (f *fixture) refused() bool { return f.Expect == "request-refused" }

// known reports whether the document is about f's request.
func (f *fixture) known() bool { return f.API != "v4" && f.Validate == nil }

// answer is the body of the response.
func (f *fixture) answer() []byte {
	if f.RawBody != "" {
		return []byte(f.RawBody)
	}
	return f.Response.Body
}

// is reports whether r is f's request: the same method and path.
func (f *fixture) is(r *http.Request) bool {
	path, _, _ := strings.Cut(f.Request.Path, "?")
	return r.Method == f.Request.Method && r.URL.Path == path
}

// Fixtures plays every fixture: every request of the adapter must be one that
// the service's document allows, and every mistake among the fixtures must be
// one that it refuses, so that a document which checks nothing is found out.
func Fixtures(t *testing.T, c FixtureConfig) {
	doc := loadSpec(t, c.Spec)
	paths, err := filepath.Glob(filepath.Join(c.Dir, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures in %s: %v", c.Dir, err)
	}
	names := map[string]bool{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		names[name] = true
		t.Run(name, func(t *testing.T) {
			f := readFixture(t, path)
			doc.judge(t, f)
			play, reason := c.Plays[name], c.Skip[name]
			switch {
			case (play != nil) == (reason != ""):
				t.Errorf("it needs a play, or else a reason why it is not played")
			case play != nil:
				c.play(t, doc, f, play)
			}
		})
	}
	for name := range c.Plays {
		if !names[name] {
			t.Errorf("no fixture is called %s", name)
		}
	}
}

func readFixture(t *testing.T, path string) *fixture {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{}
	if err := json.Unmarshal(raw, f); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return f
}

// judge checks f itself against the document.
func (s *spec) judge(t *testing.T, f *fixture) {
	t.Helper()
	if !f.known() {
		return
	}
	r := httptest.NewRequest(f.Request.Method, "http://service"+f.Request.Path, nil)
	if len(f.Request.Body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range f.Request.Headers {
		r.Header.Set(name, value)
	}
	in, err := s.request(r, f.Request.Body)
	if f.refused() != (err != nil) {
		t.Errorf("the document refuses it: %v (%.300v), want %v", err != nil, err, f.refused())
	}
	if body := f.Response.Body; in != nil && len(body) > 0 && string(body) != "null" {
		if err := s.response(in, f.Response.Status, body); err != nil {
			t.Errorf("the answer: %.300v", err)
		}
	}
}

// play lets the adapter make f's request.
func (c FixtureConfig) play(t *testing.T, doc *spec, f *fixture, play func(*testing.T, providers.Provider)) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if f.known() {
			if _, err := doc.request(r, body); err != nil {
				t.Errorf("the adapter asked what the document does not allow: %s %s %s: %.500v", r.Method, r.URL, body, err)
			}
		}
		if !f.is(r) {
			c.around(t, w, r, body)
			return
		}
		asked++
		checkAuth(t, f, r)
		for name, value := range f.Response.Headers {
			w.Header().Set(name, value)
		}
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(f.Response.Status)
		_, _ = w.Write(f.answer())
	}))
	defer s.Close()
	p := c.New(t, s.URL)
	defer func() { _ = providers.Close(p) }()
	play(t, p)
	if asked == 0 {
		t.Errorf("the adapter did not ask %s %s", f.Request.Method, f.Request.Path)
	}
}

func (c FixtureConfig) around(t *testing.T, w http.ResponseWriter, r *http.Request, body []byte) {
	status, answer := 0, ""
	if c.Around != nil {
		status, answer = c.Around(r, bytes.Clone(body))
	}
	if status == 0 {
		t.Errorf("the adapter asked something else: %s %s %s", r.Method, r.URL, body)
		status = http.StatusTeapot
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// checkAuth: the key goes where the service looks for it, in its form.
func checkAuth(t *testing.T, f *fixture, r *http.Request) {
	t.Helper()
	for _, name := range []string{"Authorization", "X-API-Key"} {
		want, got := f.Request.Headers[name], r.Header.Get(name)
		wantScheme, _, _ := strings.Cut(want, " ")
		gotScheme, _, _ := strings.Cut(got, " ")
		if (want == "") != (got == "") || strings.Contains(want, " ") && wantScheme != gotScheme {
			t.Errorf("%s is %q, want the form of %q", name, got, want)
		}
	}
}
