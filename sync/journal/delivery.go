package journal

import (
	"cmp"
	"context"
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
	// Group is what the change is of, a memory's id. Of one group the newest
	// delivery counts: it takes the place of older ones, or waits for those that
	// are on their way. "": it has nothing to do with others.
	Group string `json:"group,omitempty"`
	// What the receiver needs to find the change again, for people too.
	What     string    `json:"what,omitempty"`
	State    State     `json:"state"`
	Attempts int       `json:"attempts"`
	Seq      uint64    `json:"seq,omitempty"` // order of queueing; 0: from before there was any
	Queued   time.Time `json:"queued"`
	Changed  time.Time `json:"changed"`
	Since    time.Time `json:"since,omitzero"` // first attempt; of Accepted, when it was accepted
	Due      time.Time `json:"due,omitzero"`   // not to be tried, or asked after, before
	Lease    time.Time `json:"lease,omitzero"` // claimed: whose it is until then
	Polls    int       `json:"polls,omitempty"`
	// Unsure: the receiver may have it, or an earlier one of its group, from
	// somebody whose end nobody knows: look before it is sent.
	Unsure bool `json:"unsure,omitempty"`
	// Parts are what the receiver said of the parts that were sent so far.
	Parts  []Part `json:"parts,omitempty"`
	Error  string `json:"error,omitempty"`
	Result string `json:"result,omitempty"` // where it is now, or why nothing was kept
}

// Part is what a receiver said of one part of a delivery; zero: nothing yet.
type Part struct {
	State  State    `json:"state,omitempty"`
	Refs   []string `json:"refs,omitempty"`   // how the receiver calls it
	Handle string   `json:"handle,omitempty"` // of Accepted: how to ask after it
}

func (d *Delivery) id() string { return d.To + "/" + d.Key }

func (d *Delivery) group() string { return d.To + "/" + d.Group }

// at is when d is due; ok is false for what is over or given up.
func (d *Delivery) at() (at time.Time, ok bool) {
	switch d.State {
	case Queued, Retry:
		return d.Due, true
	case Sending:
		return d.Lease, true
	case Accepted:
		if d.Lease.After(d.Due) {
			return d.Lease, true
		}
		return d.Due, true
	}
	return time.Time{}, false
}

// due reports whether d may be claimed at now.
func (d *Delivery) due(now time.Time) bool {
	at, ok := d.at()
	return ok && !now.Before(at)
}

// underWay reports whether the receiver has d, or may get it any moment.
func (d *Delivery) underWay() bool { return d.State == Sending || d.State == Accepted }

// claimed reports whether somebody may settle d.
func (d *Delivery) claimed() bool {
	return d.State == Sending || d.State == Accepted && !d.Lease.IsZero()
}

// Outcome is what became of one attempt.
type Outcome struct {
	Key    string
	State  State  // of success: Stored, Empty, Accepted, Deleted
	Result string // see Delivery
	// Err of failure. With the state Accepted it is why the receiver could not
	// be asked what became of it.
	Err error
	// Postponed: the receiver did not look at it (a lock was held, a breaker is
	// open); the attempt does not count. With the state Queued it is as if it had
	// not been claimed, but for Unsure.
	Postponed bool
	// Permanent: trying again is of no use.
	Permanent bool
	After     time.Time // not to be tried, or asked after, before
	Unsure    bool      // see Delivery
	Parts     []Part    // see Delivery; nil leaves them as they are
}

const (
	minBackoff = time.Second
	maxBackoff = 15 * time.Minute
	maxPoll    = time.Minute
)

// backoff is how long to wait after so many attempts: 1 s doubling to 15 min,
// of which the upper half is left to chance.
func (j *Journal) backoff(attempts int) time.Duration {
	d := minBackoff << min(max(attempts-1, 0), 20)
	d = min(d, maxBackoff)
	return d/2 + time.Duration(float64(d/2)*j.opts.Jitter())
}

// Queue records that these changes are owed, in this order. What is owed
// already stays as it is, and so does what was delivered and has no group. Of a
// group, what was delivered is owed again, because something else may have been
// delivered since, and older ones that are not on their way are superseded.
func (j *Journal) Queue(ctx context.Context, list ...Delivery) error {
	if len(list) == 0 {
		return nil
	}
	if err := j.make(); err != nil {
		return err
	}
	return j.ledger.update(ctx, func(all *owed) (changed []*Delivery) {
		now := j.opts.Now().UTC()
		for _, d := range list {
			old := all.have[d.id()]
			if old != nil && d.Group == "" {
				continue
			}
			superseded, sent := all.supersede(&d, now)
			changed = append(changed, superseded...)
			if old != nil && !old.State.Final() {
				continue
			}
			d.State, d.Queued, d.Changed, d.Seq, d.Unsure = Queued, now, now, all.seq+1, d.Unsure || sent
			all.put(&d)
			changed = append(changed, &d)
		}
		return changed
	})
}

