package journal

import (
	"context"
	"errors"
	"slices"
	"time"
)

// ErrUnknown: no delivery has that key.
var ErrUnknown = errors.New("no such delivery")

// Deliveries is the ledger, oldest first.
func (j *Journal) Deliveries() ([]Delivery, error) {
	var list []Delivery
	err := j.ledger.view(func(all *owed) {
		for _, d := range all.sorted() {
			list = append(list, *d)
		}
	})
	return list, err
}

// Owed is what the ledger knows of one group of to's that is not over, oldest
// first. It does not look at the others.
func (j *Journal) Owed(to, group string) ([]Delivery, error) {
	var list []Delivery
	err := j.ledger.view(func(all *owed) {
		for _, d := range all.live[(&Delivery{To: to, Group: group}).group()] {
			list = append(list, *d)
		}
	})
	slices.SortFunc(list, func(a, b Delivery) int { return byAge(&a, &b) })
	return list, err
}

// Of is the delivery to to with that key, if the ledger knows it.
func (j *Journal) Of(to, key string) (d Delivery, ok bool, err error) {
	err = j.ledger.view(func(all *owed) {
		if have := all.have[to+"/"+key]; have != nil {
			d, ok = *have, true
		}
	})
	return d, ok, err
}

// Counts is how many deliveries to each receiver are in which state.
func (j *Journal) Counts() (map[string]map[State]int, error) {
	counts := map[string]map[State]int{}
	err := j.ledger.view(func(all *owed) {
		for _, d := range all.have {
			if counts[d.To] == nil {
				counts[d.To] = map[State]int{}
			}
			counts[d.To][d.State]++
		}
	})
	return counts, err
}

// Next is when something is due at to's at the earliest; ok is false when
// nothing will be.
func (j *Journal) Next(to string) (at time.Time, ok bool, err error) {
	err = j.ledger.view(func(all *owed) { at, ok = all.next(to) })
	return at, ok, err
}

// Release ends the leases of to's senders, of whom the caller knows that none
// is alive. What they had is due at once.
func (j *Journal) Release(ctx context.Context, to string) error {
	leased := func(d *Delivery) bool { return d.To == to && d.claimed() }
	some := false
	err := j.ledger.view(func(all *owed) {
		for d := range all.in {
			some = some || leased(d)
		}
	})
	if err != nil || !some {
		return err
	}
	return j.ledger.update(ctx, func(all *owed) (changed []*Delivery) {
		for d := range all.in {
			if leased(d) {
				d.Lease, d.Changed = time.Time{}, j.opts.Now().UTC()
				changed = append(changed, d)
			}
		}
		return changed
	})
}

// Compact forgets what was delivered long ago, when the ledger is worth writing
// anew.
func (j *Journal) Compact(ctx context.Context) error {
	if !j.exists() {
		return nil
	}
	return j.ledger.compact(ctx, j.opts.Now().Add(-j.opts.Keep))
}

// Retry makes those deliveries due at once that pick chooses, however often
// they were tried, and returns how many.
func (j *Journal) Retry(ctx context.Context, pick func(Delivery) bool) (int, error) {
	if !j.exists() {
		return 0, nil
	}
	n := 0
	err := j.ledger.update(ctx, func(all *owed) (changed []*Delivery) {
		for _, d := range all.sorted() {
			if (d.State == Dead || d.State == Retry) && pick(*d) {
				d.Unsure = d.Unsure || d.Attempts > 0 && d.Group != ""
				d.State, d.Attempts, d.Due, d.Since, d.Changed = Queued, 0, time.Time{}, time.Time{}, j.opts.Now().UTC()
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
	return j.Cancel(ctx, "dropped", pick)
}

// Cancel is Drop for a reason, which becomes the deliveries' Result.
func (j *Journal) Cancel(ctx context.Context, why string, pick func(Delivery) bool) ([]Delivery, error) {
	if !j.exists() {
		return nil, nil
	}
	var dropped []Delivery
	keys := map[string]bool{}
	err := j.ledger.update(ctx, func(all *owed) (changed []*Delivery) {
		dropped = nil
		for _, d := range all.sorted() {
			if d.State.Final() || !pick(*d) {
				continue
			}
			dropped = append(dropped, *d)
			if d.To == toVault {
				keys[d.Key] = true
			}
			d.end(why, j.opts.Now().UTC())
			changed = append(changed, d)
		}
		return changed
	})
	if err == nil {
		err = j.dropEpisodes(keys)
	}
	return dropped, err
}

// Newest is the newest delivery to to of a group, also when it is over, as far
// as the ledger remembers.
func (j *Journal) Newest(to, group string) (d Delivery, ok bool, err error) {
	err = j.ledger.view(func(all *owed) {
		var newest *Delivery
		for _, have := range all.live[(&Delivery{To: to, Group: group}).group()] {
			if newest == nil || byAge(newest, have) < 0 {
				newest = have
			}
		}
		if newest == nil {
			for _, have := range all.have {
				if have.To == to && have.Group == group && (newest == nil || byAge(newest, have) < 0) {
					newest = have
				}
			}
		}
		if newest != nil {
			d, ok = *newest, true
		}
	})
	return d, ok, err
}
