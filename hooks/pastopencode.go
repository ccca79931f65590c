package hooks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"vademecum/hooks/sqlite"
)

// opencode reads OpenCode's database: sessions, their messages and the parts of
// those, each of which is JSON in a column data. Subagents' sessions have a parent.
func (n *teller) opencode() error {
	db, err := sqlite.Open(n.t.Path)
	if err != nil {
		return unwrapPath(err)
	}
	defer db.Close()
	s, err := openStore(db)
	if err != nil {
		return err
	}
	for _, one := range s.sessions {
		n.any = true
		n.session, n.cwd = one.id, one.folder
		n.live = n.past.Now().Sub(one.updated) < stillGoing
		for _, m := range one.messages {
			if err := n.opencodeMessage(s, m); err != nil {
				return err
			}
		}
		if err := n.end(); err != nil {
			return err
		}
		if err := n.ctx.Err(); err != nil {
			return err
		}
	}
	n.any = true
	return nil
}

// opencodeStore is where everything is in a database; what was said is read
// when it is needed.
type opencodeStore struct {
	messages, parts *sqlite.Table
	sessions        []*opencodeSession
}

type opencodeSession struct {
	id, folder string
	updated    time.Time
	messages   []*opencodeMessage
}

type opencodeMessage struct {
	row     int64
	id      string
	created int64
	parts   []opencodePart
}

type opencodePart struct {
	row int64
	id  string
}

func openStore(db *sqlite.DB) (*opencodeStore, error) {
	sessions, err := db.Table("session")
	if err != nil {
		return nil, err
	}
	s := &opencodeStore{}
	if s.messages, err = db.Table("message"); err != nil {
		return nil, err
	}
	if s.parts, err = db.Table("part"); err != nil {
		return nil, err
	}
	byID, messages := map[string]*opencodeSession{}, map[string]*opencodeMessage{}
	err = sessions.Rows(func(r sqlite.Row) error {
		if r.Text("parent_id") == "" {
			one := &opencodeSession{id: r.Text("id"), folder: r.Text("directory"), updated: time.UnixMilli(r.Int("time_updated"))}
			byID[one.id] = one
			s.sessions = append(s.sessions, one)
		}
		return r.Err()
	})
	if err != nil {
		return nil, err
	}
	err = s.messages.Rows(func(r sqlite.Row) error {
		if one := byID[r.Text("session_id")]; one != nil {
			m := &opencodeMessage{row: r.ID, id: r.Text("id"), created: r.Int("time_created")}
			one.messages = append(one.messages, m)
			messages[m.id] = m
		}
		return r.Err()
	})
	if err != nil {
		return nil, err
	}
	err = s.parts.Rows(func(r sqlite.Row) error {
		if m := messages[r.Text("message_id")]; m != nil {
			m.parts = append(m.parts, opencodePart{r.ID, r.Text("id")})
		}
		return r.Err()
	})
	s.sort()
	return s, err
}

func (s *opencodeStore) sort() {
	slices.SortFunc(s.sessions, func(a, b *opencodeSession) int { return a.updated.Compare(b.updated) })
	for _, one := range s.sessions {
		slices.SortFunc(one.messages, func(a, b *opencodeMessage) int {
			return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id))
		})
		for _, m := range one.messages {
			slices.SortFunc(m.parts, func(a, b opencodePart) int { return cmp.Compare(a.id, b.id) })
		}
	}
}

// dataOf reads the JSON of a row; nil when it is broken.
func dataOf(t *sqlite.Table, row int64) (object, error) {
	r, ok, err := t.Get(row)
	if err != nil || !ok {
		return nil, err
	}
	raw := r.Text("data")
	if r.Err() != nil {
		return nil, r.Err()
	}
	o, ok := parseObject([]byte(raw))
	if !ok {
		return nil, nil
	}
	return o, nil
}

func (n *teller) opencodeMessage(s *opencodeStore, m *opencodeMessage) error {
	head, err := dataOf(s.messages, m.row)
	if err != nil {
		return err
	}
	if head == nil {
		n.told.Lost++
		return nil
	}
	at := time.UnixMilli(m.created).UTC()
	var said []string
	for _, p := range m.parts {
		part, err := dataOf(s.parts, p.row)
		if err != nil {
			return err
		}
		switch kind := part.string("type"); {
		case part == nil:
			n.told.Lost++
		case kind == "text" && head.string("role") == "user":
			if !part.is("synthetic") {
				said = append(said, part.string("text"))
			}
		case kind == "text" && !head.is("summary"):
			n.part(at, p.id, part.string("text"))
		case kind == "tool":
			n.opencodeTool(at, part)
		}
	}
	if len(said) > 0 {
		var text strings.Builder
		text.WriteString(said[0])
		for _, more := range said[1:] {
			text.WriteString("\n" + more)
		}
		n.begin(at, m.id, "", text.String())
	}
	return nil
}

func (n *teller) opencodeTool(at time.Time, part object) {
	id, state := part.string("callID"), part.object("state")
	n.call(id, part.string("tool"), compact(state.get("input")))
	exit := state.string("metadata", "exit")
	switch state.string("status") {
	case "error":
		n.result(at, id, state.text("error"), true)
	case "completed":
		n.result(at, id, state.text("output"), exit != "" && exit != "0")
	}
}
