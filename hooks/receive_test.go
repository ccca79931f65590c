package hooks

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vademecum/sync/journal"
	"vademecum/vault"
)

// kept is a journal in memory.
type kept struct {
	mu     sync.Mutex
	events []journal.Event
	err    error
	wait   chan struct{} // Append blocks on it, unless nil
}

func (k *kept) Append(e journal.Event) error {
	if k.wait != nil {
		<-k.wait
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = append(k.events, e)
	return k.err
}

// shelf is a store that finds whatever shares a word with the question.
type shelf struct {
	list []vault.Memory
	wait chan struct{}
}

func (s *shelf) Len() int                             { return len(s.list) }
func (s *shelf) Meta(i int) (*vault.Memory, error)    { m := s.list[i]; m.Body = ""; return &m, nil }
func (s *shelf) Memory(i int) (*vault.Memory, error)  { m := s.list[i]; return &m, nil }
func (s *shelf) Notes(context.Context) (Notes, error) { return s, nil }

func (s *shelf) Search(_ context.Context, q vault.Query) ([]vault.Hit, error) {
	if s.wait != nil {
		<-s.wait
	}
	var hits []vault.Hit
	for i := range s.list {
		m := &s.list[i]
		if !q.Admits(m) {
			continue
		}
		for w := range strings.FieldsSeq(strings.ToLower(m.Title + " " + m.Body)) {
			if len(w) > 3 && strings.Contains(strings.ToLower(q.Text), w) {
				h := hitOf(m)
				h.Text = m.Body
				hits = append(hits, h)
				break
			}
		}
	}
	return hits[:min(len(hits), q.Limit)], nil
}

func memory(name, title, body string, change ...func(*vault.Memory)) vault.Memory {
	m := vault.Memory{
		ID: hit(name).ID, Version: vault.Version(fmt.Sprintf("%-40s", name)), Path: "memories/" + name + ".md", Title: title, Body: body,
		Type: vault.TypeNote, Tier: vault.LTM, Updated: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Workspace: "ws",
		Origin: vault.Origin{User: "todd", Agent: "codex", Host: "laptop"},
	}
	for _, fn := range change {
		fn(&m)
	}
	return m
}

func as(t vault.Type, tags ...string) func(*vault.Memory) {
	return func(m *vault.Memory) { m.Type, m.Tags = t, tags }
}

func library() *shelf {
	return &shelf{list: []vault.Memory{
		memory("deploy", "Deploy rule", "Production deploys run through GitHub Actions only; never from a laptop.", as(vault.TypeDecision)),
		memory("stagin", "Staging", "The staging database is called heron.", as(vault.TypeFact, "pinned")),
		memory("handof", "Left over", "The migration of the orders table is half done.", as(vault.TypeHandoff)),
		memory("closed", "Old", "That migration is over.", as(vault.TypeHandoff, "done")),
		memory("other", "Elsewhere", "Production of the other shop.", func(m *vault.Memory) { m.Workspace = "other" }),
		memory("retry", "Retries", "Payment calls retry three times with exponential backoff, then alert.", as(vault.TypeConvention)),
	}}
}

type bench struct {
	t *testing.T
	r *Receiver
	k *kept
	s *shelf
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, k: &kept{}, s: library()}
	builtIn := BuiltIn()
	b.r = &Receiver{
		Dir: t.TempDir(), Journal: b.k, Now: func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
		Stores: func(Profile) ([]Store, error) { return []Store{b.s}, nil }, Profile: func(name string) Profile { return builtIn[name] },
		Workspace: func(string) string { return "ws" }, Source: 10 * time.Second,
	}
	return b
}

// send gives a payload to the hook and returns what the model is told.
func (b *bench) send(agent, event string, payload any) string {
	b.t.Helper()
	raw, err := json.Marshal(payload)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.raw(agent, event, bytes.NewReader(raw))
}

