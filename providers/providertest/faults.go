package providertest

import (
	"compress/gzip"
	"context"
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
	"vademecum/sync/journal"
)

// FaultConfig says how an adapter's service answers when all is well.
type FaultConfig struct {
	New func(t *testing.T, baseURL string, transport http.RoundTripper) providers.Provider
	// Search, Put, Delete and Health are good answers to what these ask; "" where
	// the adapter has no such request. Around answers what it asks
	// besides, see FixtureConfig.
	Search, Put, Delete, Health string
	// Ref is a ref that the service could have given.
	Ref    providers.Ref
	Around func(r *http.Request, body []byte) (status int, answer string)
	// InOK are answers with status 200 that are errors all the same, by the class
	// that they are to have.
	InOK map[providers.Class]string
	// Statuses are classes of a status where this service means something else by it.
	Statuses map[int]providers.Class
	// ScoreAnswer is a good answer to Search with %s in the place of a score; ""
	// where the service tells none. In [0, 1], higher is better, unless the
	// properties say otherwise.
	ScoreAnswer string
}

// faultOps are the calls that each fault is tried with.
type faultOp struct {
	name    string
	mutates bool
	answer  string
	call    func(ctx context.Context, p providers.Provider) error
}

func (c FaultConfig) ops() []faultOp {
	ops := []faultOp{
		{"search", false, c.Search, func(ctx context.Context, p providers.Provider) error {
			_, err := p.Search(ctx, providers.Query{Text: "tide", Limit: 3})
			return err
		}},
		{"put", true, c.Put, func(ctx context.Context, p providers.Provider) error {
			_, err := p.Put(ctx, Item(1, "the tide is high"))
			return err
		}},
	}
	if c.Delete != "" {
		ops = append(ops, faultOp{"delete", true, c.Delete, func(ctx context.Context, p providers.Provider) error {
			_, err := p.(providers.Deleter).Delete(ctx, c.Ref)
			return err
		}})
	}
	if c.Health != "" {
		ops = append(ops, faultOp{"health", false, c.Health, func(ctx context.Context, p providers.Provider) error {
			_, err := p.Health(ctx)
			return err
		}})
	}
	return ops
}

// fault is one way in which a service misbehaves.
type fault struct {
	name   string
	status int
	header string // "Name: value"
	body   string
	class  providers.Class // "": no error
	// ambiguous: of a write nobody knows whether it was done.
	ambiguous bool
	after     time.Duration
	// do, if set, answers in place of status, header and body.
	do http.HandlerFunc
}

const (
	retryable, limited, auth  = providers.Retryable, providers.RateLimited, providers.Auth
	permanent, protocolBroken = providers.Permanent, providers.Protocol
)

// faultTable is what every adapter must make of what every service does once.
func faultTable() []fault {
	page := "<html><body>sign in to the hotel's network</body></html>"
	return []fault{
		{name: "empty body", status: 200, class: protocolBroken, ambiguous: true},
		{name: "cut JSON", status: 200, body: `{"results":[{"id":`, class: protocolBroken, ambiguous: true},
		{name: "page of HTML", status: 200, header: "Content-Type: text/html", body: page, class: protocolBroken, ambiguous: true},
		{name: "400 text", status: 400, body: `{"detail":"no"}`, class: permanent},
		{name: "400 list", status: 400, body: `{"detail":[{"loc":["body"],"msg":"no"}]}`, class: permanent},
		{name: "401", status: 401, body: `{"detail":"no"}`, class: auth},
		{name: "403", status: 403, body: `{"detail":"no"}`, class: auth},
		{name: "408", status: 408, class: retryable, ambiguous: true},
		{name: "409", status: 409, body: `{"detail":"conflict"}`, class: permanent},
		{name: "413", status: 413, class: permanent},
		{name: "422", status: 422, body: `{"detail":[]}`, class: permanent},
		{name: "429 seconds", status: 429, header: "Retry-After: 7", class: limited, after: 7 * time.Second},
		{name: "429 absurd", status: 429, header: "Retry-After: 86400", class: limited, after: 15 * time.Minute},
		{name: "429 date in the past", status: 429, header: "Retry-After: Mon, 30 Nov 2020 10:01:00 GMT", class: limited, after: time.Second},
		{name: "429 plain text", status: 429, header: "Content-Type: text/plain", body: "Rate limit exceeded", class: limited, after: 5 * time.Second},
		{name: "429 clock skew", status: 429, header: "X-RateLimit-Reset: 1", class: limited, after: time.Second},
		{name: "500", status: 500, body: page, class: retryable, ambiguous: true},
		{name: "502", status: 502, body: page, class: retryable, ambiguous: true},
		{name: "503", status: 503, class: retryable, ambiguous: true},
		{name: "504", status: 504, class: retryable, ambiguous: true},
		{name: "50 MiB", class: protocolBroken, ambiguous: true, do: huge},
		{name: "50 MiB in a small gzip", class: protocolBroken, ambiguous: true, do: hugeGzip},
		{name: "reset after the request", class: retryable, ambiguous: true, do: reset},
		{name: "slow headers", class: retryable, ambiguous: true, do: slowHeaders},
		{name: "slow body", class: retryable, ambiguous: true, do: slowBody},
	}
}

