package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vademecum/providers"
	"vademecum/sync/journal"
)

var (
	_ providers.Provider  = (*peer)(nil)
	_ providers.Describer = (*peer)(nil)
	_ providers.Closer    = (*peer)(nil)
)

// Open returns the provider that c says, and connects to nothing. It has the
// optional interfaces that the mapping has tools for. An error is about c.
func Open(c Config) (providers.Provider, error) { return open(c, nil) }

func open(c Config, transport func() mcp.Transport) (providers.Provider, error) {
	c, err := c.check()
	if err != nil {
		return nil, err
	}
	return with(newPeer(c, transport)), nil
}

// The optional interfaces, each as a type of its own, for with to put together.
type (
	deleter  struct{ p *peer }
	finder   struct{ p *peer }
	resolver struct{ p *peer }
)

// with is p with the interfaces that its mapping has tools for. Resolve asks Find.
func with(p *peer) providers.Provider {
	is := p.Properties()
	switch {
	case is.Delete && is.Resolve:
		return struct {
			*peer
			deleter
			finder
			resolver
		}{p, deleter{p}, finder{p}, resolver{p}}
	case is.Resolve:
		return struct {
			*peer
			finder
			resolver
		}{p, finder{p}, resolver{p}}
	case is.Delete && is.Find:
		return struct {
			*peer
			deleter
			finder
		}{p, deleter{p}, finder{p}}
	case is.Delete:
		return struct {
			*peer
			deleter
		}{p, deleter{p}}
	case is.Find:
		return struct {
			*peer
			finder
		}{p, finder{p}}
	}
	return p
}

// Name is the provider's, from the config.
func (p *peer) Name() string { return p.cfg.Name }

// Properties are what the mapping says.
func (p *peer) Properties() providers.Properties { return p.cfg.Mapping.properties() }

// call is one tool for op; mutates: without an answer, it may have been done.
func (p *peer) call(ctx context.Context, op string, c *Call, v values, mutates bool) (answer, error) {
	p.enter()
	defer p.leave()
	result, err := p.tool(ctx, c, v)
	if err != nil {
		return answer{}, p.broken(op, mutates, err)
	}
	a := toAnswer(result)
	return a, p.refusal(op, c, a, result.IsError)
}

// Health asks what the tools are, and calls the tool for it, if there is one.
func (p *peer) Health(ctx context.Context) (providers.Health, error) {
	p.enter()
	defer p.leave()
	a, err := p.connected(ctx)
	if err != nil {
		return providers.Health{}, p.broken("health", false, err)
	}
	now := connection{ClientSession: a.conn.ClientSession}
	if err = now.ask(ctx); err == nil {
		err = p.approve(now.server)
	}
	if err != nil {
		p.drop(a, err)
		return providers.Health{}, p.broken("health", false, err)
	}
	h := providers.Health{Version: p.clean(now.server.Name + " " + now.server.Version)}
	if p.cfg.ToolsHash == "" {
		h.Warnings = append(h.Warnings, "its tools are not pinned: set tools_hash: "+now.server.ToolsHash)
	}
	if c := &p.cfg.Mapping.Health; c.Tool != "" {
		_, err = p.call(ctx, "health", c, values{}, false)
	}
	return h, err
}

// Search asks the server, once or for each word.
func (p *peer) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	c := &p.cfg.Mapping.Search
	if !p.cfg.Mapping.PerWord {
		a, err := p.call(ctx, "search", c, values{"query": q.Text, "limit": q.Limit}, false)
		hits := c.hits(a)
		return hits[:min(len(hits), q.Limit)], err
	}
	var found []providers.Hit
	seen := map[providers.Ref]bool{}
	asked := words(q.Text)
	for _, word := range longest(asked, maxWords) {
		a, err := p.call(ctx, "search", c, values{"query": word, "limit": q.Limit}, false)
		if err != nil {
			return nil, err
		}
		for _, h := range c.hits(a) {
			if !seen[h.Ref] {
				seen[h.Ref] = true
				found = append(found, h)
			}
		}
	}
	rank(found, asked)
	return found[:min(len(found), q.Limit)], nil
}

