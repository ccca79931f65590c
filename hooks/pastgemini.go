package hooks

import (
	"os"
	"path/filepath"
	"strings"
)

// gemini reads tmp/<project>/chats/session-….jsonl of Gemini CLI: a head, then
// messages, of which a later one replaces an earlier one of the same id, and
// {"$set": …} of the head; up to 2025 it is one object with all messages. The
// folder is in a file .project_root two above.
func (n *teller) gemini() error {
	seen := map[string]bool{}
	read := func(o object) {
		if s := firstOf(o.string("sessionId"), o.string("$set", "sessionId")); s != "" && n.session == "" {
			n.any = true
			n.session = s
			n.cwd = projectRoot(n.t.Path)
		}
		if k := o.string("kind"); k != "" && k != "main" {
			n.session = "" // a subagent's: without a session nothing is told
			seen["sub"] = true
		}
		if seen["sub"] {
			return
		}
		for _, list := range [][]any{o.list("messages"), o.list("$set", "messages")} {
			for _, v := range list {
				if m, ok := v.(object); ok {
					n.geminiMessage(m, seen)
				}
			}
		}
		if o.string("type") != "" {
			n.geminiMessage(o, seen)
		}
	}
	if filepath.Ext(n.t.Path) == ".json" {
		o, err := n.whole()
		if err == nil {
			read(o)
		}
		return err
	}
	return n.lines(read)
}

// projectRoot is what Gemini keeps beside its chats about where they were.
func projectRoot(chat string) string {
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(chat)), ".project_root"))
	if err != nil || len(raw) > 4096 {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

func (n *teller) geminiMessage(m object, seen map[string]bool) {
	id, at := m.string("id"), when(m, "timestamp")
	first := !seen[id]
	seen[id] = true
	switch m.string("type") {
	case "user":
		if !first || strings.HasSuffix(id, "_response") {
			return
		}
		n.mark = id
		n.begin(at, "", "", geminiText(m.get("content")))
	case "gemini":
		if first {
			n.say(at, geminiText(m.get("content")))
		}
		for _, v := range m.list("toolCalls") {
			call, _ := v.(object)
			key := call.string("id")
			if seen["call "+key] {
				continue
			}
			seen["call "+key] = true
			failed := call.string("status") == "error"
			n.call(key, call.string("name"), compact(call.get("args")))
			n.result(when(call, "timestamp"), key, firstOf(call.text("resultDisplay"), call.text("result")), failed)
		}
	}
}

// geminiText is the text of a content: a text, or parts.
func geminiText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	list, _ := v.([]any)
	var parts []string
	for _, e := range list {
		part, _ := e.(object)
		if text := part.string("text"); text != "" && !part.is("thought") {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// qwen reads projects/<folder>/chats/<session>.jsonl of Qwen Code. The id of a
// turn is in the telemetry that follows its prompt.
func (n *teller) qwen() error {
	return n.lines(func(o object) {
		session := o.string("sessionId")
		if session == "" || o.is("isSidechain") {
			return
		}
		n.any = true
		if session != n.session {
			n.flush()
			n.session = session
		}
		n.cwd = firstOf(o.string("cwd"), n.cwd)
		at := when(o, "timestamp")
		switch o.string("type") {
		case "system":
			n.name(o.string("systemPayload", "uiEvent", "prompt_id"))
		case "user":
			if p := o.string("provenance"); p != "" && p != "real_user" || o.string("subtype") != "" {
				n.flush() // what is answered now is another turn
				return
			}
			n.mark = o.string("uuid")
			n.begin(at, "", "", geminiText(o.get("message", "parts")))
		case "assistant":
			n.say(at, geminiText(o.get("message", "parts")))
			for _, v := range o.list("message", "parts") {
				part, _ := v.(object)
				if call := part.object("functionCall"); len(call) > 0 {
					name, args := call.string("name"), call.object("args")
					if name == "tool_call" { // what tool_search found is called through it
						name, args = firstOf(args.string("name"), name), args.object("arguments")
					}
					n.call(call.string("id"), name, compact(args))
				}
			}
		case "tool_result":
			for _, v := range o.list("message", "parts") {
				part, _ := v.(object)
				r := part.object("functionResponse")
				failed := o.string("toolCallResult", "status") == "error"
				n.result(at, r.string("id"), firstOf(r.text("response", "error"), r.text("response", "output")), failed)
			}
		}
	})
}
