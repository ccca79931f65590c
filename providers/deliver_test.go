package providers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/providers"
	"vademecum/sync/journal"
	"vademecum/vault"
)

func fails(c providers.Class) error {
	return &providers.Error{Provider: "fake", Op: "put", Class: c, Msg: "as told"}
}

// later is a shop that says accepted, and at the end what end says.
type later struct {
	*shop
	end func(n int, r providers.Receipt) (providers.Receipt, error)
	n   int
}

func (s *later) Put(_ context.Context, item providers.Item) (providers.Receipt, error) {
	s.called("put %s", item.Text)
	return providers.Receipt{State: journal.Accepted, Handle: "task", Refs: []providers.Ref{s.keep(item)}}, nil
}

func (s *later) Resolve(_ context.Context, r providers.Receipt) (providers.Receipt, error) {
	s.n++
	s.called("resolve")
	return s.end(s.n, r)
}

// TestSevenAtOnce: a provider that is well, one that fails twice, one that
// refuses an item, one that hangs, one that says 202 and nothing, one whose
// work fails later, and one that refuses the key.
func TestSevenAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		good, flaky, picky, hangs := newKept("good"), newKept("flaky"), newKept("picky"), newKept("hangs")
		empty, pending, locked := &shop{name: "empty"}, &later{shop: &shop{name: "pending"}}, newKept("locked")
		n := 0
		flaky.onPut = func(context.Context, providers.Item) error {
			if n++; n <= 2 {
				return fails(providers.Retryable)
			}
			return nil
		}
		picky.onPut = func(_ context.Context, item providers.Item) error {
			if item.Text == "two" {
				return fails(providers.Permanent)
			}
			return nil
		}
		hangs.onPut = func(ctx context.Context, _ providers.Item) error { <-ctx.Done(); return ctx.Err() }
		pending.end = func(n int, r providers.Receipt) (providers.Receipt, error) {
			if n > 6 {
				return r, fails(providers.Permanent)
			}
			return r, nil
		}
		locked.onPut = func(context.Context, providers.Item) error { return fails(providers.Auth) }
		r := newRig(t, good, flaky, picky, hangs, accepting{empty}, pending, locked)
		for _, text := range []string{"one", "two", "three"} {
			r.remember(text)
		}
		start := time.Now()
		var others sync.WaitGroup
		others.Go(func() { // what anybody sees while the one that hangs does
			time.Sleep(time.Second)
			r.same("good after a second", r.states("good"), "stored stored stored")
			r.same("hangs after a second", r.states("hangs"), "sending sending sending")
		})
		r.round()
		others.Wait()
		r.same("good", good.took(), "put one | put two | put three")
		r.same("flaky", r.states("flaky"), "retry retry stored")
		r.same("picky", r.states("picky")+": "+picky.texts(), "stored dead stored: one | three")
		r.same("hangs", r.states("hangs"), "retry retry retry")
		r.same("empty", r.states("empty"), "accepted accepted accepted")
		r.same("pending", r.states("pending"), "accepted accepted accepted")
		r.same("locked", r.states("locked"), "queued queued queued")
		r.same("locked was asked", locked.took(), "put one")
		if took := time.Since(start); took > 3*time.Minute {
			t.Errorf("took %s", took)
		}
		for range 5 {
			r.drain(30 * time.Second)
		}
		r.same("flaky", flaky.took(), "put one | put two | put three | put one | put two")
		r.same("flaky", flaky.texts(), "one | three | two")
		r.same("good", r.states("good")+good.took(), "stored stored stored")
		r.same("picky", r.states("picky"), "stored dead stored")
		r.same("empty", r.states("empty"), "accepted accepted accepted")
		r.same("pending", r.states("pending"), "dead dead dead")
		r.same("locked was asked again", locked.took(), "")
		if s := r.states("hangs"); strings.Contains(s, "stored") {
			t.Errorf("hangs: %s", s)
		}
		if len(r.notices) != 1 || !strings.Contains(r.notices[0], "locked") {
			t.Errorf("notices %q", r.notices)
		}
		d, _, err := r.Journal.Newest("pending", onlyGroup(t, r, "pending"))
		if err != nil || !strings.Contains(d.Error, "as told") {
			t.Errorf("pending: %+v %v", d, err)
		}
		locked.onPut = nil // the owner has put in another key
		r.Targets[6].Fingerprint = "another"
		r.round()
		r.same("locked", locked.texts(), "one | three | two")
	})
}

