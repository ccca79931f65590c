package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vademecum/providers"
	"vademecum/sync/journal"
	"vademecum/vault"
)

var modes = []Mode{OneShot, LongLived}

func TestWhatIsSent(t *testing.T) {
	at := time.Date(2026, 11, 30, 17, 1, 0, 0, time.FixedZone("", 3600))
	full := providers.Item{
		ID: "01JDZ3M8Q4X0W3K2V7N5T9R6BC", Version: "abc", Part: 1, Parts: 3, Vault: "v", Title: "Tide", Text: "high <at> noon\r\n\u2028潮",
		Type: "fact", Tier: "ltm", Tags: []string{"sea"}, Workspace: "github.com/acme/shop", Scope: vault.Scope{Type: "team", ID: "acme"},
		Origin: vault.Origin{User: "todd", Agent: "codex", Host: "h", Session: "s", Turn: 12}, Created: at, Updated: at, Expires: at,
	}
	for _, c := range []struct {
		name   string
		params any
		want   string
	}{
		{"put", object{"item": ToWire(full)}, `{"item":{"id":"01JDZ3M8Q4X0W3K2V7N5T9R6BC","version":"abc","part":1,"parts":3,"vault":"v","title":"Tide","text":"high <at> noon\r\n\u2028潮","type":"fact","tier":"ltm","tags":["sea"],"workspace":"github.com/acme/shop","scope":{"type":"team","id":"acme"},"origin":{"user":"todd","agent":"codex","host":"h","session":"s","turn":12},"created":"2026-11-30T16:01:00Z","updated":"2026-11-30T16:01:00Z","expires":"2026-11-30T16:01:00Z","key":"01JDZ3M8Q4X0W3K2V7N5T9R6BC@abc#1"}}`},
		{"the least", object{"item": ToWire(item("a", "b"))}, `{"item":{"id":"a","version":"v1","part":0,"parts":1,"vault":"vault","title":"A title","text":"b","key":"a@v1"}}`},
		{"paxm", toMemoryItem(full), `{"id":"01JDZ3M8Q4X0W3K2V7N5T9R6BC#2","text":"high <at> noon\r\n\u2028潮","source":"vade","metadata":{"vault_id":"01JDZ3M8Q4X0W3K2V7N5T9R6BC","vault_of":"v","vault_origin":"codex","vault_part":"2/3","vault_rev":"abc","vault_scope":"team:acme","vault_type":"fact","vault_workspace":"github.com/acme/shop"},"created_at":"2026-11-30T16:01:00Z","tier":"ltm","expires_at":"2026-11-30T16:01:00Z","origin":{"user_id":"todd","agent_id":"codex","session_id":"s","turn_id":"12"},"scope":{"type":"team","id":"acme"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			line, err := Line("1", "m", c.params)
			if err != nil || strings.Count(string(line), "\n") != 1 {
				t.Fatalf("got %q %v", line, err)
			}
			var got, want any
			if err := json.Unmarshal(line, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(`{"jsonrpc":"2.0","id":"1","method":"m","params":`+c.want+`}`), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSearchInBothModes(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			p, dir := open(t, "echo", remembered(mode))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var pids []string
			for range 2 {
				hits, err := p.Search(ctx, providers.Query{Text: "tide", Limit: 3, Workspace: "w"})
				if err != nil || len(hits) != 2 {
					t.Fatalf("got %v %v", hits, err)
				}
				if hits[1].Score != nil || hits[1].Text != "who" {
					t.Errorf("got %+v", hits[1])
				}
				pids = append(pids, string(hits[1].Ref))
				var sent struct {
					Params struct {
						Text      string
						Limit     int
						Workspace *string
						Deadline  int `json:"deadline_ms"`
					}
				}
				if err := json.Unmarshal([]byte(hits[0].Text), &sent); err != nil {
					t.Fatal(err)
				}
				if is := sent.Params; is.Text != "tide" || is.Limit != 3 || is.Workspace != nil || is.Deadline < 1000 || is.Deadline > 20000 {
					t.Errorf("it was sent %s", hits[0].Text)
				}
			}
			if (pids[0] == pids[1]) != (mode == LongLived) || len(runs(t, dir)) != len(slices.Compact(pids)) {
				t.Errorf("ran %v, answers from %v", runs(t, dir), pids)
			}
			if hits, err := p.Search(ctx, providers.Query{Text: "tide", Limit: 1}); err != nil || len(hits) != 1 {
				t.Errorf("a limit of 1: got %v %v", hits, err)
			}
			if h, err := p.Health(ctx); err != nil || h.Version != "7" || len(h.Warnings) != 1 {
				t.Errorf("got %+v %v", h, err)
			}
		})
	}
}

func TestFilterGoesOnlyToWhomCanDoIt(t *testing.T) {
	p, _ := open(t, "echo", func(c *Config) { c.Abilities = &Abilities{Capabilities: Capabilities{Filter: true}} })
	hits, err := p.Search(t.Context(), providers.Query{Text: "tide", Limit: 3, Workspace: "acme/shop"})
	if err != nil || !strings.Contains(hits[0].Text, `"workspace":"acme/shop"`) {
		t.Errorf("got %v %v", hits, err)
	}
}

func TestErrorCodes(t *testing.T) {
	p, _ := open(t, "as told", nil)
	for _, c := range []struct {
		answer string
		want   providers.Error
	}{
		{"!-32700 x", providers.Error{Class: providers.Protocol}},
		{"!-32600 x", providers.Error{Class: providers.Protocol}},
		{"!-32601 x", providers.Error{Class: providers.Unsupported}},
		{"!-32602 x", providers.Error{Class: providers.Permanent}},
		{"!-32603 x", providers.Error{Class: providers.Retryable}},
		{`!-32001 x|{"retry_after_ms":1500}`, providers.Error{Class: providers.Retryable, RetryAfter: 1500 * time.Millisecond}},
		{`!-32001 x|{"ambiguous":true}`, providers.Error{Class: providers.Retryable, Ambiguous: true}},
		{`!-32002 x|{"retry_after_ms":999999999}`, providers.Error{Class: providers.RateLimited, RetryAfter: maxRetryAfter}},
		{`!-32003 x|"any data"`, providers.Error{Class: providers.Auth}},
		{`!-32004 x|{"retry_after_ms":"soon"}`, providers.Error{Class: providers.Permanent}},
		{`!-32006 x|{"max_bytes":10}`, providers.Error{Class: providers.Permanent, Msg: "x (at most 10 bytes)"}},
		{"!-32800 x", providers.Error{Class: providers.Retryable, Ambiguous: true}},
		{"!-31000 x", providers.Error{Class: providers.Retryable}},
		{`{"state":"done"}`, providers.Error{Class: providers.Protocol, Ambiguous: true}},
		{`null`, providers.Error{Class: providers.Protocol, Ambiguous: true}},
		{`"stored"`, providers.Error{Class: providers.Protocol, Ambiguous: true}},
	} {
		_, err := p.Put(t.Context(), item("a", c.answer))
		got, ok := errors.AsType[*providers.Error](err)
		if !ok {
			t.Errorf("%s: got %v", c.answer, err)
			continue
		}
		if got.Class != c.want.Class || got.RetryAfter != c.want.RetryAfter || got.Ambiguous != c.want.Ambiguous || c.want.Msg != "" && got.Msg != c.want.Msg {
			t.Errorf("%s: got %+v", c.answer, got)
		}
		if got.Provider != "own" || got.Op != "put" {
			t.Errorf("%s: got %v", c.answer, got)
		}
	}
}

func TestReceipts(t *testing.T) {
	p, _ := open(t, "as told", nil)
	for answer, want := range map[string]providers.Receipt{
		`{"state":"stored","refs":["a","b"]}`:  {State: journal.Stored, Refs: []providers.Ref{"a", "b"}},
		`{"state":"accepted","handle":"task"}`: {State: journal.Accepted, Handle: "task"},
		`{"state":"empty","note":" known\n"}`:  {State: journal.Empty, Note: "known"},
	} {
		got, err := p.Put(t.Context(), item("a", answer))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", answer, err, diff)
		}
	}
	d := p.(providers.Deleter)
	for _, answer := range []string{`{"state":"deleted"}`, "!-32005 no such"} {
		if r, err := d.Delete(t.Context(), providers.Ref(answer)); err != nil || r.State != journal.Deleted {
			t.Errorf("%s: got %v %v", answer, r, err)
		}
	}
	if _, err := d.Delete(t.Context(), `{"state":"stored"}`); !providers.Is(err, providers.Protocol) {
		t.Errorf("got %v", err)
	}
}

// TestBrokenPrograms: whatever a program does, the class says what to do, a
// write whose end is not known is ambiguous, a search never is, and no secret is
// repeated.
func TestBrokenPrograms(t *testing.T) {
	for _, c := range []struct {
		do    string
		class providers.Class
		says  string
	}{
		{"dies", providers.Retryable, "exit status 3; it said: cannot open the store: password … is wrong"},
		{"hangs", providers.Retryable, "deadline exceeded"},
		{"noise", providers.Protocol, `stdout is for answers only, stderr for the rest; got "debug: opening the store"`},
		{"blurts", providers.Protocol, strings.Repeat("x", 70) + ` …": `},
		{"endless", providers.Protocol, "a line of more than 4 MiB"},
		{"cannot read", providers.Protocol, "no JSON"},
	} {
		for _, mode := range modes {
			t.Run(c.do+"/"+string(mode), func(t *testing.T) {
				t.Parallel()
				p, dir := open(t, c.do, remembered(mode))
				limit := 10 * time.Second
				if c.do == "hangs" {
					_, _ = p.Search(timeout(t, time.Second), providers.Query{Text: "x", Limit: 1}) // it is warm
					limit = 200 * time.Millisecond
				}
				began := time.Now()
				_, err := p.Put(timeout(t, limit), item("a", "b"))
				if took := time.Since(began); took > limit+2*time.Second {
					t.Errorf("took %s", took)
				}
				e, ok := errors.AsType[*providers.Error](err)
				if !ok || e.Class != c.class || e.Ambiguous != (e.Code == "") || !strings.Contains(err.Error(), c.says) {
					t.Errorf("put: got %v (ambiguous: %v)", err, ok && e.Ambiguous)
				}
				p2, _ := open(t, c.do, remembered(mode))
				if _, err = p2.Search(timeout(t, limit), providers.Query{Text: "x", Limit: 1}); !providers.Is(err, c.class) || providers.Ambiguous(err) {
					t.Errorf("search: got %v", err)
				}
				began = time.Now()
				_ = providers.Close(p)
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("closing took %s", took)
				}
				for _, pid := range runs(t, dir) {
					if alive(pid) {
						t.Errorf("%d was left behind", pid)
					}
				}
			})
		}
	}
}