func huge(w http.ResponseWriter, _ *http.Request) {
	line := strings.Repeat(" ", 1<<20)
	for range 50 {
		if _, err := io.WriteString(w, line); err != nil {
			return
		}
	}
}

func hugeGzip(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		huge(w, r)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	line := []byte(strings.Repeat(" ", 1<<20))
	for range 50 {
		if _, err := z.Write(line); err != nil {
			return
		}
	}
	_ = z.Close()
}

func reset(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func slowHeaders(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func slowBody(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, " ")
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// patience is how long a call of the table may take: longer than a good
// service on a busy machine needs, and shorter than the slow ones.
const patience = 400 * time.Millisecond

// Faults tries the table of what goes wrong with HTTP services.
func Faults(t *testing.T, c FaultConfig) {
	for _, op := range c.ops() {
		t.Run(op.name, func(t *testing.T) {
			for _, f := range faultTable() {
				t.Run(f.name, func(t *testing.T) {
					if class, ok := c.Statuses[f.status]; ok {
						f.class = class
					}
					c.check(t, op, f)
				})
			}
			t.Run("good", func(t *testing.T) { c.check(t, op, fault{status: 200, body: op.answer}) })
			t.Run("unknown fields", func(t *testing.T) {
				if body, ok := strings.CutPrefix(op.answer, "{"); ok && strings.TrimSpace(body) != "}" {
					c.check(t, op, fault{status: 200, body: `{"not_yet_invented":{"a":[1]},` + body})
				}
			})
			t.Run("null", func(t *testing.T) { c.null(t, op) })
			for class, body := range c.InOK {
				t.Run("error in 200 "+string(class), func(t *testing.T) { c.inOK(t, op, class, body) })
			}
			t.Run("network", func(t *testing.T) { c.network(t, op) })
			t.Run("cancelled", func(t *testing.T) { c.cancelled(t, op) })
		})
	}
	t.Run("redirect", c.redirect)
	t.Run("404 on delete", c.gone)
	t.Run("scores", c.scores)
	t.Run("invalid text", c.invalidText)
}

// serve answers what is besides a test's request by Around, and the rest with do.
func (c FaultConfig) serve(t *testing.T, do http.HandlerFunc) providers.Provider {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.Around != nil {
			body, _ := io.ReadAll(r.Body)
			if status, answer := c.Around(r, body); status != 0 {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, answer)
				return
			}
		}
		do(w, r)
	}))
	p := c.New(t, s.URL, nil)
	t.Cleanup(func() {
		_ = providers.Close(p)
		s.CloseClientConnections()
		s.Close()
	})
	return p
}

