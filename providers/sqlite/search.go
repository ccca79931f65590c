package sqlite

import (
	"context"
	"strconv"
	"strings"
	"time"

	"vademecum/providers"
	"vademecum/vault"
)

// What a hit is made of.
const columns = "items.id, items.part, items.version, items.vault, items.created, items.text"

// The join is crossed so that the words come first: FTS5 then sorts by rank,
// and only what is shown is read from items.
const ranked = "SELECT " + columns + `, words.rank FROM words CROSS JOIN items ON items.key = words.rowid
	WHERE words MATCH ?1 AND (items.expires IS NULL OR items.expires > ?2) AND (?3 = '' OR items.workspace IN ('', ?3))
	ORDER BY words.rank LIMIT ?4`

// Search finds what has any of the words of q.Text, the best first. Nothing in
// q.Text is an operator.
func (p *Provider) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	terms := question(q.Text)
	if len(terms) == 0 {
		return nil, nil
	}
	var hits []providers.Hit
	err := p.read(ctx, "search", func(c *conn) error {
		terms, err := c.telling(terms)
		if err != nil {
			return err
		}
		return c.each(ranked, func(r row) error {
			h, score := r.hit(), r.ColumnFloat(6)
			h.Score = &score
			hits = append(hits, h)
			return nil
		}, strings.Join(terms, " OR "), time.Now().UnixMicro(), q.Workspace, q.Limit)
	})
	if err != nil {
		return nil, err
	}
	return hits, nil
}

// telling is terms without those that a tenth of the items have, or all where
// no others are left: to rank an item takes 2 µs, to count it 0.1, and what is
// everywhere says little about where to look. Few items are ranked at once.
func (c *conn) telling(terms []string) ([]string, error) {
	const few = 5000
	items := 0
	err := c.each("SELECT max(key) FROM items", func(r row) error { items = r.ColumnInt(0); return nil })
	if err != nil || items <= few {
		return terms, err
	}
	var left []string
	many := max(few, items/10)
	for _, term := range terms {
		n := 0
		err := c.each("SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)",
			func(r row) error { n = r.ColumnInt(0); return nil }, term, many)
		if err != nil {
			return nil, err
		}
		if n < many {
			left = append(left, term)
		}
	}
	if len(left) == 0 {
		return terms, nil
	}
	return left, nil
}

// hit is the row as a hit, of a SELECT that begins with columns.
func (r row) hit() providers.Hit {
	h := providers.Hit{
		ID: r.text(0), Part: r.ColumnInt(1), Version: vault.Version(r.text(2)), Vault: r.text(3), Created: r.when(4), Text: r.text(5),
	}
	h.Ref = ref(h.ID, h.Part)
	return h
}

// FindByID returns all parts of the items with these ids.
func (p *Provider) FindByID(ctx context.Context, ids ...string) ([]providers.Hit, error) {
	var hits []providers.Hit
	err := p.read(ctx, "find", func(c *conn) error {
		for _, id := range ids {
			err := c.each("SELECT "+columns+" FROM items WHERE id = ?1", func(r row) error { hits = append(hits, r.hit()); return nil }, id)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return hits, err
}

// List reads the items in the order in which they first came. A cursor stays
// good while others write.
func (p *Provider) List(ctx context.Context, cursor string, n int) (hits []providers.Hit, next string, err error) {
	after := int64(0)
	if cursor != "" {
		if after, err = strconv.ParseInt(cursor, 10, 64); err != nil {
			return nil, "", &providers.Error{Provider: p.name, Op: "list", Class: providers.Permanent, Msg: "cursor " + strconv.Quote(cursor) + " is none of this provider's"}
		}
	}
	n = max(n, 1)
	err = p.read(ctx, "list", func(c *conn) error {
		return c.each("SELECT "+columns+", items.key FROM items WHERE key > ?1 ORDER BY key LIMIT ?2", func(r row) error {
			hits, after = append(hits, r.hit()), r.ColumnInt64(6)
			return nil
		}, after, n)
	})
	if err == nil && len(hits) == n {
		next = strconv.FormatInt(after, 10)
	}
	return hits, next, err
}
