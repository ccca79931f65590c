package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"vademecum/providers"
	"vademecum/sync/journal"
)

// Put keeps item on disk, in the place of another version of it.
func (p *Provider) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	got := p.PutBatch(ctx, []providers.Item{item})[0]
	return got.Receipt, got.Err
}

// PutBatch keeps items on disk, all or, after an error, none of them: only
// one that is too large is left out alone.
func (p *Provider) PutBatch(ctx context.Context, items []providers.Item) []providers.PutResult {
	results := make([]providers.PutResult, len(items))
	err := p.write(ctx, "put", func(c *conn) error {
		for i := range items {
			if results[i].Err = p.tooLarge(&items[i]); results[i].Err != nil {
				continue
			}
			if err := c.put(&items[i]); err != nil {
				return err
			}
			results[i].Receipt = providers.Receipt{State: journal.Stored, Refs: []providers.Ref{ref(items[i].ID, items[i].Part)}}
		}
		return nil
	})
	for i := range results {
		if err != nil && results[i].Err == nil {
			results[i] = providers.PutResult{Err: err}
		}
	}
	return results
}

func (p *Provider) tooLarge(item *providers.Item) error {
	if len(item.Text) <= maxItemBytes {
		return nil
	}
	return &providers.Error{
		Provider: p.name, Op: "put", Class: providers.Permanent,
		Msg: fmt.Sprintf("text has %d bytes, of %d at most", len(item.Text), maxItemBytes),
	}
}

const upsert = `INSERT INTO items
	(id, part, parts, version, vault, title, type, tier, tags, workspace, scope_type, scope_id, origin, created, updated, expires, text)
	VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
	ON CONFLICT (id, part) DO UPDATE SET
		parts = ?3, version = ?4, vault = ?5, title = ?6, type = ?7, tier = ?8, tags = ?9, workspace = ?10, scope_type = ?11,
		scope_id = ?12, origin = ?13, created = ?14, updated = ?15, expires = ?16, text = ?17
	RETURNING key`

// put writes one item, and removes the parts that this version of it has no more.
func (c *conn) put(item *providers.Item) error {
	origin, err := json.Marshal(item.Origin)
	if err != nil {
		return err
	}
	tags, err := json.Marshal(append([]string{}, item.Tags...))
	if err != nil {
		return err
	}
	var key int64
	err = c.each(upsert, func(r row) error { key = r.ColumnInt64(0); return nil },
		item.ID, item.Part, item.Parts, string(item.Version), item.Vault, item.Title, string(item.Type), string(item.Tier), string(tags),
		item.Workspace, item.Scope.Type, item.Scope.ID, string(origin), micros(item.Created), micros(item.Updated), micros(item.Expires), item.Text)
	if err != nil {
		return err
	}
	if _, err = c.exec("INSERT OR REPLACE INTO words (rowid, text) VALUES (?1, ?2)", key, pairs(item.Text+"\n"+strings.Join(item.Tags, " "))); err != nil {
		return err
	}
	_, err = c.exec("DELETE FROM items WHERE id = ?1 AND part >= ?2", item.ID, max(item.Parts, 1))
	return err
}

// ref names a part of an item: its id, "#", and the part.
func ref(id string, part int) providers.Ref { return providers.Ref(id + "#" + strconv.Itoa(part)) }

// parseRef is what a ref names.
func parseRef(r providers.Ref) (id string, part int, err error) {
	at := strings.LastIndexByte(string(r), '#')
	if at < 0 {
		return "", 0, fmt.Errorf("%q is no reference of this provider: ID#PART is", r)
	}
	if part, err = strconv.Atoi(string(r[at+1:])); err != nil {
		return "", 0, fmt.Errorf("%q is no reference of this provider: ID#PART is", r)
	}
	return string(r[:at]), part, nil
}
