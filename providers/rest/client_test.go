package rest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vademecum/providers"
)

const key = "sk-very-secret-123"

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	o.Name, o.Header = "svc", map[string]Secret{"Authorization": "Bearer " + key}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// serve answers every request with what fn does.
func serve(t *testing.T, fn http.HandlerFunc) *Client {
	s := httptest.NewServer(fn)
	t.Cleanup(s.Close)
	return newClient(t, Options{BaseURL: s.URL + "/base/"})
}

func TestBaseURL(t *testing.T) {
	for url, want := range map[string]string{
		"https://api.example.com/v1": "", "http://localhost:8888": "", "http://[::1]:1/": "", "http://127.0.0.9": "",
		"http://api.example.com":         "neither https nor on this machine",
		"https://me:pass@example.com":    "holds credentials",
		"https://example.com?key=abc":    "end with its path",
		"ftp://example.com":              "must begin with",
		"localhost:8888":                 "must begin with",
		"http://127.0.0.1.example.com/x": "neither",
		"https://exa mple.com/pass":      "cannot be understood",
	} {
		_, err := New(Options{Name: "svc", BaseURL: url})
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) && want != "" {
			t.Errorf("%s: got %v, want %q", url, err, want)
		}
	}
	if _, err := New(Options{BaseURL: "http://api.example.com", AllowInsecure: true}); err != nil {
		t.Error(err)
	}
}

func TestPathsStayAsTheyAre(t *testing.T) {
	var got string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Method + " " + r.URL.EscapedPath() + "?" + r.URL.RawQuery
		fmt.Fprint(w, `{}`)
	})
	for path, want := range map[string]string{"/v1/memories/": "GET /base/v1/memories/?", "/fs/a%2Fb%20c": "GET /base/fs/a%2Fb%20c?"} {
		if _, err := c.Do(t.Context(), Request{Path: path}, nil); err != nil || got != want {
			t.Errorf("%s: %s %v", path, got, err)
		}
	}
}

func TestClasses(t *testing.T) {
	for _, test := range []struct {
		status    int
		header    string
		body      string
		class     providers.Class
		ambiguous bool
		after     time.Duration
	}{
		{400, "", `{"detail":"no"}`, providers.Permanent, false, 0},
		{401, "", `{"detail":"no"}`, providers.Auth, false, 0},
		{403, "", `x`, providers.Auth, false, 0},
		{404, "", ``, providers.Permanent, false, 0},
		{405, "", ``, providers.Unsupported, false, 0},
		{408, "", ``, providers.Retryable, true, 0},
		{413, "", ``, providers.Permanent, false, 0},
		{425, "", ``, providers.Retryable, false, 0},
		{429, "", `too many`, providers.RateLimited, false, defaultRetry},
		{429, "Retry-After: 7", ``, providers.RateLimited, false, 7 * time.Second},
		{429, "Retry-After: 86400", ``, providers.RateLimited, false, maxRetry},
		{429, "Retry-After: -3", ``, providers.RateLimited, false, defaultRetry},
		{429, "Retry-After: Mon, 30 Nov 2026 10:01:00 GMT", ``, providers.RateLimited, false, time.Minute},
		{429, "Retry-After: Mon, 30 Nov 2020 10:01:00 GMT", ``, providers.RateLimited, false, minRetry},
		{429, "X-RateLimit-Reset: 30", ``, providers.RateLimited, false, 30 * time.Second},
		{429, "X-RateLimit-Reset: 1796032830", ``, providers.RateLimited, false, 30 * time.Second},
		{429, "", `{"detail":"x","retry_after":9}`, providers.RateLimited, false, 9 * time.Second},
		{500, "", ``, providers.Retryable, true, 0},
		{502, "", `<html>`, providers.Retryable, true, 0},
		{503, "", ``, providers.Retryable, true, 0},
		{504, "", ``, providers.Retryable, true, 0},
		{302, "", ``, providers.Permanent, false, 0},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if name, value, ok := strings.Cut(test.header, ": "); ok {
				w.Header().Set(name, value)
			}
			w.WriteHeader(test.status)
			fmt.Fprint(w, test.body)
		}))
		c := newClient(t, Options{BaseURL: s.URL, Now: func() time.Time { return time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC) }})
		_, err := c.Do(t.Context(), Request{Op: "put", Body: 1, Mutates: true}, nil)
		e, ok := errors.AsType[*providers.Error](err)
		if !ok || e.Class != test.class || e.Ambiguous != test.ambiguous || e.RetryAfter != test.after || e.Status != test.status {
			t.Errorf("%d %s: got %+v", test.status, test.header, e)
		}
		s.Close()
	}
}

