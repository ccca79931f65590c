package hooks

import "vademecum/sync/journal"

// copilot decodes Copilot CLI 1.0's hooks. Payloads name no event, turn or
// call; agentStop has no answer, which is in the session's events.jsonl.
func copilot() decoders {
	return decoders{
		"sessionStart":        sessionStart,
		"userPromptSubmitted": func(p object) Seen { return prompt("", p.text("prompt")) },
		"postToolUse":         copilotTool,
		"postToolUseFailure":  copilotTool,
		"agentStop":           copilotStop,
		"subagentStart":       func(p object) Seen { return Seen{Wish: Short, Subagent: p.string("agentId"), Ignored: ignoredOther} },
		"subagentStop":        copilotSubagent,
		"preCompact":          compacted,
		"sessionEnd":          func(p object) Seen { return keep(journal.SessionEnd, "", p.string("reason")) },
	}.others("userPromptTransformed", "preToolUse", "permissionRequest", "notification", "errorOccurred", "preMcpToolCall")
}

func copilotTool(p object) Seen {
	use := journal.ToolUse{Name: p.string("toolName"), Input: compact(p.get("toolArgs"))}
	failed := p.string("toolResult", "resultType") != "success"
	if failed {
		use.Error = p.text("error") + p.text("toolResult")
	} else {
		use.Output = p.text("toolResult")
	}
	return tool("", "", use, failed)
}

func copilotStop(p object) Seen {
	s := turnEnd("", p.text("response"))
	s.Transcript = p.string("transcriptPath")
	return s
}

func copilotSubagent(p object) Seen {
	s := keep(journal.SubagentEnd, "", p.text("response"))
	if id := p.string("agentId"); id != "" {
		s.Event.ID = "subagent:" + id + ":" + digest(s.Event.Text)
	}
	return s
}