// onlyGroup is the group of the first delivery to name.
func onlyGroup(t *testing.T, r *rig, name string) string {
	list, err := r.Journal.Deliveries()
	r.try(err)
	for _, d := range list {
		if d.To == name {
			return d.Group
		}
	}
	t.Fatalf("nothing is owed to %s", name)
	return ""
}

// accepting says 202 with an empty body, and can be asked nothing.
type accepting struct{ *shop }

func (s accepting) Put(_ context.Context, item providers.Item) (providers.Receipt, error) {
	s.called("put %s", item.Text)
	return providers.Receipt{State: journal.Accepted}, nil
}

func TestNeverConfirmed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := accepting{&shop{name: "empty"}}
		r := newRig(t, s)
		r.remember("A")
		r.drain(71 * time.Hour)
		r.same("after 71 h", r.states("empty"), "accepted")
		r.drain(3 * time.Hour)
		list, err := r.Journal.Deliveries()
		if err != nil || len(list) != 1 || list[0].State != journal.Dead || !strings.Contains(list[0].Error, "accepted 72 h ago and not confirmed") {
			t.Errorf("got %+v %v", list, err)
		}
		r.same("calls", s.took(), "put A")
	})
}

func TestAcceptedIsFollowed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &later{shop: &shop{name: "zep"}}
		var asked []time.Duration
		start := time.Now()
		s.end = func(n int, r providers.Receipt) (providers.Receipt, error) {
			asked = append(asked, time.Since(start).Round(time.Second))
			if r.Handle != "task" {
				t.Errorf("asked after %+v", r)
			}
			switch n {
			case 2:
				return r, fails(providers.Retryable)
			case 4:
				r.State = journal.Stored
			}
			return r, nil
		}
		r := newRig(t, s)
		a := r.remember("A")
		r.drain(time.Hour)
		r.same("asked", fmt.Sprint(asked), "[1s 3s 7s 15s]")
		r.same("ledger", r.states("zep"), "stored")
		if e, _ := r.Book("zep").Of(a); len(e.Refs) != 1 || len(e.Stale) != 0 {
			t.Errorf("the book has %+v", e)
		}
	})
}

// laterKept is a later that deletes.
type laterKept struct {
	*later
	kept
}

func (s laterKept) Name() string                     { return s.later.name }
func (s laterKept) Properties() providers.Properties { return providers.Properties{} }
func (s laterKept) Health(ctx context.Context) (providers.Health, error) {
	return s.later.Health(ctx)
}

func (s laterKept) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	return s.later.Search(ctx, q)
}

func (s laterKept) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	return s.later.Put(ctx, item)
}

func TestDeleteWaitsForAccepted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		k := newKept("zep")
		s := laterKept{&later{shop: k.shop}, k}
		s.end = func(n int, r providers.Receipt) (providers.Receipt, error) {
			if n == 3 {
				r.State = journal.Stored
			}
			return r, nil
		}
		r := newRig(t, s)
		a := r.remember("A")
		r.round()
		r.forget(a)
		r.round()
		r.same("while it is on its way", r.states("zep"), "accepted queued")
		r.drain(time.Minute)
		r.same("ledger", r.states("zep"), "stored deleted")
		r.same("calls", k.took(), "put A | resolve | resolve | resolve | delete zep1")
		r.same("copies", k.texts(), "")
	})
}

