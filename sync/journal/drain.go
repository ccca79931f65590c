package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// toVault is the receiver of episodes.
const toVault = "vault"

// Receiver keeps episodes.
type Receiver interface {
	// Receive takes episodes of one session, oldest first, and says what
	// became of each. The same episode may come again after a crash, and is to
	// be kept once.
	Receive(ctx context.Context, episodes []*Episode) []Outcome
}

// DrainOptions tune a drain.
type DrainOptions struct {
	// All takes every turn as over.
	All bool
	// Wait is how long to wait for another drain to end, instead of leaving
	// word and returning at once.
	Wait time.Duration
}

// Drained says what a drain did.
type Drained struct {
	// Busy: another drain is running, and will look once more.
	Busy   bool     `json:"busy"`
	Stored int      `json:"stored"`
	Empty  int      `json:"empty"`
	Failed int      `json:"failed"` // to be tried again, or dead
	Errors []string `json:"errors"`
}

// Drain hands what is over to r, until nothing is due. Only one drain runs at a
// time; another one leaves word and returns at once. Episodes are kept until
// the ledger says what became of them.
func (j *Journal) Drain(ctx context.Context, o DrainOptions, r Receiver) (Drained, error) {
	done := Drained{Errors: []string{}}
	if !j.exists() {
		return done, nil
	}
	if err := j.make(); err != nil {
		return done, fmt.Errorf("journal: %w", err)
	}
	for {
		unlock, err := j.becomeDrainer(ctx, o.Wait)
		if errors.Is(err, errLocked) {
			done.Busy = true
			return done, nil
		}
		if err != nil {
			return done, fmt.Errorf("journal: %w", err)
		}
		err = j.drainWhileWanted(ctx, o, r, &done)
		unlock()
		if err != nil {
			return done, fmt.Errorf("journal: %w", err)
		}
		if !j.wanted() { // nobody left word between our last look and now
			return done, nil
		}
	}
}

// wanted reports whether somebody wants the drainer to look once more.
func (j *Journal) wanted() bool {
	_, err := os.Stat(j.path("wanted"))
	return err == nil
}

func (j *Journal) becomeDrainer(ctx context.Context, wait time.Duration) (unlock func(), err error) {
	if wait > 0 {
		return waitLock(ctx, j.path("drain.lock"), wait)
	}
	unlock, ok, err := j.drainLock()
	if err == nil && !ok {
		err = errLocked
	}
	return unlock, err
}

// drainWhileWanted drains until nobody wants more. The drainer's lock is held.
func (j *Journal) drainWhileWanted(ctx context.Context, o DrainOptions, r Receiver, done *Drained) error {
	for {
		_ = os.Remove(j.path("wanted"))
		if err := j.drain(ctx, o, r, done); err != nil || !j.wanted() {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(j.opts.Pause):
		}
	}
}

// NeedsDrain reports whether a drain should be started: whether there is
// anything to do now. When a drain is running it is told to look once more,
// and the answer is no. It costs a look at a few folders.
func (j *Journal) NeedsDrain() bool {
	if !j.exists() || !j.pending() {
		return false
	}
	unlock, ok, err := j.drainLock()
	if ok {
		unlock()
	}
	return ok || err != nil
}

// pending reports whether a drain would find anything to do.
func (j *Journal) pending() bool {
	for n := range slots {
		if st, err := os.Stat(j.segment(n)); err == nil && st.Size() > 0 {
			return true
		}
	}
	open, _ := os.ReadDir(j.path(openDir))
	for _, e := range open {
		if st, err := e.Info(); err == nil && j.opts.Now().Sub(st.ModTime()) >= j.opts.Quiet {
			return true
		}
	}
	episodes, err := j.names(episodesDir)
	if err != nil || len(episodes) == 0 {
		return false
	}
	waiting := false
	err = j.ledger.view(func(all *owed) {
		waiting = slices.ContainsFunc(episodes, func(name string) bool {
			d := all.have[toVault+"/"+episodeKey(name)]
			return d == nil || d.State.Final() || d.due(j.opts.Now())
		})
	})
	return err == nil && waiting
}

// drainLock makes the caller the drainer. When somebody else is, he is told to
// look once more before he goes: he looks for the word after he let go of the
// lock, and we try the lock again after we left it.
func (j *Journal) drainLock() (unlock func(), ok bool, err error) {
	for range 2 {
		unlock, ok, err = tryLock(j.path("drain.lock"))
		if err != nil {
			return nil, false, err
		}
		if ok {
			return unlock, true, nil
		}
		if err := os.WriteFile(j.path("wanted"), nil, 0o600); err != nil {
			return nil, false, err
		}
	}
	return nil, false, nil
}

