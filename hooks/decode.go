package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"vademecum/sync/journal"
)

// Wish is what an agent would like to be told at an event.
type Wish int

const (
	Nothing Wish = iota
	Brief        // what this workspace is about, at the start of a session
	Short        // the same for a subagent, shorter
	Recall       // what is known about a prompt
)

// Seen is one call of a hook, decoded. Nothing in it is redacted yet.
type Seen struct {
	// Event is what is to be kept; its Kind is "" when nothing is.
	Event journal.Event
	// Wish is what the agent's model could be told now.
	Wish Wish
	// Prompt is what the person asked, without what the agent put around it.
	Prompt string
	// Reset says that the model has lost what it was told before: the context
	// was cleared or compacted.
	Reset bool
	// Resumed says that the session goes on with what it was told before.
	Resumed bool
	// Subagent is the id by which a subagent that starts now names itself in
	// its own events.
	Subagent string
	// Transcript is a file of the agent's that has the answer, where the event
	// has not.
	Transcript string
	// Ignored says why nothing is kept; "" when something is.
	Ignored string
}

// Why an event is not kept.
const (
	ignoredUnknown  = "unknown event"
	ignoredOther    = "of no use"
	ignoredEmpty    = "empty"
	ignoredMachine  = "not said by a person"
	ignoredSubagent = "of a subagent"
	ignoredOwn      = "our own tool"
)

// decoder reads one event of one agent.
type decoder func(p object) Seen

// decoders are an agent's events by its own names for them.
type decoders map[string]decoder

func ignore(why string) decoder {
	return func(object) Seen { return Seen{Ignored: why} }
}

// others adds events that say nothing to us.
func (d decoders) others(names ...string) decoders {
	for _, name := range names {
		d[name] = ignore(ignoredOther)
	}
	return d
}

// keep is a Seen of an event with text.
func keep(kind journal.Kind, id, text string) Seen {
	return Seen{Event: journal.Event{Kind: kind, ID: id, Text: text}}
}

// prompt is what a person said, or a program in their place.
func prompt(turn, text string) Seen {
	s := Seen{Prompt: text, Wish: Recall, Event: journal.Event{Kind: journal.Prompt, Turn: turn, Text: text}}
	if turn != "" {
		s.Event.ID = "prompt:" + turn
	}
	return s
}

// turnEnd is the end of a turn. A turn may end several times, when some hook
// has the agent go on, so the id tells answers apart.
func turnEnd(turn, text string) Seen {
	s := keep(journal.TurnEnd, "", text)
	s.Event.Turn = turn
	if turn != "" {
		s.Event.ID = "end:" + turn + ":" + digest(text)
	}
	return s
}

// tool is one call of a tool that ended; failed when it did so in an error.
func tool(turn, call string, use journal.ToolUse, failed bool) Seen {
	s := Seen{Event: journal.Event{Kind: journal.Tool, Turn: turn, Tool: &use}}
	if failed {
		s.Event.Kind = journal.ToolFailure
	}
	if call != "" {
		s.Event.ID = "tool:" + call
	}
	if use.Name == "" {
		return Seen{Ignored: ignoredEmpty}
	}
	if ownTool(use) {
		return Seen{Ignored: ignoredOwn}
	}
	return s
}

// digest tells texts apart in an id.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// ownTools are the tools of vade's MCP server whose results are memories:
// keeping them would make a memory of a memory.
var ownTools = [...]string{"recall", "remember", "read", "edit", "forget", "list", "history", "doctor"}

// ownTool reports whether use is a call of ours: the agents write a server's
// name and a tool's as mcp__vade__recall, mcp_vade_recall, vade-recall,
// vade_recall, vade__recall or vade/recall, or it is vade at a shell.
func ownTool(use journal.ToolUse) bool {
	name := strings.ToLower(use.Name)
	for _, t := range ownTools {
		server, ok := strings.CutSuffix(name, t)
		if !ok {
			continue
		}
		server = strings.TrimRight(server, "_-/.:")
		if server == "vade" || strings.HasSuffix(server, "_vade") || strings.HasSuffix(server, "-vade") {
			return true
		}
	}
	return shellCallsVade(use.Input)
}

// shellCallsVade reports whether a tool's input runs a vade command that
// prints memories.
func shellCallsVade(input string) bool {
	for rest := input; ; {
		_, after, ok := strings.Cut(rest, "vade ")
		if !ok {
			return false
		}
		before := input[:len(input)-len(after)-len("vade ")]
		rest = after
		if before != "" && !strings.ContainsRune("\"'/\\ ;&|(`$\n", rune(before[len(before)-1])) {
			continue
		}
		word, _, _ := strings.Cut(after, " ")
		switch strings.Trim(word, "\"'}\\") {
		case "recall", "read", "get", "list", "history", "diff", "hook", "file", "remember", "edit":
			return true
		}
	}
}

// claudeShaped are the events of the agents that took over Claude Code's hooks:
// the same names for events and fields. turn is the field with the turn's id.
func claudeShaped(turn string) decoders {
	return decoders{
		"SessionStart":       sessionStart,
		"UserPromptSubmit":   func(p object) Seen { return claudePrompt(p, turn) },
		"PostToolUse":        func(p object) Seen { return claudeTool(p, turn, false) },
		"PostToolUseFailure": func(p object) Seen { return claudeTool(p, turn, true) },
		"Stop":               func(p object) Seen { return turnEnd(p.string(turn), p.text("last_assistant_message")) },
		"SubagentStart":      func(p object) Seen { return Seen{Wish: Short, Subagent: p.string("agent_id"), Ignored: ignoredOther} },
		"SubagentStop":       func(p object) Seen { return subagentEnd(p, turn) },
		"PreCompact":         func(object) Seen { return Seen{Reset: true, Ignored: ignoredOther} },
		"PostCompact":        func(p object) Seen { return keep(journal.Compaction, "", p.text("compact_summary")) },
		"SessionEnd":         func(p object) Seen { return keep(journal.SessionEnd, "", p.string("reason")) },
	}
}

// sessionStart: source is startup, resume, clear, compact or fork (or new).
func sessionStart(p object) Seen {
	source := p.string("source")
	s := keep(journal.SessionStart, "", source)
	s.Wish = Brief
	s.Resumed = source == "resume" || source == "fork"
	s.Reset = !s.Resumed
	return s
}

func claudePrompt(p object, turn string) Seen {
	if p.string("agent_id") != "" {
		return Seen{Ignored: ignoredSubagent}
	}
	return prompt(p.string(turn), p.text("prompt"))
}

func claudeTool(p object, turn string, failed bool) Seen {
	use := journal.ToolUse{Name: p.string("tool_name"), Input: compact(p.get("tool_input"))}
	if failed {
		use.Error = p.text("error")
	} else {
		use.Output = p.text("tool_response")
	}
	return tool(p.string(turn), p.string("tool_use_id"), use, failed)
}

func subagentEnd(p object, turn string) Seen {
	s := keep(journal.SubagentEnd, "", p.text("last_assistant_message"))
	s.Event.Turn = p.string(turn)
	if id := p.string("agent_id"); id != "" {
		s.Event.ID = "subagent:" + id + ":" + digest(s.Event.Text)
	}
	return s
}

// compacted is a compaction of the context without a summary of the agent's.
func compacted(object) Seen {
	s := keep(journal.Compaction, "", "")
	s.Reset = true
	return s
}