// Put hands over one item, and if the mapping says so, in the place of what the
// server has of it.
func (p *peer) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	m := p.cfg.Mapping
	if m.Put.Tool == "" {
		return providers.Receipt{}, &providers.Error{Provider: p.cfg.Name, Op: "put", Class: providers.Unsupported, Msg: "the mapping has no tool to put"}
	}
	unlock, err := p.lock(ctx, "put")
	if err != nil {
		return providers.Receipt{}, err
	}
	defer unlock()
	if m.Replace {
		if there, err := p.makeRoom(ctx, item); there != "" || err != nil {
			return providers.Receipt{State: journal.Stored, Refs: []providers.Ref{there}}, err
		}
	}
	a, err := p.call(ctx, "put", &m.Put, itemValues(item), true)
	if err != nil {
		return providers.Receipt{}, err
	}
	var refs []providers.Ref
	for _, h := range m.Put.hits(a) {
		refs = append(refs, h.Ref)
	}
	r := providers.Receipt{State: m.stored(refs), Refs: refs}
	if r.State == journal.Accepted {
		r.Handle = item.Key()
	} else if len(refs) == 0 {
		r.Note = "the server does not say what it made of it"
	}
	return r, nil
}

// makeRoom deletes what the server holds of item in another version, and
// returns the ref of what it holds in this one.
func (p *peer) makeRoom(ctx context.Context, item providers.Item) (there providers.Ref, err error) {
	held, err := p.find(ctx, "put", item.ID)
	if err != nil {
		return "", err
	}
	for _, h := range held {
		if h.Version == item.Version && h.Part == item.Part {
			there = h.Ref
		} else if h.Version != item.Version {
			if err := p.deleteRef(ctx, "put", h.Ref); err != nil {
				return "", err
			}
		}
	}
	return there, nil
}

// find is what the server says that it holds of id.
func (p *peer) find(ctx context.Context, op, id string) ([]providers.Hit, error) {
	c := &p.cfg.Mapping.Find
	a, err := p.call(ctx, op, c, values{"id": id}, false)
	hits := slices.DeleteFunc(c.hits(a), func(h providers.Hit) bool { return h.ID != id })
	return hits, err
}

func (p *peer) deleteRef(ctx context.Context, op string, ref providers.Ref) error {
	_, err := p.call(ctx, op, &p.cfg.Mapping.Delete, values{"ref": string(ref)}, true)
	if e, ok := errors.AsType[*providers.Error](err); ok && e.Class == providers.Permanent &&
		(e.Status == 404 || strings.Contains(strings.ToLower(e.Msg), "not found")) {
		return nil
	}
	return err
}

// Delete has the server delete what ref names.
func (d deleter) Delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error) {
	unlock, err := d.p.lock(ctx, "delete")
	if err != nil {
		return providers.Receipt{}, err
	}
	defer unlock()
	if err := d.p.deleteRef(ctx, "delete", ref); err != nil {
		return providers.Receipt{}, err
	}
	return providers.Receipt{State: journal.Deleted}, nil
}

// FindByID asks for one id after the other.
func (f finder) FindByID(ctx context.Context, ids ...string) ([]providers.Hit, error) {
	var all []providers.Hit
	for _, id := range ids {
		hits, err := f.p.find(ctx, "find", id)
		if err != nil {
			return nil, err
		}
		all = append(all, hits...)
	}
	return all, nil
}

// Resolve looks whether what was queued is there by now.
func (r resolver) Resolve(ctx context.Context, receipt providers.Receipt) (providers.Receipt, error) {
	key, _, _ := strings.Cut(receipt.Handle, "#")
	id, version, ok := cutLast(key, "@")
	if !ok || receipt.State != journal.Accepted {
		return receipt, nil
	}
	held, err := r.p.find(ctx, "resolve", id)
	if err != nil {
		return receipt, err
	}
	var refs []providers.Ref
	for _, h := range held {
		if h.Version == "" || string(h.Version) == version {
			refs = append(refs, h.Ref)
		}
	}
	if len(refs) > 0 {
		receipt = providers.Receipt{State: journal.Stored, Refs: refs}
	}
	return receipt, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// lock lets one writer in: of this process, and where the mapping wants it, of
// this host.
func (p *peer) lock(ctx context.Context, op string) (unlock func(), err error) {
	late := func(err error) error {
		return p.broken(op, false, fmt.Errorf("%w: another write is under way: %w", errNotSent, err))
	}
	select {
	case <-ctx.Done():
		return nil, late(ctx.Err())
	case p.writing <- struct{}{}:
	}
	leave := func() { <-p.writing }
	if !p.cfg.Mapping.Lock {
		return leave, nil
	}
	err = os.MkdirAll(p.cfg.Dir, 0o700)
	file := flock.New(filepath.Join(p.cfg.Dir, "writer.lock"), flock.SetPermissions(0o600))
	if err == nil {
		_, err = file.TryLockContext(ctx, 10*time.Millisecond)
	}
	if err != nil {
		leave()
		return nil, late(err)
	}
	return func() {
		_ = file.Unlock()
		leave()
	}, nil
}
