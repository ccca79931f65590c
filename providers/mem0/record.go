package mem0

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"vademecum/providers"
	"vademecum/providers/rest"
)

// record is a memory as the services return it.
type record struct {
	ID       string     `json:"id"`
	Memory   string     `json:"memory"`
	Event    string     `json:"event"` // ADD, UPDATE, DELETE, NONE; in answers to an addition
	Score    rest.Score `json:"score"`
	Metadata stringsOf  `json:"metadata"`
	Created  moment     `json:"created_at"`
}

// records are a list of them: {"results": […]}, or with old servers the bare
// list. They are nil where an answer has none, which is not the same as an
// empty list.
type records struct {
	Results []record
	Next    *string // page of the cloud
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *records) UnmarshalJSON(raw []byte) error {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '[' {
		return json.Unmarshal(raw, &l.Results)
	}
	var named struct {
		Results []record `json:"results"`
		Next    *string  `json:"next"`
	}
	err := json.Unmarshal(raw, &named)
	l.Results, l.Next = named.Results, named.Next
	return err
}

// stringsOf are the members of an object that are strings: ours all are.
type stringsOf map[string]string

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (m *stringsOf) UnmarshalJSON(raw []byte) error {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(raw, &all)
	*m = make(stringsOf, len(all))
	for key, value := range all {
		var text string
		if json.Unmarshal(value, &text) == nil && text != "" {
			(*m)[key] = text
		}
	}
	return nil
}

// moment is a time, zero where it cannot be understood.
type moment struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (m *moment) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		m.Time, _ = time.Parse(time.RFC3339, text)
	}
	return nil
}

// hits are those of list that have a name and say something, each once, at
// most limit.
func (c *client) hits(list []record, limit int) []providers.Hit {
	var hits []providers.Hit
	for i := range list {
		r := &list[i]
		ref := providers.Ref(r.ID)
		again := func(h providers.Hit) bool { return h.Ref == ref }
		if r.ID == "" || r.Memory == "" || slices.ContainsFunc(hits, again) {
			continue
		}
		if len(hits) == limit {
			break
		}
		h := providers.Hit{Ref: ref, Text: r.Memory, Created: r.Created.Time}
		if c.Score != providers.Unscored {
			h.Score = r.Score.Value
		}
		h.Identify(r.Metadata)
		hits = append(hits, h)
	}
	return hits
}

// kept are the memories that an addition made or changed; ok is false where
// one has no name.
func kept(list []record) (refs []providers.Ref, ok bool) {
	for _, r := range list {
		switch {
		case r.Event == "NONE" || r.Event == "DELETE":
		case r.ID == "":
			return nil, false
		case !slices.Contains(refs, providers.Ref(r.ID)):
			refs = append(refs, providers.Ref(r.ID))
		}
	}
	return refs, true
}