func TestAmbiguous(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, arrived := range []bool{true, false} {
			mem0 := newAsked("mem0")
			n := 0
			mem0.onPut = func(_ context.Context, item providers.Item) error {
				if n++; n != 1 && n != 3 {
					return nil
				}
				if arrived {
					mem0.keep(item)
				}
				return &providers.Error{Provider: "mem0", Class: providers.Retryable, Ambiguous: true}
			}
			r := newRig(t, mem0)
			a := r.remember("A")
			r.drain(time.Minute)
			r.same("copies", mem0.texts(), "A")
			if n = 2; arrived {
				r.same("calls", mem0.took(), "put A | find 1")
			} else {
				r.same("calls", mem0.took(), "put A | find 1 | put A")
			}
			r.edit(a, "A2")
			r.drain(time.Minute)
			r.same("copies", mem0.texts(), "A2")
			r.same("ledger", r.states("mem0"), "stored stored")
		}
	})
}

// TestSupersededUnsure: what may have arrived and was superseded goes too.
func TestSupersededUnsure(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mem0 := newAsked("mem0")
		n := 0
		mem0.onPut = func(_ context.Context, item providers.Item) error {
			if n++; n == 1 {
				mem0.keep(item)
				return &providers.Error{Provider: "mem0", Class: providers.Retryable, Ambiguous: true}
			}
			return nil
		}
		r := newRig(t, mem0)
		a := r.remember("A")
		r.round()
		r.edit(a, "B")
		r.drain(time.Minute)
		r.same("copies", mem0.texts(), "B")
		r.same("ledger", r.states("mem0"), "empty stored")
	})
}

func TestRateLimited(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		var at []time.Duration
		start := time.Now()
		zep.onPut = func(context.Context, providers.Item) error {
			at = append(at, time.Since(start).Round(time.Second))
			if len(at) == 2 {
				return &providers.Error{Provider: "zep", Class: providers.RateLimited, RetryAfter: time.Minute}
			}
			return nil
		}
		r := newRig(t, zep)
		for i := range 4 {
			r.remember(fmt.Sprint("m", i))
		}
		d := r.round()
		r.same("paused", fmt.Sprint(d.Lanes[0].Paused != "", d.Next.Sub(start).Round(time.Second)), "true 1m0s")
		r.drain(time.Hour)
		r.same("put at", fmt.Sprint(at), "[0s 0s 1m0s 1m0s 1m0s]")
		list, err := r.Journal.Deliveries()
		r.try(err)
		for _, d := range list {
			if d.State != journal.Stored || d.Attempts != 1 {
				t.Errorf("got %+v", d)
			}
		}
	})
}

func TestPerMinute(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		zep.is.PerMinute = 5
		var at []time.Time
		zep.onPut = func(context.Context, providers.Item) error { at = append(at, time.Now()); return nil }
		dir := filepath.Join(t.TempDir(), "todd")
		for range 4 { // a process after the other
			r := openRig(t, dir, "laptop", zep)
			r.remember(fmt.Sprint("a", len(at)))
			r.remember(fmt.Sprint("b", len(at)))
			r.round()
		}
		for i := range at[1:] {
			if gap := at[i+1].Sub(at[i]); gap != 12*time.Second {
				t.Errorf("put %d came %s after the one before", i+1, gap)
			}
		}
		if len(at) != 8 {
			t.Errorf("%d puts", len(at))
		}
	})
}

