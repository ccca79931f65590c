package providers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/sync/journal"
	"vademecum/vault"
)

// Delivered says what Deliver did at each provider.
type Delivered struct {
	Lanes []LaneReport `json:"lanes"`
	// Next is when something is due again at the earliest; zero: nothing is.
	Next time.Time `json:"next,omitzero"`
}

// LaneReport says what was done at one provider.
type LaneReport struct {
	Name string `json:"name"`
	// Busy: another process delivers to it.
	Busy   bool                  `json:"busy,omitempty"`
	Paused string                `json:"paused,omitempty"` // why it is not written to at present
	States map[journal.State]int `json:"states"`           // deliveries by what became of them
	Errors []string              `json:"errors"`           // each once
	Next   time.Time             `json:"next,omitzero"`    // something is due again

	progress int // deliveries that came nearer to their end
}

// Deliver sends what is due, to all providers at once, until nothing is or ctx
// is done. What fails, or is paused, waits; its error is in the report. An
// error of Deliver is the disk's.
func (o *Outbox) Deliver(ctx context.Context) (Delivered, error) {
	if err := o.dropRemoved(ctx); err != nil {
		return Delivered{}, fmt.Errorf("deliver: %w", err)
	}
	lanes := make([]*lane, len(o.Targets))
	errs := make([]error, len(o.Targets))
	var running sync.WaitGroup
	for i := range o.Targets {
		lanes[i] = o.lane(&o.Targets[i])
		running.Go(func() { errs[i] = lanes[i].run(ctx) })
	}
	running.Wait()
	d := Delivered{Lanes: []LaneReport{}}
	for _, l := range lanes {
		d.Lanes = append(d.Lanes, l.report)
		if at := l.report.Next; !at.IsZero() && (d.Next.IsZero() || at.Before(d.Next)) {
			d.Next = at
		}
	}
	if err := o.Journal.Compact(context.WithoutCancel(ctx)); err != nil {
		errs = append(errs, err)
	}
	return d, errors.Join(errs...)
}

// lane delivers to one provider, one request after the other.
type lane struct {
	o      *Outbox
	t      *Target
	p      Provider
	is     Properties
	name   string
	book   *Book
	rate   rate
	report LaneReport
	listed map[string][]Hit // what the provider has, when it was listed
	closed error            // why the lane stops
}

func (o *Outbox) lane(t *Target) *lane {
	l := &lane{o: o, t: t, p: t.Provider, is: PropertiesOf(t.Provider), name: t.name()}
	l.book = o.Book(l.name)
	l.rate = rate{path: o.file(l.name, "rate"), perMinute: l.is.PerMinute, now: o.now}
	l.report = LaneReport{Name: l.name, States: map[journal.State]int{}, Errors: []string{}}
	return l
}

// claims is how many deliveries a lane takes at once.
const claims = 32

// run delivers until nothing is due. Whoever holds the lock is the only one
// alive who has claimed anything of the provider's: leases of others are over.
func (l *lane) run(ctx context.Context) error {
	unlock, err := l.lock(ctx)
	if errors.Is(err, vault.ErrLocked) {
		l.report.Busy = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("deliver to %s: %w", l.name, err)
	}
	defer unlock()
	if err := l.work(ctx); err != nil {
		return fmt.Errorf("deliver to %s: %w", l.name, err)
	}
	return nil
}

func (l *lane) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Join(l.o.Dir, l.name), 0o700); err != nil {
		return nil, err
	}
	return vault.LockPath(ctx, l.o.file(l.name, "lock"), 0)
}

// work is run under the lane's lock.
func (l *lane) work(ctx context.Context) error {
	if err := l.expire(ctx); err != nil {
		return err
	}
	if err := l.o.Journal.Release(ctx, l.name); err != nil {
		return err
	}
	for l.closed == nil && ctx.Err() == nil {
		at, ok, err := l.o.Journal.Next(l.name)
		if err != nil {
			return err
		}
		if !ok || at.After(l.o.now()) {
			break
		}
		if l.closed = l.peek(); l.closed != nil {
			break
		}
		claimed, err := l.o.Journal.Claim(ctx, l.name, claims)
		if err != nil {
			return err
		}
		if err := l.deliver(ctx, claimed); err != nil {
			return err
		}
	}
	return l.close()
}