func (b *bench) raw(agent, event string, in io.Reader) string {
	b.t.Helper()
	a, ok := Find(agent)
	if !ok {
		b.t.Fatalf("no agent %s", agent)
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	out := b.r.Receive(ctx, a, event, in)
	checkAnswer(b.t, a, event, out.Answer)
	return told(b.t, out.Answer)
}

// told is the text in an answer of any shape.
func told(t *testing.T, answer []byte) string {
	t.Helper()
	if len(answer) == 0 {
		return ""
	}
	var text string
	var find func(v any)
	find = func(v any) {
		switch v := v.(type) {
		case string:
			if strings.HasPrefix(v, frameOpen) {
				text = v
			}
		case map[string]any:
			for _, e := range v {
				find(e)
			}
		}
	}
	var v any
	if json.Unmarshal(answer, &v) != nil {
		return string(answer)
	}
	find(v)
	return text
}

// checkAnswer holds an answer to what every client takes.
func checkAnswer(t *testing.T, a *Agent, event string, answer []byte) {
	t.Helper()
	if len(answer) == 0 {
		return
	}
	if len(answer) > a.Budget {
		t.Errorf("%s %s: %d bytes", a.Name, event, len(answer))
	}
	if a.Name == "kiro" {
		return
	}
	var v map[string]any
	if err := json.Unmarshal(answer, &v); err != nil || len(v) != 1 {
		t.Errorf("%s %s: %s", a.Name, event, answer)
	}
}

func names(block string) []string {
	var list []string
	for l := range strings.SplitSeq(block, "\n") {
		if name, _, ok := strings.Cut(strings.TrimPrefix(l, "["), "]"); ok && strings.HasPrefix(l, "[") {
			list = append(list, name)
		}
	}
	return list
}

func claudeEvent(session, name string, more ...any) map[string]any {
	m := map[string]any{"session_id": session, "cwd": "/w", "hook_event_name": name}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

func TestSessionOfClaude(t *testing.T) {
	b := newBench(t)
	steps := []struct {
		event string
		more  []any
		want  []string
	}{
		{"SessionStart", []any{"source", "startup"}, []string{"stagin", "handof", "deploy"}},
		{"UserPromptSubmit", []any{"prompt_id", "1", "prompt", "How do we deploy to production?"}, nil}, // told whole in the brief
		{"UserPromptSubmit", []any{"prompt_id", "2", "prompt", "How often do payment calls retry?"}, []string{"retry0"}},
		{"UserPromptSubmit", []any{"prompt_id", "3", "prompt", "How often do payment calls retry?"}, nil},
		{"UserPromptSubmit", []any{"prompt_id", "4", "prompt", "Sing of autumn"}, nil},
		{"PostToolUse", []any{"tool_name", "Bash", "tool_use_id", "x", "tool_input", map[string]any{"command": "ls"}, "tool_response", "a"}, nil},
		{"Stop", []any{"prompt_id", "4", "last_assistant_message", "Leaves fall."}, nil},
		{"Stop", []any{"prompt_id", "4", "stop_hook_active", true, "last_assistant_message", "Leaves fall again."}, nil},
		{"SessionStart", []any{"source", "resume"}, nil},
		{"PreCompact", []any{"trigger", "manual"}, nil},
		{"SessionStart", []any{"source", "compact"}, []string{"stagin", "handof", "deploy"}},
		{"PostCompact", []any{"compact_summary", "We sang."}, nil},
		{"UserPromptSubmit", []any{"prompt_id", "5", "prompt", "How often do payment calls retry?"}, []string{"retry0"}},
		{"SubagentStart", []any{"agent_id", "sub"}, []string{"stagin", "handof", "deploy"}},
		{"SubagentStop", []any{"agent_id", "sub", "last_assistant_message", "Done."}, nil},
		{"SessionEnd", []any{"reason", "other"}, nil},
	}
	for i, s := range steps {
		got := names(b.send("claude", s.event, claudeEvent("s", s.event, s.more...)))
		if diff := cmp.Diff(s.want, got); diff != "" {
			t.Errorf("step %d %s (-want +got):\n%s", i, s.event, diff)
		}
	}
	var kinds []journal.Kind
	ids := map[string]bool{}
	for _, e := range b.k.events {
		kinds = append(kinds, e.Kind)
		if e.Session != "s" || e.Agent != "claude" || e.Workspace != "ws" || e.Cwd != "/w" || e.Time.IsZero() {
			t.Errorf("event %+v", e)
		}
		if e.ID != "" && ids[e.ID] {
			t.Errorf("id %s twice", e.ID)
		}
		ids[e.ID] = true
	}
	want := []journal.Kind{
		journal.SessionStart, journal.Prompt, journal.Prompt, journal.Prompt, journal.Prompt, journal.Tool, journal.TurnEnd, journal.TurnEnd,
		journal.SessionStart, journal.SessionStart, journal.Compaction, journal.Prompt, journal.SubagentEnd, journal.SessionEnd,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// TestBriefComesWithTheFirstPrompt where nothing can be said before.
func TestBriefComesWithTheFirstPrompt(t *testing.T) {
	for agent, call := range map[string][2]any{
		"pi":       {"before_agent_start", map[string]any{"session_id": "s", "event": map[string]any{"prompt": "How often do payment calls retry?"}}},
		"opencode": {"chat.message", map[string]any{"cwd": "/w", "input": map[string]any{"sessionID": "s"}, "output": map[string]any{"message": map[string]any{}, "parts": []any{map[string]any{"type": "text", "text": "How often do payment calls retry?"}}}}},
		"cline": {"plugin.beforeRun", map[string]any{"cwd": "/w", "snapshot": map[string]any{"conversationId": "s", "messages": []any{
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "How often do payment calls retry?"}}},
		}}}},
	} {
		b := newBench(t)
		first := names(b.send(agent, call[0].(string), call[1]))
		if diff := cmp.Diff([]string{"stagin", "handof", "deploy", "retry0"}, first); diff != "" {
			t.Errorf("%s (-want +got):\n%s", agent, diff)
		}
		if again := names(b.send(agent, call[0].(string), call[1])); again != nil {
			t.Errorf("%s is told again: %v", agent, again)
		}
	}
}

func TestEqualInputEqualBytes(t *testing.T) {
	var blocks []string
	for i := range 3 {
		b := newBench(t)
		if i == 2 {
			slices.Reverse(b.s.list)
		}
		blocks = append(blocks, b.send("codex", "SessionStart", claudeEvent("s", "SessionStart", "source", "startup")))
	}
	if blocks[0] == "" || blocks[0] != blocks[1] || blocks[0] != blocks[2] {
		t.Errorf("%q", blocks)
	}
}

func TestWhatAProgramSaysIsNoPrompt(t *testing.T) {
	b := newBench(t)
	for _, text := range []string{
		"", "  \n", "<task-notification>deploys to production</task-notification>", "<command-name>/deploy</command-name>\n<command-args>production</command-args>",
		"This session is being continued from a previous conversation about production deploys", "<hook_context>production deploys</hook_context>",
	} {
		if got := b.send("qwen", "UserPromptSubmit", claudeEvent("s", "UserPromptSubmit", "prompt", text)); got != "" {
			t.Errorf("%q is answered: %s", text, got)
		}
	}
	if len(b.k.events) > 0 {
		t.Errorf("kept %+v", b.k.events)
	}
}

func TestPromptsOfSubagents(t *testing.T) {
	b := newBench(t)
	b.send("copilot", "subagentStart", map[string]any{"sessionId": "s", "agentId": "sub", "parentAgentId": "s"})
	b.send("copilot", "userPromptSubmitted", map[string]any{"sessionId": "sub", "prompt": "deploy to production"})
	b.send("copilot", "agentStop", map[string]any{"sessionId": "sub"})
	b.send("codex", "UserPromptSubmit", claudeEvent("s", "UserPromptSubmit", "agent_id", "x", "turn_id", "t", "prompt", "deploy"))
	if len(b.k.events) > 0 {
		t.Errorf("kept %+v", b.k.events)
	}
}

// TestAnyInput: whatever is on stdin, the answer is one that the client takes.
func TestAnyInput(t *testing.T) {
	long := `{"session_id":"s","prompt":"How do we deploy production? ` + strings.Repeat("x y z ", 20<<20/6) + `","hook_event_name":"UserPromptSubmit","cwd":"/w"}`
	tests := []struct {
		name, in string
		told     bool
		kept     int
	}{
		{"empty", "", false, 0},
		{"space", "\n \n", false, 0},
		{"20 MB", long, true, 1},
		{"20 MB, truncated", long[:len(long)-1000], true, 1},
		{"truncated", `{"session_id":"s","prompt":"How do we deploy production`, true, 1},
		{"not UTF-8", "{\"session_id\":\"s\",\"prompt\":\"How do we deploy production? \xff\xfe\"}", true, 1},
		{"a BOM", "\xef\xbb\xbf{\"session_id\":\"s\",\"prompt\":\"How do we deploy production?\"}", true, 1},
		{"wrong types", `{"session_id":{"a":1},"prompt":["How do we deploy production?",7],"cwd":false,"hook_event_name":3}`, true, 1},
		{"a list", `["deploy production"]`, false, 0},
		{"a string", `"deploy production"`, false, 0},
		{"no JSON", `deploy production`, false, 0},
		{"deep", strings.Repeat(`{"a":`, 100_000), false, 0},
		{"deep lists", `{"prompt":` + strings.Repeat(`[`, 100_000), false, 0},
		{"null", "null", false, 0},
		{"NUL", "\x00\x00", false, 0},
		{"twice", `{"session_id":"s","prompt":"deploy production"}{"x":1}`, true, 1},
		{"many", `{"session_id":"s","prompt":"deploy production","x":[` + strings.Repeat("1,", 1<<17) + `1]}`, true, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			for _, event := range []string{"NoSuchEvent", "UserPromptSubmit"} {
				got := b.raw("claude", event, strings.NewReader(tt.in))
				if event == "NoSuchEvent" && !strings.Contains(tt.in, `"hook_event_name":"User`) {
					if got != "" || len(b.k.events) > 0 {
						t.Errorf("unknown event: %q, %v", got, b.k.events)
					}
					continue
				}
				if event == "NoSuchEvent" {
					b = newBench(t)
					continue
				}
				if (got != "") != tt.told || len(b.k.events) != tt.kept {
					t.Errorf("told %q, kept %d", got, len(b.k.events))
				}
			}
			for _, e := range b.k.events {
				if len(e.Text) > journal.MaxText {
					t.Errorf("%d bytes kept", len(e.Text))
				}
				if len(tt.in) > 20<<20-2000 && e.Cut == 0 {
					t.Error("nothing is said to be cut")
				}
			}
		})
	}
}

