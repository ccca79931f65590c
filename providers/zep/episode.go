package zep

import (
	"encoding/json"
	"net/http"
	"time"

	"vademecum/providers"
	"vademecum/providers/rest"
)

// episode is one, as Zep gives it back, in both dialects.
type episode struct {
	UUID      string         `json:"uuid"`
	Content   string         `json:"content"`
	Metadata  map[string]any `json:"metadata"`
	Processed bool           `json:"processed"`
	CreatedAt moment         `json:"created_at"`
	Score     rest.Score     `json:"score"`
	Relevance rest.Score     `json:"relevance"` // only of a cross encoder
}

// fact is an edge of the graph, which carries no metadata.
type fact struct {
	UUID      string     `json:"uuid"`
	Fact      string     `json:"fact"`
	Episodes  []string   `json:"episodes"` // that it is from
	CreatedAt moment     `json:"created_at"`
	Score     rest.Score `json:"score"`
	Relevance rest.Score `json:"relevance"`
}

// found is what a search found.
type found struct {
	Episodes []episode `json:"episodes"`
	Edges    []fact    `json:"edges"`
}

// moment is a time that may be none.
type moment struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (m *moment) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &m.Time) != nil {
		m.Time = time.Time{}
	}
	return nil
}

func (e *episode) hit() providers.Hit {
	h := providers.Hit{Ref: providers.Ref(e.UUID), Text: e.Content, Created: e.CreatedAt.Time}
	meta := map[string]string{}
	for key, value := range e.Metadata {
		if text, ok := value.(string); ok {
			meta[key] = text
		}
	}
	h.Identify(meta)
	return h
}

// hit names a fact by the episode that it is from, so that a book of receipts
// can tell whose it is.
func (f *fact) hit() providers.Hit {
	h := providers.Hit{Ref: providers.Ref(f.UUID), Text: f.Fact, Created: f.CreatedAt.Time}
	if len(f.Episodes) > 0 {
		h.Ref = providers.Ref(f.Episodes[0])
	}
	return h
}

// hits are all of it, in the order in which they came, each once. A score of rrf
// is a place in the list; one of a cross encoder is its relevance, if there is one.
func (f found) hits(reranker string) []providers.Hit {
	var hits []providers.Hit
	seen := map[string]bool{"": true}
	add := func(uuid string, h providers.Hit, score, relevance rest.Score) {
		if seen[uuid] {
			return
		}
		seen[uuid] = true
		if h.Score = score.Value; reranker == "cross_encoder" && relevance.Value != nil {
			h.Score = relevance.Value
		}
		hits = append(hits, h)
	}
	for _, e := range f.Episodes {
		add(e.UUID, e.hit(), e.Score, e.Relevance)
	}
	for _, e := range f.Edges {
		add(e.UUID, e.hit(), e.Score, e.Relevance)
	}
	return hits
}

// when is the time that item's text is from.
func when(item *providers.Item) string {
	at := item.Updated
	if at.IsZero() {
		at = item.Created
	}
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// filters are those of metadata: any of ids. The form is that of both dialects.
type filters struct {
	Type    string   `json:"type"`
	Filters []filter `json:"filters"`
}

type filter struct {
	Property string `json:"property_name"`
	Operator string `json:"comparison_operator"`
	Value    string `json:"property_value"`
}

func anyOf(ids []string) *filters {
	if len(ids) == 0 {
		return nil
	}
	f := &filters{Type: "or"}
	for _, id := range ids {
		f.Filters = append(f.Filters, filter{providers.MetaID, "=", id})
	}
	return f
}

// classify reads the code of dialect v4's {"error":{"code"}}; the rest is in
// the status. A quota of a plan answers in plain text (MiroFish#60).
func classify(e *providers.Error, status int, _ http.Header, body []byte) {
	var said struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if status >= 300 && json.Unmarshal(body, &said) == nil {
		e.Code = said.Error.Code
	}
}
