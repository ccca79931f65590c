package zep

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"vademecum/providers"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

// v3 is the API of zep-go v3.
type v3 struct {
	config Config
	client *rest.Client
}

// episode is what was put, as the service has it.
type episode struct {
	UUID      string         `json:"uuid"`
	Content   string         `json:"content"`
	Created   string         `json:"created_at"`
	Metadata  map[string]any `json:"metadata"`
	Processed bool           `json:"processed"`
	Relevance rest.Score     `json:"relevance"`
}

func (e *episode) receipt() providers.Receipt {
	r := providers.Receipt{State: journal.Accepted, Refs: []providers.Ref{providers.Ref(e.UUID)}, Handle: e.UUID}
	if e.Processed {
		r.State = journal.Stored
	}
	return r
}

func (e *episode) hit() providers.Hit {
	h := providers.Hit{Ref: providers.Ref(e.UUID), Text: e.Content, Score: e.Relevance.Value}
	h.Created, _ = time.Parse(time.RFC3339, e.Created)
	ours := map[string]string{}
	for key, v := range e.Metadata {
		ours[key] = fmt.Sprint(v)
	}
	h.Identify(ours)
	return h
}

// scope is the graph that a request is about: one of the two is set.
type scope struct {
	GraphID string `json:"graph_id,omitempty"`
	UserID  string `json:"user_id,omitempty"`
}

func (d *v3) scope() scope { return scope{GraphID: d.config.Graph, UserID: d.config.User} }

func (d *v3) ping(ctx context.Context) error {
	_, err := d.client.Do(ctx, rest.Request{Op: "health", Path: "/projects/info"}, nil)
	return err
}

type newEpisode struct {
	Data string `json:"data"`
	Type string `json:"type"`
	scope
	Metadata map[string]string `json:"metadata,omitempty"`
	Source   string            `json:"source_description"`
	Created  string            `json:"created_at,omitempty"`
}

func (d *v3) put(ctx context.Context, item *providers.Item) (episode, error) {
	body := newEpisode{Data: item.Text, Type: "text", scope: d.scope(), Metadata: item.Metadata(), Source: "vade"}
	if !item.Created.IsZero() {
		body.Created = item.Created.UTC().Format(time.RFC3339)
	}
	var e episode
	request := rest.Request{Op: "put", Path: "/graph", Body: body, Mutates: true}
	meta, err := d.client.Do(ctx, request, &e)
	if notFound(err) { // neither graphs nor users make themselves
		if err = d.create(ctx); err == nil {
			meta, err = d.client.Do(ctx, request, &e)
		}
	}
	if err == nil && e.UUID == "" {
		err = d.client.Senseless(request, meta, "the episode has no uuid")
	}
	return e, err
}

// create makes the graph, or the user whose graph it is. That it is there
// already is fine.
func (d *v3) create(ctx context.Context) error {
	request := rest.Request{Op: "put", Path: "/graph/create", Body: map[string]string{"graph_id": d.config.Graph, "name": d.config.Graph}}
	if d.config.User != "" {
		request.Path, request.Body = "/users", map[string]any{"user_id": d.config.User, "disable_default_ontology": true}
	}
	_, err := d.client.Do(ctx, request, nil)
	if e, ok := errors.AsType[*providers.Error](err); ok && (e.Status == http.StatusConflict || e.Status == http.StatusBadRequest) {
		return nil // what is really wrong, the put will tell
	}
	return err
}

type searchRequest struct {
	Query string `json:"query"`
	scope
	Scope    string `json:"scope"`
	Reranker string `json:"reranker"`
	Limit    int    `json:"limit"`
}

// found is the answer to a search; what is empty is absent.
type found struct {
	Episodes []episode `json:"episodes"`
	Edges    []edge    `json:"edges"`
}

// edge is a fact that Zep made of episodes.
type edge struct {
	UUID      string     `json:"uuid"`
	Fact      string     `json:"fact"`
	Created   string     `json:"created_at"`
	Episodes  []string   `json:"episodes"`
	Relevance rest.Score `json:"relevance"`
}

// hit names the episode that the fact is from, if it is from one: the receipts
// tell whose that is.
func (e *edge) hit() providers.Hit {
	h := providers.Hit{Ref: providers.Ref(e.UUID), Text: e.Fact, Score: e.Relevance.Value}
	if len(e.Episodes) == 1 {
		h.Ref = providers.Ref(e.Episodes[0])
	}
	h.Created, _ = time.Parse(time.RFC3339, e.Created)
	return h
}

func (d *v3) search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	body := searchRequest{Query: q.Text, scope: d.scope(), Scope: "episodes", Reranker: d.config.Reranker, Limit: q.Limit}
	if d.config.Facts {
		body.Scope = "edges"
	}
	var got found
	_, err := d.client.Do(ctx, rest.Request{Op: "search", Path: "/graph/search", Body: body}, &got)
	if notFound(err) { // no graph yet
		return nil, nil
	}
	var hits []providers.Hit
	for i := range got.Episodes {
		hits = append(hits, got.Episodes[i].hit())
	}
	for i := range got.Edges {
		hits = append(hits, got.Edges[i].hit())
	}
	return hits[:min(len(hits), q.Limit)], err
}

func (d *v3) episode(ctx context.Context, uuid string) (episode, error) {
	var e episode
	_, err := d.client.Do(ctx, rest.Request{Op: "resolve", Path: "/graph/episodes/" + url.PathEscape(uuid)}, &e)
	if err == nil && e.UUID == "" {
		e.UUID = uuid
	}
	return e, err
}

func (d *v3) remove(ctx context.Context, uuid string) error {
	_, err := d.client.Do(ctx, rest.Request{
		Op: "delete", Method: http.MethodDelete, Path: "/graph/episodes/" + url.PathEscape(uuid), Mutates: true,
	}, &struct{}{})
	return err
}

func (d *v3) latest(ctx context.Context, n int) ([]episode, error) {
	path := "/graph/episodes/graph/" + url.PathEscape(d.config.Graph)
	if d.config.User != "" {
		path = "/graph/episodes/user/" + url.PathEscape(d.config.User)
	}
	var got found
	_, err := d.client.Do(ctx, rest.Request{Op: "find", Path: path, Query: url.Values{"lastn": {strconv.Itoa(n)}}}, &got)
	return got.Episodes, err
}

func (d *v3) drop(ctx context.Context) error {
	_, err := d.client.Do(ctx, rest.Request{
		Op: "purge", Method: http.MethodDelete, Path: "/graph/" + url.PathEscape(d.config.Graph), Mutates: true,
	}, nil)
	return err
}

// notFound reports whether the service does not have what was asked for.
func notFound(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return ok && e.Status == http.StatusNotFound
}