// TestOutage: hours without a provider cost no delivery its life, and an item
// that always fails does not keep those behind it waiting.
func TestOutage(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		zep := newKept("zep")
		down := true
		zep.onPut = func(_ context.Context, item providers.Item) error {
			if down || item.Text == "poison" {
				return fails(providers.Retryable)
			}
			return nil
		}
		r := newRig(t, zep)
		for i := range 10 {
			r.remember(fmt.Sprint("m", i))
		}
		r.drain(20 * time.Hour)
		if s := r.states("zep"); strings.Contains(s, "dead") {
			t.Errorf("after 20 h: %s", s)
		}
		down = false
		r.drain(20 * time.Minute)
		r.same("ledger", r.states("zep"), strings.TrimSpace(strings.Repeat("stored ", 10)))
		r.remember("poison")
		r.drain(time.Minute)
		for i := range 3 {
			r.remember(fmt.Sprint("n", i))
			r.drain(15 * time.Minute)
			if !strings.HasSuffix(r.states("zep"), strings.TrimSpace(strings.Repeat(" stored", i+1))) {
				t.Fatalf("behind the poison: %s", r.states("zep"))
			}
		}
		r.drain(96 * time.Hour)
		if s := r.states("zep"); !strings.Contains(s, "dead") || strings.Contains(s, "retry") {
			t.Errorf("after days: %s", s)
		}
	})
}

// batched takes several at once, and refuses them all because of one.
type batched struct{ asked }

func (s batched) Properties() providers.Properties {
	is := s.is
	is.Batch, is.MaxBatch = true, 4
	return is
}

func (s batched) PutBatch(ctx context.Context, items []providers.Item) []providers.PutResult {
	var bad error
	for _, item := range items {
		if strings.Contains(item.Text, "bad") {
			bad = fails(providers.Permanent)
		}
	}
	s.called("batch %d", len(items))
	var list []providers.PutResult
	for _, item := range items {
		if bad != nil {
			list = append(list, providers.PutResult{Err: bad})
			continue
		}
		list = append(list, providers.PutResult{Receipt: providers.Receipt{State: journal.Stored, Refs: []providers.Ref{s.keep(item)}}})
	}
	return list
}

func TestBatches(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := batched{newAsked("mem0")}
		s.onPut = func(_ context.Context, item providers.Item) error {
			if strings.Contains(item.Text, "bad") {
				return fails(providers.Permanent)
			}
			return nil
		}
		r := newRig(t, s)
		for i := range 5 {
			r.remember(fmt.Sprint("good", i))
		}
		r.remember("bad")
		r.remember("last")
		r.round()
		r.same("calls", s.took(), "batch 4 | batch 3 | put good4 | put bad | put last")
		r.same("ledger", r.states("mem0"), "stored stored stored stored stored dead stored")
	})
}

func TestStopped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mem0 := newAsked("mem0")
		ctx, cancel := context.WithCancel(t.Context())
		mem0.onPut = func(_ context.Context, item providers.Item) error {
			if ctx.Err() == nil {
				mem0.keep(item) // it arrives, and we are gone before the answer
				cancel()
				return ctx.Err()
			}
			return nil
		}
		r := newRig(t, mem0)
		r.remember("A")
		r.remember("B")
		r.try(r.CatchUp(t.Context()))
		if _, err := r.Deliver(ctx); err != nil {
			t.Fatal(err)
		}
		r.same("ledger", r.states("mem0"), "queued queued")
		r.drain(time.Minute)
		r.same("copies", mem0.texts(), "A | B")
		r.same("calls", mem0.took(), "put A | find 1 | put B")
	})
}

// TestKilledSender: what a killed process had claimed is sent again at once, and
// looked for first.
func TestKilledSender(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		mem0 := newAsked("mem0")
		r := newRig(t, mem0)
		r.remember("A")
		r.try(r.CatchUp(t.Context()))
		if got, err := r.Journal.Claim(t.Context(), "mem0", 9); err != nil || len(got) != 1 {
			t.Fatalf("claimed %v %v", got, err)
		}
		r.round()
		r.same("calls", mem0.took(), "find 1 | put A")
		r.same("ledger", r.states("mem0"), "stored")
	})
}

// TestTwoHosts: two hosts of one vault deliver to one provider, whoever of them
// comes first.
func TestTwoHosts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, asleep := range []time.Duration{0, time.Hour} {
			for _, p := range []interface {
				providers.Provider
				texts() string
			}{newAsked("mem0"), newKept("mem0")} {
				twoHosts(t, asleep, p)
			}
		}
	})
}

