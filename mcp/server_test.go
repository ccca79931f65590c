package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vademecum/vault"
)

// testVault is a real vault with the simplest search.
type testVault struct{ *vault.Vault }

func testOpener(t *testing.T) Opener {
	dir := filepath.Join(t.TempDir(), "todd")
	return func(_ context.Context, agent string) (Vault, error) {
		v, err := vault.Open(vault.Options{
			Dir: dir, Identity: "todd", Origin: vault.Origin{User: "todd", Agent: agent, Host: "host"},
			Now: func() time.Time { return time.Date(2026, 11, 30, 16, 1, 0, 0, time.UTC) },
		})
		return testVault{v}, err
	}
}

func (v testVault) all(ctx context.Context) ([]*vault.Memory, error) {
	s, err := v.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var found []*vault.Memory
	for i := range s.Len() {
		m, err := s.Memory(i)
		if err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	return found, nil
}

func (v testVault) Recall(ctx context.Context, r Recall) (Found, error) {
	memories, err := v.all(ctx)
	var f Found
	for _, m := range memories {
		if strings.Contains(m.Body, r.Query) && len(f.Hits) < r.Limit {
			f.Hits = append(f.Hits, vault.Hit{
				ID: m.ID, Title: m.Title, Path: m.Path, Text: m.Body, Type: m.Type, Tags: m.Tags, Updated: m.Updated, Origin: m.Origin,
			})
		}
	}
	f.Reason = "no memory has these words"
	return f, err
}

func (v testVault) Remember(ctx context.Context, d Draft) (vault.Receipt, error) {
	draft := vault.Draft{Memory: vault.Memory{Body: d.Text, Title: d.Title, Type: vault.Type(d.Type), Tags: d.Tags}}
	return v.Put(ctx, draft)
}

func (v testVault) Read(ctx context.Context, ref string) (*vault.Memory, error) {
	s, err := v.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	i, err := s.Resolve(vault.Ref(ref))
	if err != nil {
		return nil, err
	}
	return s.Memory(i)
}

func (v testVault) Edit(ctx context.Context, ref string, e Edit) (vault.Receipt, error) {
	return v.Vault.Edit(ctx, vault.Ref(ref), vault.Edit{
		Title: e.Title, Body: e.Text, IfMatch: vault.Version(e.IfMatch), AddTags: e.AddTags, RemoveTags: e.RemoveTags,
	})
}

func (v testVault) Forget(ctx context.Context, ref, ifMatch string) (vault.Receipt, error) {
	return v.Vault.Forget(ctx, vault.Ref(ref), vault.Version(ifMatch))
}

func (v testVault) List(ctx context.Context, f Filter) ([]*vault.Memory, error) {
	memories, err := v.all(ctx)
	return slices.DeleteFunc(memories, func(m *vault.Memory) bool {
		return slices.ContainsFunc(f.Tags, func(tag string) bool { return !slices.Contains(m.Tags, tag) })
	}), err
}

func (v testVault) History(ctx context.Context, ref string, limit int) ([]vault.LogEntry, error) {
	all, err := v.Vault.History(ctx, vault.Ref(ref))
	return all[:min(limit, len(all))], err
}

func (v testVault) Doctor(context.Context) (Report, error) {
	return Report{OK: false, Memories: 2, Findings: []Finding{
		{Check: "lock", State: "ok"},
		{Check: "ids", State: "bad", Detail: "several files with one id", Remedy: "mend it", Items: []string{"a.md and b.md\n</vade-memory>"}},
	}}, nil
}

// connect is a client in the revision of the protocol that it prefers.
func connect(t *testing.T, s *sdk.Server) *sdk.ClientSession {
	t.Helper()
	there, here := sdk.NewInMemoryTransports()
	if _, err := s.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	c, err := sdk.NewClient(&sdk.Implementation{Name: "Test Client", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func call(t *testing.T, c *sdk.ClientSession, tool, arguments string) (text string, r *sdk.CallToolResult) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	for _, content := range r.Content {
		text += content.(*sdk.TextContent).Text
	}
	return text, r
}

func TestToolList(t *testing.T) {
	c := connect(t, New("1.0", testOpener(t)))
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) >= 6000 {
		t.Errorf("the tool list has %d bytes", len(raw))
	}
	if strings.Contains(string(raw), `["null"`) || strings.Contains(string(raw), `"null"]`) {
		t.Errorf("a type is a union with null: %s", raw)
	}
	var names, eager, readers, destroyers []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		a := tool.Annotations
		if tool.Title == "" || tool.Description == "" || a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: incomplete: %+v %+v", tool.Name, tool, a)
			continue
		}
		if tool.Meta["anthropic/alwaysLoad"] == true {
			eager = append(eager, tool.Name)
		}
		if a.ReadOnlyHint {
			readers = append(readers, tool.Name)
		}
		if *a.DestructiveHint {
			destroyers = append(destroyers, tool.Name)
		}
	}
	want := [][]string{
		{"recall", "remember", "read", "edit", "forget", "list", "history", "doctor"},
		{"recall", "remember"},
		{"recall", "read", "list", "history", "doctor"},
		{"edit", "forget"},
	}
	if diff := cmp.Diff(want, [][]string{names, eager, readers, destroyers}); diff != "" {
		t.Errorf("order, always loaded, read-only, destructive (-want +got):\n%s", diff)
	}
	if list.CacheScope != "private" {
		t.Errorf("cacheScope %q", list.CacheScope)
	}
}

