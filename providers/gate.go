package providers

import (
	"errors"
	"fmt"
	"time"
)

// Direction tells reads from writes: a service may answer questions while it
// takes nothing in.
type Direction string

const (
	Reading Direction = "read"
	Writing Direction = "write"
)

// ErrPaused: a provider is not asked at present; a *Paused is in the error.
var ErrPaused = errors.New("paused")

// Paused says why a provider is not asked, and until when.
type Paused struct {
	Provider string
	Until    time.Time // zero: until the owner changes its config, or a check succeeds
	Reason   string
}

func (p *Paused) Error() string {
	if p.Until.IsZero() {
		return fmt.Sprintf("%s: paused until its config changes: %s", p.Provider, p.Reason)
	}
	return fmt.Sprintf("%s: paused until %s: %s", p.Provider, p.Until.Format(time.TimeOnly), p.Reason)
}

// Is makes a *Paused an ErrPaused.
func (p *Paused) Is(target error) bool { return target == ErrPaused }

// Gates keeps the breakers of an identity's providers on disk, because most
// processes that ask them live for a few milliseconds. It may be used by any
// number of goroutines and processes at once.
type Gates struct {
	dir string
	now func() time.Time
}

// OpenGates names the gates in dir, which the first Report makes.
func OpenGates(dir string, now func() time.Time) *Gates { return &Gates{dir: dir, now: now} }
