package providers

import "context"

// BatchPutter is a provider that takes several items in one request.
type BatchPutter interface {
	// PutBatch hands over up to Properties.MaxBatch items. The results are in
	// the order of items and as many. An error in a result is about that item
	// alone; a request that failed as a whole has the same error in each.
	PutBatch(ctx context.Context, items []Item) []PutResult
}

// PutResult is what became of one item of a batch: a receipt, or why there is none.
type PutResult struct {
	Receipt
	Err error
}

// PutAll hands over items in batches where p takes them, else one by one. The
// results are in the order of items and as many. It goes on after an item that
// failed, but not after ctx is done or an error of class Auth, RateLimited or
// Unsupported: what it did not try has the same error.
func PutAll(ctx context.Context, p Provider, items []Item) []PutResult {
	batch, ok := p.(BatchPutter)
	size := 1
	if ok {
		if size = PropertiesOf(p).MaxBatch; size == 0 {
			size = max(len(items), 1)
		}
	}
	results := make([]PutResult, 0, len(items))
	for len(results) < len(items) {
		next := items[len(results):]
		next = next[:min(size, len(next))]
		var got []PutResult
		if ok && len(next) > 1 {
			got = batch.PutBatch(ctx, next)
		}
		if Is(firstError(got), Unsupported) { // an older service: one by one, then
			got, ok, size = nil, false, 1
			next = next[:1]
		}
		if len(got) != len(next) {
			r, err := p.Put(ctx, next[0])
			got = []PutResult{{r, err}}
		}
		results = append(results, got...)
		if err := firstError(got); ctx.Err() != nil || ends(err) {
			for len(results) < len(items) {
				results = append(results, PutResult{Err: orCtx(err, ctx)})
			}
		}
	}
	return results
}

func firstError(results []PutResult) error {
	for _, r := range results {
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// ends reports whether err will be the same for the next item.
func ends(err error) bool { return Is(err, Auth) || Is(err, RateLimited) || Is(err, Unsupported) }

func orCtx(err error, ctx context.Context) error {
	if err == nil {
		return context.Cause(ctx)
	}
	return err
}