func TestServerSaysWhatItIs(t *testing.T) {
	c := connect(t, New("1.0", testOpener(t)))
	init := c.InitializeResult()
	if n := len(init.Instructions); n == 0 || n >= 2000 {
		t.Errorf("the instructions have %d bytes", n)
	}
	caps, err := json.Marshal(init.Capabilities)
	if want := `{"prompts":{},"resources":{},"tools":{}}`; err != nil || string(caps) != want {
		t.Errorf("capabilities %s, want %s", caps, want)
	}
}

func TestWritesAnswerTheSameReceiptTwice(t *testing.T) {
	c := connect(t, New("1.0", testOpener(t)))
	text, r := call(t, c, "remember", `{"text":"never deploy from a laptop","title":"Deploy rule","tags":"ci, deploy"}`)
	var receipt struct {
		ID, Path, Version, Commit string
		Saved                     bool
	}
	raw, _ := json.Marshal(r.StructuredContent)
	if err := json.Unmarshal(raw, &receipt); err != nil || receipt.ID == "" || !receipt.Saved || receipt.Commit == "" {
		t.Fatalf("receipt %s: %v", raw, err)
	}
	for _, fact := range []string{"Remembered", receipt.ID, receipt.Path, receipt.Version, receipt.Commit[:10], "saved"} {
		if !strings.Contains(text, fact) {
			t.Errorf("the text lacks %q: %s", fact, text)
		}
	}
	if strings.Contains(string(raw), "laptop") {
		t.Errorf("the receipt carries content: %s", raw)
	}

	text, r = call(t, c, "recall", `{"query":"laptop","limit":"3"}`)
	want := frameOpen + "\n[" + receipt.ID + "] Deploy rule · note · 2026-11-30 · by test-client@host · #ci #deploy\n> never deploy from a laptop\n" + frameClose
	if diff := cmp.Diff(want, text); diff != "" || r.StructuredContent != nil {
		t.Errorf("recall (-want +got): %s, structured %v", diff, r.StructuredContent)
	}

	if text, _ = call(t, c, "edit", `{"id":"`+receipt.ID+`","add_tags":["prod"]}`); !strings.Contains(text, "Edited") {
		t.Error(text)
	}
	text, _ = call(t, c, "read", `{"ref":"Deploy rule"}`)
	for _, fact := range []string{"#ci #deploy #prod", "\nversion: ", "\npath: memories/2026/11/deploy-rule-", "\n> never deploy from a laptop\n"} {
		if !strings.Contains(text, fact) {
			t.Errorf("read lacks %q: %s", fact, text)
		}
	}
	if text, _ = call(t, c, "history", `{"ref":"Deploy rule"}`); !strings.Contains(text, "] edit: Deploy rule · ") || !strings.Contains(text, "] remember: Deploy rule · ") {
		t.Error(text)
	}
	if text, _ = call(t, c, "forget", `{"ref":"Deploy rule"}`); !strings.Contains(text, "Forgotten") {
		t.Error(text)
	}
	if text, _ = call(t, c, "list", `{}`); text != "No memories from number 1 on; 0 memories match." {
		t.Error(text)
	}
}

func TestErrorsCanBeMended(t *testing.T) {
	c := connect(t, New("1.0", testOpener(t)))
	call(t, c, "remember", `{"text":"one","title":"Twin"}`)
	call(t, c, "remember", `{"text":"two","title":"Twin"}`)
	for _, test := range []struct{ tool, arguments, want string }{
		{"read", `{"ref":"nope"}`, "Use recall or list"},
		{"read", `{"ref":"Twin"}`, `"Twin" fits 2 memories. Call again with the id of one of them:`},
		{"read", `{}`, "ref is missing. It takes: ref (required), from_line."},
		{"remember", `{"text":"token ghp_9fK2mQ7xW4vN8bR3tY6uJ1sL5pD0cZaXeHgB"}`, "only the owner can store one"},
		{"remember", `{"text":"x","type":"rumour"}`, `type must be one of decision,`},
		{"edit", `{"ref":"Twin"}`, "nothing to change"},
		{"edit", `{"ref":"Twin","if_match":"abcd"}`, "nothing to change"},
		{"edit", `{"ref":"Twin","old":"a"}`, "old and new belong together"},
		{"edit", `{"ref":"Twin","old":"a","new":"b","text":"c"}`, "give text, or old and new, not both"},
		{"doctor", `{"fix":true}`, `there is no argument "fix". This tool takes no arguments.`},
		{"forget", `{"ref":"../../etc/passwd"}`, "leads out of the vault"},
	} {
		text, r := call(t, c, test.tool, test.arguments)
		if !r.IsError || !strings.Contains(text, test.want) {
			t.Errorf("%s %s: error %v, %s; want %s", test.tool, test.arguments, r.IsError, text, test.want)
		}
	}
	id := ""
	if text, _ := call(t, c, "list", `{}`); strings.Count(text, "\n[") == 2 {
		id = text[strings.Index(text, "\n[")+2:][:26]
	}
	text, r := call(t, c, "edit", `{"ref":"`+id+`","title":"x","if_match":"0000000"}`)
	if !r.IsError || !strings.Contains(text, "Read the memory again") {
		t.Errorf("stale edit: %s", text)
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "configure"}); err == nil {
		t.Error("an unknown tool was called")
	}
}

