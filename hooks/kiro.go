package hooks

// kiro decodes Kiro's hooks, from its documentation: of the CLI up to 2 in
// camelCase, from 3 on in Claude Code's names. What a hook prints at these two
// is context as it is.
func kiro() decoders {
	d := claudeShaped("turn_id").others(
		"PreToolUse", "PostFileCreate", "PostFileSave", "PostFileDelete", "PreTaskExec", "PostTaskExec", "Manual", "preToolUse",
	)
	d["Stop"] = kiroStop
	for old, name := range map[string]string{
		"agentSpawn": "SessionStart", "userPromptSubmit": "UserPromptSubmit", "postToolUse": "PostToolUse", "stop": "Stop",
	} {
		d[old] = d[name]
	}
	return d
}

func kiroStop(p object) Seen {
	text := p.text("assistant_response")
	if text == "" {
		text = p.text("last_assistant_message")
	}
	return turnEnd(p.string("turn_id"), text)
}
