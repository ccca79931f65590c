package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/ncruces/go-sqlite3"
)

// read calls fn with a connection that reads. Where there is no file, or
// nothing in it, fn is not called: there is nothing to read.
func (p *Provider) read(ctx context.Context, op string, fn func(*conn) error) error {
	return p.with(ctx, p.reader, op, func(c *conn) (*conn, error) {
		var err error
		if c, err = p.renew(c); c == nil && err == nil {
			c, err = open(ctx, p.path, true)
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errVacant) {
			return nil, nil
		}
		if err != nil {
			return c, err
		}
		c.db.SetInterrupt(ctx)
		return c, fn(c)
	})
}

// write calls fn in a transaction that is on disk when write returns nil, and
// never was when it returns an error.
func (p *Provider) write(ctx context.Context, op string, fn func(*conn) error) error {
	return p.alone(ctx, op, func(c *conn) error { return c.transact(func() error { return fn(c) }) })
}

// alone calls fn with the connection that writes.
func (p *Provider) alone(ctx context.Context, op string, fn func(*conn) error) error {
	return p.with(ctx, p.writer, op, func(c *conn) (*conn, error) {
		c, err := p.renew(c)
		if c == nil && err == nil {
			if err = make0600(p.path); err == nil {
				c, err = open(ctx, p.path, false)
			}
		}
		if err != nil {
			return c, err
		}
		c.db.SetInterrupt(ctx)
		return c, fn(c)
	})
}

// with takes a connection out of lane, lets fn use or replace it, and puts it
// back; not one whose file is bad: the next one looks afresh.
func (p *Provider) with(ctx context.Context, lane chan *conn, op string, fn func(*conn) (*conn, error)) error {
	var c *conn
	select {
	case c = <-lane:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { lane <- c }()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var err error
	c, err = fn(c)
	if c != nil {
		c.db.SetInterrupt(context.Background())
		if lost(err) {
			_ = c.close()
			c = nil
		}
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return p.explain(op, err)
}

// renew is c while p.path is still the file that c has open: what is written to
// one that somebody removed or replaced would be gone. Else it is nil.
func (p *Provider) renew(c *conn) (*conn, error) {
	if c == nil {
		return nil, nil
	}
	if now, err := os.Stat(p.path); err == nil && os.SameFile(now, c.file) {
		return c, nil
	}
	return nil, c.close()
}

// lost reports whether the connection is of no more use after err.
func lost(err error) bool {
	for _, code := range []sqlite3.ErrorCode{sqlite3.CORRUPT, sqlite3.NOTADB, sqlite3.IOERR, sqlite3.CANTOPEN} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}