// supersede ends what d's group has and d makes needless. sent reports whether
// any of that was ever sent.
func (o *owed) supersede(d *Delivery, now time.Time) (changed []*Delivery, sent bool) {
	if d.Group == "" {
		return nil, false
	}
	for _, old := range slices.Clone(o.live[d.group()]) {
		if old.Key == d.Key || old.underWay() {
			continue
		}
		sent = sent || old.Attempts > 0 || old.Unsure
		old.end("superseded by a later change", now)
		o.put(old)
		changed = append(changed, old)
	}
	return changed, sent
}

// end makes d one of which nothing is kept.
func (d *Delivery) end(why string, now time.Time) {
	d.State, d.Result, d.Changed, d.Due, d.Lease, d.Error = Empty, why, now, time.Time{}, time.Time{}, ""
}

// Claim leases up to limit deliveries that are due at to's, and whose lease, if
// somebody had one, is over: those that have been due for longest, in the order
// in which they were queued. Of a group only one is claimed at a time. One that
// is Accepted stays so, and is to be asked after. What was tried often enough is
// dead.
func (j *Journal) Claim(ctx context.Context, to string, limit int) ([]Delivery, error) {
	var claimed []Delivery
	if !j.exists() {
		return nil, nil
	}
	err := j.ledger.update(ctx, func(all *owed) (changed []*Delivery) {
		claimed = nil
		now := j.opts.Now().UTC()
		all.each(to, now, func(d *Delivery) (more bool) {
			if len(claimed) >= limit || all.waits(d) {
				return len(claimed) < limit
			}
			d.Changed = now
			switch {
			case d.State == Accepted:
				d.Lease = now.Add(j.opts.Lease)
				claimed = append(claimed, *d)
			case d.Attempts >= j.opts.Attempts:
				d.State, d.Error = Dead, cmp.Or(d.Error, "its sender died each time")
			default:
				d.State, d.Lease, d.Attempts = Sending, now.Add(j.opts.Lease), d.Attempts+1
				if d.Since.IsZero() {
					d.Since = now
				}
				claimed = append(claimed, *d)
			}
			changed = append(changed, d)
			return true
		})
		slices.SortFunc(claimed, func(a, b Delivery) int { return byAge(&a, &b) })
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
	return j.ledger.update(ctx, func(all *owed) (changed []*Delivery) {
		for _, o := range outcomes {
			d := all.have[to+"/"+o.Key]
			if d == nil || !d.claimed() {
				continue
			}
			j.settle(d, o)
			changed = append(changed, d)
			// What failed is not tried again when something newer is owed.
			if newer := all.newer(d); newer != nil && !d.State.Final() && !d.underWay() {
				d.end("superseded by a later change", d.Changed)
				newer.Unsure = true
				changed = append(changed, newer)
			}
		}
		return changed
	})
}

func (j *Journal) settle(d *Delivery, o Outcome) {
	now := j.opts.Now().UTC()
	d.Changed, d.Lease, d.Due, d.Result, d.Error = now, time.Time{}, time.Time{}, o.Result, ""
	d.Unsure = d.Unsure || o.Unsure
	if o.Parts != nil {
		d.Parts = o.Parts
	}
	if o.Err != nil {
		d.Error = strings.ToValidUTF8(o.Err.Error(), "�")
	}
	wait := time.Duration(0)
	switch {
	case o.State == Accepted && !o.Permanent:
		if d.State != Accepted {
			d.State, d.Since, d.Polls = Accepted, now, 0
		}
		wait = min(time.Second<<min(d.Polls, 10), maxPoll)
		d.Polls++
	case o.Err == nil:
		d.State = o.State
		return
	case o.Postponed && o.State == Queued:
		d.State, d.Attempts = Queued, d.Attempts-1
	case o.Postponed:
		d.State, d.Attempts = Retry, d.Attempts-1
		wait = j.backoff(1)
	case o.Permanent || d.Attempts >= j.opts.Attempts:
		d.State = Dead
		return
	default:
		d.State = Retry
		wait = j.backoff(d.Attempts)
	}
	if d.Due = o.After; wait > 0 && d.Due.Before(now.Add(wait)) {
		d.Due = now.Add(wait)
	}
}
