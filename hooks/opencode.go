package hooks

import (
	"strings"

	"vademecum/sync/journal"
)

// opencode decodes what our OpenCode plugin sends. EVENT is the name of the
// plugin's hook, or "event." and the type of a bus event; stdin is
//
//	{"cwd": <directory>, "input": …, "output": …}                     of a hook
//	{"cwd": <directory>, "type": …, "properties": …, "text": <answer>} of a bus event
//
// with input, output and properties as OpenCode 1.18 has them, and with
// session.idle the last answer as text. The plugin adds the answer's context
// to the message.
func opencode() decoders {
	return decoders{
		"chat.message":                    opencodePrompt,
		"tool.execute.after":              opencodeTool,
		"experimental.text.complete":      opencodeAnswer,
		"event.session.created":           func(object) Seen { return keep(journal.SessionStart, "", "startup") },
		"event.session.idle":              func(p object) Seen { return turnEnd("", p.string("text")) },
		"event.session.compacted":         compacted,
		"experimental.session.compacting": func(object) Seen { return Seen{Reset: true, Ignored: ignoredOther} },
	}.others(
		"plugin.init", "dispose", "event.session.updated", "event.session.error", "event.message.updated", "tool.execute.before",
		"command.execute.before", "permission.ask", "experimental.chat.system.transform",
	)
}

// opencodePrompt takes the parts that the person wrote; those that a plugin
// or the agent added are synthetic.
func opencodePrompt(p object) Seen {
	var parts []string
	for _, v := range p.list("output", "parts") {
		part, _ := v.(object)
		if part.string("type") == "text" && !part.is("synthetic") {
			parts = append(parts, part.string("text"))
		}
	}
	return prompt(p.string("output", "message", "id"), strings.Join(parts, "\n"))
}

func opencodeTool(p object) Seen {
	use := journal.ToolUse{Name: p.string("input", "tool"), Input: compact(p.get("input", "args"))}
	exit := p.string("output", "metadata", "exit")
	failed := exit != "" && exit != "0"
	if text := p.text("output"); failed {
		use.Error = text
	} else {
		use.Output = text
	}
	return tool("", p.string("input", "callID"), use, failed)
}

// opencodeAnswer is one of the texts of a turn.
func opencodeAnswer(p object) Seen {
	s := keep(journal.Answer, "", p.text("output"))
	if id := p.string("input", "partID"); id != "" {
		s.Event.ID = "answer:" + id
	}
	return s
}
