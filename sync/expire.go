package sync

import (
	"context"
	"fmt"
	"slices"

	"vademecum/vault"
)

// expire removes the memories whose time is over, in one commit. They were
// hidden before; history keeps them. seen is what is on disk, nil when that
// has to be looked up.
func (rd *round) expire(ctx context.Context, seen *vault.Snapshot) error {
	if seen == nil {
		var err error
		if seen, err = rd.v.Snapshot(ctx); err != nil {
			return err
		}
	}
	gone := seen.Expired(rd.v.Now())
	gone = slices.DeleteFunc(gone, func(path string) bool { return slices.Contains(seen.Changed, path) })
	seen.SaveCatalog()
	if len(gone) == 0 {
		return nil
	}
	op := vault.Op{Name: "expire", Subject: fmt.Sprintf("%d memories", len(gone))}
	done, err := rd.v.Update(ctx, op, func(tx *vault.Tx) error {
		for _, path := range gone {
			tx.Remove(path)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove what expired: %w", err)
	}
	if done.Held == "" {
		rd.report.Expired = done.Paths
	}
	return nil
}