// TestNameAndVersionHoldNoSecret: they are kept in a file, and shown.
func TestNameAndVersionHoldNoSecret(t *testing.T) {
	p, _ := open(t, "names itself", nil)
	h, err := p.Health(t.Context())
	if a, _ := AbilitiesOf(p); err != nil || h.Version != "7 …" || a.Version != "7 …" {
		t.Errorf("got %q and %q, %v, want no secret", h.Version, a.Version, err)
	}
}

func timeout(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestOneShotAnswerCountsThoughTheProgramDoesNotEnd(t *testing.T) {
	t.Parallel()
	p, dir := open(t, "lingers", remembered(OneShot))
	r, err := p.Put(timeout(t, 500*time.Millisecond), item("a", "b"))
	if err != nil || r.State != journal.Stored {
		t.Fatalf("got %v %v", r, err)
	}
	_ = providers.Close(p)
	if pids := runs(t, dir); len(pids) != 1 || alive(pids[0]) {
		t.Errorf("left %v behind", pids)
	}
}

func TestOpenAsksOnceAndNotAgain(t *testing.T) {
	p, dir := open(t, "echo", nil)
	a, ok := AbilitiesOf(p)
	if !ok || a.Name != "fake" || !a.Capabilities.PutBatch || len(runs(t, dir)) != 1 {
		t.Fatalf("got %+v after %d runs", a, len(runs(t, dir)))
	}
	kept, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var again Abilities
	if err := json.Unmarshal(kept, &again); err != nil {
		t.Fatal(err)
	}
	p2, dir2 := open(t, "echo", func(c *Config) { c.Abilities = &again })
	if diff := cmp.Diff(providers.PropertiesOf(p), providers.PropertiesOf(p2)); diff != "" || len(runs(t, dir2)) != 0 {
		t.Errorf("%d runs, %s", len(runs(t, dir2)), diff)
	}
	if _, ok := p2.(providers.Resolver); ok {
		t.Error("it can resolve")
	}
}

func TestOpenWhatCannotBe(t *testing.T) {
	good := Config{Name: "own", Command: os.Args[0], Dir: t.TempDir(), Env: map[string]string{"JSONRPC_DO": "echo"}}
	for name, change := range map[string]func(*Config){
		"no name":            func(c *Config) { c.Name = "" },
		"absolute":           func(c *Config) { c.Dir = "data" },
		"dialect":            func(c *Config) { c.Dialect = "soap" },
		"mode":               func(c *Config) { c.Mode = "forked" },
		"has no mode":        func(c *Config) { c.Dialect, c.Mode = PAXM, LongLived },
		"arguments apart":    func(c *Config) { c.Command += " --store x" },
		"vade.provider/2":    func(c *Config) { c.Env = map[string]string{"JSONRPC_DO": "v2"} },
		"exit status 4":      func(c *Config) { c.Env = map[string]string{"JSONRPC_DO": "dies at once"} },
		"initialize: retrya": func(c *Config) { c.Dir = filepath.Join(os.Args[0], "below-a-file") },
	} {
		c := good
		change(&c)
		if p, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v %v", name, p, err)
		}
	}
}

