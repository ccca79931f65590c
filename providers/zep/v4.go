package zep

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"vademecum/providers"
	"vademecum/providers/rest"
)

// v4 is the dialect of the API under /api/v4, which addresses graphs by UUIDs
// only. It is made from documentation. Exactly one of user and graph is set.
type v4 struct {
	p           *Provider
	user, graph string

	mu   sync.Mutex
	uuid string // of the graph; "" until it was looked up
	own  string // of the user, for what is about the user and not the graph
}

// unverified is said by every check until somebody has run it.
const unverified = "dialect v4 is made from Zep's documentation and was never run against the service; v3 works on the same data"

func (d *v4) health(ctx context.Context) (providers.Health, error) {
	_, err := d.path(ctx, "health", "")
	if missing(err) { // the key is good, and the first put makes the graph
		err = nil
	}
	return providers.Health{Warnings: []string{unverified}}, err
}

// path is that of something of the graph, which is looked up once. An id of v3
// in its place is an error of the service, invalid_identifier.
func (d *v4) path(ctx context.Context, op, suffix string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.uuid == "" {
		if err := d.lookUp(ctx, op); err != nil {
			return "", err
		}
	}
	return "/graphs/" + url.PathEscape(d.uuid) + suffix, nil
}

// lookUp finds the graph's UUID. mu is held.
func (d *v4) lookUp(ctx context.Context, op string) error {
	if id := d.user + d.graph; isUUID(id) { // a user's stands for his graph too
		d.uuid, d.own = id, id
		return nil
	}
	var got struct {
		UUID  string `json:"uuid"`
		Graph string `json:"graph_uuid"`
	}
	r := rest.Request{Op: op, Path: "/users/lookup", Body: whose{UserID: d.user}}
	if d.graph != "" {
		r.Path, r.Body = "/graphs/lookup", whose{GraphID: d.graph}
	}
	meta, err := d.p.rest.Do(ctx, r, &got)
	if err != nil {
		return err
	}
	d.uuid, d.own = got.UUID, got.UUID
	if d.graph == "" && got.Graph != "" {
		d.uuid = got.Graph
	}
	if d.uuid == "" {
		return d.p.rest.Senseless(r, meta, "the answer names no graph")
	}
	return nil
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return false
		}
	}
	return true
}

// do makes a request about the graph.
func (d *v4) do(ctx context.Context, r rest.Request, out any) (rest.Meta, error) {
	var err error
	if r.Path, err = d.path(ctx, r.Op, r.Path); err != nil {
		return rest.Meta{}, err
	}
	return d.p.rest.Do(ctx, r, out)
}

func (d *v4) add(ctx context.Context, item *providers.Item) (episode, error) {
	var got struct {
		Episode episode `json:"episode"`
	}
	r := rest.Request{Op: "put", Path: "/episodes", Mutates: true, Body: struct {
		Data        string            `json:"data"`
		Type        string            `json:"type"`
		Metadata    map[string]string `json:"metadata"`
		Description string            `json:"source_description"`
		Time        string            `json:"reference_time,omitempty"`
	}{item.Text, "text", item.Metadata(), "vade", when(item)}}
	meta, err := d.do(ctx, r, &got)
	if err == nil && got.Episode.UUID == "" {
		err = d.p.rest.Senseless(r, meta, "the answer names no episode")
	}
	return got.Episode, err
}

// page is one of a list.
type page struct {
	Items []episode `json:"items"`
	Next  string    `json:"next_cursor"`
}

func (d *v4) search(ctx context.Context, query string, limit int) (found, error) {
	var got page
	_, err := d.do(ctx, rest.Request{
		Op: "search", Path: "/search/episodes", Query: url.Values{"page_size": {strconv.Itoa(limit)}},
		Body: map[string]string{"query": query, "reranker": d.p.reranker},
	}, &got)
	return found{Episodes: got.Items}, err
}

func (d *v4) get(ctx context.Context, uuid string) (episode, error) {
	var e episode
	_, err := d.do(ctx, rest.Request{Op: "resolve", Path: "/episodes/" + url.PathEscape(uuid)}, &e)
	return e, err
}

// remove starts a task; see Provider.Resolve.
func (d *v4) remove(ctx context.Context, uuid string) (later bool, err error) {
	_, err = d.do(ctx, rest.Request{Op: "delete", Method: http.MethodDelete, Path: "/episodes/" + url.PathEscape(uuid), Mutates: true}, &struct{}{})
	return true, err
}

func (d *v4) list(ctx context.Context, op, cursor string, n int, ids []string) ([]episode, string, error) {
	query := url.Values{"page_size": {strconv.Itoa(n)}, "order": {"asc"}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	body := map[string]map[string]*filters{}
	if f := anyOf(ids); f != nil {
		body["filters"] = map[string]*filters{"metadata_filters": f}
	}
	var got page
	_, err := d.do(ctx, rest.Request{Op: op, Path: "/episodes/list", Query: query, Body: body}, &got)
	return got.Items, got.Next, err
}

// create makes a user. A graph is given its UUID by Zep, and nobody could look
// it up by our name for it: its owner makes it.
func (d *v4) create(ctx context.Context) error {
	if d.graph != "" || isUUID(d.user) {
		return &providers.Error{
			Provider: d.p.name, Op: "put", Class: providers.Auth,
			Msg: "there is no such graph; make it with Zep and give the provider its UUID",
		}
	}
	_, err := d.p.rest.Do(ctx, rest.Request{Op: "put", Path: "/users", Mutates: true, Body: struct {
		UserID   string            `json:"user_id"`
		Metadata map[string]string `json:"metadata"`
		Disable  bool              `json:"disable_default_ontology"`
	}{d.user, map[string]string{"about": madeBy}, true}}, nil)
	return err
}

// mine: only of a user, since vade makes no graphs here.
func (d *v4) mine(ctx context.Context) (bool, error) {
	_, err := d.path(ctx, "purge", "")
	if err != nil || d.graph != "" {
		return false, err
	}
	var o owned
	_, err = d.p.rest.Do(ctx, rest.Request{Op: "purge", Path: "/users/" + url.PathEscape(d.own)}, &o)
	return o.mine(), err
}

func (d *v4) drop(ctx context.Context) error {
	_, err := d.p.rest.Do(ctx, rest.Request{Op: "purge", Method: http.MethodDelete, Path: "/users/" + url.PathEscape(d.own), Mutates: true}, nil)
	d.mu.Lock()
	d.uuid, d.own = "", ""
	d.mu.Unlock()
	return err
}
