package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vademecum/providers"
	"vademecum/sync/journal"
)

// linger is how long a process in the background stays for what is due soon:
// an accepted write that is asked after, a first retry.
const linger = time.Minute

// handOver queues what changed and sends what is due; and then what becomes due
// within stay. The zero report: there is nobody to hand anything to.
func (o *opened) handOver(ctx context.Context, stay time.Duration) (providers.Delivered, error) {
	o.takeTime()
	b := o.outbox()
	if b == nil || !o.vault.Exists() {
		return providers.Delivered{}, nil
	}
	if err := b.CatchUp(ctx); err != nil {
		return providers.Delivered{}, err
	}
	until := time.Now().Add(stay)
	var all providers.Delivered
	for {
		d, err := b.Deliver(ctx)
		all = mergeReports(all, d)
		if err != nil || d.Next.IsZero() || d.Next.After(until) {
			return all, err
		}
		select {
		case <-ctx.Done():
			return all, nil
		case <-time.After(max(time.Until(d.Next), 10*time.Millisecond)):
		}
	}
}

// mergeReports is what two deliveries did, one after the other.
func mergeReports(a, b providers.Delivered) providers.Delivered {
	for i, l := range b.Lanes {
		if i < len(a.Lanes) {
			for state, n := range a.Lanes[i].States {
				if state.Final() || state == journal.Dead {
					l.States[state] += n
				}
			}
		}
		b.Lanes[i] = l
	}
	return b
}

// deliveriesDue reports whether anything is to be sent to a provider now. It
// opens none of them.
func deliveriesDue(j *journal.Journal, c config) bool {
	for _, name := range c.providerNames() {
		if at, ok, err := j.Next(name); err == nil && ok && !at.After(time.Now()) {
			return true
		}
	}
	return false
}

// handOverDue reports whether a provider has not been followed to the present
// commit, or something is to be sent to it now.
func (o *opened) handOverDue() bool {
	if len(o.config.Providers) == 0 || !o.vault.Exists() {
		return false
	}
	head, err := o.vault.Head()
	if err != nil {
		return false
	}
	for _, name := range o.config.providerNames() {
		cursor, err := os.ReadFile(filepath.Join(o.providersDir(), name, "cursor"))
		if err == nil && strings.TrimSpace(string(cursor)) != head.String() {
			return true
		}
	}
	return deliveriesDue(o.journal(), o.config)
}

// laneWords is what was done at one provider, for people: "mem0: 3 stored, 1 retry".
func laneWords(l providers.LaneReport) string {
	var words []string
	for _, s := range []journal.State{journal.Stored, journal.Deleted, journal.Empty, journal.Accepted, journal.Queued, journal.Retry, journal.Dead} {
		if n := l.States[s]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, s))
		}
	}
	if l.Busy {
		words = append(words, "another process delivers")
	}
	if len(words) == 0 {
		return ""
	}
	return l.Name + ": " + strings.Join(words, ", ")
}

func (a *app) printDelivered(d providers.Delivered) {
	for _, l := range d.Lanes {
		if words := laneWords(l); words != "" {
			a.printf("%s\n", words)
		}
		for _, why := range uniqueNonEmpty(append(l.Errors, l.Paused)...) {
			a.warn("%s", oneLine(why))
		}
	}
}

// undelivered reports whether something failed or waits for its provider.
func undelivered(d providers.Delivered) bool {
	for _, l := range d.Lanes {
		if l.States[journal.Retry]+l.States[journal.Dead] > 0 || l.Paused != "" {
			return true
		}
	}
	return false
}

// deliverAgain sends what waited for a provider that is well again, in the
// background.
func (o *opened) deliverAgain(ctx context.Context, names []string) {
	_, err := o.journal().Retry(ctx, func(d journal.Delivery) bool {
		return d.State != journal.Dead && slices.Contains(names, d.To)
	})
	if err != nil {
		o.a.warn("%v", err)
	}
	o.drainLater()
}
