package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// conn is an open file and its prepared statements, for one goroutine at a time.
type conn struct {
	db    *sqlite3.Conn
	file  os.FileInfo // which it has open
	stmts map[string]*sqlite3.Stmt
}

// row is a row of a result, until the next one.
type row struct{ *sqlite3.Stmt }

func (r row) text(col int) string { return r.ColumnText(col) }

// when is the time in a column of microseconds; NULL is the zero time.
func (r row) when(col int) time.Time {
	if r.ColumnType(col) == sqlite3.NULL {
		return time.Time{}
	}
	return time.UnixMicro(r.ColumnInt64(col)).UTC()
}

// micros is t for such a column.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// each calls fn with each row of what the statement sql finds with args.
func (c *conn) each(sql string, fn func(row) error, args ...any) error {
	stmt, err := c.prepare(sql)
	if err != nil {
		return err
	}
	defer func() {
		_ = stmt.Reset() // it repeats the error of Step
		_ = stmt.ClearBindings()
	}()
	for i, arg := range args {
		if err := bind(stmt, i+1, arg); err != nil {
			return err
		}
	}
	for stmt.Step() {
		if err := fn(row{stmt}); err != nil {
			return err
		}
	}
	return stmt.Err()
}

func bind(stmt *sqlite3.Stmt, param int, arg any) error {
	switch v := arg.(type) {
	case nil:
		return stmt.BindNull(param)
	case int:
		return stmt.BindInt(param, v)
	case int64:
		return stmt.BindInt64(param, v)
	case string:
		return stmt.BindText(param, v)
	}
	return fmt.Errorf("sqlite: cannot bind a %T", arg)
}

func (c *conn) prepare(sql string) (*sqlite3.Stmt, error) {
	if stmt := c.stmts[sql]; stmt != nil {
		return stmt, nil
	}
	stmt, _, err := c.db.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	c.stmts[sql] = stmt
	return stmt, nil
}

// exec runs a statement whose rows do not matter, and returns how many it changed.
func (c *conn) exec(sql string, args ...any) (int, error) {
	err := c.each(sql, func(row) error { return nil }, args...)
	return int(c.db.Changes()), err
}

// number is the number that the pragma called name has.
func (c *conn) number(name string) (n int, err error) {
	err = c.each("PRAGMA "+name, func(r row) error { n = r.ColumnInt(0); return nil })
	return n, err
}

// transact calls fn in a transaction: all of it, or nothing.
func (c *conn) transact(fn func() error) error {
	tx, err := c.db.BeginImmediate()
	if err != nil {
		return err
	}
	if err = fn(); err == nil {
		err = tx.Commit()
	}
	if err != nil && !c.db.GetAutocommit() {
		err = errors.Join(err, tx.Rollback())
	}
	return err
}

// close gives everything back; nil is closed already.
func (c *conn) close() error {
	if c == nil {
		return nil
	}
	c.db.SetInterrupt(context.Background())
	for _, stmt := range c.stmts {
		_ = stmt.Close() // it repeats the error of the last step
	}
	return c.db.Close()
}
