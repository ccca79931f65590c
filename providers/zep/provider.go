package zep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"vademecum/providers"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

// Config says whose graph it is.
type Config struct {
	Name    string // "" is "zep"
	BaseURL string // with /api/v2 or /api/v4; "" is the dialect's at api.getzep.com
	Key     rest.Secret
	// User or Graph says where episodes go, by the id that its maker chose; of
	// dialect v4 also by its UUID. With neither it is DefaultGraph. What is not
	// there yet is made by the first Put.
	User, Graph string
	Dialect     string // "v3", which "" is, or "v4"
	// Reranker is "rrf", which "" is, or "cross_encoder", which is slower and
	// alone has scores that mean something.
	Reranker string
	// Facts finds what Zep made of episodes instead of episodes; dialect v3.
	Facts         bool
	AllowInsecure bool              // lets http go to other machines
	Transport     http.RoundTripper // a seam for tests; nil: one of our own
}

// DefaultGraph is where episodes go when nothing else is said.
const DefaultGraph = "vade"

// maxItemBytes: an episode has at most 10,000 characters. Whether those are code
// points or UTF-16 units is not said; bytes of UTF-8 are never fewer than either.
const maxItemBytes = 10_000

// Limits of a search: results, and characters of the question.
const (
	maxLimit = 50
	maxQuery = 400
)

// madeBy is how vade knows a user or graph that it made.
const madeBy = "made by vade"

// Provider is one graph.
type Provider struct {
	dialect
	name     string
	rest     *rest.Client
	reranker string
	facts    bool
}

// dialect is a version of Zep's API, asked about one graph. What is not there
// is an error with status 404.
type dialect interface {
	health(ctx context.Context) (providers.Health, error)
	add(ctx context.Context, item *providers.Item) (episode, error)
	search(ctx context.Context, query string, limit int) (found, error)
	get(ctx context.Context, uuid string) (episode, error)
	// remove deletes an episode; later: it will be gone after a while.
	remove(ctx context.Context, uuid string) (later bool, err error)
	// list reads up to n episodes behind cursor, of the ids if there are any.
	list(ctx context.Context, op, cursor string, n int, ids []string) (episodes []episode, next string, err error)
	// create makes the user or the graph.
	create(ctx context.Context) error
	// mine reports whether vade made it, and drop deletes it.
	mine(ctx context.Context) (bool, error)
	drop(ctx context.Context) error
}

var (
	_ providers.Deleter   = (*Provider)(nil)
	_ providers.Resolver  = (*Provider)(nil)
	_ providers.Finder    = (*Provider)(nil)
	_ providers.Lister    = (*Provider)(nil)
	_ providers.Purger    = (*Provider)(nil)
	_ providers.Closer    = (*Provider)(nil)
	_ providers.Describer = (*Provider)(nil)
)

// New returns the provider that c describes. It connects to nothing.
func New(c Config) (providers.Provider, error) {
	p := &Provider{name: cmp.Or(c.Name, "zep"), reranker: cmp.Or(c.Reranker, "rrf"), facts: c.Facts}
	base := map[string]string{"v3": "https://api.getzep.com/api/v2", "v4": "https://api.getzep.com/api/v4"}[cmp.Or(c.Dialect, "v3")]
	switch {
	case base == "":
		return nil, fmt.Errorf("provider %s: dialect %q is neither v3 nor v4", p.name, c.Dialect)
	case c.User != "" && c.Graph != "":
		return nil, fmt.Errorf("provider %s: it has both a user and a graph; take one away", p.name)
	case p.reranker != "rrf" && p.reranker != "cross_encoder":
		return nil, fmt.Errorf("provider %s: reranker %q is neither rrf nor cross_encoder", p.name, c.Reranker)
	case c.Facts && c.Dialect == "v4":
		return nil, fmt.Errorf("provider %s: facts are only known in dialect v3", p.name)
	}
	var err error
	p.rest, err = rest.New(rest.Options{
		Name: p.name, BaseURL: cmp.Or(c.BaseURL, base), AllowInsecure: c.AllowInsecure, Transport: c.Transport,
		Header: map[string]rest.Secret{"Authorization": "Api-Key " + c.Key}, Classify: classify,
	})
	if err != nil {
		return nil, err
	}
	if c.User == "" && c.Graph == "" {
		c.Graph = DefaultGraph
	}
	if c.Dialect == "v4" {
		p.dialect = &v4{p: p, user: c.User, graph: c.Graph}
	} else {
		p.dialect = &v3{p: p, user: c.User, graph: c.Graph}
	}
	return p, nil
}

// Name is what the config calls it.
func (p *Provider) Name() string { return p.name }

// Close lets go of idle connections.
func (p *Provider) Close() error { return p.rest.Close() }

// Properties: only a cross encoder's scores can be read; those of rrf are
// places in a list. Facts are in Zep's words and carry no metadata.
func (p *Provider) Properties() providers.Properties {
	is := providers.Properties{
		Kind: "zep", Delete: true, Resolve: true, Find: true, List: true, Close: true, PurgeAll: true,
		Async: true, Serial: true, Verbatim: !p.facts, Attribution: !p.facts,
		Score: providers.Ordinal, MaxItemBytes: maxItemBytes, MaxLimit: maxLimit,
	}
	if p.reranker == "cross_encoder" {
		is.Score = providers.Similarity
	}
	return is
}