func TestOldProgramsAreRunOnceARequest(t *testing.T) {
	for _, ask := range []func(*Config){nil, remembered(LongLived)} { // remembered wrongly, too
		p, dir := open(t, "old", ask)
		n := len(runs(t, dir))
		for range 2 {
			if r, err := p.Put(t.Context(), item("a", "b")); err != nil || r.State != journal.Stored {
				t.Fatalf("got %v %v", r, err)
			}
		}
		want := 2
		if ask != nil {
			want = 3 // the first finds out
		}
		if got := len(runs(t, dir)) - n; got != want {
			t.Errorf("%d runs, want %d", got, want)
		}
		results := providers.PutAll(t.Context(), p, []providers.Item{item("a", "b"), item("b", "c")})
		if len(results) != 2 || results[0].Err != nil || results[1].Err != nil { // put_batch is -32601
			t.Errorf("got %+v", results)
		}
		if _, err := p.Search(t.Context(), providers.Query{Text: "x", Limit: 1}); !providers.Is(err, providers.Unsupported) {
			t.Errorf("got %v", err)
		}
	}
}

func TestOneShotDeclared(t *testing.T) {
	p, dir := open(t, "one-shot", nil)
	for range 2 {
		if _, err := p.Put(t.Context(), item("a", "b")); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(runs(t, dir)); got != 3 {
		t.Errorf("%d runs", got)
	}
}

func TestBatchResults(t *testing.T) {
	p, _ := open(t, "batch", nil)
	b := p.(providers.BatchPutter)
	got := b.PutBatch(t.Context(), []providers.Item{item("a", "x"), item("b", "x"), item("c", "x")})
	if len(got) != 3 || got[0].Err != nil || got[0].Refs[0] != "a" || !providers.Is(got[1].Err, providers.Permanent) || got[2].State != journal.Empty {
		t.Errorf("got %+v", got)
	}
	for _, r := range b.PutBatch(t.Context(), []providers.Item{item("a", "x")}) {
		if !providers.Is(r.Err, providers.Protocol) || !providers.Ambiguous(r.Err) {
			t.Errorf("three results for one item: got %+v", r)
		}
	}
}

func TestPAXM(t *testing.T) {
	p, dir := open(t, "paxm", func(c *Config) { c.Dialect = PAXM })
	ctx := t.Context()
	if _, err := p.Health(ctx); err != nil {
		t.Error(err)
	}
	if r, err := p.Put(ctx, item("a", "b")); err != nil || r.State != journal.Stored || !slices.Equal(r.Refs, []providers.Ref{"m-1"}) {
		t.Errorf("got %v %v", r, err)
	}
	hits, err := p.Search(ctx, providers.Query{Text: "tide", Limit: 2, Workspace: "w"})
	if err != nil || len(hits) != 2 {
		t.Fatalf("got %v %v", hits, err)
	}
	if !strings.Contains(hits[0].Text, `"method":"paxm.search","params":{"limit":2,"text":"tide"}`) {
		t.Errorf("sent %s", hits[0].Text)
	}
	if h := hits[0]; h.ID != "a" || h.Version != "v1" || h.Part != 1 || *h.Score != 0.5 || h.Created.IsZero() || hits[1].ID != "" {
		t.Errorf("got %+v", hits)
	}
	for _, r := range providers.PutAll(ctx, p, []providers.Item{item("a", "b"), item("b", "c")}) {
		if r.Err != nil || len(r.Refs) != 1 {
			t.Errorf("got %+v", r)
		}
	}
	if r, err := p.(providers.Deleter).Delete(ctx, "m-1"); err != nil || r.State != journal.Deleted {
		t.Errorf("got %v %v", r, err)
	}
	if got := len(runs(t, dir)); got != 6 { // capabilities, health, put, search, putBatch, delete
		t.Errorf("%d runs", got)
	}
}

func FuzzParseReply(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":"1","result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","data":[1]}}`,
		`{"jsonrpc":"2.0","id":1,"result":null}`, `[]`, "\xff", `{"jsonrpc":"2.0","id":"1","result":null,"error":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := ParseReply(line)
		if err == nil && r.Error == nil && (r.ID == "" && !strings.Contains(string(line), `""`) || len(r.Result) == 0) {
			t.Errorf("%q is %+v", line, r)
		}
	})
}
