package providers

import (
	"context"
	"time"
)

// Cleaner is a provider that keeps expired items until somebody asks it not to.
type Cleaner interface {
	// CleanupExpired removes what had expired at now, and returns how many.
	CleanupExpired(ctx context.Context, now time.Time) (int, error)
}