func (f fault) handler() http.HandlerFunc {
	if f.do != nil {
		return f.do
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if name, value, ok := strings.Cut(f.header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(f.status)
		_, _ = io.WriteString(w, f.body)
	}
}

func (c FaultConfig) check(t *testing.T, op faultOp, f fault) {
	t.Helper()
	p := c.serve(t, f.handler())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	if strings.HasPrefix(f.name, "slow") {
		cancel()
		ctx, cancel = context.WithTimeout(t.Context(), patience)
	}
	defer cancel()
	start := time.Now()
	err := op.call(ctx, p)
	if took := time.Since(start); strings.HasPrefix(f.name, "slow") && took > 10*patience {
		t.Errorf("took %s", took)
	}
	f.wants(t, op, p.Name(), err)
}

func (f fault) wants(t *testing.T, op faultOp, name string, err error) {
	t.Helper()
	if f.class == "" {
		if err != nil {
			t.Errorf("got %v", err)
		}
		return
	}
	e, ok := errors.AsType[*providers.Error](err)
	if !ok {
		t.Fatalf("got %v, want a *providers.Error", err)
	}
	if e.Class != f.class || e.Ambiguous != (f.ambiguous && op.mutates) {
		t.Errorf("got class %s, ambiguous %v (%v); want %s, %v", e.Class, e.Ambiguous, e, f.class, f.ambiguous && op.mutates)
	}
	if e.RetryAfter != f.after {
		t.Errorf("retry after %s, want %s", e.RetryAfter, f.after)
	}
	if e.Provider != name || e.Op == "" || len(e.Msg) > providers.MaxMessage {
		t.Errorf("provider %q, op %q, %d bytes of message", e.Provider, e.Op, len(e.Msg))
	}
}

// null: an answer that is null is no crash and no false success.
func (c FaultConfig) null(t *testing.T, op faultOp) {
	p := c.serve(t, fault{status: 200, body: "null"}.handler())
	if op.name == "put" {
		r, err := p.Put(t.Context(), Item(1, "the tide is high"))
		if err == nil && r.State == journal.Stored {
			t.Errorf("null was taken for stored: %+v", r)
		}
		return
	}
	if err := op.call(t.Context(), p); err != nil && !providers.Is(err, providers.Protocol) {
		t.Errorf("got %v", err)
	}
}

func (c FaultConfig) inOK(t *testing.T, op faultOp, class providers.Class, body string) {
	err := op.call(t.Context(), c.serve(t, fault{status: 200, body: body}.handler()))
	if !providers.Is(err, class) {
		t.Errorf("got %v, want class %s", err, class)
	}
}

// network: nobody listens, or does not speak TLS: nothing was sent.
func (c FaultConfig) network(t *testing.T, op faultOp) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	_ = l.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for name, url := range map[string]string{"refused": nobody, "no TLS": strings.Replace(plain.URL, "http:", "https:", 1)} {
		p := c.New(t, url, nil)
		err := op.call(t.Context(), p)
		if !providers.Is(err, retryable) || providers.Ambiguous(err) {
			t.Errorf("%s: got %v", name, err)
		}
		_ = providers.Close(p)
	}
}

func (c FaultConfig) cancelled(t *testing.T, op faultOp) {
	ctx, cancel := context.WithCancel(t.Context())
	p := c.serve(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		slowHeaders(w, r)
	})
	err := op.call(ctx, p)
	if !errors.Is(err, context.Canceled) || op.mutates && !providers.Ambiguous(err) {
		t.Errorf("got %v, ambiguous %v", err, providers.Ambiguous(err))
	}
}

// redirect: the key goes nowhere else.
func (c FaultConfig) redirect(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	p := c.serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	for _, op := range c.ops() {
		if err := op.call(t.Context(), p); !providers.Is(err, permanent) || asked {
			t.Errorf("%s: asked %v, %v", op.name, asked, err)
		}
	}
}

func (c FaultConfig) gone(t *testing.T) {
	if c.Delete == "" {
		return
	}
	p := c.serve(t, fault{status: 404, body: `{"detail":"not found"}`}.handler())
	if r, err := p.(providers.Deleter).Delete(t.Context(), c.Ref); err != nil || r.State != journal.Deleted {
		t.Errorf("got %+v, %v", r, err)
	}
}

func (c FaultConfig) scores(t *testing.T) {
	if c.ScoreAnswer == "" {
		return
	}
	for _, raw := range []string{"null", `"NaN"`, "1.7", "-0.3", "0.5", `"0.5"`, "1e999"} {
		p := c.serve(t, fault{status: 200, body: fmt.Sprintf(c.ScoreAnswer, raw)}.handler())
		hits, err := p.Search(t.Context(), providers.Query{Text: "tide", Limit: 3})
		if err != nil && raw != "1e999" || err == nil && len(hits) == 0 {
			t.Errorf("score %s: %+v, %v", raw, hits, err)
		}
	}
}

// invalidText: what is not UTF-8, and lone surrogates, are replaced.
func (c FaultConfig) invalidText(t *testing.T) {
	at := strings.Index(c.Search, `"`)
	if at < 0 {
		return
	}
	for _, bad := range []string{"\xff", `\ud800`} {
		body := `{"x` + bad + `":1,` + strings.TrimPrefix(c.Search, "{")
		if strings.HasPrefix(c.Search, "[") {
			return
		}
		if err := c.ops()[0].call(t.Context(), c.serve(t, fault{status: 200, body: body}.handler())); err != nil {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
