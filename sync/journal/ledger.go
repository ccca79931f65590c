package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// ledger is deliveries.jsonl: a line for each change of a delivery, whole, so
// that the last one counts. Changes are made under ledger.lock, which nobody
// holds while something is sent. A line that cannot be read leaves its delivery
// in the state before; what was delivered then is found to be so when it is
// sent again.
type ledger struct {
	dir string

	mu  sync.Mutex
	log *Log[Delivery]
	all *owed
}

func newLedger(dir string) ledger {
	return ledger{dir: dir, log: OpenLog[Delivery](filepath.Join(dir, "deliveries.jsonl"), "delivery"), all: newOwed()}
}

func (l *ledger) path() string { return filepath.Join(l.dir, "deliveries.jsonl") }

// lock makes the caller the only one who changes the ledger.
func (l *ledger) lock(ctx context.Context) (unlock func(), err error) {
	return waitLock(ctx, filepath.Join(l.dir, "ledger.lock"), ledgerWait)
}

// ledgerWait is how long to wait for whoever changes the ledger.
const ledgerWait = 10 * time.Second

// view calls fn with what the ledger says, which fn does not change or keep.
func (l *ledger) view(fn func(*owed)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return err
	}
	fn(l.all)
	return nil
}

// load brings all up to date. mu is held.
func (l *ledger) load() error {
	err := l.log.Load(func() { l.all = newOwed() }, func(d *Delivery) {
		if d.Key != "" {
			l.all.put(d)
		}
	})
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	return nil
}

// update calls fn with what the ledger says, under its lock, and appends the
// deliveries that fn returns.
func (l *ledger) update(ctx context.Context, fn func(*owed) []*Delivery) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return err
	}
	changed := fn(l.all)
	if len(changed) == 0 {
		return nil
	}
	if err := l.log.Append(changed...); err != nil {
		l.log.Forget() // fn changed it
		return fmt.Errorf("write the ledger: %w", err)
	}
	return nil
}

const (
	// A ledger is written anew when it has these many lines more than
	// deliveries, and twice as many.
	slackLines = 500
	// maxFinal is how many of what was delivered the ledger remembers.
	maxFinal = 500
)

// compact forgets what was delivered before keep, and all but the last
// maxFinal of it, when the ledger is worth writing anew.
func (l *ledger) compact(ctx context.Context, keep time.Time) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return err
	}
	lines, live := l.log.Lines(), l.all.unfinished()
	if lines < 2*live || lines-live < slackLines {
		return nil
	}
	kept := l.all.kept(keep)
	if lines < 2*len(kept) || lines-len(kept) < slackLines {
		return nil
	}
	return l.log.Replace(kept)
}

// kept are the deliveries that are not over, and the last maxFinal of the
// others as far as they changed since keep, oldest first.
func (o *owed) kept(keep time.Time) []*Delivery {
	list := o.sorted()
	final := len(list) - o.unfinished()
	var kept []*Delivery
	for _, d := range list {
		if d.State.Final() {
			if final--; final >= maxFinal || d.Changed.Before(keep) {
				continue
			}
		}
		kept = append(kept, d)
	}
	return kept
}

// errLocked: somebody held a lock of the journal for too long.
var errLocked = errors.New("is held by another process")

func waitLock(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	until := time.Now().Add(wait)
	for {
		unlock, ok, err := tryLock(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("lock %s: %w", path, err)
		case ok:
			return unlock, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case time.Now().After(until):
			return nil, fmt.Errorf("%s %w", path, errLocked)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
