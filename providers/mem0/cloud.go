package mem0

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"

	"vademecum/providers"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

// Cloud is api.mem0.ai, by its API of version 3.
type Cloud struct{ *client }

var (
	_ providers.Deleter   = (*Cloud)(nil)
	_ providers.Resolver  = (*Cloud)(nil)
	_ providers.Finder    = (*Cloud)(nil)
	_ providers.Lister    = (*Cloud)(nil)
	_ providers.Purger    = (*Cloud)(nil)
	_ providers.Closer    = (*Cloud)(nil)
	_ providers.Describer = (*Cloud)(nil)
)

// NewCloud returns the account that c describes. It connects to nothing.
func NewCloud(c Config) (*Cloud, error) {
	c.Name, c.BaseURL, c.Score = cmp.Or(c.Name, "mem0-cloud"), cmp.Or(c.BaseURL, "https://api.mem0.ai"), cmp.Or(c.Score, providers.Similarity)
	if c.Key == "" {
		return nil, fmt.Errorf("provider %s: no key", c.Name)
	}
	inner, err := newClient(c, map[string]rest.Secret{"Authorization": rest.Secret("Token " + c.Key.Reveal())})
	if err != nil {
		return nil, err
	}
	return &Cloud{inner}, nil
}

// Properties: what is kept word for word is stored within the request today,
// what is extracted later. The default has changed once (mem0#3585), so that
// either is taken as it comes.
func (c *Cloud) Properties() providers.Properties {
	is := c.properties("mem0-cloud")
	is.Async, is.Resolve = true, true
	return is
}

// Health asks whether the key is good.
func (c *Cloud) Health(ctx context.Context) (providers.Health, error) {
	var said struct{}
	_, err := c.rest.Do(ctx, rest.Request{Op: "health", Path: "/v1/ping/"}, &said)
	return providers.Health{Warnings: c.warnings()}, err
}

// event is what became of an addition, so far.
type event struct {
	ID      string   `json:"event_id"`
	Status  string   `json:"status"` // PENDING, RUNNING, SUCCEEDED, FAILED
	Results []record `json:"results"`
}

// Put adds item.
func (c *Cloud) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	body := c.addition(&item)
	return c.follow(ctx, rest.Request{Op: "put", Path: "/v3/memories/add/", Body: body, Mutates: true}, "")
}

// Resolve asks for the event of an addition.
func (c *Cloud) Resolve(ctx context.Context, r providers.Receipt) (providers.Receipt, error) {
	if r.State != journal.Accepted {
		return r, nil
	}
	return c.follow(ctx, rest.Request{Op: "resolve", Path: "/v1/event/" + url.PathEscape(r.Handle) + "/"}, r.Handle)
}

// follow makes a request whose answer is an event. Its results count, not its
// status: a near duplicate has succeeded and kept nothing. One that failed is
// an error, see failed.
func (c *Cloud) follow(ctx context.Context, r rest.Request, handle string) (providers.Receipt, error) {
	var got event
	meta, err := c.rest.Do(ctx, r, &got)
	if err != nil {
		return providers.Receipt{}, err
	}
	handle = cmp.Or(got.ID, handle)
	refs, ok := kept(got.Results)
	switch {
	case !ok:
		return providers.Receipt{}, c.rest.Senseless(r, meta, "a result has no id")
	case (got.Status == "PENDING" || got.Status == "RUNNING") && handle != "":
		return providers.Receipt{State: journal.Accepted, Handle: handle}, nil
	case len(refs) > 0:
		return providers.Receipt{State: journal.Stored, Refs: refs}, nil
	case got.Status == "SUCCEEDED" || got.Results != nil:
		return providers.Receipt{State: journal.Empty, Note: nothingKept}, nil
	}
	return providers.Receipt{}, c.rest.Senseless(r, meta, "the answer says neither what was kept nor whom to ask")
}

// filter is a tree of conditions. Ids of the scope are nowhere but in it.
type filter map[string]any

// scope is everything of ours, or where id is given what is of that memory.
func (c *Cloud) scope(id string) filter {
	user := filter{"user_id": c.User}
	if id == "" {
		return user
	}
	return filter{"AND": []filter{user, {"metadata": filter{providers.MetaID: id}}}}
}

// Search asks by meaning and by words.
func (c *Cloud) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	body := struct {
		Query     string  `json:"query"`
		Filters   filter  `json:"filters"`
		Limit     int     `json:"top_k"`
		Threshold float64 `json:"threshold"` // 0.1 if it is not told
	}{q.Text, c.scope(""), min(q.Limit, maxLimit), 0}
	return c.list(ctx, rest.Request{Op: "search", Path: "/v3/memories/search/", Body: body}, q.Limit)
}

// Delete removes one memory.
func (c *Cloud) Delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error) {
	return c.remove(ctx, "delete", "/v1/memories/", ref, "/")
}

// pageSize is how many memories a page has at most.
const pageSize = 200

// page is one page of what f matches, and the number of the next one; 0 at the end.
func (c *Cloud) page(ctx context.Context, op string, f filter, number, size int) ([]providers.Hit, int, error) {
	size = min(max(size, 1), pageSize)
	query := url.Values{"page": {strconv.Itoa(number)}, "page_size": {strconv.Itoa(size)}}
	body := struct {
		Filters filter `json:"filters"`
		Expired bool   `json:"show_expired"`
	}{f, true}
	var got records
	r := rest.Request{Op: op, Path: "/v3/memories/", Query: query, Body: body}
	meta, err := c.rest.Do(ctx, r, &got)
	if err == nil && got.Results == nil {
		err = c.rest.Senseless(r, meta, "the answer has no results")
	}
	if err != nil {
		return nil, 0, err
	}
	next := number + 1
	if got.Next == nil || *got.Next == "" || len(got.Results) == 0 {
		next = 0
	}
	return c.hits(got.Results, size), next, nil
}

// all are the hits of every page of what f matches.
func (c *Cloud) all(ctx context.Context, op string, f filter) ([]providers.Hit, error) {
	var all []providers.Hit
	for number := 1; number != 0; {
		hits, next, err := c.page(ctx, op, f, number, pageSize)
		if err != nil {
			return nil, err
		}
		all, number = append(all, hits...), next
	}
	return all, nil
}

// FindByID lists by the id in the metadata.
func (c *Cloud) FindByID(ctx context.Context, ids ...string) ([]providers.Hit, error) {
	var found []providers.Hit
	for _, id := range ids {
		hits, err := c.all(ctx, "find", c.scope(id))
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if h.ID == id {
				found = append(found, h)
			}
		}
	}
	return found, nil
}

// List returns a page; the cursor is its number.
func (c *Cloud) List(ctx context.Context, cursor string, n int) ([]providers.Hit, string, error) {
	number, err := strconv.Atoi(cmp.Or(cursor, "1"))
	if err != nil {
		return nil, "", &providers.Error{Provider: c.Name(), Op: "list", Class: providers.Permanent, Msg: fmt.Sprintf("%q is no cursor", cursor)}
	}
	hits, next, err := c.page(ctx, "list", c.scope(""), number, n)
	if err != nil || next == 0 {
		return hits, "", err
	}
	return hits, strconv.Itoa(next), nil
}

// PurgeScope removes what is ours of the user's memories.
func (c *Cloud) PurgeScope(ctx context.Context) (int, error) {
	return c.purge(ctx, func() ([]providers.Hit, error) {
		return c.all(ctx, "purge", c.scope(""))
	}, func(ref providers.Ref) error {
		_, err := c.remove(ctx, "purge", "/v1/memories/", ref, "/")
		return err
	})
}