// TestEveryEventOfEveryAgentTakesAnything.
func TestEveryEventOfEveryAgentTakesAnything(t *testing.T) {
	b := newBench(t)
	for _, name := range Names {
		a, _ := Find(name)
		for event := range a.events {
			for _, in := range []string{"", "{}", "[]", `{"session_id":1,"prompt":{"a":[]},"tool_name":[],"tool_input":7,"event":"x","snapshot":[],"output":3,"input":"x","properties":null}`} {
				b.raw(name, event, strings.NewReader(in))
			}
		}
	}
}

func TestStdinThatIsNeverClosed(t *testing.T) {
	b := newBench(t)
	in, out := io.Pipe()
	defer out.Close()
	go out.Write([]byte(`{"session_id":"s","prompt":"How do we deploy production?"}`))
	if got := b.raw("claude", "UserPromptSubmit", in); got == "" {
		t.Error("nothing told")
	}
	in, more := io.Pipe()
	defer more.Close()
	go more.Write([]byte(`{"session_id":"s","prompt":"How do we deploy production?`)) // and no more
	start := time.Now()
	b.raw("claude", "UserPromptSubmit", in)
	if len(b.k.events) != 2 || time.Since(start) > slowest {
		t.Errorf("kept %d after %v", len(b.k.events), time.Since(start))
	}
}