// close notes when to come again.
func (l *lane) close() error {
	at, ok, err := l.o.Journal.Next(l.name)
	if err != nil || !ok {
		return err
	}
	if at.Before(l.o.now()) {
		at = l.o.now()
	}
	if p, ok := errors.AsType[*Paused](l.closed); ok {
		l.report.Paused = p.Error()
		if p.Until.IsZero() {
			return nil
		}
		if at.Before(p.Until) {
			at = p.Until
		}
	}
	l.report.Next = at
	return nil
}

// expire queues the deletion of what the provider has and is over by now.
func (l *lane) expire(ctx context.Context) error {
	if _, ok := l.p.(Deleter); !ok {
		return nil
	}
	over, err := l.book.expired(l.o.now())
	if err != nil || len(over) == 0 {
		return err
	}
	head, err := l.o.head()
	if err != nil {
		return err
	}
	ids, err := l.o.memories(head)
	if err != nil {
		return err
	}
	var owed []journal.Delivery
	for _, e := range over {
		m := ids[e.ID]
		if m == nil || !m.Expired(l.o.now()) { // gone is CatchUp's, and later is a put's
			continue
		}
		live, err := l.o.Journal.Owed(l.name, e.ID)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(live, func(d journal.Delivery) bool { return isDelete(d.Key) }) {
			owed = append(owed, l.o.deletion(l.t, e.ID, string(m.Version), m.Path))
		}
	}
	return l.o.Journal.Queue(ctx, owed...)
}

// deliver does what is claimed: questions first, then deletions, then puts.
func (l *lane) deliver(ctx context.Context, claimed []journal.Delivery) error {
	var puts, rest []journal.Delivery
	for _, d := range claimed {
		if d.State == journal.Accepted || isDelete(d.Key) {
			rest = append(rest, d)
		} else {
			puts = append(puts, d)
		}
	}
	slices.SortStableFunc(rest, func(a, b journal.Delivery) int { return stateOrder(&a) - stateOrder(&b) })
	for _, d := range rest {
		o := journal.Outcome{}
		switch {
		case l.stopped(ctx):
			o = l.giveBack(&d, false)
		case d.State == journal.Accepted:
			o = l.resolve(ctx, &d)
		default:
			o = l.remove(ctx, &d)
		}
		if err := l.settle(ctx, o); err != nil {
			return err
		}
	}
	return l.put(ctx, puts)
}

func stateOrder(d *journal.Delivery) int {
	if d.State == journal.Accepted {
		return 0
	}
	return 1
}

// settle records outcomes. It does so even when ctx is done: what a provider
// did is not to be forgotten.
func (l *lane) settle(ctx context.Context, outcomes ...journal.Outcome) error {
	for _, o := range outcomes {
		l.report.count(&o)
	}
	return l.o.Journal.Settle(context.WithoutCancel(ctx), l.name, outcomes...)
}

func (r *LaneReport) count(o *journal.Outcome) {
	state := o.State
	switch {
	case o.Err == nil || o.Postponed && state == journal.Queued || state == journal.Accepted && !o.Permanent:
	case o.Permanent:
		state = journal.Dead
	default:
		state = journal.Retry
	}
	r.States[state]++
	if !o.Postponed && (o.Err == nil || o.Permanent) && state != journal.Accepted {
		r.progress++
	}
	if o.Err != nil && !slices.Contains(r.Errors, o.Err.Error()) {
		r.Errors = append(r.Errors, o.Err.Error())
	}
}

// stopped reports whether the provider is not to be called any more for now.
func (l *lane) stopped(ctx context.Context) bool { return l.closed != nil || ctx.Err() != nil }

// allow reports whether the provider may be called once; peek, whether that
// would be so.
func (l *lane) allow() error {
	if l.o.Gates == nil {
		return nil
	}
	return l.o.Gates.Allow(l.name, Writing, l.t.Fingerprint)
}

