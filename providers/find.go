package providers

import "context"

// Finder is a provider that can be asked what it holds of ours: the outbox
// does before it repeats a write whose end nobody saw.
type Finder interface {
	// FindByID returns what the provider holds with these Item.IDs: hits with at
	// least Ref, ID and, where it was given back, Version and Part; in no order.
	// What is not there is not in the answer.
	FindByID(ctx context.Context, ids ...string) ([]Hit, error)
}
