package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"vademecum/providers"
	"vademecum/providers/child"
)

// peer is the program, as a provider with what every program can do.
type peer struct {
	cfg    Config
	able   Abilities
	speak  dialect
	line   transport
	slots  chan struct{} // one for each request that may be under way
	lastID atomic.Int64
}

var (
	_ providers.Provider   = (*peer)(nil)
	_ providers.Describer  = (*peer)(nil)
	_ providers.Closer     = (*peer)(nil)
	_ providers.TurnKeeper = (*peer)(nil)
)

// Open returns the provider that c says. Without c.Abilities it runs the program
// once, to ask for them, within ctx and 30 s; else it starts nothing. The errors are
// *providers.Error, and for a config that cannot be, plain ones.
func Open(ctx context.Context, c Config) (providers.Provider, error) {
	c, err := c.check()
	if err != nil {
		return nil, err
	}
	if c.Abilities == nil {
		able, err := ask(ctx, c)
		if err != nil {
			return nil, err
		}
		c.Abilities = &able
	}
	p := newPeer(c)
	return with(p, c.Abilities.Capabilities.ability()), nil
}

func newPeer(c Config) *peer {
	p := &peer{cfg: c, able: *c.Abilities, slots: make(chan struct{}, c.Abilities.Capabilities.inFlight())}
	once := &oneShot{peer: p}
	p.line = once
	if c.Mode == LongLived || c.Mode == Auto && !p.able.OneShot {
		p.line = &longLived{peer: p, once: once}
	}
	p.speak = vadeDialect{p}
	if c.Dialect == PAXM {
		p.speak, p.line = paxmDialect{p}, once
	}
	return p
}

// ask runs the program once to learn what it can do.
func ask(ctx context.Context, c Config) (Abilities, error) {
	c.Abilities, c.Mode = &Abilities{}, OneShot // stdin closed: answered by a program of either mode
	p := newPeer(c)
	defer func() { _ = p.Close() }()
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	return p.speak.abilities(ctx)
}

// AbilitiesOf is what the program behind p, which Open returned, says of itself;
// false for another provider.
func AbilitiesOf(p providers.Provider) (Abilities, bool) {
	if p, ok := p.(interface{ abilities() Abilities }); ok {
		return p.abilities(), true
	}
	return Abilities{}, false
}

func (p *peer) abilities() Abilities { return p.able }

// Name is the provider's, from the config.
func (p *peer) Name() string { return p.cfg.Name }

// Properties are what the program said.
func (p *peer) Properties() providers.Properties { return p.able.Capabilities.properties() }

// PreserveTurnBoundaries is what the program said.
func (p *peer) PreserveTurnBoundaries() bool { return p.able.Capabilities.Turns }

// Health asks the program for its own.
func (p *peer) Health(ctx context.Context) (providers.Health, error) { return p.speak.health(ctx) }

// Search asks the program.
func (p *peer) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	return p.speak.search(ctx, q)
}

// Put hands one item to the program.
func (p *peer) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	return p.speak.put(ctx, item)
}

// Close ends the program: its stdin is closed, it has 2 s to end by itself, 1 s
// after SIGTERM, and is killed.
func (p *peer) Close() error {
	p.line.close()
	return nil
}

// greeting is the params of vade.initialize.
func (p *peer) greeting() any {
	return object{"protocol": Protocol, "client": object{"name": p.cfg.Client}}
}

// request is one call of a method.
type request struct {
	op      string // as in providers.Error
	method  string
	params  any
	mutates bool // without an answer, it is not known whether it was done
}

// call makes one request and reads its result into out.
func (p *peer) call(ctx context.Context, r request, out any) error {
	select {
	case <-ctx.Done():
		return p.unanswered(r.op, retryable(false, ctx.Err()), r.mutates)
	case p.slots <- struct{}{}:
	}
	release := func() { <-p.slots }
	id := strconv.FormatInt(p.lastID.Add(1), 10)
	line, err := Line(id, r.method, p.params(ctx, r.params))
	if err != nil || len(line) > child.MaxLine {
		release()
		return &providers.Error{Provider: p.cfg.Name, Op: r.op, Class: providers.Permanent, Err: err, Msg: "the request is longer than a line may be"}
	}
	reply, f := p.line.roundTrip(ctx, id, line, release)
	switch {
	case f != nil:
		return p.unanswered(r.op, f, r.mutates)
	case reply.Error != nil:
		return p.refused(r.op, reply.Error, r.mutates)
	}
	if err := json.Unmarshal(reply.Result, out); err != nil {
		return p.protocolError(r.op, fmt.Sprintf("the result of %s: %v", r.method, err), r.mutates)
	}
	return nil
}

// params adds the time that is left to an object of ours.
func (p *peer) params(ctx context.Context, params any) any {
	if o, ok := params.(object); ok && p.cfg.Dialect == Vade {
		if deadline, ok := ctx.Deadline(); ok {
			o["deadline_ms"] = max(time.Until(deadline).Milliseconds(), 1)
		}
	}
	return params
}
