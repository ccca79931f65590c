package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"vademecum/providers"
	"vademecum/sync/journal"
)

// paxmDialect speaks the provider protocol v1 of PAXM, which is always one-shot:
// paxm.health, paxm.search, paxm.put, and where paxm.capabilities says so,
// paxm.putBatch and paxm.delete.
type paxmDialect struct{ *peer }

func (p paxmDialect) abilities(ctx context.Context) (Abilities, error) {
	var can struct {
		PutBatch bool `json:"put_batch"`
		Delete   bool `json:"delete"`
	}
	err := p.call(ctx, request{op: "initialize", method: "paxm.capabilities", params: object{}}, &can)
	if err != nil && !providers.Is(err, providers.Unsupported) {
		return Abilities{}, err
	}
	return Abilities{OneShot: true, Capabilities: Capabilities{
		PutBatch: can.PutBatch, Delete: can.Delete, Score: providers.Similarity, Verbatim: true,
	}}, nil
}

func (p paxmDialect) health(ctx context.Context) (providers.Health, error) {
	var any json.RawMessage // each result means well
	err := p.call(ctx, request{op: "health", method: "paxm.health", params: object{}}, &any)
	return providers.Health{}, err
}

// search does not filter by workspace: PAXM's filter wants metadata to be equal,
// and would leave out the memories that have no workspace.
func (p paxmDialect) search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	var result struct {
		Hits []struct {
			ID        providers.Ref   `json:"id"`
			Text      string          `json:"text"`
			Score     json.RawMessage `json:"relevance"`
			Metadata  json.RawMessage `json:"metadata"`
			CreatedAt string          `json:"created_at"`
		} `json:"hits"`
	}
	err := p.call(ctx, request{op: "search", method: "paxm.search", params: object{"text": q.Text, "limit": q.Limit}}, &result)
	if err != nil {
		return nil, err
	}
	hits := make([]providers.Hit, 0, len(result.Hits))
	for _, h := range result.Hits[:min(len(result.Hits), q.Limit)] {
		hit := wireHit{Ref: h.ID, Text: h.Text, Score: h.Score, Created: h.CreatedAt}.hit()
		var metadata map[string]string
		if json.Unmarshal(h.Metadata, &metadata) == nil {
			hit.Identify(metadata)
		}
		hits = append(hits, hit)
	}
	return hits, nil
}

// memoryItem is PAXM's.
type memoryItem struct {
	ID        string            `json:"id"`
	Text      string            `json:"text"`
	Source    string            `json:"source"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	CreatedAt time.Time         `json:"created_at,omitzero"`
	Tier      string            `json:"tier,omitempty"`
	ExpiresAt time.Time         `json:"expires_at,omitzero"`
	Origin    memoryOrigin      `json:"origin,omitzero"`
	Scope     memoryScope       `json:"scope,omitzero"`
}

type memoryOrigin struct {
	User    string `json:"user_id,omitempty"`
	Agent   string `json:"agent_id,omitempty"`
	Session string `json:"session_id,omitempty"`
	Turn    string `json:"turn_id,omitempty"`
}

type memoryScope struct {
	Type string `json:"type,omitempty"`
	ID   string `json:"id,omitempty"`
}

func toMemoryItem(i providers.Item) memoryItem {
	m := memoryItem{
		ID: i.ID, Text: i.Text, Source: "vade", Metadata: i.Metadata(), CreatedAt: i.Created.UTC(), Tier: string(i.Tier), ExpiresAt: i.Expires.UTC(),
		Origin: memoryOrigin{User: i.Origin.User, Agent: i.Origin.Agent, Session: i.Origin.Session},
		Scope:  memoryScope(i.Scope),
	}
	if i.Parts > 1 { // or the parts would replace each other
		m.ID = fmt.Sprintf("%s#%d", i.ID, i.Part+1)
	}
	if i.Origin.Turn > 0 {
		m.Origin.Turn = strconv.Itoa(i.Origin.Turn)
	}
	return m
}

// refs is the result of paxm.put and of paxm.putBatch: either field may be used.
type refs struct {
	Ref  *memoryRef  `json:"ref"`
	Refs []memoryRef `json:"refs"`
}

type memoryRef struct {
	Provider string        `json:"provider,omitempty"`
	ID       providers.Ref `json:"id"`
}

func (p paxmDialect) put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	r := p.putItems(ctx, "paxm.put", toMemoryItem(item), []providers.Item{item})
	return r[0].Receipt, r[0].Err
}

func (p paxmDialect) putBatch(ctx context.Context, items []providers.Item) []providers.PutResult {
	wire := make([]memoryItem, len(items))
	for i, item := range items {
		wire[i] = toMemoryItem(item)
	}
	return p.putItems(ctx, "paxm.putBatch", object{"items": wire}, items)
}

func (p paxmDialect) putItems(ctx context.Context, method string, params any, items []providers.Item) []providers.PutResult {
	var got refs
	err := p.call(ctx, request{op: "put", method: method, params: params, mutates: true}, &got)
	if got.Ref != nil {
		got.Refs = append([]memoryRef{*got.Ref}, got.Refs...)
	}
	if err == nil && len(got.Refs) != len(items) {
		err = p.protocolError("put", fmt.Sprintf("%d refs for %d items", len(got.Refs), len(items)), true)
	}
	if err != nil {
		return sameForAll(items, err)
	}
	results := make([]providers.PutResult, len(items))
	for i, ref := range got.Refs {
		if ref.ID == "" {
			results[i].Err = p.protocolError("put", "a ref without id", true)
			continue
		}
		results[i].Receipt = providers.Receipt{State: journal.Stored, Refs: []providers.Ref{ref.ID}}
	}
	return results
}

func (p paxmDialect) delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error) {
	var any json.RawMessage
	err := p.call(ctx, request{op: "delete", method: "paxm.delete", params: memoryRef{Provider: p.cfg.Name, ID: ref}, mutates: true}, &any)
	if err != nil {
		return providers.Receipt{}, err
	}
	return providers.Receipt{State: journal.Deleted}, nil
}
