package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"vademecum/sync/journal"
)

// teller makes episodes of what a transcript's reader finds in it.
type teller struct {
	past  *Past
	agent *Agent
	t     Transcript
	live  bool // somebody wrote to it a moment ago
	yield func(*journal.Episode) error
	ctx   context.Context
	told  Told
	err   error
	any   bool // it is a transcript

	session, cwd string
	mark         string // names a prompt to us, where hooks have no name for it

	turn   string // the agent's id of it
	events []journal.Event
	calls  map[string]journal.ToolUse // without a result yet
	answer string                     // the last one
	at     time.Time                  // of what was told last
	said   time.Time                  // when answer was
	talk   bool                       // somebody asked something in this turn
	copied bool                       // what was copied from another transcript
	unsure bool                       // answer is the last one so far: tools were called since
}

// begin starts a turn with what a person said. id is the agent's for it.
func (n *teller) begin(at time.Time, turn, id, text string) {
	text, _ = n.past.Redactor.field(text, journal.MaxText)
	if text == "" || machine(text) {
		return
	}
	if n.talk && (turn == "" || turn != n.turn) || n.turn != "" && turn != n.turn {
		n.flush()
	}
	e := prompt(turn, text).Event
	if id != "" {
		e.ID = "prompt:" + id
	}
	if mark := firstOf(e.ID, n.mark); mark != "" && !n.talk {
		n.copied = n.past.knows(n.agent.Name, mark, n.session)
	}
	n.turn, n.talk = turn, true
	n.add(at, e)
}

// knows reports whether the prompt called id was in the transcript of another
// session before.
func (p *Past) knows(agent, id, session string) bool {
	if p.seen == nil {
		p.seen = map[[16]byte]bool{}
	}
	sum := func(s string) [16]byte {
		full := sha256.Sum256([]byte(s))
		return [16]byte(full[:16])
	}
	here, anywhere := sum(agent+"\x00"+id+"\x00"+session), sum(agent+"\x00"+id)
	known := p.seen[anywhere] && !p.seen[here]
	p.seen[anywhere], p.seen[here] = true, true
	return known
}

// name tells the id of the turn that is going on, where it comes late.
func (n *teller) name(turn string) {
	if turn == "" || n.turn != "" {
		return
	}
	n.turn = turn
	for i := range n.events {
		e := &n.events[i]
		e.Turn = turn
		if e.Kind == journal.Prompt && e.ID == "" {
			e.ID = "prompt:" + turn
		}
	}
}

// say is an answer; what a model says before its last one is not kept, as
// agents tell hooks only that.
func (n *teller) say(at time.Time, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	n.touch(at)
	n.any, n.answer, n.said, n.unsure = true, text, n.at, false
}

// part is one of several texts of an answer, all of which are kept.
func (n *teller) part(at time.Time, id, text string) {
	text, _ = n.past.Redactor.field(text, journal.MaxText)
	if text == "" {
		return
	}
	e := keep(journal.Answer, "", text).Event
	if id != "" {
		e.ID = "answer:" + id
	}
	n.unsure = false
	n.add(at, e)
}

// call is a tool that a model called.
func (n *teller) call(id, name, input string) {
	if n.calls == nil {
		n.calls = map[string]journal.ToolUse{}
	}
	n.any, n.unsure = true, true
	n.calls[id] = journal.ToolUse{Name: name, Input: input}
}

// result is how the call of a tool ended. Of one that went well only that is
// kept: what it printed is in no section.
func (n *teller) result(at time.Time, id, output string, failed bool) {
	use, ok := n.calls[id]
	if !ok {
		return
	}
	delete(n.calls, id)
	if failed {
		use.Error = output
	}
	n.use(at, id, use, failed)
}

// use is a call of a tool that ended.
func (n *teller) use(at time.Time, id string, use journal.ToolUse, failed bool) {
	n.unsure = true
	s := tool(n.turn, id, use, failed)
	if s.Ignored != "" {
		return
	}
	n.past.Redactor.event(&s.Event)
	n.add(at, s.Event)
}

func (n *teller) add(at time.Time, e journal.Event) {
	n.touch(at)
	n.any = true
	e.Time, e.Agent, e.Session, e.Turn = n.at, n.agent.Name, n.session, n.turn
	e.Cwd, e.Workspace = n.cwd, n.past.workspace(n.cwd)
	n.events = append(n.events, e)
}

// touch moves the time on; what has none is of the time before.
func (n *teller) touch(at time.Time) {
	if at.After(n.at) {
		n.at = at
	}
	if n.at.IsZero() {
		n.at = n.t.Modified.UTC()
	}
}

// end is the end of a session.
func (n *teller) end() error {
	if n.live && (len(n.calls) > 0 || n.unsure || n.talk && n.answer == "" && !n.answered()) {
		n.told.Unfinished = true
		n.drop()
	}
	n.flush()
	n.session, n.cwd, n.at = "", "", time.Time{}
	return n.err
}

// answered reports whether anything was answered in this turn.
func (n *teller) answered() bool {
	for _, e := range n.events {
		if e.Kind == journal.Answer {
			return true
		}
	}
	return false
}

// flush hands on the turn, whatever there is of it.
func (n *teller) flush() {
	if n.answer != "" {
		text, _ := n.past.Redactor.field(n.answer, journal.MaxText)
		e := turnEnd(n.turn, text).Event
		last := n.at
		n.at = n.said
		n.add(n.said, e)
		n.at = last
	}
	events, copied := n.events, n.copied
	n.drop()
	if n.err != nil || len(events) == 0 || copied {
		return
	}
	if n.session == "" {
		return
	}
	n.err = n.yield(journal.EpisodeOf(pastKey(events), events))
}

func (n *teller) drop() {
	n.turn, n.events, n.answer, n.talk, n.copied, n.unsure = "", nil, "", false, false, false
	clear(n.calls)
}

// pastKey names a turn that has no other name by what is in it.
func pastKey(events []journal.Event) string {
	h := sha256.New()
	for _, e := range events {
		h.Write([]byte(string(e.Kind) + "\x00" + e.Session + "\x00" + e.Text + "\x00"))
		if e.Tool != nil {
			h.Write([]byte(e.Tool.Name + "\x00" + e.Tool.Input + "\x00" + e.Tool.Error + "\x00"))
		}
	}
	return "past" + hex.EncodeToString(h.Sum(nil)[:10])
}
