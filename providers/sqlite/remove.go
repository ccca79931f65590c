package sqlite

import (
	"context"
	"time"

	"vademecum/providers"
	"vademecum/sync/journal"
)

// Delete removes one part of an item.
func (p *Provider) Delete(ctx context.Context, r providers.Ref) (providers.Receipt, error) {
	id, part, err := parseRef(r)
	if err != nil {
		return providers.Receipt{}, &providers.Error{Provider: p.name, Op: "delete", Class: providers.Permanent, Err: err}
	}
	_, err = p.remove(ctx, "delete", "DELETE FROM items WHERE id = ?1 AND part = ?2", id, part)
	if err != nil {
		return providers.Receipt{}, err
	}
	return providers.Receipt{State: journal.Deleted}, nil
}

// CleanupExpired removes the items, whole, that had expired at now, and returns
// how many parts that were. Search has not shown them since.
func (p *Provider) CleanupExpired(ctx context.Context, now time.Time) (int, error) {
	return p.remove(ctx, "cleanup", "DELETE FROM items WHERE expires <= ?1", now.UnixMicro())
}

// remove runs a DELETE, unless there is nothing to delete from.
func (p *Provider) remove(ctx context.Context, op, sql string, args ...any) (n int, err error) {
	if there, err := p.there(ctx, op); !there {
		return 0, err
	}
	err = p.write(ctx, op, func(c *conn) (err error) {
		n, err = c.exec(sql, args...)
		return err
	})
	return n, err
}

// there reports whether there is a file with tables.
func (p *Provider) there(ctx context.Context, op string) (there bool, err error) {
	err = p.read(ctx, op, func(*conn) error { there = true; return nil })
	return there, err
}

// PurgeScope removes everything that is in the file, and nothing of it is left
// in the file or its log; until then, FTS5 keeps words of what was deleted until
// it merges. How many parts that were is only known when it ends well.
func (p *Provider) PurgeScope(ctx context.Context) (n int, err error) {
	if there, err := p.there(ctx, "purge"); !there {
		return 0, err
	}
	err = p.alone(ctx, "purge", func(c *conn) error {
		err := c.transact(func() error {
			err := c.each("SELECT count(*) FROM items", func(r row) error { n = r.ColumnInt(0); return nil })
			if err != nil {
				return err
			}
			return c.db.Exec("DROP TABLE items; DROP TABLE words;" + schema)
		})
		if err != nil {
			return err
		}
		return c.db.Exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
	})
	return n, err
}