func TestDeadlines(t *testing.T) {
	a, _ := Find("claude")
	prompt := func() io.Reader {
		return strings.NewReader(`{"session_id":"s","prompt":"How do we deploy production?"}`)
	}
	never := make(chan struct{})
	defer close(never)

	b := newBench(t)
	b.s.wait, b.r.Source = never, 20*time.Millisecond
	out := b.r.Receive(t.Context(), a, "UserPromptSubmit", prompt())
	if len(out.Answer) > 0 || out.Entry.Error != "timeout" || out.Kept != journal.Prompt {
		t.Errorf("a vault that does not answer: %+v", out)
	}

	b = newBench(t)
	b.k.wait = never
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	out = b.r.Receive(ctx, a, "UserPromptSubmit", prompt())
	if len(out.Answer) == 0 || out.Entry.Error != "timeout" || out.Kept != "" {
		t.Errorf("a disk that does not answer: %+v", out)
	}

	b = newBench(t)
	b.k.err = errors.New("disk full")
	out = b.r.Receive(t.Context(), a, "UserPromptSubmit", prompt())
	if len(out.Answer) == 0 || out.Entry.Error != "journal" || out.Kept != "" {
		t.Errorf("a full disk: %+v", out)
	}
}

// TestPanicsAreNobodysTrouble: an exit code of 2 would erase the prompt.
func TestPanicsAreNobodysTrouble(t *testing.T) {
	a, _ := Find("claude")
	b := newBench(t)
	b.s.list = nil
	b.r.Stores = func(Profile) ([]Store, error) { return []Store{nil}, nil }
	out := b.r.Receive(t.Context(), a, "UserPromptSubmit", strings.NewReader(`{"session_id":"s","prompt":"deploy production"}`))
	if len(out.Answer) > 0 || out.Kept != journal.Prompt || out.Entry.Error == "" {
		t.Errorf("a store that panics: %+v", out)
	}
	b.r.Journal = nil
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	out = b.r.Receive(ctx, a, "Stop", strings.NewReader(`{"session_id":"s"}`))
	if out.Kept != "" || out.Entry.Error == "" {
		t.Errorf("a journal that panics: %+v", out)
	}
}

