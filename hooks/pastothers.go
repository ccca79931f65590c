package hooks

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// copilot reads session-state/<id>/events.jsonl of Copilot CLI. What has an
// agentId is a subagent's.
func (n *teller) copilot() error {
	return n.lines(func(o object) {
		d, at := o.object("data"), when(o, "timestamp")
		if o.string("agentId") != "" || d.string("parentToolCallId") != "" {
			return
		}
		switch o.string("type") {
		case "session.start":
			n.any = true
			n.session, n.cwd = d.string("sessionId"), d.string("context", "cwd")
		case "session.resume":
			n.cwd = firstOf(d.string("context", "cwd"), n.cwd)
		case "user.message":
			if source := d.string("source"); source != "" && source != "user" {
				return
			}
			n.mark = d.string("messageId")
			n.begin(at, "", "", d.text("content"))
		case "assistant.message":
			n.say(at, d.text("content"))
		case "tool.execution_start":
			n.call(d.string("toolCallId"), d.string("toolName"), compact(d.get("arguments")))
		case "tool.execution_complete":
			failed := d.get("success") == false
			n.result(at, d.string("toolCallId"), firstOf(d.text("error"), d.text("result")), failed)
		}
	})
}

// pi reads sessions/<folder>/<time>_<session>.jsonl of Pi: a head and then the
// entries of a tree, of which all branches are told.
func (n *teller) pi() error {
	return n.lines(func(o object) {
		if o.string("type") == "session" {
			n.any = true
			n.session, n.cwd = o.string("id"), o.string("cwd")
		}
		if o.string("type") != "message" {
			return
		}
		m, at := o.object("message"), when(o, "timestamp")
		switch m.string("role") {
		case "user":
			n.mark = o.string("id") + o.string("timestamp")
			n.begin(at, "", "", messageText(m))
		case "assistant":
			n.say(at, messageText(m))
			for _, v := range m.list("content") {
				if part, _ := v.(object); part.string("type") == "toolCall" {
					n.call(part.string("id"), part.string("name"), compact(part.get("arguments")))
				}
			}
		case "toolResult":
			n.result(at, m.string("toolCallId"), m.text("content"), m.is("isError"))
		}
	})
}

// cline reads sessions/<id>/<id>.messages.json of Cline: one object with the
// messages of the session; the file <id>.json beside it says where it was.
func (n *teller) cline() error {
	o, err := n.whole()
	if err != nil {
		return err
	}
	n.session = o.string("sessionId")
	n.any = n.session != ""
	if agent := o.string("agent"); agent != "" && agent != "lead" {
		return nil // a member of a team, who is told what to do by a model
	}
	if head, err := readObject(strings.TrimSuffix(n.t.Path, ".messages.json") + ".json"); err == nil {
		n.cwd = head.string("cwd")
	}
	for _, v := range o.list("messages") {
		m, _ := v.(object)
		at := when(m, "ts")
		if m.string("role") == "assistant" {
			n.say(at, messageText(m))
		} else if text := messageText(m); text != "" && m.string("metadata", "displayRole") != "system" {
			n.begin(at, "", m.string("id"), text)
		}
		for _, v := range m.list("content") {
			switch part, _ := v.(object); part.string("type") {
			case "tool_use":
				n.call(part.string("id"), part.string("name"), compact(part.get("input")))
			case "tool_result":
				n.result(at, part.string("tool_use_id"), part.text("content"), part.is("is_error"))
			}
		}
	}
	return nil
}

var (
	errBroken   = errors.New("is broken JSON")
	errTooLarge = errors.New("is larger than 64 MiB")
)

// maxWhole is the largest transcript of one object that is read.
const maxWhole = 64 << 20

// whole reads a transcript that is one JSON object.
func (n *teller) whole() (object, error) {
	if n.t.Size > maxWhole {
		return nil, errTooLarge
	}
	o, err := readObject(n.t.Path)
	if errors.Is(err, errBroken) && n.live { // somebody is writing it
		n.told.Unfinished, n.any = true, true
		return object{}, nil
	}
	return o, err
}

// readObject reads a file that is one JSON object, all of it.
func readObject(path string) (object, error) {
	st, err := os.Stat(filepath.Clean(path))
	switch {
	case err != nil:
		return nil, unwrapPath(err)
	case st.Size() > maxWhole:
		return nil, errTooLarge
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, unwrapPath(err)
	}
	p := &reader{in: nothing{}, buf: raw, end: len(raw), roomy: true}
	o, ok := p.value(0).(object)
	if !ok || p.bad {
		return nil, errBroken
	}
	return o, nil
}
