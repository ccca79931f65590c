package journal

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// State is how far a delivery is: one vocabulary for journal, receipts,
// commands and pages.
type State string

const (
	Queued   State = "queued"
	Sending  State = "sending"  // leased to a sender
	Accepted State = "accepted" // taken, not confirmed yet
	Stored   State = "stored"
	Empty    State = "empty" // taken, and nothing of it was worth keeping
	Deleted  State = "deleted"
	Retry    State = "retry"
	Dead     State = "dead" // given up, kept until somebody retries or drops it
)

// Final reports whether nothing more is owed in s.
func (s State) Final() bool { return s == Stored || s == Empty || s == Deleted }

// Delivery is one change that is owed to one receiver.
type Delivery struct {
	To  string `json:"to"`  // the receiver: vault, or a provider's name
	Key string `json:"key"` // idempotency key: an episode's, or a memory's id@version
	// What the receiver needs to find the change again, for people too.
	What     string    `json:"what,omitempty"`
	State    State     `json:"state"`
	Attempts int       `json:"attempts"`
	Queued   time.Time `json:"queued"`
	Changed  time.Time `json:"changed"`
	Due      time.Time `json:"due,omitzero"`   // not to be tried before
	Lease    time.Time `json:"lease,omitzero"` // Sending: whose it is until then
	Error    string    `json:"error,omitempty"`
	Result   string    `json:"result,omitempty"` // where it is now, or why nothing was kept
}

func (d *Delivery) id() string { return d.To + "/" + d.Key }

// due reports whether d may be sent at now.
func (d *Delivery) due(now time.Time) bool {
	switch d.State {
	case Queued, Retry:
		return !now.Before(d.Due)
	case Sending:
		return !now.Before(d.Lease)
	}
	return false
}

// Outcome is what became of one attempt.
type Outcome struct {
	Key    string
	State  State  // of success: Stored, Empty, Accepted, Deleted
	Result string // see Delivery
	Err    error  // of failure
	// Postponed: the receiver did not look at it (a lock was held, a breaker is
	// open); the attempt does not count.
	Postponed bool
	// Permanent: trying again is of no use.
	Permanent bool
}

const (
	minBackoff = time.Second
	maxBackoff = 15 * time.Minute
)

// backoff is how long to wait after so many attempts: 1 s doubling to 15 min,
// of which the upper half is left to chance.
func (j *Journal) backoff(attempts int) time.Duration {
	d := minBackoff << min(max(attempts-1, 0), 20)
	d = min(d, maxBackoff)
	return d/2 + time.Duration(float64(d/2)*j.opts.Jitter())
}

// Queue records that these changes are owed. What is owed already, or was
// delivered, stays as it is.
func (j *Journal) Queue(ctx context.Context, list ...Delivery) error {
	if len(list) == 0 {
		return nil
	}
	if err := j.make(); err != nil {
		return err
	}
	return j.ledger.update(ctx, func(have map[string]*Delivery) (changed []*Delivery) {
		now := j.opts.Now().UTC()
		for _, d := range list {
			if have[d.id()] == nil {
				d.State, d.Queued, d.Changed = Queued, now, now
				changed = append(changed, &d)
				have[d.id()] = &d
			}
		}
		return changed
	})
}

// Claim leases up to limit deliveries that are due at to's, the oldest first,
// and whose lease, if somebody had one, is over. What was tried often enough
// is dead.
func (j *Journal) Claim(ctx context.Context, to string, limit int) ([]Delivery, error) {
	var claimed []Delivery
	err := j.ledger.update(ctx, func(have map[string]*Delivery) (changed []*Delivery) {
		claimed = nil
		now := j.opts.Now().UTC()
		for _, d := range sorted(have) {
			if d.To != to || !d.due(now) || len(claimed) == limit {
				continue
			}
			d.Changed = now
			if d.Attempts >= j.opts.Attempts {
				d.State, d.Error = Dead, cmp.Or(d.Error, "its sender died each time")
			} else {
				d.State, d.Lease, d.Attempts = Sending, now.Add(j.opts.Lease), d.Attempts+1
				claimed = append(claimed, *d)
			}
			changed = append(changed, d)
		}
		return changed
	})
	return claimed, err
}

