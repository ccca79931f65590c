package providers

import (
	"context"
	"os"
	"strings"
	"time"

	"vademecum/sync/journal"
)

// rate spaces the writes to a provider evenly, over all processes: its file
// says when the next one may go. The lane's lock is held. A batch is one write.
type rate struct {
	path      string
	perMinute int // 0: no bound
	now       func() time.Time
}

// wait returns when one more write may go, and counts it; or ctx's error.
func (r *rate) wait(ctx context.Context) error {
	if r.perMinute <= 0 {
		return ctx.Err()
	}
	gap := time.Minute / time.Duration(r.perMinute)
	if wait := min(r.next().Sub(r.now()), gap); wait > 0 { // more is a clock that was wrong
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
	return journal.WriteDurable(r.path, []byte(r.now().Add(gap).Format(time.RFC3339Nano)+"\n"))
}

func (r *rate) next() time.Time {
	raw, err := os.ReadFile(r.path)
	if err != nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(raw)))
	if err != nil {
		return time.Time{}
	}
	return at
}
