package providers

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func down(class Class) error { return &Error{Provider: "zep", Op: "search", Class: class, Msg: "no"} }

func openGates(t *testing.T) *Gates { return OpenGates(t.TempDir(), time.Now) }

func TestGateOpensAfterFailuresInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGates(t)
		for i := range maxFailures {
			if err := g.Allow("zep", Reading, "f"); err != nil {
				t.Fatalf("paused after %d failures: %v", i, err)
			}
			g.Report("zep", Reading, "f", down(Retryable))
		}
		if err := g.Allow("zep", Reading, "f"); !errors.Is(err, ErrPaused) {
			t.Fatalf("got %v, want a pause", err)
		}
		for _, other := range []struct {
			name string
			d    Direction
		}{{"zep", Writing}, {"mem0", Reading}} {
			if err := g.Allow(other.name, other.d, "f"); err != nil {
				t.Errorf("%v: %v", other, err)
			}
		}
	})
}

func TestGateLetsOneTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGates(t)
		pause := minPause
		for range maxFailures {
			g.Report("zep", Reading, "f", down(Protocol))
		}
		for range 6 { // each failed try doubles the pause, to five minutes
			time.Sleep(pause - time.Millisecond)
			if g.Allow("zep", Reading, "f") == nil {
				t.Fatalf("asked before %s were over", pause)
			}
			time.Sleep(time.Millisecond)
			if err := g.Allow("zep", Reading, "f"); err != nil {
				t.Fatalf("nobody may try after %s: %v", pause, err)
			}
			if g.Allow("zep", Reading, "f") == nil {
				t.Fatal("two try at once")
			}
			g.Report("zep", Reading, "f", down(Retryable))
			pause = min(2*pause, maxPause)
		}
		time.Sleep(pause)
		_ = g.Allow("zep", Reading, "f")
		time.Sleep(probeLease) // the one who tried was killed
		if err := g.Allow("zep", Reading, "f"); err != nil {
			t.Fatalf("the next one may not try: %v", err)
		}
		g.Report("zep", Reading, "f", nil)
		if err := g.Allow("zep", Reading, "f"); err != nil {
			t.Errorf("after a success: %v", err)
		}
		g.Report("zep", Reading, "f", down(Retryable))
		if err := g.Allow("zep", Reading, "f"); err != nil {
			t.Errorf("one failure after a success: %v", err)
		}
	})
}

func TestGateOpensWhenHalfFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGates(t)
		for i := range minSample {
			if err := g.Allow("zep", Reading, "f"); err != nil {
				t.Fatalf("after %d calls: %v", i, err)
			}
			var err error
			if i%2 == 0 {
				err = down(Retryable)
			}
			g.Report("zep", Reading, "f", err)
		}
		g.Report("zep", Reading, "f", down(Retryable))
		if g.Allow("zep", Reading, "f") == nil {
			t.Error("half of eleven calls failed, and it is asked")
		}
	})
}

func TestGateWaitsAsToldAndThatIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGates(t)
		g.Report("zep", Writing, "f", &Error{Class: RateLimited, RetryAfter: time.Minute})
		time.Sleep(59 * time.Second)
		if g.Allow("zep", Writing, "f") == nil {
			t.Error("asked before the minute was over")
		}
		time.Sleep(time.Second)
		if err := g.Allow("zep", Writing, "f"); err != nil {
			t.Error(err)
		}
	})
}

func TestGateStaysShutUntilTheConfigChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGates(t)
		if !g.Report("zep", Writing, "old key", down(Auth)) {
			t.Error("nobody was told")
		}
		time.Sleep(24 * time.Hour)
		if err := g.Allow("zep", Writing, "old key"); !errors.Is(err, ErrPaused) {
			t.Errorf("got %v", err)
		}
		if g.Report("zep", Writing, "old key", down(Auth)) {
			t.Error("told twice")
		}
		if err := g.Allow("zep", Writing, "new key"); err != nil {
			t.Errorf("a new key is not tried: %v", err)
		}
		if err := g.Reset("zep"); err != nil {
			t.Fatal(err)
		}
		if err := g.Allow("zep", Writing, "old key"); err != nil {
			t.Errorf("after a reset: %v", err)
		}
	})
}

func TestGateWritesNothingWhenAllIsWell(t *testing.T) {
	g := openGates(t)
	g.Report("zep", Reading, "f", nil)
	g.Report("zep", Reading, "f", context.Canceled)
	g.Report("zep", Reading, "f", down(Permanent))
	if entries, err := os.ReadDir(g.dir); len(entries) > 0 || err != nil {
		t.Errorf("wrote %v %v", entries, err)
	}
}

func TestGateSurvivesRubbish(t *testing.T) {
	g := openGates(t)
	for range maxFailures {
		g.Report("zep", Reading, "f", down(Retryable))
	}
	if err := os.WriteFile(g.path("zep", Reading), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.Allow("zep", Reading, "f"); err != nil {
		t.Errorf("got %v", err)
	}
	for range maxFailures {
		g.Report("zep", Reading, "f", down(Retryable))
	}
	if g.Allow("zep", Reading, "f") == nil {
		t.Error("the breaker does not work after rubbish")
	}
}
