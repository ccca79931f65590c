package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	startPatience = time.Minute      // until a server has said what its tools are
	restartPause  = 10 * time.Second // between two starts that failed
	pingPatience  = 10 * time.Second // of a server that did not answer in time
)

// errNotSent: the server has not seen the request.
var errNotSent = errors.New("the server is not there")

// peer is the server, which is connected to when it is first needed.
type peer struct {
	cfg      Config
	dial     func(ctx context.Context) (*connection, error)
	writing  chan struct{} // holds one: who writes
	workers  sync.WaitGroup
	stop     context.CancelFunc // of whatever is under way at Close
	lifetime context.Context

	mu      sync.Mutex
	current *attempt
	failed  time.Time // when an attempt failed last
	why     error     // it did
	calls   int       // that are under way
	idle    *time.Timer
	pinging bool
}

// attempt is a connection, or what will become one.
type attempt struct {
	ready chan struct{} // closed when conn or err is there
	conn  *connection
	err   error
	gone  sync.Once
}

func newPeer(c Config, transport func() mcp.Transport) *peer {
	p := &peer{cfg: c, writing: make(chan struct{}, 1)}
	p.lifetime, p.stop = context.WithCancel(context.Background())
	p.dial = func(ctx context.Context) (*connection, error) {
		var t mcp.Transport
		if transport != nil {
			t = transport()
		}
		return connect(ctx, &p.cfg, t)
	}
	return p
}

// attempt is the present connection, or a new one, in the background: a caller
// who cannot wait that long finds it there the next time.
func (p *peer) attempt() (*attempt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lifetime.Err() != nil {
		return nil, fmt.Errorf("%w: the provider is closed", errNotSent)
	}
	if p.current != nil {
		return p.current, nil
	}
	if wait := restartPause - time.Since(p.failed); wait > 0 {
		return nil, errors.Join(errNotSent, p.why)
	}
	a := &attempt{ready: make(chan struct{})}
	p.current = a
	p.workers.Go(func() {
		ctx, cancel := context.WithTimeout(p.lifetime, startPatience)
		defer cancel()
		a.conn, a.err = p.dial(ctx)
		if a.err == nil {
			a.err = p.approve(a.conn.server)
		}
		close(a.ready)
		if a.err != nil {
			p.drop(a, a.err)
		}
	})
	return a, nil
}

// approve compares the tools with those that the owner has seen.
func (p *peer) approve(s Server) error {
	if pinned := p.cfg.ToolsHash; pinned != "" && pinned != s.ToolsHash {
		return fmt.Errorf("%w (%s, now %s): look at what the server offers, and if you trust it set tools_hash: %s", errTools, pinned, s.ToolsHash, s.ToolsHash)
	}
	for _, tool := range p.cfg.Mapping.tools() {
		if !slices.Contains(s.Tools, tool) {
			return fmt.Errorf("%w: there is no tool %q among %v", errTools, tool, s.Tools)
		}
	}
	return nil
}

// connected waits for the connection.
func (p *peer) connected(ctx context.Context) (*attempt, error) {
	a, err := p.attempt()
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("%w yet: %w", errNotSent, ctx.Err())
	case <-a.ready:
	}
	if a.err != nil {
		return nil, errors.Join(errNotSent, a.err)
	}
	if a.conn.changed.Load() { // look again before the next call
		p.drop(a, nil)
		return p.connected(ctx)
	}
	return a, nil
}

// drop lets go of a connection: the next call makes another.
// why is nil if it did not fail.
func (p *peer) drop(a *attempt, why error) {
	p.mu.Lock()
	if p.current == a {
		p.current = nil
		if why != nil {
			p.failed, p.why = time.Now(), why
		}
	}
	p.mu.Unlock()
	if a.conn != nil {
		a.gone.Do(a.conn.end)
	}
}

// enter and leave count the calls, to let go of a server that nobody asks.
func (p *peer) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if p.idle != nil {
		p.idle.Stop()
	}
}

func (p *peer) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls--; p.calls == 0 && p.lifetime.Err() == nil {
		p.idle = time.AfterFunc(p.cfg.IdleStop, p.idled)
	}
}

func (p *peer) idled() {
	p.mu.Lock()
	a := p.current
	if p.calls > 0 || a == nil || p.lifetime.Err() != nil {
		p.mu.Unlock()
		return
	}
	p.current = nil
	p.workers.Add(1)
	p.mu.Unlock()
	defer p.workers.Done()
	<-a.ready
	p.drop(a, nil)
}

// outcome is what became of a tool call.
type outcome struct {
	result *mcp.CallToolResult
	err    error
}

// tool calls one. It returns when ctx is done, whatever the server does.
func (p *peer) tool(ctx context.Context, c *Call, v values) (*mcp.CallToolResult, error) {
	a, err := p.connected(ctx)
	if err != nil {
		return nil, err
	}
	for name, value := range p.cfg.Vars {
		v[name] = value
	}
	args := expand(c.Args, v) // nil args: an empty object
	done := make(chan outcome, 1)
	p.workers.Go(func() {
		ctx, noted := noting(ctx)
		r, err := a.conn.CallTool(ctx, &mcp.CallToolParams{Name: c.Tool, Arguments: args})
		done <- outcome{r, noted(err)}
	})
	select {
	case o := <-done:
		if errors.Is(o.err, mcp.ErrSessionMissing) {
			p.drop(a, nil)
		} else if errors.Is(o.err, mcp.ErrConnectionClosed) {
			o.err = a.conn.explain(o.err)
			p.drop(a, o.err)
		}
		return o.result, o.err
	case <-ctx.Done():
		p.ping(a)
		return nil, ctx.Err()
	}
}

// ping finds out in the background whether a server that took too long is alive,
// and lets go of it if it is not.
func (p *peer) ping(a *attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pinging || p.lifetime.Err() != nil {
		return
	}
	p.pinging = true
	p.workers.Go(func() {
		ctx, cancel := context.WithTimeout(p.lifetime, pingPatience)
		defer cancel()
		_, err := a.conn.ListTools(ctx, nil)
		p.mu.Lock()
		p.pinging = false
		p.mu.Unlock()
		if err != nil {
			p.drop(a, err)
		}
	})
}

// Close lets go of the server; a program is ended.
func (p *peer) Close() error {
	p.mu.Lock()
	p.stop()
	a := p.current
	if p.idle != nil {
		p.idle.Stop()
	}
	p.mu.Unlock()
	if a != nil {
		<-a.ready
		p.drop(a, nil)
	}
	p.workers.Wait()
	return nil
}
