package providers

import "context"

// Purger is a provider that removes everything that was put in one scope (a
// user, a graph, a folder) which only vade uses: the one way to be sure that
// nothing derived is left.
type Purger interface {
	// PurgeScope removes it, and returns how many things that were, -1 when the
	// provider does not tell. It must not touch what others put elsewhere.
	PurgeScope(ctx context.Context) (int, error)
}
