package zep

import (
	"context"
	"net/http"
	"net/url"

	"vademecum/providers"
	"vademecum/providers/rest"
)

// v3 is the dialect of the API that is called v3 and lives under /api/v2.
// Exactly one of user and graph is set.
type v3 struct {
	p           *Provider
	user, graph string
}

func (d *v3) health(ctx context.Context) (providers.Health, error) {
	_, err := d.p.rest.Do(ctx, rest.Request{Op: "health", Path: "/projects/info"}, &struct{}{})
	return providers.Health{Warnings: []string{}}, err
}

// whose is a part of every request body that is about the graph.
type whose struct {
	UserID  string `json:"user_id,omitempty"`
	GraphID string `json:"graph_id,omitempty"`
}

func (d *v3) add(ctx context.Context, item *providers.Item) (episode, error) {
	var e episode
	r := rest.Request{Op: "put", Path: "/graph", Mutates: true, Body: struct {
		whose
		Data        string            `json:"data"`
		Type        string            `json:"type"`
		Metadata    map[string]string `json:"metadata"`
		Description string            `json:"source_description"`
		CreatedAt   string            `json:"created_at,omitempty"`
	}{whose{d.user, d.graph}, item.Text, "text", item.Metadata(), "vade", when(item)}}
	meta, err := d.p.rest.Do(ctx, r, &e)
	if err == nil && e.UUID == "" {
		err = d.p.rest.Senseless(r, meta, "the answer names no episode")
	}
	return e, err
}

func (d *v3) search(ctx context.Context, query string, limit int) (found, error) {
	scope := "episodes"
	if d.p.facts {
		scope = "edges"
	}
	var got found
	_, err := d.p.rest.Do(ctx, rest.Request{Op: "search", Path: "/graph/search", Body: struct {
		whose
		Query    string `json:"query"`
		Scope    string `json:"scope"`
		Reranker string `json:"reranker"`
		Limit    int    `json:"limit"`
	}{whose{d.user, d.graph}, query, scope, d.p.reranker, limit}}, &got)
	return got, err
}

func (d *v3) get(ctx context.Context, uuid string) (episode, error) {
	var e episode
	_, err := d.p.rest.Do(ctx, rest.Request{Op: "resolve", Path: "/graph/episodes/" + url.PathEscape(uuid)}, &e)
	return e, err
}

func (d *v3) remove(ctx context.Context, uuid string) (later bool, err error) {
	_, err = d.p.rest.Do(ctx, rest.Request{
		Op: "delete", Method: http.MethodDelete, Path: "/graph/episodes/" + url.PathEscape(uuid), Mutates: true,
	}, &struct{}{})
	return false, err
}

func (d *v3) list(ctx context.Context, op, cursor string, n int, ids []string) ([]episode, string, error) {
	path := "/graph/episodes/user/" + url.PathEscape(d.user)
	if d.graph != "" {
		path = "/graph/episodes/graph/" + url.PathEscape(d.graph)
	}
	var got found
	meta, err := d.p.rest.Do(ctx, rest.Request{Op: op, Path: path, Body: struct {
		Cursor    string   `json:"cursor,omitempty"`
		Direction string   `json:"direction"`
		Limit     int      `json:"limit"`
		Filters   *filters `json:"episode_metadata_filters,omitempty"`
	}{cursor, "asc", n, anyOf(ids)}}, &got)
	if err != nil {
		return nil, "", err
	}
	return got.Episodes, meta.Header.Get("Zep-Next-Cursor"), nil
}

// create makes the user without the ontology that Zep has for people, or the graph.
func (d *v3) create(ctx context.Context) error {
	r := rest.Request{Op: "put", Path: "/users", Mutates: true, Body: struct {
		UserID   string            `json:"user_id"`
		Metadata map[string]string `json:"metadata"`
		Disable  bool              `json:"disable_default_ontology"`
	}{d.user, map[string]string{"about": madeBy}, true}}
	if d.graph != "" {
		r.Path, r.Body = "/graph/create", map[string]string{"graph_id": d.graph, "name": d.graph, "description": madeBy}
	}
	_, err := d.p.rest.Do(ctx, r, nil)
	return err
}

// place is where the user or the graph is.
func (d *v3) place() string {
	if d.graph != "" {
		return "/graph/" + url.PathEscape(d.graph)
	}
	return "/users/" + url.PathEscape(d.user)
}

// owned is what tells who made a user or a graph.
type owned struct {
	Description string         `json:"description"`
	Metadata    map[string]any `json:"metadata"`
}

func (o *owned) mine() bool { return o.Description == madeBy || o.Metadata["about"] == madeBy }

func (d *v3) mine(ctx context.Context) (bool, error) {
	var o owned
	_, err := d.p.rest.Do(ctx, rest.Request{Op: "purge", Path: d.place()}, &o)
	return o.mine(), err
}

func (d *v3) drop(ctx context.Context) error {
	_, err := d.p.rest.Do(ctx, rest.Request{Op: "purge", Method: http.MethodDelete, Path: d.place(), Mutates: true}, nil)
	return err
}
