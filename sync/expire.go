package sync

import (
	"context"
	"fmt"
	"slices"

	"vademecum/vault"
)

// expire removes the memories whose time is over; see [Expire].
func (rd *round) expire(ctx context.Context, seen *vault.Snapshot) error {
	done, err := Expire(ctx, rd.v, seen)
	if err == nil && len(done) > 0 {
		rd.report.Expired = done
	}
	return err
}

// Expire removes the memories whose time is over, in one commit, and returns
// their paths. They were hidden before; history keeps them. What somebody
// changed since the last commit stays. seen is what is on disk, nil when that
// has to be looked up.
func Expire(ctx context.Context, v *vault.Vault, seen *vault.Snapshot) ([]string, error) {
	if seen == nil {
		var err error
		if seen, err = v.Snapshot(ctx); err != nil {
			return nil, err
		}
	}
	gone := seen.Expired(v.Now())
	gone = slices.DeleteFunc(gone, func(path string) bool { return slices.Contains(seen.Changed, path) })
	seen.SaveCatalog()
	if len(gone) == 0 {
		return nil, nil
	}
	op := vault.Op{Name: "expire", Subject: fmt.Sprintf("%d memories", len(gone))}
	done, err := v.Update(ctx, op, func(tx *vault.Tx) error {
		for _, path := range gone {
			tx.Remove(path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("remove what expired: %w", err)
	}
	if done.Held != "" {
		return nil, nil
	}
	return done.Paths, nil
}