// Settle records what became of claimed deliveries. One that somebody else
// settled or dropped meanwhile is left alone.
func (j *Journal) Settle(ctx context.Context, to string, outcomes ...Outcome) error {
	if len(outcomes) == 0 {
		return nil
	}
	return j.ledger.update(ctx, func(have map[string]*Delivery) (changed []*Delivery) {
		for _, o := range outcomes {
			if d := have[to+"/"+o.Key]; d != nil && d.State == Sending {
				j.settle(d, o)
				changed = append(changed, d)
			}
		}
		return changed
	})
}

func (j *Journal) settle(d *Delivery, o Outcome) {
	now := j.opts.Now().UTC()
	d.Changed, d.Lease, d.Due, d.Result, d.Error = now, time.Time{}, time.Time{}, o.Result, ""
	switch {
	case o.Err == nil:
		d.State = o.State
		return
	case o.Postponed:
		d.State, d.Attempts = Retry, d.Attempts-1
		d.Due = now.Add(j.backoff(1))
	case o.Permanent || d.Attempts >= j.opts.Attempts:
		d.State = Dead
	default:
		d.State = Retry
		d.Due = now.Add(j.backoff(d.Attempts))
	}
	d.Error = strings.ToValidUTF8(o.Err.Error(), "�")
}

// Deliveries is the ledger, oldest first.
func (j *Journal) Deliveries() ([]Delivery, error) {
	have, err := j.ledger.read()
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(have), func(a, b Delivery) int { return byAge(&a, &b) }), nil
}

// sorted is have by the time that each was queued.
func sorted(have map[string]*Delivery) []*Delivery {
	list := make([]*Delivery, 0, len(have))
	for _, d := range have {
		list = append(list, d)
	}
	slices.SortFunc(list, byAge)
	return list
}

func byAge(a, b *Delivery) int {
	return cmp.Or(a.Queued.Compare(b.Queued), cmp.Compare(a.id(), b.id()))
}

// ErrUnknown: no delivery has that key.
var ErrUnknown = errors.New("no such delivery")

// Retry makes those deliveries due at once that pick chooses, however often
// they were tried, and returns how many.
func (j *Journal) Retry(ctx context.Context, pick func(Delivery) bool) (int, error) {
	n := 0
	err := j.ledger.update(ctx, func(have map[string]*Delivery) (changed []*Delivery) {
		n = 0
		for _, d := range sorted(have) {
			if (d.State == Dead || d.State == Retry) && pick(*d) {
				d.State, d.Attempts, d.Due, d.Changed = Queued, 0, time.Time{}, j.opts.Now().UTC()
				changed = append(changed, d)
			}
		}
		n = len(changed)
		return changed
	})
	return n, err
}

// Drop crosses off those deliveries that pick chooses, with what was to be
// delivered, and returns them. Nothing is sent of them any more.
func (j *Journal) Drop(ctx context.Context, pick func(Delivery) bool) ([]Delivery, error) {
	var dropped []Delivery
	keys := map[string]bool{}
	err := j.ledger.update(ctx, func(have map[string]*Delivery) (changed []*Delivery) {
		dropped = nil
		for _, d := range sorted(have) {
			if d.State.Final() || !pick(*d) {
				continue
			}
			dropped = append(dropped, *d)
			if d.To == toVault {
				keys[d.Key] = true
			}
			d.State, d.Changed, d.Result = Empty, j.opts.Now().UTC(), "dropped"
			changed = append(changed, d)
		}
		return changed
	})
	if err == nil {
		err = j.dropEpisodes(keys)
	}
	return dropped, err
}