func (j *Journal) drain(ctx context.Context, o DrainOptions, r Receiver, done *Drained) error {
	if err := j.collect(); err != nil {
		return err
	}
	if err := j.seal(o.All); err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := j.deliver(ctx, r, done)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	if err := j.bound(ctx); err != nil {
		return err
	}
	return j.ledger.compact(ctx, j.opts.Now().Add(-j.opts.Keep))
}

// batch is how many episodes are claimed at once: few enough to be kept within
// their lease.
const batch = 64

// deliver hands one batch of episodes to r and returns how many there were.
func (j *Journal) deliver(ctx context.Context, r Receiver, done *Drained) (int, error) {
	files, err := j.reconcile(ctx)
	if err != nil || len(files) == 0 {
		return 0, err
	}
	claimed, err := j.Claim(ctx, toVault, batch)
	if err != nil || len(claimed) == 0 {
		return 0, err
	}
	outcomes, bySession := j.loadClaimed(claimed, files)
	for _, episodes := range bySession {
		outcomes = append(outcomes, r.Receive(ctx, episodes)...)
	}
	if err := j.Settle(ctx, toVault, outcomes...); err != nil {
		return 0, err
	}
	over := map[string]bool{}
	for _, o := range outcomes {
		over[o.Key] = o.Err == nil
		done.count(o)
	}
	return len(claimed), j.dropEpisodes(over)
}

func (d *Drained) count(o Outcome) {
	switch {
	case o.Err != nil:
		d.Failed++
		if msg := o.Err.Error(); !slices.Contains(d.Errors, msg) {
			d.Errors = append(d.Errors, msg)
		}
	case o.State == Empty:
		d.Empty++
	default:
		d.Stored++
	}
}

// reconcile queues the episodes that the ledger does not know yet, removes
// those that it knows to be done with, and returns the files of the others by
// their keys.
func (j *Journal) reconcile(ctx context.Context) (map[string]string, error) {
	names, err := j.names(episodesDir)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	files := map[string]string{}
	over := map[string]bool{}
	var fresh []Delivery
	err = j.ledger.view(func(all *owed) {
		for _, name := range names {
			key := episodeKey(name)
			switch d := all.have[toVault+"/"+key]; {
			case d == nil:
				fresh = append(fresh, Delivery{To: toVault, Key: key, What: name})
			case d.State.Final():
				over[key] = true
				continue
			}
			files[key] = name
		}
	})
	if err != nil {
		return nil, err
	}
	if err := j.Queue(ctx, fresh...); err != nil {
		return nil, err
	}
	return files, j.dropEpisodes(over)
}

// loadClaimed reads the claimed episodes, by session in the order in which
// they were claimed. What cannot be read has its outcome already.
func (j *Journal) loadClaimed(claimed []Delivery, files map[string]string) (outcomes []Outcome, bySession [][]*Episode) {
	place := map[[2]string]int{}
	for _, d := range claimed {
		var e *Episode
		err := fs.ErrNotExist
		if name := files[d.Key]; name != "" {
			e, err = j.takeEpisode(name)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && e == nil:
			outcomes = append(outcomes, Outcome{Key: d.Key, State: Empty, Result: "its events are gone"})
			continue
		case err != nil:
			outcomes = append(outcomes, Outcome{Key: d.Key, Err: err})
			continue
		}
		k := [2]string{e.Agent, e.Session}
		i, ok := place[k]
		if !ok {
			i = len(bySession)
			place[k] = i
			bySession = append(bySession, nil)
		}
		bySession[i] = append(bySession[i], e)
	}
	return outcomes, bySession
}

// bound drops the oldest of what waits when it is more than may, and counts it
// as lost.
func (j *Journal) bound(ctx context.Context) error {
	names, err := j.names(episodesDir)
	if err != nil {
		return err
	}
	var total int64
	sizes := make([]int64, len(names))
	for i, name := range names {
		if st, err := os.Stat(j.path(episodesDir, name)); err == nil {
			sizes[i] = st.Size()
			total += st.Size()
		}
	}
	over := map[string]bool{}
	for i := 0; i < len(names) && total > j.opts.MaxBytes; i++ {
		total -= sizes[i]
		over[episodeKey(names[i])] = true
		j.countLoss(fmt.Errorf("more than %d MiB wait for their delivery", j.opts.MaxBytes>>20), true)
	}
	if len(over) == 0 {
		return nil
	}
	_, err = j.Drop(ctx, func(d Delivery) bool { return d.To == toVault && over[d.Key] })
	return err
}
