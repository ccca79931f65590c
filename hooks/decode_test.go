package hooks

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vademecum/sync/journal"
)

var update = flag.Bool("update", false, "write testdata/decoded.txt anew")

// TestSavedPayloads decodes what the real clients sent, and holds it to
// testdata/decoded.txt.
func TestSavedPayloads(t *testing.T) {
	var b strings.Builder
	for _, path := range payloads(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		agent := agentOf(t, path)
		event := eventOf(agent, path)
		if event == "" {
			t.Errorf("%s: no such event", path)
			continue
		}
		p := readPayload(bytes.NewReader(raw))
		if p.broken {
			t.Errorf("%s: taken for broken", path)
		}
		s := agent.decode(event, p.object)
		Redactor{}.event(&s.Event)
		fmt.Fprintf(&b, "%s\n%s\n", filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("testdata", "payloads")+string(filepath.Separator))), show(s))
	}
	golden := filepath.Join("testdata", "decoded.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("decoded otherwise (-want +got):\n%s", diff)
	}
}

func payloads(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("testdata", "payloads", "*", "*.json"))
	if err != nil || len(list) < 100 {
		t.Fatalf("%d payloads, %v", len(list), err)
	}
	return list
}

func agentOf(t *testing.T, path string) *Agent {
	t.Helper()
	a, ok := Find(filepath.Base(filepath.Dir(path)))
	if !ok {
		t.Fatalf("%s: no such agent", path)
	}
	return a
}

// eventOf is the event that a payload was saved under: its file's name
// without what tells several of one event apart.
func eventOf(a *Agent, path string) string {
	for name := strings.TrimSuffix(filepath.Base(path), ".json"); name != ""; {
		if a.events[name] != nil {
			return name
		}
		name = name[:max(0, strings.LastIndexByte(name, '.'))]
	}
	return ""
}

func show(s Seen) string {
	var b strings.Builder
	row := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "\t%s: %s\n", key, strings.ReplaceAll(value, "\n", `\n`))
		}
	}
	e := s.Event
	row("kind", string(e.Kind))
	row("ignored", s.Ignored)
	row("id", e.ID)
	row("turn", e.Turn)
	row("session", e.Session)
	row("parent", e.Parent)
	row("cwd", e.Cwd)
	row("text", e.Text)
	if e.Tool != nil {
		row("tool", e.Tool.Name)
		row("input", e.Tool.Input)
		row("output", e.Tool.Output)
		row("error", e.Tool.Error)
	}
	row("wish", [...]string{"", "brief", "short", "recall"}[s.Wish])
	row("prompt", s.Prompt)
	row("subagent", s.Subagent)
	row("transcript", s.Transcript)
	if s.Reset {
		row("reset", "yes")
	}
	if s.Resumed {
		row("resumed", "yes")
	}
	return b.String()
}

// TestEveryEventThatIsKeptHasASession: without one, turns would run together.
func TestEveryEventThatIsKeptHasASession(t *testing.T) {
	for _, path := range payloads(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a := agentOf(t, path)
		s := a.decode(eventOf(a, path), readPayload(bytes.NewReader(raw)).object)
		if s.Event.Kind != "" && s.Event.Session == "" {
			t.Errorf("%s: no session", path)
		}
	}
}

