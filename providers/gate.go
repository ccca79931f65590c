package providers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
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
		return fmt.Sprintf("%s: paused until its config changes or \"vade provider check\" succeeds: %s", p.Provider, p.Reason)
	}
	return fmt.Sprintf("%s: paused until %s: %s", p.Provider, p.Until.Local().Format(time.TimeOnly), p.Reason)
}

// Is makes a *Paused an ErrPaused.
func (p *Paused) Is(target error) bool { return target == ErrPaused }

// Gates keeps the breakers of an identity's providers on disk, because most
// processes that ask them live for a few milliseconds:
//
//	<dir>/NAME/read.json write.json   one breaker each; absent: all is well
//	<dir>/NAME/gate.lock              one change at a time
//
// It may be used by any number of goroutines and processes at once. What cannot
// be read or written counts as open: a breaker protects from waiting, and
// loses nothing when it is forgotten.
type Gates struct {
	dir string
	now func() time.Time
}

// OpenGates names the gates in dir, which the first failure makes. now is the
// clock.
func OpenGates(dir string, now func() time.Time) *Gates { return &Gates{dir: dir, now: now} }

// A breaker opens after so many failures in a row, or when half of at least
// minSample calls within window failed; at first for minPause, each time
// for twice as long. Then one caller tries, while the others wait for him.
const (
	maxFailures = 5
	minSample   = 10
	window      = time.Minute
	minPause    = 15 * time.Second
	maxPause    = 5 * time.Minute
	probeLease  = 30 * time.Second
)

