package hooks

import "vademecum/sync/journal"

// gemini decodes Gemini CLI 0.61's hooks. It has no id of a turn. PreCompress
// with trigger "auto" fires before every call of the model, whether anything
// is compressed or not, and says nothing.
func gemini() decoders {
	return decoders{
		"SessionStart": sessionStart,
		"BeforeAgent":  func(p object) Seen { return prompt("", p.text("prompt")) },
		"AfterTool":    geminiTool,
		"AfterAgent":   func(p object) Seen { return turnEnd("", p.text("prompt_response")) },
		"PreCompress":  geminiCompress,
		"SessionEnd":   func(p object) Seen { return keep(journal.SessionEnd, "", p.string("reason")) },
	}.others("BeforeTool", "BeforeModel", "AfterModel", "BeforeToolSelection", "Notification")
}

func geminiTool(p object) Seen {
	use := journal.ToolUse{Name: p.string("tool_name"), Input: compact(p.get("tool_input"))}
	failed := p.get("tool_response", "error") != nil
	if failed {
		use.Error = plain(p.get("tool_response", "error"))
	} else {
		use.Output = p.text("tool_response")
	}
	return tool("", "", use, failed)
}

func geminiCompress(p object) Seen {
	if p.string("trigger") != "manual" {
		return Seen{Ignored: ignoredOther}
	}
	s := keep(journal.Compaction, "", "")
	s.Reset = true
	return s
}