// TestLongPromptsRecall: a pasted log does not hide the question, nor what in
// it is known; a text that nearly quotes a memory finds it.
func TestLongPromptsRecall(t *testing.T) {
	var log strings.Builder
	for i := 0; log.Len() < 300<<10; i++ {
		fmt.Fprintf(&log, "2026-11-30T12:%02d:%02d INFO worker %d finished item %x of batch %d without incident\n", i/60%60, i%60, i%7, i*7919, i/100)
	}
	quote := strings.Repeat("So as far as I recall from the meeting ", 3) + "payment calls retry three times with an exponential backoff and then they alert somebody " + strings.Repeat("or so we said at that time, anyway ", 2)
	for name, prompt := range map[string]string{
		"question first":      "How often do payment calls retry?\n" + log.String(),
		"question last":       log.String() + "\nHow often do payment calls retry?",
		"error in its middle": log.String()[:150<<10] + "\nERROR payment calls failed, retry with backoff exhausted, alert raised\n" + log.String()[150<<10:],
		"nearly a quote":      quote,
	} {
		b := newBench(t)
		if got := names(b.send("claude", "UserPromptSubmit", claudeEvent("s", "UserPromptSubmit", "prompt", prompt))); !slices.Equal(got, []string{"retry0"}) {
			t.Errorf("%s: told %v", name, got)
		}
	}
	b := newBench(t)
	for i := range b.s.list {
		b.s.list[i].Path = "memories/2026/11/" + b.s.list[i].Path[len("memories/"):]
		b.s.list[i].Body += " Since 2026-11-30, for all 3 of the workers."
	}
	if got := names(b.send("claude", "UserPromptSubmit", claudeEvent("s", "UserPromptSubmit", "prompt", log.String()))); got != nil {
		t.Errorf("of a log about nothing: %v", got)
	}
}

