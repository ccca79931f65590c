package journal

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vademecum/vault"
)

// TestEverySegmentLocked: Append gives up in time, and the loss is counted.
func TestEverySegmentLocked(t *testing.T) {
	k := newKept(t, Options{Timeout: 200 * time.Millisecond})
	k.append(event(0, TurnEnd, "kept"))
	for n := range slots {
		unlock, ok, err := k.lockSlot(n)
		if err != nil || !ok {
			t.Fatalf("slot %d: %t %v", n, ok, err)
		}
		defer unlock()
	}
	start := time.Now()
	err := k.Append(event(1, TurnEnd, "lost"))
	if !errors.Is(err, ErrBusy) && !errors.Is(err, ErrSlow) || time.Since(start) > time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
	if l, err := k.Lost(); err != nil || l.Count != 1 || l.Last.IsZero() || !strings.Contains(l.Error, "locked") {
		t.Errorf("lost %+v %v", l, err)
	}
	if err := k.ForgetLoss(); err != nil {
		t.Fatal(err)
	}
	if l, _ := k.Lost(); l.Count != 0 {
		t.Errorf("lost %+v", l)
	}
}

// stuck is a source of entropy that gives none until it is closed.
type stuck chan struct{}

func (s stuck) Read(p []byte) (int, error) { <-s; return len(p), nil }

// TestDiskThatDoesNotAnswer: Append gives up in time, and says so to whoever
// comes next, once.
func TestDiskThatDoesNotAnswer(t *testing.T) {
	k := newKept(t, Options{})
	k.append(event(0, TurnEnd, "kept"))
	wait := make(stuck)
	defer close(wait)
	slow := Open(k.Dir(), Options{Entropy: wait, Until: time.Now().Add(60 * time.Millisecond)})
	start := time.Now()
	if err := slow.Append(event(1, TurnEnd, "slow")); !errors.Is(err, ErrSlow) || time.Since(start) > 600*time.Millisecond {
		t.Errorf("%v after %s", err, time.Since(start))
	}
	if l, err := k.Lost(); err != nil || l.Count != 1 || !strings.Contains(l.Error, "did not answer in time") {
		t.Errorf("lost %+v %v", l, err)
	}
}

// TestBounds: a journal that nobody drains refuses what is more than it may
// hold, and one that cannot deliver drops the oldest; both are counted.
func TestBounds(t *testing.T) {
	k := newKept(t, Options{MaxBytes: 64 << 10})
	refused := 0
	for i := range 40 {
		e := event(i, TurnEnd, strings.Repeat("word ", 1000))
		e.Turn = string(rune('a' + i))
		if err := k.Append(e); err != nil {
			if !errors.Is(err, ErrFull) {
				t.Fatal(err)
			}
			refused++
		}
	}
	if s, _ := k.Status(); refused == 0 || s.Lost.Count != refused || s.Bytes > 2*64<<10 {
		t.Errorf("%d refused, status %+v", refused, s)
	}
	_ = k.ForgetLoss()
	refuse := receiverFunc(func([]*Episode) error { return errors.New("not today") })
	if _, err := k.Drain(t.Context(), DrainOptions{}, refuse); err != nil {
		t.Fatal(err)
	}
	s, err := k.Status()
	if err != nil || s.Bytes > 64<<10 || s.Lost.Count == 0 || s.Lost.Count != s.States[Empty] || s.Waiting() == 0 {
		t.Errorf("status %+v %v", s, err)
	}
}

// TestVaultLocked: turns wait, their attempts are not counted, and appending
// goes on.
func TestVaultLocked(t *testing.T) {
	k := newKept(t, Options{Jitter: func() float64 { return 0 }})
	k.append(event(0, TurnEnd, "one"))
	impatient, err := vault.Open(vault.Options{Dir: k.dir, Identity: "todd", LockWait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer impatient.Close()
	unlock, err := vault.LockPath(t.Context(), filepath.Join(k.dir, "lock"), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	d, err := k.Drain(t.Context(), DrainOptions{}, &Capture{Vault: impatient})
	if err != nil || d.Failed != 1 || len(d.Errors) != 1 {
		t.Errorf("got %+v %v", d, err)
	}
	start := time.Now()
	k.append(event(1, TurnEnd, "two"))
	if took := time.Since(start); took > time.Second {
		t.Errorf("Append took %s", took)
	}
	unlock()
	if list, _ := k.Deliveries(); len(list) != 1 || list[0].State != Retry || list[0].Attempts != 0 {
		t.Errorf("deliveries %+v", list)
	}
	if _, err := k.Retry(t.Context(), func(Delivery) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if d := k.drain(DrainOptions{All: true}); d.Stored != 2 {
		t.Errorf("got %+v", d)
	}
}

// TestAnotherDrain: who comes while somebody drains leaves word, which is
// heeded.
func TestAnotherDrain(t *testing.T) {
	k := newKept(t, Options{Pause: time.Millisecond})
	k.append(event(0, TurnEnd, "one"))
	other := Open(k.Dir(), Options{})
	seen := 0
	r := receiverFunc(func(list []*Episode) error {
		if seen += len(list); seen == 1 {
			if !other.NeedsDrain() {
				k.append(event(1, TurnEnd, "two"))
			}
			d, err := other.Drain(t.Context(), DrainOptions{}, nil)
			if !d.Busy || err != nil {
				t.Errorf("got %+v %v", d, err)
			}
		}
		return nil
	})
	if d, err := k.Drain(t.Context(), DrainOptions{}, r); err != nil || d.Stored != 2 {
		t.Errorf("got %+v %v", d, err)
	}
}
