package sync

import (
	"context"
	"fmt"
	"slices"

	"vademecum/vault"
)

// expire removes the memories whose time is over, in one commit. They were
// hidden before; history keeps them.
func (rd *round) expire(ctx context.Context) error {
	s, err := rd.v.Snapshot(ctx)
	if err != nil {
		return err
	}
	now := rd.v.Now()
	var gone []string
	for i := range s.Len() {
		m, err := s.Meta(i)
		if err == nil && m.Expired(now) && !slices.Contains(s.Changed, m.Path) {
			gone = append(gone, m.Path)
		}
	}
	s.SaveCatalog()
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
