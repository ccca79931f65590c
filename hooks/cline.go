package hooks

import "vademecum/sync/journal"

// cline decodes Cline 3.0's hooks of both kinds. Our plugin sends, with EVENT
// plugin.beforeRun or plugin.afterRun,
//
//	{"cwd": …, "session_id": …, "snapshot": …, "result": …}
//
// with snapshot and result as Cline has them, and returns our answer as it is.
// The executables in its hooks folder get more about tools and can tell the
// model nothing useful.
func cline() decoders {
	return decoders{
		"plugin.beforeRun": clinePrompt,
		"plugin.afterRun":  clineEnd,
		"TaskStart":        func(object) Seen { return keep(journal.SessionStart, "", "startup") },
		"TaskResume":       func(object) Seen { s := keep(journal.SessionStart, "", "resume"); s.Resumed = true; return s },
		"UserPromptSubmit": func(p object) Seen { return prompt("", p.text("userPromptSubmit", "prompt")) },
		"PostToolUse":      clineTool,
		"TaskComplete":     func(p object) Seen { return turnEnd("", p.text("turn", "outputText")) },
		"TaskError":        func(p object) Seen { return turnEnd("", p.text("turn", "outputText")) },
		"SessionShutdown":  func(p object) Seen { return keep(journal.SessionEnd, "", p.string("reason")) },
		"PreCompact":       compacted,
	}.others("PreToolUse", "TaskCancel")
}

// clinePrompt takes the last message of the user's.
func clinePrompt(p object) Seen {
	messages := p.list("snapshot", "messages")
	for i := len(messages) - 1; i >= 0; i-- {
		m, _ := messages[i].(object)
		if m.string("role") == "user" && m.string("metadata", "displayRole") != "system" {
			s := prompt(p.string("snapshot", "runId"), messageText(m))
			if id := m.string("id"); id != "" { // which is in Cline's own record, the run's is not
				s.Event.ID = "prompt:" + id
			}
			return s
		}
	}
	return Seen{Ignored: ignoredEmpty}
}

func clineEnd(p object) Seen {
	text := p.text("result", "outputText")
	if text == "" {
		text = lastAnswer(p.list("snapshot", "messages"))
	}
	return turnEnd(p.string("snapshot", "runId"), text)
}

func clineTool(p object) Seen {
	t := p.object("tool_result")
	use := journal.ToolUse{Name: t.string("name"), Input: compact(t.get("input"))}
	if use.Name == "" {
		use = journal.ToolUse{Name: p.string("postToolUse", "toolName"), Input: compact(p.get("postToolUse", "parameters"))}
	}
	result := t.get("output")
	if result == nil {
		result = p.get("postToolUse", "result")
	}
	failed := p.get("postToolUse", "success") == false
	if failed {
		use.Error = plain(result)
	} else {
		use.Output = plain(result)
	}
	return tool("", t.string("id"), use, failed)
}