// breaker is the state of one direction of one provider.
type breaker struct {
	Failures int       `json:"failures"`         // in a row
	Opened   int       `json:"opened,omitempty"` // times in a row
	Until    time.Time `json:"until,omitzero"`   // nobody asks before
	Probe    time.Time `json:"probe,omitzero"`   // somebody tries, and has it until then
	// Refused is the fingerprint of the config that the provider refused.
	Refused string   `json:"refused,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Recent  []sample `json:"recent,omitempty"`
}

type sample struct {
	At     time.Time `json:"at"`
	Failed bool      `json:"failed,omitempty"`
}

// Allow reports whether name may be asked: nil, or a *Paused. fingerprint
// tells one config of the provider from another: a key that was refused is not
// tried again, another one is.
func (g *Gates) Allow(name string, d Direction, fingerprint string) error {
	b, err := g.read(name, d)
	if err != nil {
		return nil
	}
	if err := b.paused(name, g.now(), fingerprint); err != nil {
		return err
	}
	if b.Until.IsZero() {
		return nil
	}
	err = nil // the pause is over: be the one who tries, if nobody is
	g.change(name, d, func(b *breaker) bool {
		if err = b.paused(name, g.now(), fingerprint); err == nil {
			b.Probe = g.now().Add(probeLease)
		}
		return err == nil
	})
	return err
}

// Peek says what Allow would, and leaves everything as it is.
func (g *Gates) Peek(name string, d Direction, fingerprint string) error {
	b, err := g.read(name, d)
	if err != nil {
		return nil
	}
	return b.paused(name, g.now(), fingerprint)
}

// paused is why nobody asks at now.
func (b *breaker) paused(name string, now time.Time, fingerprint string) error {
	switch {
	case b.Refused != "" && b.Refused == fingerprint:
		return &Paused{Provider: name, Reason: b.Reason}
	case now.Before(b.Until):
		return &Paused{Provider: name, Until: b.Until, Reason: b.Reason}
	case !b.Until.IsZero() && now.Before(b.Probe):
		return &Paused{Provider: name, Until: b.Probe, Reason: b.Reason}
	}
	return nil
}

// Report tells what became of a call that Allow let through. notice is true
// when it made the provider pause for a reason that its owner must see to, and
// nobody was told before.
func (g *Gates) Report(name string, d Direction, fingerprint string, err error) (notice bool) {
	class := ClassOf(err)
	switch {
	case err != nil && class == "": // cancelled
		return false
	case err == nil || class == Permanent || class == Unsupported: // it answers
		g.well(name, d)
	case class == Auth:
		g.change(name, d, func(b *breaker) bool {
			notice = b.Refused != fingerprint
			b.Refused, b.Reason, b.Until, b.Probe = fingerprint, reasonOf(name, err), time.Time{}, time.Time{}
			return true
		})
	case class == RateLimited:
		g.change(name, d, func(b *breaker) bool {
			b.Until, b.Probe, b.Reason = g.now().Add(max(RetryAfter(err), time.Second)), time.Time{}, reasonOf(name, err)
			return true
		})
	default:
		g.change(name, d, func(b *breaker) bool { b.fail(g.now(), reasonOf(name, err)); return true })
	}
	return notice
}

// reasonOf is err without the name that a *Paused begins with itself.
func reasonOf(name string, err error) string { return strings.TrimPrefix(err.Error(), name+": ") }

// well notes a success. Where nothing is wrong, nothing is written.
func (g *Gates) well(name string, d Direction) {
	if b, err := g.read(name, d); err != nil || b.idle() {
		return
	}
	g.change(name, d, func(b *breaker) bool {
		recent := b.sampled(g.now(), false)
		*b = breaker{Recent: recent}
		return true
	})
}

// idle reports whether b says nothing.
func (b *breaker) idle() bool {
	return b.Failures == 0 && b.Opened == 0 && b.Until.IsZero() && b.Refused == "" && len(b.Recent) == 0
}

// fail counts a failure and opens the breaker when there were too many.
func (b *breaker) fail(now time.Time, reason string) {
	probing := !b.Until.IsZero()
	b.Failures++
	b.Recent, b.Reason, b.Probe = b.sampled(now, true), reason, time.Time{}
	if probing || b.Failures >= maxFailures || b.halfFailed() {
		b.Until = now.Add(min(minPause<<min(b.Opened, 10), maxPause))
		b.Opened++
		b.Recent = nil
	}
}

// sampled is what happened within the window, with one more. Successes alone
// are not worth remembering.
func (b *breaker) sampled(now time.Time, failed bool) []sample {
	var recent []sample
	bad := failed
	for _, s := range b.Recent {
		if now.Sub(s.At) < window {
			recent = append(recent, s)
			bad = bad || s.Failed
		}
	}
	if !bad {
		return nil
	}
	recent = append(recent, sample{now, failed})
	return recent[max(0, len(recent)-4*minSample):]
}

func (b *breaker) halfFailed() bool {
	failed := 0
	for _, s := range b.Recent {
		if s.Failed {
			failed++
		}
	}
	return len(b.Recent) >= minSample && 2*failed >= len(b.Recent)
}

// Reset forgets whatever was wrong with name: its owner has looked at it.
func (g *Gates) Reset(name string) error {
	var errs []error
	for _, d := range []Direction{Reading, Writing} {
		if err := os.Remove(g.path(name, d)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (g *Gates) path(name string, d Direction) string {
	return filepath.Join(g.dir, name, string(d)+".json")
}

func (g *Gates) read(name string, d Direction) (breaker, error) {
	var b breaker
	raw, err := os.ReadFile(g.path(name, d))
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &b)
	}
	if err != nil {
		return breaker{}, err
	}
	return b, nil
}

// change calls fn with the state under its lock and keeps what fn made of it,
// if fn says so. What does not work is left: see Gates.
func (g *Gates) change(name string, d Direction, fn func(*breaker) bool) {
	dir := filepath.Join(g.dir, name)
	if os.MkdirAll(dir, 0o700) != nil {
		fn(&breaker{})
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	lock := flock.New(filepath.Join(dir, "gate.lock"), flock.SetPermissions(0o600))
	defer lock.Close()
	_, _ = lock.TryLockContext(ctx, time.Millisecond)
	b, _ := g.read(name, d) // what cannot be read begins anew
	if !fn(&b) {
		return
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return
	}
	tmp := fmt.Sprintf("%s.%d", g.path(name, d), os.Getpid())
	if os.WriteFile(tmp, raw, 0o600) == nil {
		_ = os.Rename(tmp, g.path(name, d))
	}
}
