package providers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"vademecum/sync/journal"
	"vademecum/vault"
)

// Filled says what Backfill did.
type Filled struct {
	Total  int `json:"total"`  // memories that the route lets through
	Queued int `json:"queued"` // that the provider did not have
	// Owed is what is still owed to the provider, by state: what it has not
	// confirmed yet, and what is dead.
	Owed map[journal.State]int `json:"owed"`
}

// fillWindow is how many memories a backfill has in the journal at once: what is
// remembered meanwhile waits behind so many at most.
const fillWindow = 256

// BackfillCount is how many memories the provider called name lacks by its
// book, of how many that it should have. Nothing is sent.
func (o *Outbox) BackfillCount(name string) (lacks, total int, err error) {
	t, err := o.target(name)
	if err != nil {
		return 0, 0, err
	}
	lacking, total, err := o.lacking(t)
	return len(lacking), total, err
}

// Backfill hands over, in the order of their ids, all memories that the provider
// called name lacks by its book, and returns when what can be delivered is, or
// ctx is done. Where it was interrupted the next one goes on: what is in the
// book, or owed already, is left out. progress, which may be nil, is told how
// many of how many are done. The error is an ErrPaused when the provider refuses
// us until its owner changes something.
func (o *Outbox) Backfill(ctx context.Context, name string, progress func(done, total int)) (Filled, error) {
	f := Filled{Owed: map[journal.State]int{}}
	t, err := o.target(name)
	if err != nil {
		return f, err
	}
	if err := o.CatchUp(ctx); err != nil { // what comes from now on is the cursor's
		return f, err
	}
	lacking, total, err := o.lacking(t)
	if err != nil {
		return f, fmt.Errorf("backfill %s: %w", name, err)
	}
	f.Total = total
	if progress == nil {
		progress = func(int, int) {}
	}
	tell := func(waiting int) { progress(total-len(lacking)+max(f.Queued-waiting, 0), total) }
	for chunk := range slices.Chunk(lacking, fillWindow) {
		if err = o.Journal.Queue(ctx, chunk...); err != nil {
			break
		}
		f.Queued += len(chunk)
		if err = o.settleDown(ctx, t, fillWindow/4, tell); err != nil {
			break
		}
	}
	if err == nil {
		err = o.settleDown(ctx, t, 0, tell)
	}
	owed, pendingErr := o.Pending(name)
	f.Owed = owed
	if err = errors.Join(err, pendingErr); err != nil {
		err = fmt.Errorf("backfill %s: %w", name, err)
	}
	return f, err
}

// lacking is what t is to be given, by id, and how many memories it should have.
func (o *Outbox) lacking(t *Target) (list []journal.Delivery, total int, err error) {
	should, err := o.should(t)
	if err != nil {
		return nil, 0, err
	}
	for _, id := range slices.Sorted(maps.Keys(should)) {
		m := should[id]
		if e, has := o.Book(t.name()).Of(id); has && e.Version == m.Version {
			continue
		}
		owed, err := o.Journal.Owed(t.name(), id)
		if err != nil {
			return nil, 0, err
		}
		if len(owed) == 0 {
			list = append(list, putting(t, id, m))
		}
	}
	return list, len(should), nil
}

// should are the memories of main that t is to have, by id.
func (o *Outbox) should(t *Target) (map[string]*vault.Memory, error) {
	head, err := o.head()
	if err != nil {
		return nil, err
	}
	ids, err := o.memories(head)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(ids, func(_ string, m *vault.Memory) bool { return !t.Route.admits(m) || m.Expired(o.now()) })
	return ids, nil
}

// putting is the delivery of a memory that somebody may have handed over before.
func putting(t *Target, id string, m *vault.Memory) journal.Delivery {
	return journal.Delivery{To: t.name(), Key: id + "@" + string(m.Version), Group: id, What: m.Path, Unsure: true}
}

// laneWait is how long to wait for another process that delivers to the same
// provider before looking again.
const laneWait = 200 * time.Millisecond

// settleDown delivers to t until at most so many deliveries wait, for which it
// waits as long as the provider wants. What makes it wait is told, once: who
// looks on could not tell a slow provider from one that never takes anything.
func (o *Outbox) settleDown(ctx context.Context, t *Target, most int, tell func(waiting int)) error {
	told := ""
	for {
		l := o.lane(t)
		if err := l.run(ctx); err != nil {
			return err
		}
		if err := o.Journal.Compact(ctx); err != nil {
			return err
		}
		owed, err := o.Pending(t.name())
		if err != nil {
			return err
		}
		waiting := owed[journal.Queued] + owed[journal.Sending] + owed[journal.Retry]
		tell(waiting)
		// What was accepted is followed too, but only while there is more to come.
		accepted := owed[journal.Accepted]
		if most == 0 || !l.is.Resolve && !l.is.Find {
			accepted = 0
		}
		if waiting <= most && accepted <= 4*fillWindow {
			return nil
		}
		if p, ok := errors.AsType[*Paused](l.closed); ok && p.Until.IsZero() {
			return p
		}
		if errs := l.report.Errors; len(errs) > 0 && errs[0] != told {
			told = errs[0]
			o.notice("not handed over yet, and tried again until it is: " + told)
		}
		if err := pause(ctx, l.again()); err != nil {
			return err
		}
	}
}

// again is how long to wait before l is worth running again.
func (l *lane) again() time.Duration {
	if l.report.Busy || l.report.Next.IsZero() {
		return laneWait
	}
	return max(l.report.Next.Sub(l.o.now()), time.Millisecond)
}

// pause waits so long; the error is ctx's.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return ctx.Err()
	}
}
