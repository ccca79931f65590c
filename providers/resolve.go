package providers

import "context"

// Resolver is a provider whose Put may answer Accepted.
type Resolver interface {
	// Resolve asks what became of an accepted write. It returns it as it is
	// when that is not known yet; an error that [Terminal] reports means
	// that it came to nothing.
	Resolve(ctx context.Context, r Receipt) (Receipt, error)
}