// Health asks the service whether it takes our key.
func (p *Provider) Health(ctx context.Context) (providers.Health, error) { return p.health(ctx) }

// missing reports whether err says that there is no such thing.
func missing(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return ok && e.Status == http.StatusNotFound
}

// Put adds item as an episode. Where there is no such user or graph yet, it is
// made, and the episode added once more.
func (p *Provider) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	e, err := p.add(ctx, &item)
	if absent(err) {
		if err = p.create(ctx); err == nil || exists(err) {
			e, err = p.add(ctx, &item)
		}
	}
	if err != nil {
		return providers.Receipt{}, err
	}
	r := providers.Receipt{State: journal.Accepted, Refs: []providers.Ref{providers.Ref(e.UUID)}, Handle: e.UUID}
	if e.Processed {
		r.State = journal.Stored
	}
	return r, nil
}

// absent reports whether err may be because the user or the graph is not there:
// of a user, Zep says 403 or 404.
func absent(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return ok && (e.Status == http.StatusNotFound || e.Status == http.StatusForbidden)
}

// exists reports whether err may be because somebody else made it meanwhile.
func exists(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return ok && (e.Status == http.StatusConflict || e.Status == http.StatusBadRequest)
}

// Search finds episodes or facts. A graph that nobody has written to is empty.
func (p *Provider) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	query := strings.TrimSpace(q.Text)
	for utf8.RuneCountInString(query) > maxQuery {
		_, size := utf8.DecodeLastRuneInString(query)
		query = query[:len(query)-size]
	}
	if query == "" {
		return nil, nil
	}
	got, err := p.search(ctx, query, min(max(q.Limit, 1), maxLimit))
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	hits := got.hits(p.reranker)
	return hits[:min(len(hits), q.Limit)], nil
}

// deletes begins the handle of a deletion that is under way.
const deletes = "delete "

// Delete removes an episode and the facts that come from it alone.
func (p *Provider) Delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error) {
	later, err := p.remove(ctx, string(ref))
	switch {
	case err != nil && !missing(err):
		return providers.Receipt{}, err
	case later && err == nil:
		return providers.Receipt{State: journal.Accepted, Refs: []providers.Ref{ref}, Handle: deletes + string(ref)}, nil
	}
	return providers.Receipt{State: journal.Deleted}, nil
}

// Resolve asks whether the episode has been processed, or is gone.
func (p *Provider) Resolve(ctx context.Context, r providers.Receipt) (providers.Receipt, error) {
	if r.State != journal.Accepted || r.Handle == "" {
		return r, nil
	}
	uuid, deleting := strings.CutPrefix(r.Handle, deletes)
	e, err := p.get(ctx, uuid)
	switch {
	case deleting && missing(err):
		return providers.Receipt{State: journal.Deleted}, nil
	case err != nil: // 404 is terminal: nothing came of the episode
		return r, err
	case !deleting && e.Processed:
		r.State = journal.Stored
	}
	return r, nil
}

// FindByID asks by the id in our metadata; episodes that are not processed yet
// are among them. An answer that has others is not believed.
func (p *Provider) FindByID(ctx context.Context, ids ...string) ([]providers.Hit, error) {
	var found []providers.Hit
	for some := range slices.Chunk(ids, 5) {
		err := p.each(ctx, "find", some, func(e *episode) error {
			if h := e.hit(); slices.Contains(some, h.ID) {
				found = append(found, h)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// each calls fn with each episode of ids, or with all.
func (p *Provider) each(ctx context.Context, op string, ids []string, fn func(*episode) error) error {
	for cursor := ""; ; {
		episodes, next, err := p.list(ctx, op, cursor, maxLimit, ids)
		if missing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range episodes {
			if err := fn(&episodes[i]); err != nil {
				return err
			}
		}
		if next == "" || next == cursor {
			return nil
		}
		cursor = next
	}
}

// List reads the graph's episodes, the oldest first.
func (p *Provider) List(ctx context.Context, cursor string, n int) ([]providers.Hit, string, error) {
	episodes, next, err := p.list(ctx, "list", cursor, min(max(n, 1), maxLimit), nil)
	if missing(err) {
		return nil, "", nil
	}
	var hits []providers.Hit
	for i := range episodes {
		hits = append(hits, episodes[i].hit())
	}
	return hits, next, err
}

// PurgeScope deletes the user or the graph if vade made it, and with it all
// that Zep made of the episodes. Else it deletes our episodes, one by one.
func (p *Provider) PurgeScope(ctx context.Context) (int, error) {
	mine, err := p.mine(ctx)
	switch {
	case missing(err):
		return 0, nil
	case err != nil:
		return 0, err
	case mine:
		if err := p.drop(ctx); err != nil && !missing(err) {
			return 0, err
		}
		return -1, nil
	}
	var ours []string // first: to delete while listing would skip some
	err = p.each(ctx, "purge", nil, func(e *episode) error {
		if e.hit().ID != "" {
			ours = append(ours, e.UUID)
		}
		return nil
	})
	for n, uuid := range ours {
		if _, err := p.remove(ctx, uuid); err != nil && !missing(err) {
			return n, err
		}
	}
	return len(ours), err
}
