package hooks

import (
	"strings"

	"vademecum/sync/journal"
)

// claude reads projects/<folder>/<session>.jsonl of Claude Code: one message
// or block of a message a line, in the shape of its API. Subagents have files
// of their own, or isSidechain.
func (n *teller) claude() error {
	message, text := "", "" // the message of the model's that is being told
	return n.lines(func(o object) {
		session := o.string("sessionId")
		if session == "" || o.is("isSidechain") {
			return
		}
		n.any = true
		if session != n.session {
			n.flush()
			n.session, n.cwd = session, ""
		}
		if cwd := o.string("cwd"); cwd != "" {
			n.cwd = cwd
		}
		switch o.string("type") {
		case "user":
			n.claudeUser(o)
		case "assistant":
			if id := o.string("message", "id"); id != message || id == "" {
				message, text = id, ""
			}
			text = n.claudeAssistant(o, text)
		}
	})
}

func (n *teller) claudeUser(o object) {
	at := when(o, "timestamp")
	var said []string
	if s, ok := o.get("message", "content").(string); ok {
		said = append(said, s)
	}
	for _, v := range o.list("message", "content") {
		block, _ := v.(object)
		switch block.string("type") {
		case "text":
			said = append(said, block.string("text"))
		case "tool_result":
			n.result(at, block.string("tool_use_id"), block.text("content"), block.is("is_error"))
		}
	}
	if o.is("isMeta") || o.is("isCompactSummary") || o.is("isVisibleInTranscriptOnly") || len(said) == 0 {
		return
	}
	n.mark = o.string("uuid")
	n.begin(at, o.string("promptId"), "", strings.Join(said, "\n"))
}

// claudeAssistant takes a part of a message, of which text is told already,
// and returns its text up to here.
func (n *teller) claudeAssistant(o object, text string) string {
	if o.is("isApiErrorMessage") || o.string("message", "model") == "<synthetic>" {
		return text
	}
	for _, v := range o.list("message", "content") {
		block, _ := v.(object)
		switch block.string("type") {
		case "text":
			text = strings.Join(nonEmpty(text, block.string("text")), "\n")
			n.say(when(o, "timestamp"), text)
		case "tool_use":
			n.call(block.string("id"), block.string("name"), compact(block.get("input")))
		}
	}
	return text
}

// codex reads sessions/…/rollout-….jsonl of Codex: a line is {"type", "payload"},
// in files of 2025 the payload alone. Threads of subagents are left out.
func (n *teller) codex() error {
	turn, sub := "", false
	return n.lines(func(o object) {
		p, kind := o.object("payload"), o.string("type")
		if len(p) == 0 {
			p = o
		}
		if own := p.string("internal_chat_message_metadata_passthrough", "turn_id"); own != "" {
			turn = own
		}
		at := when(o, "timestamp")
		switch {
		case kind == "session_meta", n.session == "" && kind == "" && o.string("id") != "":
			if n.session != "" {
				return // of the thread that this one was forked from
			}
			n.any = true
			n.session, n.cwd = p.string("id"), p.string("cwd")
			sub = len(p.object("source")) > 0 || p.string("thread_source") == "subagent"
		case sub:
		case kind == "turn_context":
			turn = firstOf(p.string("turn_id"), turn)
			n.cwd = firstOf(p.string("cwd"), n.cwd)
		case kind == "event_msg":
			n.codexEvent(o, p, &turn)
		case p.string("type") == "message":
			n.codexMessage(o, p, turn)
		case strings.HasSuffix(p.string("type"), "_call_output"):
			n.result(at, p.string("call_id"), "", false) // it does not say whether it failed
		case strings.HasSuffix(p.string("type"), "_call"):
			use := codexCall(p)
			n.call(p.string("call_id"), use.Name, use.Input)
		}
	})
}

func (n *teller) codexEvent(o, p object, turn *string) {
	switch p.string("type") {
	case "task_started":
		*turn = firstOf(p.string("turn_id"), *turn)
	case "task_complete":
		n.say(when(o, "timestamp"), p.text("last_agent_message"))
	}
}

func (n *teller) codexMessage(o, p object, turn string) {
	text := messageOf(p, "input_text", "output_text", "text")
	switch p.string("role") {
	case "assistant":
		n.say(when(o, "timestamp"), text)
	case "user":
		if kinds := p.list("internal_chat_message_metadata_passthrough", "content_item_kinds"); len(kinds) > 0 && !spoken(kinds) || enveloped(text) {
			return
		}
		n.mark = p.string("id")
		n.begin(when(o, "timestamp"), turn, "", text)
	}
}

// spoken reports whether any of the kinds of a message's parts is a person's.
func spoken(kinds []any) bool {
	for _, k := range kinds {
		if s, _ := k.(string); strings.HasPrefix(s, "user.") || s == "unknown" {
			return true
		}
	}
	return false
}

// enveloped reports whether text is one element, as what Codex itself says in
// a person's place is: <turn_aborted>…</turn_aborted>.
func enveloped(text string) bool {
	text = strings.TrimSpace(text)
	name, _, ok := strings.Cut(strings.TrimPrefix(text, "<"), ">")
	return ok && text[0] == '<' && name != "" && !strings.ContainsAny(name, "</ \n") && strings.HasSuffix(text, "</"+name+">")
}

// messageOf is what a message says in parts of these types.
func messageOf(m object, types ...string) string {
	if s, ok := m["content"].(string); ok {
		return s
	}
	var parts []string
	for _, v := range m.list("content") {
		part, _ := v.(object)
		for _, t := range types {
			if part.string("type") == t {
				parts = append(parts, part.string("text"))
			}
		}
	}
	return strings.Join(parts, "\n")
}

// codexCall is the call of a tool under the name that Codex tells its hooks.
func codexCall(p object) journal.ToolUse {
	use := journal.ToolUse{Name: p.string("name"), Input: firstOf(p.text("arguments"), p.text("input"))}
	if ns := p.string("namespace"); ns != "" {
		use.Name = ns + "__" + use.Name
	}
	switch {
	case p.string("type") == "local_shell_call":
		use = journal.ToolUse{Name: "Bash", Input: compact(p.get("action"))}
	case use.Name == "exec_command" || use.Name == "shell" || use.Name == "shell_command":
		use.Name = "Bash"
		if args, ok := parseObject([]byte(use.Input)); ok && args.string("cmd") != "" {
			use.Input = compact(object{"command": args.string("cmd")})
		}
	}
	return use
}
