package journal

import (
	"cmp"
	"slices"
	"time"
)

// turn is the events of one turn of one session, in order.
type turn struct {
	id      string // the agent's, if it has one
	records []Record
	closed  bool // its end, or the session's, was told
}

// byTime orders records as things happened: hooks that run at once append in
// any order.
func byTime(a, b Record) int {
	return cmp.Or(a.Event.Time.Compare(b.Event.Time), cmp.Compare(a.ID, b.ID))
}

// turns divides the records of one session. A prompt starts a turn, unless it
// is of the turn that is going on; what names its turn belongs there; anything
// else belongs to the last turn, also behind its end.
func turns(records []Record) []*turn {
	var list []*turn
	records = slices.SortedStableFunc(slices.Values(records), byTime)
	for _, r := range records {
		t := place(list, r)
		if t == nil {
			t = &turn{}
			list = append(list, t)
		}
		t.add(r)
	}
	return list
}

// place returns the turn that r belongs to, nil when it starts one.
func place(list []*turn, r Record) *turn {
	if id := r.Event.Turn; id != "" {
		for _, t := range slices.Backward(list) {
			if t.id == id {
				return t
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	last := list[len(list)-1]
	switch {
	case r.Event.starts():
		return nil
	case r.Event.Kind == Prompt && last.begun():
		return nil
	case r.Event.Turn != "" && last.id != "" && r.Event.Kind != SessionEnd:
		return nil
	}
	return last
}

// starts reports whether a session starts with e. Agents also say so in the
// middle of a turn, when they have compacted what they know.
func (e *Event) starts() bool { return e.Kind == SessionStart && e.Text != "compact" }

func (t *turn) add(r Record) {
	if slices.ContainsFunc(t.records, r.same) {
		return
	}
	t.records = append(t.records, r)
	if t.id == "" {
		t.id = r.Event.Turn
	}
	if r.Event.Kind == TurnEnd || r.Event.Kind == SessionEnd {
		t.closed = true
	}
}

// same reports whether r and have are one event that came twice, through two
// channels or an append that was repeated.
func (r Record) same(have Record) bool {
	return r.ID == have.ID || r.Event.ID != "" && r.Event.ID == have.Event.ID && r.Event.Kind == have.Event.Kind
}

// begun reports whether anything but the start of the session has happened.
func (t *turn) begun() bool {
	return slices.ContainsFunc(t.records, func(r Record) bool { return r.Event.Kind != SessionStart })
}

// tells reports whether t holds anything that somebody said or did.
func (t *turn) tells() bool {
	return slices.ContainsFunc(t.records, func(r Record) bool {
		switch r.Event.Kind {
		case SessionStart, SessionEnd:
			return false
		}
		return r.Event.Text != "" || r.Event.Tool != nil
	})
}

func (t *turn) last() time.Time { return t.records[len(t.records)-1].Event.Time }

// sealing says when turns that nobody ended are over.
type sealing struct {
	now   time.Time
	quiet time.Duration
	all   bool // everything is over
	// started is when a session last started, by agent and folder: those
	// before it are over.
	started map[[2]string]time.Time
}

func (s *sealing) note(r Record) {
	if !r.Event.starts() || r.Event.Cwd == "" {
		return
	}
	key := [2]string{r.Event.Agent, r.Event.Cwd}
	if r.Event.Time.After(s.started[key]) {
		if s.started == nil {
			s.started = map[[2]string]time.Time{}
		}
		s.started[key] = r.Event.Time
	}
}

// over reports whether list[i] is, and why.
func (s *sealing) over(list []*turn, i int) (why string) {
	t := list[i]
	e := t.records[0].Event
	switch {
	case t.closed:
		return "ended"
	case i+1 < len(list):
		return "next turn"
	case s.all:
		return "asked for"
	case s.now.Sub(t.last()) >= s.quiet:
		return "quiet"
	case s.started[[2]string{e.Agent, e.Cwd}].After(t.last()):
		return "next start"
	}
	return ""
}
