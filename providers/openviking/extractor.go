package openviking

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/url"
	"strings"

	"vademecum/providers"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

// Extractor hands each item over as a session of its own, of which the server
// makes memories by a language model: none, one or many, in its own words. What
// it makes cannot be led back to the item, replaced or deleted.
//
// One item a session, because one bad message spoils the extraction of a whole
// one (OpenViking#3339) and a failed one blocks those behind it (#4419).
type Extractor struct{ *client }

var (
	_ providers.Resolver  = (*Extractor)(nil)
	_ providers.Closer    = (*Extractor)(nil)
	_ providers.Describer = (*Extractor)(nil)
)

// NewExtractor returns the extracting provider that c describes. It connects to
// nothing.
func NewExtractor(c Config) (*Extractor, error) {
	inner, err := newClient(c)
	if err != nil {
		return nil, err
	}
	return &Extractor{inner}, nil
}

// Properties of extraction.
func (x *Extractor) Properties() providers.Properties {
	return providers.Properties{
		Kind: "openviking", Resolve: true, Close: true, Async: true, Score: providers.Similarity, MaxItemBytes: maxItemBytes,
	}
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Put makes a session of item and commits it. Accepted says that the server
// extracts; the handle is its task.
func (x *Extractor) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	session := "vault-" + strings.TrimSuffix(fileName(item.ID, item.Part), ".md") + "-" + strings.ToLower(rand.Text()[:8])
	path := "/api/v1/sessions"
	_, err := call[nothing](ctx, x.client, rest.Request{Op: "put", Path: path, Body: map[string]string{"session_id": session}, Mutates: true})
	if err != nil {
		return providers.Receipt{}, err
	}
	path += "/" + url.PathEscape(session)
	add := rest.Request{
		Op: "put", Path: path + "/messages/batch", Mutates: true,
		Body: map[string][]message{"messages": {{"user", item.Text}}},
	}
	added, err := call[struct {
		Added int `json:"added"`
	}](ctx, x.client, add)
	if err == nil && added.Added < 1 { // a session without messages is "accepted" all the same
		err = x.rest.Senseless(add, rest.Meta{}, "the server took no message into the session")
	}
	if err != nil {
		return providers.Receipt{}, err
	}
	return x.commit(ctx, path)
}

func (x *Extractor) commit(ctx context.Context, session string) (providers.Receipt, error) {
	r := rest.Request{Op: "put", Path: session + "/commit", Body: struct{}{}, Mutates: true}
	got, err := call[struct {
		Status string `json:"status"`
		TaskID string `json:"task_id"`
	}](ctx, x.client, r)
	switch {
	case err != nil:
		return providers.Receipt{}, err
	case got.Status == "skipped":
		return providers.Receipt{State: journal.Empty, Note: "the server skipped the session"}, nil
	case got.TaskID == "":
		return providers.Receipt{}, x.rest.Senseless(r, rest.Meta{}, "the commit was accepted without a task to ask for")
	}
	return providers.Receipt{State: journal.Accepted, Handle: got.TaskID}, nil
}

// Resolve asks for the task. A completed one that extracted nothing is Empty
// (OpenViking#1410).
func (x *Extractor) Resolve(ctx context.Context, r providers.Receipt) (providers.Receipt, error) {
	if r.State != journal.Accepted || r.Handle == "" {
		return r, nil
	}
	task, err := call[struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Result struct {
			Extracted map[string]json.RawMessage `json:"memories_extracted"`
		} `json:"result"`
	}](ctx, x.client, rest.Request{Op: "resolve", Path: "/api/v1/tasks/" + url.PathEscape(r.Handle)})
	if err != nil {
		return r, err
	}
	switch task.Status {
	case "completed":
		r.State = journal.Stored
		if extracted(task.Result.Extracted) == 0 {
			r.State, r.Note = journal.Empty, "the server found nothing worth a memory"
		}
	case "failed", "cancelled":
		return r, &providers.Error{
			Provider: x.name, Op: "resolve", Class: providers.Permanent, Code: task.Status,
			Msg: "the extraction " + task.Status + " " + task.Error,
		}
	}
	return r, nil
}

// extracted counts memories by kind: numbers, or lists of them.
func extracted(kinds map[string]json.RawMessage) int {
	total := 0
	for _, raw := range kinds {
		var n int
		var list []json.RawMessage
		if json.Unmarshal(raw, &n) != nil && json.Unmarshal(raw, &list) == nil {
			n = len(list)
		}
		total += n
	}
	return total
}
