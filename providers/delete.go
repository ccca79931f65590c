package providers

import "context"

// Deleter is a provider that deletes.
type Deleter interface {
	// Delete removes what ref names. What is not there is Deleted too. A
	// provider that deletes later answers Accepted.
	Delete(ctx context.Context, ref Ref) (Receipt, error)
}
