package zep

import (
	"context"
	"fmt"
	"net/http"

	"vademecum/providers"
	"vademecum/providers/rest"
	"vademecum/sync/journal"
)

// DefaultURL is the API of Zep Cloud.
const DefaultURL = "https://api.getzep.com/api/v2"

// DefaultGraph is the graph that is used when none is named: vade makes it, and
// only vade writes to it.
const DefaultGraph = "vade"

// Limits of the service. It counts characters; bytes are never fewer.
const (
	maxItemBytes = 10_000
	maxLimit     = 50
	maxMetadata  = 10
)

// Config says which graph, and as whom.
type Config struct {
	Name    string // "" is "zep"
	BaseURL string // "" is DefaultURL
	Key     rest.Secret
	// Graph or User names the graph: of its own, or of a user of Zep. Both empty:
	// DefaultGraph. Both is an error.
	Graph, User string
	// Dialect is the form of the API: "" or "v3".
	Dialect string
	// Reranker is "rrf", the default, whose scores are ranks, or "cross_encoder",
	// slower and with relevance.
	Reranker string
	// Facts searches what Zep made of the episodes instead of the episodes: its
	// own words, whose source the outbox's receipts tell.
	Facts         bool
	AllowInsecure bool
	Transport     http.RoundTripper // a seam for tests; nil: one of our own
}

// Provider is one graph.
type Provider struct {
	name    string
	config  Config
	client  *rest.Client
	dialect dialect
}

// dialect is one form of Zep's API.
type dialect interface {
	ping(ctx context.Context) error
	put(ctx context.Context, item *providers.Item) (episode, error)
	search(ctx context.Context, q providers.Query) ([]providers.Hit, error)
	episode(ctx context.Context, uuid string) (episode, error)
	remove(ctx context.Context, uuid string) error
	// latest are the last n episodes of the graph.
	latest(ctx context.Context, n int) ([]episode, error)
	drop(ctx context.Context) error // the whole graph
}

var (
	_ providers.Resolver  = (*Provider)(nil)
	_ providers.Deleter   = (*Provider)(nil)
	_ providers.Finder    = (*Provider)(nil)
	_ providers.Closer    = (*Provider)(nil)
	_ providers.Describer = (*Provider)(nil)
	_ providers.Purger    = (*ownGraph)(nil)
)

// New returns the provider that c describes. It connects to nothing. Only a
// graph of vade's own can be purged.
func New(c Config) (providers.Provider, error) {
	if c.Name == "" {
		c.Name = "zep"
	}
	own := c.Graph == "" && c.User == ""
	if own {
		c.Graph = DefaultGraph
	}
	switch {
	case c.Graph != "" && c.User != "":
		return nil, fmt.Errorf("provider %s: graph and user are both set; Zep takes one", c.Name)
	case c.Dialect != "" && c.Dialect != "v3":
		return nil, fmt.Errorf("provider %s: dialect %q is not known; use v3", c.Name, c.Dialect)
	case c.Reranker == "":
		c.Reranker = "rrf"
	case c.Reranker != "rrf" && c.Reranker != "cross_encoder":
		return nil, fmt.Errorf("provider %s: reranker %q is not known; use rrf or cross_encoder", c.Name, c.Reranker)
	}
	if c.BaseURL == "" {
		c.BaseURL = DefaultURL
	}
	client, err := rest.New(rest.Options{
		Name: c.Name, BaseURL: c.BaseURL, AllowInsecure: c.AllowInsecure, Transport: c.Transport,
		Header: map[string]rest.Secret{"Authorization": "Api-Key " + c.Key},
	})
	if err != nil {
		return nil, err
	}
	p := &Provider{name: c.Name, config: c, client: client, dialect: &v3{config: c, client: client}}
	if own {
		return &ownGraph{p}, nil
	}
	return p, nil
}

// Name implements providers.Provider.
func (p *Provider) Name() string { return p.name }

// Close implements providers.Closer.
func (p *Provider) Close() error { return p.client.Close() }

// Properties implements providers.Describer. Writes are worked in one after the
// other, so more than one at a time is of no use.
func (p *Provider) Properties() providers.Properties {
	is := providers.Properties{
		Kind: "zep", Resolve: true, Delete: true, Find: true, Close: true,
		Verbatim: !p.config.Facts, Async: true, Serial: true, Attribution: !p.config.Facts,
		Score: providers.Ordinal, MaxItemBytes: maxItemBytes, MaxLimit: maxLimit,
	}
	if p.config.Reranker == "cross_encoder" {
		is.Score = providers.Similarity
	}
	return is
}

// Health implements providers.Provider.
func (p *Provider) Health(ctx context.Context) (providers.Health, error) {
	return providers.Health{Warnings: []string{}}, p.dialect.ping(ctx)
}

// Put implements providers.Provider: an episode of its own, whatever is there.
func (p *Provider) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	e, err := p.dialect.put(ctx, &item)
	if err != nil {
		return providers.Receipt{}, err
	}
	return e.receipt(), nil
}

// Resolve implements providers.Resolver.
func (p *Provider) Resolve(ctx context.Context, r providers.Receipt) (providers.Receipt, error) {
	e, err := p.dialect.episode(ctx, r.Handle)
	if err != nil {
		return r, err
	}
	return e.receipt(), nil
}

// Search implements providers.Provider.
func (p *Provider) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	q.Limit = min(max(q.Limit, 1), maxLimit)
	return p.dialect.search(ctx, q)
}

// Delete implements providers.Deleter.
func (p *Provider) Delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error) {
	err := p.dialect.remove(ctx, string(ref))
	if err != nil && !notFound(err) {
		return providers.Receipt{}, err
	}
	return providers.Receipt{State: journal.Deleted, Refs: []providers.Ref{ref}}, nil
}

// lookBack is how many of the latest episodes are looked through for ours: the
// service cannot be asked for one by its metadata. What is asked before a write
// is repeated was made a moment ago; older ones the receipts name.
const lookBack = 1000

// FindByID implements providers.Finder, among the latest thousand episodes.
func (p *Provider) FindByID(ctx context.Context, ids ...string) ([]providers.Hit, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	list, err := p.dialect.latest(ctx, lookBack)
	if notFound(err) { // no graph yet
		return nil, nil
	}
	var hits []providers.Hit
	for _, e := range list {
		if h := e.hit(); wanted[h.ID] {
			hits = append(hits, h)
		}
	}
	return hits, err
}

// ownGraph is a graph that only vade writes to.
type ownGraph struct{ *Provider }

// Properties implements providers.Describer.
func (g *ownGraph) Properties() providers.Properties {
	is := g.Provider.Properties()
	is.PurgeAll = true
	return is
}

// PurgeScope implements providers.Purger: the graph is deleted, with all that was
// made of the episodes. The next put makes it anew.
func (g *ownGraph) PurgeScope(ctx context.Context) (int, error) {
	if err := g.dialect.drop(ctx); err != nil && !notFound(err) {
		return 0, err
	}
	return -1, nil
}