// TestDocumentedPayloads are those of agents that we could not run, as their
// documentation has them.
func TestDocumentedPayloads(t *testing.T) {
	tests := []struct {
		agent, event, in string
		want             Seen
	}{
		{
			"cursor", "sessionStart", `{"conversation_id":"c1","generation_id":"g0","hook_event_name":"sessionStart","workspace_roots":["/w"]}`,
			Seen{Event: journal.Event{Kind: journal.SessionStart, Session: "c1", Cwd: "/w", Text: "startup"}, Wish: Brief, Reset: true},
		},
		{
			"cursor", "beforeSubmitPrompt", `{"conversation_id":"c1","generation_id":"g1","prompt":"why","hook_event_name":"beforeSubmitPrompt","workspace_roots":["/w"]}`,
			Seen{Event: journal.Event{Kind: journal.Prompt, ID: "prompt:g1", Turn: "g1", Session: "c1", Cwd: "/w", Text: "why"}, Prompt: "why"},
		},
		{
			"cursor", "afterAgentResponse", `{"conversation_id":"c1","generation_id":"g1","text":"so","hook_event_name":"afterAgentResponse"}`,
			Seen{Event: journal.Event{Kind: journal.Answer, ID: "answer:g1:" + digest("so"), Turn: "g1", Session: "c1", Text: "so"}},
		},
		{
			"cursor", "stop", `{"conversation_id":"c1","generation_id":"g1","status":"completed","hook_event_name":"stop"}`,
			Seen{Event: journal.Event{Kind: journal.TurnEnd, ID: "end:g1:" + digest(""), Turn: "g1", Session: "c1"}},
		},
		{
			"kiro", "userPromptSubmit", `{"hook_event_name":"userPromptSubmit","cwd":"/w","prompt":"why"}`,
			Seen{Event: journal.Event{Kind: journal.Prompt, Cwd: "/w", Text: "why"}, Wish: Recall, Prompt: "why"},
		},
		{
			"kiro", "stop", `{"hook_event_name":"stop","cwd":"/w","assistant_response":"so"}`,
			Seen{Event: journal.Event{Kind: journal.TurnEnd, Cwd: "/w", Text: "so"}},
		},
		{
			"vscode", "UserPromptSubmit", `{"hookEventName":"UserPromptSubmit","sessionId":"s","cwd":"/w","prompt":"why"}`,
			Seen{Event: journal.Event{Kind: journal.Prompt, Session: "s", Cwd: "/w", Text: "why"}, Wish: Recall, Prompt: "why"},
		},
		{
			"codex", "UserPromptSubmit", `{"session_id":"s","turn_id":"t","agent_id":"sub","prompt":"do it","hook_event_name":"UserPromptSubmit"}`,
			Seen{Event: journal.Event{Session: "s"}, Ignored: ignoredSubagent},
		},
		{
			"gemini", "AfterTool", `{"session_id":"s","tool_name":"run","tool_response":{"error":"no such file"}}`,
			Seen{Event: journal.Event{Kind: journal.ToolFailure, Session: "s", Tool: &journal.ToolUse{Name: "run", Error: "no such file"}}},
		},
		{
			"claude", "PostToolUse", `{"session_id":"s","tool_name":"mcp__vade__recall","tool_input":{"query":"x"},"tool_response":"a memory"}`,
			Seen{Event: journal.Event{Session: "s"}, Ignored: ignoredOwn},
		},
		{
			"claude", "PostToolUse", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"cd x && vade recall deploy"},"tool_response":"a memory"}`,
			Seen{Event: journal.Event{Session: "s"}, Ignored: ignoredOwn},
		},
		{"claude", "NoSuchEvent", `{"session_id":"s"}`, Seen{Ignored: ignoredUnknown}},
	}
	for _, tt := range tests {
		a, _ := Find(tt.agent)
		got := a.decode(tt.event, readPayload(strings.NewReader(tt.in)).object)
		if tt.want.Ignored != ignoredUnknown {
			tt.want.Event.Agent = tt.agent
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s %s (-want +got):\n%s", tt.agent, tt.event, tt.in, diff)
		}
	}
}

func TestOwnTools(t *testing.T) {
	for name, want := range map[string]bool{
		"mcp__vade__recall": true, "mcp_vade_recall": true, "vade-recall": true, "vade_recall": true, "vade__recall": true,
		"vade/recall": true, "mcp__plugin_vade_vade__remember": true, "mcp__memsample__recall": false, "recall": false, "Read": false,
		"mcp__nevade__recall": false,
	} {
		if got := ownTool(journal.ToolUse{Name: name}); got != want {
			t.Errorf("ownTool(%q) = %v", name, got)
		}
	}
	for input, want := range map[string]bool{
		`{"command":"vade recall x"}`: true, `{"command":"/usr/bin/vade read abc"}`: true, `{"command":"evade recall"}`: false,
		`{"command":"go build ./cmd/vade && git status"}`: false, `{"command":"vade sync"}`: false, `vade `: false,
	} {
		if got := ownTool(journal.ToolUse{Name: "Bash", Input: input}); got != want {
			t.Errorf("input %s: %v", input, got)
		}
	}
}

func TestAgents(t *testing.T) {
	for _, name := range Names {
		a, ok := Find(name)
		if !ok || a.Name != name || a.Title == "" || a.TimeoutUnit == 0 || a.Budget <= 0 || a.Budget > maxBudget {
			t.Errorf("%s: %+v", name, a)
		}
		events := a.Events()
		for e := range a.shapes {
			if !slices.Contains(events, e) {
				t.Errorf("%s is told something at %s, which it has not", name, e)
			}
		}
	}
	if _, ok := Find("nobody"); ok {
		t.Error("found nobody")
	}
}

// TestAnswers: the shapes that each client takes, to the byte.
func TestAnswers(t *testing.T) {
	for call, want := range map[[2]string]string{
		{"claude", "UserPromptSubmit"}:     `{"hookSpecificOutput":{"additionalContext":"<T>\n","hookEventName":"UserPromptSubmit"}}`,
		{"codex", "SessionStart"}:          `{"hookSpecificOutput":{"additionalContext":"<T>\n","hookEventName":"SessionStart"}}`,
		{"copilot", "userPromptSubmitted"}: `{"additionalContext":"<T>\n"}`,
		{"gemini", "BeforeAgent"}:          `{"hookSpecificOutput":{"additionalContext":"<T>\n","hookEventName":"BeforeAgent"}}`,
		{"qwen", "SubagentStart"}:          ``,
		{"opencode", "chat.message"}:       `{"context":"<T>\n"}`,
		{"pi", "before_agent_start"}:       `{"message":{"content":"<T>\n","customType":"vade","display":false}}`,
		{"cline", "plugin.beforeRun"}:      `{"appendContext":"<T>\n"}`,
		{"cursor", "sessionStart"}:         `{"additional_context":"<T>\n"}`,
		{"cursor", "beforeSubmitPrompt"}:   ``,
		{"kiro", "userPromptSubmit"}:       "<T>\n",
		{"claude", "Stop"}:                 ``,
	} {
		a, _ := Find(call[0])
		if got := string(a.Answer(call[1], "<T>\n")); got != want {
			t.Errorf("%v: got %s, want %s", call, got, want)
		}
		if got := a.Answer(call[1], ""); got != nil {
			t.Errorf("%v: %s for nothing", call, got)
		}
	}
}
