package vault

import (
	"context"
	"fmt"
)

// WouldCapture says what [Vault.CaptureAll] would do now, and changes nothing:
// a vault that is not there yet is not made. Path is not empty for what would
// be kept.
func (v *Vault) WouldCapture(ctx context.Context, list []SessionTurns) ([][]Captured, error) {
	if !v.Exists() {
		return captureInNone(list), nil
	}
	var done [][]Captured
	err := v.Lock(ctx, func() error {
		tx, err := v.begin()
		if err == nil {
			done, err = captureIn(tx, list, false)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", captureSubject(list), err)
	}
	return done, nil
}

// captureInNone is what becomes of turns in a vault that is not there.
func captureInNone(list []SessionTurns) [][]Captured {
	done := make([][]Captured, len(list))
	for i, s := range list {
		for _, t := range s.Turns {
			c := Captured{Path: sessionsDir}
			if t.Render(func(string) bool { return false }) == "" {
				c = Captured{Reason: saysNothing}
			}
			done[i] = append(done[i], c)
		}
	}
	return done
}
