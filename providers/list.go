package providers

import "context"

// Lister is a provider that can be read from end to end.
type Lister interface {
	// List returns about n hits, with at least Ref and Text, behind cursor ("" is
	// the beginning), and the cursor of what follows; "" at the end.
	List(ctx context.Context, cursor string, n int) (hits []Hit, next string, err error)
}