func TestStateIsBounded(t *testing.T) {
	b := newBench(t)
	for i := range maxSessions + 50 {
		b.send("claude", "SessionStart", claudeEvent(fmt.Sprint(i), "SessionStart", "source", "startup"))
	}
	entries, err := os.ReadDir(filepath.Join(b.r.Dir, "sessions"))
	if err != nil || len(entries) > maxSessions {
		t.Errorf("%d states, %v", len(entries), err)
	}
	s := loadSession(filepath.Join(b.r.Dir, "sessions"), "claude", "x")
	for i := range 3 * maxTold {
		s.tell([]note{{hit: vault.Hit{Path: fmt.Sprint(i)}}})
	}
	if err := s.save(); err != nil || len(s.Told) != maxTold {
		t.Errorf("%d told, %v", len(s.Told), err)
	}
	if err := os.WriteFile(s.path, []byte(`{"prompts":"x`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := loadSession(filepath.Join(b.r.Dir, "sessions"), "claude", "x"); s.Prompts != 0 || s.path == "" {
		t.Errorf("of a torn file: %+v", s)
	}
}

// TestAnswerFromTranscript: Copilot says in a file of its own what it answered.
func TestAnswerFromTranscript(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "events.jsonl")
	lines := `{"type":"assistant.message","data":{"content":"old"}}
{"type":"user.message","data":{"content":"why?"}}
{"type":"assistant.message","data":{"content":"because"}}
{"type":"assistant.message","data":{"content":"of a tool","parentToolCallId":"x"}}
{"type":"assistant.message","data":{"content":""}}
{"type":"hook.start","data":{}}
`
	if err := os.WriteFile(path, []byte(strings.Repeat(strings.Repeat("x", 1023)+"\n", 1024)+lines), 0o600); err != nil {
		t.Fatal(err)
	}
	b.send("copilot", "agentStop", map[string]any{"sessionId": "s", "transcriptPath": path})
	b.send("copilot", "agentStop", map[string]any{"sessionId": "s", "transcriptPath": "/etc/passwd"})
	if len(b.k.events) != 2 || b.k.events[0].Text != "because" || b.k.events[1].Text != "" {
		t.Errorf("%+v", b.k.events)
	}
}

// secretsCorpus are secrets in the forms in which they come along. They are
// put together here, or scanners of this repository bite.
func secretsCorpus() map[string]string {
	aws := "AKIA" + "Q3EGRIKUXYZ2ABCD"
	github := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	openai := "sk-" + "proj-Ab3dEfGhIjKlMnOpQrStUvWx"
	slack := "xox" + "b-123456789012-abcdefGHIJKL"
	google := "AIza" + "SyA1bC2dE3fG4hI5jK6lM7nO8pQ9rS0tU1v"
	jwt := "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 20) + "-----END RSA PRIVATE KEY-----"
	corpus := map[string]string{"aws": aws, "github": github, "openai": openai, "slack": slack, "google": google, "jwt": jwt, "pem": pem, "url": "tr0ub4dor3xyz"}
	return corpus
}

// TestSecretsNeverReachTheJournal, whichever field of which event they are in.
func TestSecretsNeverReachTheJournal(t *testing.T) {
	wrap := map[string]func(string) string{
		"plain": func(s string) string { return "here: " + s + " ok" },
		"base64": func(s string) string {
			return "here: " + base64.StdEncoding.EncodeToString([]byte("x "+s+"\n")) + " ok"
		},
		"private": func(s string) string { return "a <private>" + s + " <private>n</private> x</private> b" },
		"open":    func(s string) string { return "a <PRIVATE>" + s },
		"json":    func(s string) string { return `{"k":"` + strings.ReplaceAll(s, "\n", `\n`) + `"}` },
		"cut":     func(s string) string { return strings.Repeat("word ", (journal.MaxText-10)/5) + s + " ok" },
		"lines": func(s string) string {
			if len(s) < 30 || strings.Contains(s, "\n") {
				return "here: " + s
			}
			return "here: " + s[:len(s)/2] + "\n" + s[len(s)/2:] + "\nok"
		},
	}
	for kind, secret := range secretsCorpus() {
		for how, fn := range wrap {
			text := fn(secret)
			if kind == "url" {
				text = fn("postgres://app:" + secret + "@db.internal/x")
			}
			b := newBench(t)
			b.send("claude", "UserPromptSubmit", claudeEvent("s", "UserPromptSubmit", "prompt", text))
			b.send("claude", "Stop", claudeEvent("s", "Stop", "last_assistant_message", text))
			b.send("claude", "PostToolUse", claudeEvent("s", "PostToolUse", "tool_name", "Bash", "tool_input", map[string]any{"command": text}, "tool_response", map[string]any{"stdout": text}))
			b.send("claude", "PostToolUseFailure", claudeEvent("s", "PostToolUseFailure", "tool_name", "Bash", "error", text))
			b.send("claude", "PostCompact", claudeEvent("s", "PostCompact", "compact_summary", text))
			b.send("claude", "SubagentStop", claudeEvent("s", "SubagentStop", "agent_id", "x", "last_assistant_message", text))
			raw, err := json.Marshal(b.k.events)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range parts(secret) {
				if bytes.Contains(raw, []byte(part)) {
					t.Errorf("%s, %s: %q is in the journal", kind, how, part)
				}
			}
			state, _ := filepath.Glob(filepath.Join(b.r.Dir, "*", "*"))
			for _, path := range state {
				content, _ := os.ReadFile(path)
				if bytes.Contains(content, []byte(secret)) {
					t.Errorf("%s, %s: is in %s", kind, how, path)
				}
			}
		}
	}
}

// parts are stretches of a secret that must not be kept either.
func parts(secret string) []string {
	first := strings.SplitN(secret, "\n", 3)
	if len(first) > 1 {
		return []string{first[1]}
	}
	return []string{secret, secret[len(secret)/2:]}
}

func TestWhatIsNoSecretIsKept(t *testing.T) {
	for _, text := range []string{
		"commit 7cd4e29b0f1d2c3a4b5e6f708192a3b4c5d6e7f8", "id 123e4567-e89b-12d3-a456-426614174000", "AKIAIOSFODNN7EXAMPLE",
		"password=<your password>", "export TOKEN=$TOKEN1", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	} {
		b := newBench(t)
		b.send("claude", "UserPromptSubmit", claudeEvent("s", "UserPromptSubmit", "prompt", text))
		if len(b.k.events) != 1 || b.k.events[0].Text != text {
			t.Errorf("%q is kept as %+v", text, b.k.events)
		}
	}
}

func TestConfiguredPatterns(t *testing.T) {
	r, err := NewRedactor([]string{`ACME-\d{6}`})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Text("ticket ACME-123456 and ACME-12"); got != "ticket [redacted:pattern] and ACME-12" {
		t.Errorf("got %q", got)
	}
	for _, bad := range []string{"(", "", "a*"} {
		if _, err := NewRedactor([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func FuzzReceive(f *testing.F) {
	f.Add("claude", "UserPromptSubmit", []byte(`{"session_id":"s","prompt":"How do we deploy production?"}`))
	f.Add("opencode", "chat.message", []byte(`{"output":{"parts":[{"type":"text","text":"production deploys"}]}}`))
	f.Fuzz(func(t *testing.T, agent, event string, in []byte) {
		a, ok := Find(agent)
		if !ok {
			return
		}
		out := newBench(t).r.Receive(t.Context(), a, event, bytes.NewReader(in))
		checkAnswer(t, a, event, out.Answer)
	})
}
