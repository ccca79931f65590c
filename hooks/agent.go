package hooks

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Agent is what we have to know of one coding agent.
type Agent struct {
	Name string
	// Title is its name for people.
	Title string
	// TimeoutUnit is the unit of the timeouts in its settings.
	TimeoutUnit time.Duration
	// Budget is how many bytes of context its model is given at most; more
	// would be cut or put into a file.
	Budget int
	// shapes are the answers that it takes, by its own names of events. Any
	// other event gets no answer.
	shapes map[string]shape
	// briefWithPrompt: nothing can be said at the start of a session, so the
	// first prompt brings it.
	briefWithPrompt bool
	events          decoders
	// session, cwd, parent are the paths of keys at which payloads have them;
	// the first that is there counts.
	session, cwd, parent [][]string
}

// maxBudget is the most that any client is told at once. Claude Code gives
// its model a preview of what is longer than 10,000 characters, Codex cuts
// the middle out of what is longer than some 10 KB.
const maxBudget = 8000

// shape makes an answer of a text.
type shape func(event, text string) any

// nested is Claude Code's answer, which most others take; nothing may be
// added to it: Codex refuses what it does not know.
func nested(event, text string) any {
	return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": event, "additionalContext": text}}
}

// field is an answer with the text under key.
func field(key string) shape {
	return func(_, text string) any { return map[string]any{key: text} }
}

// bare is an answer that is the text itself.
func bare(_, text string) any { return text }

// piMessage is what a Pi extension returns from before_agent_start.
func piMessage(_, text string) any {
	return map[string]any{"message": map[string]any{"customType": "vade", "content": text, "display": false}}
}

// Names are the agents that Find knows.
var Names = []string{"claude", "codex", "copilot", "gemini", "qwen", "opencode", "pi", "cline", "cursor", "kiro", "vscode"}

// Find returns the agent called name.
func Find(name string) (*Agent, bool) {
	a := &Agent{
		Name: name, TimeoutUnit: time.Second, Budget: maxBudget,
		session: [][]string{{"session_id"}, {"sessionId"}}, cwd: [][]string{{"cwd"}},
	}
	switch name {
	case "claude":
		a.Title, a.events = "Claude Code", claude()
		a.shapes = shapes(nested, "SessionStart", "UserPromptSubmit", "SubagentStart")
	case "codex":
		a.Title, a.events = "Codex", codex()
		a.shapes = shapes(nested, "SessionStart", "UserPromptSubmit", "SubagentStart")
	case "copilot":
		a.Title, a.events = "Copilot CLI", copilot()
		a.shapes = shapes(field("additionalContext"), "sessionStart", "userPromptSubmitted", "subagentStart")
		a.parent = [][]string{{"parentAgentId"}}
	case "gemini":
		a.Title, a.events, a.TimeoutUnit = "Gemini CLI", gemini(), time.Millisecond
		a.shapes = shapes(nested, "SessionStart", "BeforeAgent")
	case "qwen":
		a.Title, a.events = "Qwen Code", qwen()
		a.shapes = shapes(nested, "SessionStart", "UserPromptSubmit")
	case "opencode":
		a.Title, a.events, a.TimeoutUnit, a.briefWithPrompt = "OpenCode", opencode(), time.Millisecond, true
		a.shapes = shapes(field("context"), "chat.message")
		a.session = [][]string{{"input", "sessionID"}, {"properties", "sessionID"}, {"properties", "info", "id"}}
		a.cwd = [][]string{{"cwd"}, {"directory"}, {"properties", "info", "directory"}}
		a.parent = [][]string{{"properties", "info", "parentID"}}
	case "pi":
		a.Title, a.events, a.TimeoutUnit, a.briefWithPrompt = "Pi", pi(), time.Millisecond, true
		a.shapes = shapes(piMessage, "before_agent_start")
	case "cline":
		a.Title, a.events, a.TimeoutUnit, a.briefWithPrompt = "Cline", cline(), time.Millisecond, true
		a.shapes = shapes(field("appendContext"), "plugin.beforeRun")
		a.session = [][]string{{"session_id"}, {"sessionContext", "rootSessionId"}, {"taskId"}, {"snapshot", "conversationId"}}
		a.cwd = [][]string{{"cwd"}, {"workspaceInfo", "rootPath"}}
	case "cursor":
		a.Title, a.events = "Cursor", cursor()
		a.shapes = shapes(field("additional_context"), "sessionStart")
		a.session = [][]string{{"conversation_id"}, {"session_id"}}
	case "kiro":
		a.Title, a.events = "Kiro", kiro()
		a.shapes = shapes(bare, "SessionStart", "UserPromptSubmit", "agentSpawn", "userPromptSubmit")
	case "vscode":
		a.Title, a.events = "Copilot in VS Code", vscode()
		a.shapes = shapes(nested, "SessionStart", "UserPromptSubmit", "SubagentStart")
	default:
		return nil, false
	}
	return a, true
}

func shapes(s shape, events ...string) map[string]shape {
	m := make(map[string]shape, len(events))
	for _, e := range events {
		m[e] = s
	}
	return m
}

// Takes reports whether the agent can be told something at event.
func (a *Agent) Takes(event string) bool { return a.shapes[event] != nil }

// Events are the agent's events that are kept or answered, sorted: those that
// its hooks are to be installed for.
func (a *Agent) Events() []string {
	var list []string
	for name, decode := range a.events {
		if s := decode(object{}); s.Ignored != ignoredOther || s.Wish != Nothing || s.Reset {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Answer is what the agent's hook prints at event to tell its model text.
// Empty text, and an event that takes none, give nothing.
func (a *Agent) Answer(event, text string) []byte {
	make := a.shapes[event]
	if make == nil || text == "" {
		return nil
	}
	v := make(event, text)
	if s, ok := v.(string); ok {
		return []byte(s)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// name is the event that p is about: its own word for it where it is one that
// we know, else the one that the hook was installed for.
func (a *Agent) name(event string, p object) string {
	if own := p.string("hook_event_name"); own != "" && a.events[own] != nil {
		return own
	}
	return event
}

// Decode reads what stdin held at event. What it does not know is ignored.
func (a *Agent) decode(event string, p object) Seen {
	event = a.name(event, p)
	decode := a.events[event]
	if decode == nil {
		return Seen{Ignored: ignoredUnknown}
	}
	s := decode(p)
	s.Event.Agent = a.Name
	s.Event.Session = first(p, a.session)
	s.Event.Parent = first(p, a.parent)
	s.Event.Cwd = a.folder(p)
	return s
}

// folder is where the agent works.
func (a *Agent) folder(p object) string {
	if dir := first(p, a.cwd); dir != "" {
		return dir
	}
	for _, key := range []string{"workspace_roots", "workspaceRoots"} {
		if roots := p.list(key); len(roots) > 0 {
			return strings.TrimPrefix(plain(roots[0]), "file://")
		}
	}
	return ""
}

func first(p object, paths [][]string) string {
	for _, path := range paths {
		if s := p.string(path...); s != "" {
			return s
		}
	}
	return ""
}