// twoHosts edits and forgets on both; the second one delivers only after so long.
func twoHosts(t *testing.T, asleep time.Duration, p interface {
	providers.Provider
	texts() string
},
) {
	laptop := newRig(t, p)
	laptop.remember("first") // so that both have a commit
	laptop.round()
	desk := openRig(t, filepath.Join(t.TempDir(), "todd"), "desk")
	desk.try(os.CopyFS(desk.Vault.WorkDir(), os.DirFS(laptop.Vault.WorkDir())))
	desk = openRig(t, desk.dir, "desk", p)
	laptop.news(t)
	both := func(what, want string) {
		sync2(t, laptop, desk)
		laptop.drain(asleep + 2*time.Minute)
		time.Sleep(asleep)
		desk.drain(2 * time.Minute)
		laptop.drain(2 * time.Minute)
		laptop.same(fmt.Sprint(what, ", one of them asleep for ", asleep), p.texts(), want)
	}
	a := laptop.remember("A")
	b := desk.remember("B")
	both("remembered", "A | B | first")
	desk.edit(a, "A2")
	laptop.edit(b, "B2")
	both("edited elsewhere", "A2 | B2 | first")
	laptop.forget(a)
	desk.forget(b)
	both("forgotten", "first")
}

// sync2 brings what either host committed since the last time to the other, in
// commits that name the host that made them.
func sync2(t *testing.T, a, b *rig) {
	t.Helper()
	fromA, fromB := a.news(t), b.news(t)
	b.pull(t, a, fromA)
	a.pull(t, b, fromB)
}

// news are the host's own commits since the last time, oldest first.
func (r *rig) news(t *testing.T) (list []vault.LogEntry) {
	t.Helper()
	for entry, err := range r.Vault.Log(t.Context()) {
		r.try(err)
		if r.told == nil {
			r.told = map[string]bool{}
		}
		if entry.Host == r.host && !r.told[entry.Commit] {
			r.told[entry.Commit] = true
			list = append([]vault.LogEntry{entry}, list...)
		}
	}
	return list
}

func (r *rig) pull(t *testing.T, from *rig, list []vault.LogEntry) {
	t.Helper()
	for _, entry := range list {
		_, err := r.Vault.Update(t.Context(), vault.Op{Name: "pull", Origin: vault.Origin{Host: from.host}}, func(tx *vault.Tx) error {
			for _, path := range entry.Paths {
				raw, err := from.Vault.ReadAt(plumbing.NewHash(entry.Commit), path)
				if errors.Is(err, vault.ErrNotFound) {
					tx.Remove(path)
					continue
				}
				r.try(err)
				r.try(tx.Put(path, raw))
			}
			return nil
		})
		r.try(err)
	}
}

// TestTwoProcesses: two processes that deliver at once deliver each thing once.
func TestTwoProcesses(t *testing.T) {
	zep := newKept("zep")
	zep.onPut = func(context.Context, providers.Item) error { time.Sleep(time.Millisecond); return nil }
	r := newRig(t, zep)
	for i := range 20 {
		r.remember(fmt.Sprintf("m%02d", i))
	}
	other := openRig(t, r.dir, "laptop", zep)
	var both sync.WaitGroup
	busy := 0
	for _, o := range []*rig{r, other} {
		both.Go(func() {
			if err := o.CatchUp(t.Context()); err != nil {
				t.Error(err)
			}
			for range 5 {
				d, err := o.Deliver(t.Context())
				if err != nil {
					t.Error(err)
				}
				if o == other && d.Lanes[0].Busy {
					busy++
				}
			}
		})
	}
	both.Wait()
	r.round()
	if n := strings.Count(zep.took(), "put"); n != 20 {
		t.Errorf("%d puts, busy %d times", n, busy)
	}
}
