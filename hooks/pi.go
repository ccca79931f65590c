package hooks

import "vademecum/sync/journal"

// pi decodes what our Pi extension sends: EVENT is the extension's event, stdin
//
//	{"cwd": …, "mode": …, "session_id": …, "session_file": …, "event": …, "text": <last answer>}
//
// with event as Pi 1.6 has it, and the last answer with agent_settled, the
// true end of a turn. The extension returns our answer as it is.
func pi() decoders {
	return decoders{
		"session_start":      piStart,
		"before_agent_start": func(p object) Seen { return prompt("", p.text("event", "prompt")) },
		"tool_result":        piTool,
		"tool_execution_end": piTool,
		"agent_end":          func(p object) Seen { return keep(journal.Answer, "", lastAnswer(p.list("event", "messages"))) },
		"agent_settled":      func(p object) Seen { return turnEnd("", p.string("text")) },
		"session_compact":    piCompact,
		"session_shutdown":   func(p object) Seen { return keep(journal.SessionEnd, "", p.string("event", "reason")) },
	}.others("input", "agent_start", "turn_end", "tool_call", "session_before_compact", "session_before_switch", "session_info_changed")
}

func piStart(p object) Seen {
	reason := p.string("event", "reason")
	s := keep(journal.SessionStart, "", reason)
	s.Resumed = reason == "resume" || reason == "reload" || reason == "fork"
	s.Reset = !s.Resumed
	return s
}

func piTool(p object) Seen {
	e := p.object("event")
	use := journal.ToolUse{Name: e.string("toolName"), Input: compact(e.get("input"))}
	result := e.get("content")
	if result == nil {
		result = e.get("result")
	}
	failed := e.is("isError")
	if failed {
		use.Error = plain(result)
	} else {
		use.Output = plain(result)
	}
	return tool("", e.string("toolCallId"), use, failed)
}

// lastAnswer is the text of the last message of the assistant's.
func lastAnswer(messages []any) string {
	for i := len(messages) - 1; i >= 0; i-- {
		m, _ := messages[i].(object)
		if m.string("role") != "assistant" {
			continue
		}
		if text := messageText(m); text != "" {
			return text
		}
	}
	return ""
}

// messageText is what a message says: its text parts, no calls of tools.
func messageText(m object) string {
	if s, ok := m["content"].(string); ok {
		return s
	}
	var parts []any
	for _, v := range m.list("content") {
		if part, ok := v.(object); ok && part.string("type") == "text" {
			parts = append(parts, part["text"])
		}
	}
	return plain(parts)
}

func piCompact(p object) Seen {
	s := keep(journal.Compaction, "", p.text("event", "compactionEntry", "summary"))
	s.Reset = true
	return s
}
