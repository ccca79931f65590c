package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainWait is how long calls may go on after the client's input has ended.
const drainWait = 30 * time.Second

// drainTransport is a transport whose input ends only when every call that
// came in was answered. The SDK drops what is under way at the end of input: a
// client that says "remember" and hangs up would never know whether it was.
type drainTransport struct{ sdk.Transport }

func (t drainTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return &drainConn{Connection: c, idle: make(chan struct{})}, err
}

type drainConn struct {
	sdk.Connection

	mu      sync.Mutex
	pending map[any]bool  // calls by id
	ended   bool          // no more will come
	idle    chan struct{} // closed when ended and nothing is pending
}

func (c *drainConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if req, ok := msg.(*jsonrpc.Request); ok && err == nil && req.IsCall() {
		c.mu.Lock()
		if c.pending == nil {
			c.pending = map[any]bool{}
		}
		c.pending[req.ID.Raw()] = true
		c.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		c.drain(ctx)
	}
	return msg, err
}

// drain waits until every call was answered.
func (c *drainConn) drain(ctx context.Context) {
	c.mu.Lock()
	c.ended = true
	waiting := len(c.pending) > 0
	c.mu.Unlock()
	if !waiting {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, drainWait)
	defer cancel()
	select {
	case <-c.idle:
	case <-ctx.Done():
	}
}

func (c *drainConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if resp, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.pending, resp.ID.Raw())
		if c.ended && len(c.pending) == 0 {
			c.ended = false // idle is closed once
			close(c.idle)
		}
		c.mu.Unlock()
	}
	return err
}
