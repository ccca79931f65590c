package jsonrpc

import (
	"context"
	"time"

	"vademecum/providers"
)

// The optional interfaces, each as a type of its own, for with to put together.
type (
	batcher  struct{ p *peer }
	deleter  struct{ p *peer }
	resolver struct{ p *peer }
	finder   struct{ p *peer }
	lister   struct{ p *peer }
	cleaner  struct{ p *peer }
	purger   struct{ p *peer }
)

// PutBatch hands over several items in one request.
func (b batcher) PutBatch(ctx context.Context, items []providers.Item) []providers.PutResult {
	return b.p.speak.putBatch(ctx, items)
}

// Delete has the program delete what ref names.
func (d deleter) Delete(ctx context.Context, ref providers.Ref) (providers.Receipt, error) {
	return d.p.speak.delete(ctx, ref)
}

// Resolve asks what became of a write.
func (r resolver) Resolve(ctx context.Context, receipt providers.Receipt) (providers.Receipt, error) {
	got, err := r.p.write(ctx, request{op: "resolve", method: "vade.resolve", params: object{"receipt": receipt}}, resolveStates)
	return got, err
}

// FindByID asks what the program holds of these.
func (f finder) FindByID(ctx context.Context, ids ...string) ([]providers.Hit, error) {
	var result struct {
		Hits []wireHit `json:"hits"`
	}
	err := f.p.call(ctx, request{op: "find", method: "vade.find", params: object{"ids": ids}}, &result)
	return toHits(result.Hits, 0), err
}

// List reads one page of what the program holds.
func (l lister) List(ctx context.Context, cursor string, n int) ([]providers.Hit, string, error) {
	var result struct {
		Hits []wireHit `json:"hits"`
		Next string    `json:"next"`
	}
	err := l.p.call(ctx, request{op: "list", method: "vade.list", params: object{"cursor": cursor, "limit": n}}, &result)
	return toHits(result.Hits, 0), result.Next, err
}

// CleanupExpired has the program remove what has expired.
func (c cleaner) CleanupExpired(ctx context.Context, now time.Time) (int, error) {
	return c.p.remove(ctx, request{op: "cleanup", method: "vade.cleanup", params: object{"now": now.UTC()}})
}

// PurgeScope has the program remove everything that it has from us.
func (u purger) PurgeScope(ctx context.Context) (int, error) {
	return u.p.remove(ctx, request{op: "purge", method: "vade.purge", params: object{}})
}

// remove makes a request that is answered with how many were removed; absent:
// the program does not tell.
func (p *peer) remove(ctx context.Context, r request) (int, error) {
	r.mutates = true
	result := struct {
		Removed int `json:"removed"`
	}{Removed: -1}
	if err := p.call(ctx, r, &result); err != nil {
		return 0, err
	}
	return max(result.Removed, -1), nil
}
