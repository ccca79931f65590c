package jsonrpc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"vademecum/providers"
)

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what + ": not within 10 s")
		}
	}
}

func TestCancelReachesTheProgram(t *testing.T) {
	p, dir := open(t, "waits", remembered(LongLived))
	if _, err := p.Health(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err := p.Search(timeout(t, 100*time.Millisecond), providers.Query{Text: "x", Limit: 1})
	if !errors.Is(err, context.DeadlineExceeded) || !providers.Is(err, providers.Retryable) || time.Since(began) > 2*time.Second {
		t.Errorf("got %v after %s", err, time.Since(began))
	}
	eventually(t, "cancelled", func() bool {
		_, err := os.Stat(filepath.Join(dir, "cancelled"))
		return err == nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := p.Search(ctx, providers.Query{Text: "x", Limit: 1}); !errors.Is(err, context.Canceled) || providers.ClassOf(err) != "" {
		t.Errorf("got %v", err)
	}
	if _, err := p.Health(t.Context()); err != nil || len(runs(t, dir)) != 1 { // a late answer harms nobody
		t.Errorf("got %v after %d runs", err, len(runs(t, dir)))
	}
}

func TestNoMoreInFlightThanDeclared(t *testing.T) {
	p, _ := open(t, "waits", remembered(LongLived)) // four
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { _, _ = p.Search(ctx, providers.Query{Text: "x", Limit: 1}) })
	}
	eventually(t, "three wait", func() bool {
		h, err := p.Health(t.Context())
		return err == nil && h.Version == "3"
	})
	wg.Go(func() { _, _ = p.Search(ctx, providers.Query{Text: "x", Limit: 1}) })
	eventually(t, "a fifth waits for its turn", func() bool {
		_, err := p.Health(timeout(t, 100*time.Millisecond))
		e, ok := errors.AsType[*providers.Error](err)
		return ok && !e.Ambiguous && errors.Is(err, context.DeadlineExceeded)
	})
	cancel()
	wg.Wait()
	if h, err := p.Health(t.Context()); err != nil {
		t.Errorf("got %v %v", h, err)
	}
}

func TestCrashIsRetriedOnceInAWhile(t *testing.T) {
	p, dir := open(t, "dies", remembered(LongLived))
	for i, want := range []struct{ ambiguous, later bool }{{true, false}, {true, false}, {false, true}} {
		_, err := p.Put(t.Context(), item("a", "b"))
		e, ok := errors.AsType[*providers.Error](err)
		if !ok || e.Class != providers.Retryable || e.Ambiguous != want.ambiguous || (e.RetryAfter > 0) != want.later {
			t.Errorf("%d: got %+v", i, err)
		}
	}
	if got := len(runs(t, dir)); got != 2 {
		t.Errorf("started %d times", got)
	}
	q, dir := open(t, "dies", func(c *Config) { remembered(LongLived)(c); c.restartPause = time.Millisecond })
	for range 4 {
		_, err := q.Put(t.Context(), item("a", "b"))
		if !providers.Ambiguous(err) {
			t.Errorf("got %v", err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	if got := len(runs(t, dir)); got != 4 {
		t.Errorf("started %d times", got)
	}
}

func TestHungProgramIsReplaced(t *testing.T) {
	p, dir := open(t, "hangs", func(c *Config) { remembered(LongLived)(c); c.patience = 50 * time.Millisecond })
	_, err := p.Put(timeout(t, 2*time.Second), item("a", "b"))
	if !providers.Ambiguous(err) {
		t.Errorf("got %v", err)
	}
	eventually(t, "a second process", func() bool {
		_, _ = p.Put(timeout(t, 100*time.Millisecond), item("a", "b"))
		return len(runs(t, dir)) == 2
	})
	eventually(t, "the first is gone", func() bool { return !alive(runs(t, dir)[0]) })
}

func TestCloseDoesNotWaitForAHungProgram(t *testing.T) {
	p, _ := open(t, "hangs", func(c *Config) { remembered(LongLived)(c); c.endPatience = time.Minute })
	if _, err := p.Search(timeout(t, 500*time.Millisecond), providers.Query{Text: "tide", Limit: 5}); err == nil {
		t.Fatal("it does not hang")
	}
	start := time.Now()
	_ = providers.Close(p)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("closing took %s", took)
	}
}

func TestIdleProgramIsStoppedAndStartedAgain(t *testing.T) {
	p, dir := open(t, "echo", func(c *Config) { remembered(LongLived)(c); c.IdleStop = 20 * time.Millisecond })
	for n := 1; n <= 3; n++ { // which is no crash: as often as need be
		if _, err := p.Health(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "stopped", func() bool {
			pids := runs(t, dir)
			return len(pids) >= n && !alive(pids[n-1])
		})
	}
	var wg sync.WaitGroup // and nobody falls between
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := p.Health(t.Context()); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	wg.Wait()
}

func TestCallerDoesNotWaitForASlowStart(t *testing.T) {
	p, dir := open(t, "slow start", remembered(LongLived))
	began := time.Now()
	_, err := p.Put(timeout(t, 50*time.Millisecond), item("a", "b"))
	if took := time.Since(began); !providers.Is(err, providers.Retryable) || providers.Ambiguous(err) || took > time.Second {
		t.Errorf("got %v after %s", err, took)
	}
	if _, err := p.Health(t.Context()); err != nil || len(runs(t, dir)) != 1 {
		t.Errorf("got %v after %d runs", err, len(runs(t, dir)))
	}
}

func TestUseAfterClose(t *testing.T) {
	p, _ := open(t, "echo", remembered(LongLived))
	if _, err := p.Health(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = providers.Close(p)
	if _, err := p.Health(t.Context()); !providers.Is(err, providers.Retryable) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkSearch is a round trip to a program of this binary that does nothing.
func BenchmarkSearch(b *testing.B) {
	for _, mode := range modes {
		b.Run(string(mode), func(b *testing.B) {
			a, err := parseAbilities([]byte(able))
			if err != nil {
				b.Fatal(err)
			}
			p, err := Open(b.Context(), Config{Name: "own", Command: os.Args[0], Dir: b.TempDir(), Env: map[string]string{"JSONRPC_DO": "echo"}, Mode: mode, Abilities: &a})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Search(b.Context(), providers.Query{Text: "tide", Limit: 5}); err != nil {
					b.Fatal(err)
				}
			}
			_ = providers.Close(p)
		})
	}
}