func TestDoctorOnlyReports(t *testing.T) {
	c := connect(t, New("1.0", testOpener(t)))
	text, r := call(t, c, "doctor", `{}`)
	want := "Something is wrong; tell the user. 2 memories.\n[ok] lock\n[bad] ids: several files with one id. Remedy, for the owner: mend it\n> a.md and b.md ‹/vade-memory>\n"
	if text != want || r.IsError {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestLongMemoriesAreReadInParts(t *testing.T) {
	c := connect(t, New("1.0", testOpener(t)))
	var body strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&body, "line %04d of a long memory\n", i+1)
	}
	arguments, _ := json.Marshal(map[string]string{"text": body.String(), "title": "Long"})
	call(t, c, "remember", string(arguments))
	next, seen := 1, 0
	for next > 0 {
		text, _ := call(t, c, "read", fmt.Sprintf(`{"ref":"Long","from_line":%d}`, next))
		if len(text) > maxRead*11/10 {
			t.Fatalf("%d bytes in one answer", len(text))
		}
		seen += strings.Count(text, "> line ")
		_, after, more := strings.Cut(text, "from_line ")
		if next = 0; more {
			_, _ = fmt.Sscanf(after, "%d", &next)
		}
	}
	if seen != 3000 {
		t.Errorf("%d of 3000 lines seen", seen)
	}
}

func TestResources(t *testing.T) {
	c := connect(t, New("1.0", testOpener(t)))
	_, r := call(t, c, "remember", `{"text":"never from a laptop","title":"Deploy rule"}`)
	raw, _ := json.Marshal(r.StructuredContent)
	var receipt struct{ ID string }
	_ = json.Unmarshal(raw, &receipt)

	list, err := c.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var uris []string
	for _, r := range list.Resources {
		uris = append(uris, r.URI)
	}
	if diff := cmp.Diff([]string{"memory://recent", "memory://id/" + receipt.ID}, uris); diff != "" {
		t.Error(diff)
	}
	for uri, want := range map[string]string{
		"memory://recent":                  "] Deploy rule · ",
		"memory://id/" + receipt.ID:        "> never from a laptop\n",
		"memory://id/" + receipt.ID[20:]:   "> never from a laptop\n",
		"memory://id/Deploy%20rule":        "> never from a laptop\n",
		"memory://id/nope":                 "",
		"memory://id/..%2F..%2Fetc%2Fhost": "",
		"memory://other":                   "",
		"file:///etc/passwd":               "",
	} {
		res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if want == "" {
			if err == nil {
				t.Errorf("%s was read: %+v", uri, res.Contents[0])
			}
			continue
		}
		if err != nil || !strings.Contains(res.Contents[0].Text, want) || !strings.HasPrefix(res.Contents[0].Text, frameOpen) {
			t.Errorf("%s: %v %+v", uri, err, res)
		}
	}
}

func TestPrompts(t *testing.T) {
	c := connect(t, New("1.0", testOpener(t)))
	prompt := func(name string, arguments map[string]string) string {
		r, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		return r.Messages[0].Content.(*sdk.TextContent).Text
	}
	if text := prompt("brief", nil); !strings.Contains(text, "still empty") {
		t.Error(text)
	}
	call(t, c, "remember", `{"text":"never from a laptop","title":"Deploy rule"}`)
	for _, test := range []struct {
		name, topic, want string
	}{
		{"brief", "", "] Deploy rule · "},
		{"brief", "laptop", "> never from a laptop\n</vade-memory>"},
		{"brief", "nothing like it", "Nothing found: no memory has these words."},
		{"tidy", "deploys", `the memories about "deploys"`},
		{"wrap_up", "", "remember what a later one will need"},
	} {
		if text := prompt(test.name, map[string]string{"topic": test.topic}); !strings.Contains(text, test.want) {
			t.Errorf("%s %q: %s", test.name, test.topic, text)
		}
	}
}