func (l *lane) peek() error {
	if l.o.Gates == nil {
		return nil
	}
	return l.o.Gates.Peek(l.name, Writing, l.t.Fingerprint)
}

// call asks the provider something, within the time of a write, and tells the
// gate how it went. Where the gate closed it closes the lane.
func (l *lane) call(ctx context.Context, op string, fn func(ctx context.Context) error) error {
	if l.closed == nil {
		l.closed = l.allow()
	}
	if l.closed != nil {
		return l.closed
	}
	timeout := l.t.timeout()
	callCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := fn(callCtx)
	switch {
	case err == nil:
	case ctx.Err() != nil: // not the provider's fault
		return context.Cause(ctx)
	case callCtx.Err() != nil && !isOurs(err):
		err = &Error{Provider: l.name, Op: op, Class: Retryable, Ambiguous: true, Msg: "no answer within " + timeout.String(), Err: err}
	}
	if l.o.Gates != nil && l.o.Gates.Report(l.name, Writing, l.t.Fingerprint, err) {
		l.o.notice(fmt.Sprintf("nothing is handed over to %s until its config changes, or \"vade provider check %s\" succeeds: %v", l.name, l.name, err))
	}
	if err != nil && l.closed == nil {
		l.closed = l.peek()
	}
	if l.closed == nil && Is(err, Auth) {
		l.closed = &Paused{Provider: l.name, Reason: err.Error()}
	}
	if l.closed == nil && Is(err, RateLimited) {
		l.closed = &Paused{Provider: l.name, Until: l.o.now().Add(max(RetryAfter(err), time.Second)), Reason: err.Error()}
	}
	return err
}

// isOurs reports whether err is an *Error.
func isOurs(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}

// write is call for what counts against the provider's rate.
func (l *lane) write(ctx context.Context, op string, fn func(ctx context.Context) error) error {
	if l.closed != nil {
		return l.closed
	}
	if err := l.rate.wait(ctx); err != nil {
		return err
	}
	return l.call(ctx, op, fn)
}

// giveUp is how long a delivery is tried, or asked after, at a provider that
// never says what became of it.
const giveUp = 72 * time.Hour

// giveBack is the outcome of a delivery that was not tried. sent: it may have
// arrived.
func (l *lane) giveBack(d *journal.Delivery, sent bool) journal.Outcome {
	o := journal.Outcome{Key: d.Key, State: journal.Queued, Postponed: true, Unsure: sent, Err: errors.New("the program was stopped")}
	if d.State == journal.Accepted {
		o = journal.Outcome{Key: d.Key, State: journal.Accepted, Result: d.Result}
	}
	if p, ok := errors.AsType[*Paused](l.closed); ok {
		o.Err, o.After = p, p.Until
	} else if l.closed != nil {
		o.Err = l.closed
	}
	return o
}

// failed is the outcome of a delivery that failed with err.
func (l *lane) failed(ctx context.Context, d *journal.Delivery, err error) journal.Outcome {
	o := journal.Outcome{Key: d.Key, Err: err, Unsure: Ambiguous(err)}
	now := l.o.now()
	switch {
	case errors.Is(err, ErrPaused):
		return l.giveBack(d, false)
	case ctx.Err() != nil:
		_, unsent := errors.AsType[*notAsked](err)
		return l.giveBack(d, !unsent)
	case Is(err, Auth):
		o.Postponed, o.State = true, journal.Queued
	case Is(err, RateLimited):
		o.Postponed, o.After = true, now.Add(max(RetryAfter(err), time.Second))
	case Terminal(err):
		o.Permanent = true
	default:
		o.After = now.Add(RetryAfter(err))
		// A failure that closed the gate is the provider's, not the item's: an
		// outage of hours does not use up anybody's attempts.
		if p, ok := errors.AsType[*Paused](l.closed); ok {
			o.After, o.Unsure = p.Until, true
			o.Postponed = d.Since.IsZero() || now.Sub(d.Since) < giveUp
			o.Permanent = !o.Postponed
		}
	}
	return o
}

// head is where main is.
func (o *Outbox) head() (plumbing.Hash, error) {
	o.reading.Lock()
	defer o.reading.Unlock()
	return o.Vault.Head()
}