func TestKeysAreInNoMessage(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"detail":"%s is wrong, said %s %s"}`, key, r.Header.Get("Authorization"), strings.Repeat("x", 4000))
	})
	_, err := c.Do(t.Context(), Request{Op: "put", Body: 1}, nil)
	if err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "*** is wrong") || len(err.Error()) > 700 {
		t.Errorf("got %v", err)
	}
	if s := fmt.Sprintf("%v %+v %#v %s", Secret(key), Secret(key), Secret(key), Secret(key)); strings.Contains(s, key) {
		t.Error(s)
	}
}

func TestAnotherHostGetsNoKey(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusMovedPermanently)
	})
	_, err := c.Do(t.Context(), Request{Op: "search"}, &struct{}{})
	if !providers.Is(err, providers.Permanent) || asked {
		t.Errorf("asked %v, got %v", asked, err)
	}
}

// TestRedirectsOnOneHost: a POST stays one, or is refused.
func TestRedirectsOnOneHost(t *testing.T) {
	for status, want := range map[int]providers.Class{
		http.StatusMovedPermanently: providers.Permanent, http.StatusFound: providers.Permanent, http.StatusSeeOther: providers.Permanent,
		http.StatusTemporaryRedirect: "", http.StatusPermanentRedirect: "",
	} {
		asked := ""
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/") {
				http.Redirect(w, r, r.URL.Path+"/", status)
				return
			}
			body, _ := io.ReadAll(r.Body)
			asked = r.Method + " " + string(body)
			fmt.Fprint(w, "{}")
		})
		_, err := c.Do(t.Context(), Request{Op: "put", Path: "/memories", Body: 1, Mutates: true}, &struct{}{})
		if providers.ClassOf(err) != want || providers.Ambiguous(err) || want == "" && asked != "POST 1" || want != "" && asked != "" {
			t.Errorf("%d: asked %q, got %v", status, asked, err)
		}
	}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
	})
	if _, err := c.Do(t.Context(), Request{Op: "put", Body: 1, Mutates: true}, nil); !providers.Is(err, providers.Permanent) {
		t.Errorf("in a circle: %v", err)
	}
}

func TestBodiesThatMakeNoSense(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "cut": `{"a":`, "html": "<html>", "long": strings.Repeat(" ", MaxBody) + "{}",
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		var out struct{ A int }
		_, err := c.Do(t.Context(), Request{Op: "put", Body: 1, Mutates: true}, &out)
		if !providers.Is(err, providers.Protocol) || !providers.Ambiguous(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhetherItWasSent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := newClient(t, Options{BaseURL: "http://" + l.Addr().String()})
	l.Close()
	_, err = refused.Do(t.Context(), Request{Op: "put", Body: 1, Mutates: true}, nil)
	if !providers.Is(err, providers.Retryable) || providers.Ambiguous(err) {
		t.Errorf("refused: %v", err)
	}
	reset := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	})
	for _, mutates := range []bool{true, false} {
		_, err := reset.Do(t.Context(), Request{Op: "put", Body: 1, Mutates: mutates}, nil)
		if !providers.Is(err, providers.Retryable) || providers.Ambiguous(err) != mutates {
			t.Errorf("reset, mutates %v: %v", mutates, err)
		}
	}
}

func TestScores(t *testing.T) {
	for raw, want := range map[string]string{
		`1`: "1", `-0.5`: "-0.5", `"0.25"`: "0.25", `"NaN"`: "none", `null`: "none", `"Inf"`: "none", `1e999`: "none", `{}`: "none", `""`: "none",
	} {
		var s Score
		_ = s.UnmarshalJSON([]byte(raw))
		got := "none"
		if s.Value != nil {
			got = fmt.Sprint(*s.Value)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
}
