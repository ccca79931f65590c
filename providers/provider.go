package providers

import "context"

// Provider is a memory service. Its methods may be called by any number of
// goroutines at once, return when ctx is done, and fail with an [*Error] (or
// with ctx's own error).
//
// providertest.Run is the suite that every implementation passes.
type Provider interface {
	// Name is what the owner calls it in the config: unique, and the same in
	// receipts, hits, the journal and messages.
	Name() string
	// Health asks the service whether it would serve us: that it is there and
	// takes our key. It changes nothing.
	Health(ctx context.Context) (Health, error)
	// Search returns up to q.Limit hits in the provider's order, best first as
	// far as the provider knows; what Score says about that is in Properties.
	// Nothing found is no error.
	Search(ctx context.Context, q Query) ([]Hit, error)
	// Put hands over one item. A nil error means that the provider took it, and
	// Receipt.State says how far it is. The same item again (same Key) leaves one
	// copy if Properties.Idempotent says so, else maybe two: the outbox looks
	// first, see Finder.
	Put(ctx context.Context, item Item) (Receipt, error)
}

// Health is what a provider says of itself when it is well.
type Health struct {
	Version  string   `json:"version,omitempty"` // of the service, if it tells
	Warnings []string `json:"warnings"`          // what its owner should know: no authentication, plain http, …
}

// Query asks a provider. A provider that cannot filter ignores all but Text and
// Limit: the router checks every hit of ours against the vault.
type Query struct {
	Text      string
	Limit     int    // hits at most; at least 1
	Workspace string // "": any
}
