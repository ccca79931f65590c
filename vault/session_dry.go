package vault

import (
	"context"
	"fmt"
)

// WouldCapture says what [Vault.Capture] would do with turns now, and changes
// nothing: a vault that is not there yet is not made. Path is not empty for
// what would be kept.
func (v *Vault) WouldCapture(ctx context.Context, s Session, turns []Turn) ([]Captured, error) {
	done := make([]Captured, len(turns))
	if !v.Exists() {
		for i, t := range turns {
			done[i] = Captured{Path: sessionsDir}
			if t.Render(func(string) bool { return false }) == "" {
				done[i] = Captured{Reason: saysNothing}
			}
		}
		return done, nil
	}
	err := v.Lock(ctx, func() error {
		tx, err := v.begin()
		if err != nil {
			return err
		}
		c := capture{tx: tx, s: s}
		if err := c.locate(); err != nil {
			return err
		}
		for i, t := range turns {
			if done[i], err = c.add(t); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("session %s of %s: %w", s.ID, s.Agent, err)
	}
	return done, nil
}
