package hooks

import "vademecum/sync/journal"

// cursor decodes Cursor's hooks, from its documentation. Only a session's
// start can tell the model something; a prompt can just be let through.
func cursor() decoders {
	return decoders{
		"sessionStart": func(object) Seen {
			s := keep(journal.SessionStart, "", "startup")
			s.Wish, s.Reset = Brief, true
			return s
		},
		"beforeSubmitPrompt": cursorPrompt,
		"postToolUse":        func(p object) Seen { return cursorTool(p, false) },
		"postToolUseFailure": func(p object) Seen { return cursorTool(p, true) },
		"afterAgentResponse": cursorAnswer,
		"stop":               func(p object) Seen { return turnEnd(p.string("generation_id"), "") },
		"subagentStop":       func(p object) Seen { return keep(journal.SubagentEnd, "", p.text("summary")) },
		"preCompact":         compacted,
		"sessionEnd":         func(p object) Seen { return keep(journal.SessionEnd, "", p.string("reason")) },
	}.others(
		"preToolUse", "subagentStart", "beforeShellExecution", "afterShellExecution", "beforeMCPExecution", "afterMCPExecution",
		"beforeReadFile", "afterFileEdit", "afterAgentThought", "beforeTabFileRead", "afterTabFileEdit",
	)
}

func cursorPrompt(p object) Seen {
	s := prompt(p.string("generation_id"), p.text("prompt"))
	s.Wish = Nothing
	return s
}

func cursorTool(p object, failed bool) Seen {
	use := journal.ToolUse{Name: p.string("tool_name"), Input: compact(p.get("tool_input"))}
	if failed {
		use.Error = p.text("error_message") + p.text("error")
	} else {
		use.Output = p.text("tool_output")
	}
	return tool(p.string("generation_id"), p.string("tool_use_id"), use, failed)
}

func cursorAnswer(p object) Seen {
	s := keep(journal.Answer, "", p.text("text"))
	s.Event.Turn = p.string("generation_id")
	if s.Event.Turn != "" {
		s.Event.ID = "answer:" + s.Event.Turn + ":" + digest(s.Event.Text)
	}
	return s
}
