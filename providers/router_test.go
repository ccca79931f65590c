package providers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vademecum/vault"
)

// source is a provider that finds what it is told to.
type source struct {
	name   string
	hits   []Hit
	err    error
	wait   time.Duration // before it answers
	deaf   bool          // it does not heed its context
	kind   ScoreKind
	called atomic.Int32
}

func (s *source) Name() string                               { return s.name }
func (s *source) Health(context.Context) (Health, error)     { return Health{}, s.err }
func (s *source) Put(context.Context, Item) (Receipt, error) { return Receipt{}, s.err }
func (s *source) Properties() Properties                     { return Properties{Score: s.kind} }

func (s *source) Search(ctx context.Context, _ Query) ([]Hit, error) {
	s.called.Add(1)
	if s.deaf {
		ctx = context.Background()
	}
	select {
	case <-time.After(s.wait):
		return s.hits, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// shelf is a vault: what it finds, and what it has besides.
type shelf struct {
	found []vault.Hit
	has   map[string]vault.Hit
	fates map[string]Fate
}

func (s *shelf) Search(context.Context) ([]vault.Hit, error) { return s.found, nil }

func (s *shelf) Look(id string) (*vault.Hit, Fate) {
	if fate, ok := s.fates[id]; ok {
		return nil, fate
	}
	if h, ok := s.has[id]; ok {
		return &h, Here
	}
	for _, h := range s.found {
		if string(h.ID) == id {
			return &h, Here
		}
	}
	return nil, Unknown
}

func ours(id, text string) vault.Hit {
	return vault.Hit{ID: vault.ID(id), Path: "memories/" + id + ".md", Title: text, Text: text, Providers: []string{"vault"}, Tier: vault.LTM}
}

func texts(a Answer) string {
	var list []string
	for _, h := range a.Hits {
		list = append(list, h.Text+" <"+strings.Join(h.Providers, " ")+">")
	}
	return strings.Join(list, "; ")
}

func states(a Answer) string {
	var list []string
	for _, s := range a.Sources {
		list = append(list, s.Name+" "+s.State)
	}
	return strings.Join(list, ", ")
}

func foreign(texts ...string) []Hit {
	var hits []Hit
	for _, t := range texts {
		hits = append(hits, Hit{Ref: Ref("ref " + t), Text: t})
	}
	return hits
}

func TestOneThatNeverAnswersDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, deaf := range []bool{false, true} {
			r := &Router{Sources: []Source{
				{Provider: &source{name: "good", hits: foreign("tide tables")}},
				{Provider: &source{name: "hangs", wait: time.Hour, deaf: deaf}, Required: true},
			}}
			start := time.Now()
			a, err := r.Recall(t.Context(), Query{Text: "tide", Limit: 5}, &shelf{found: []vault.Hit{ours("1", "tide at noon")}})
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took != SourceTimeout {
				t.Errorf("deaf %v: took %s", deaf, took)
			}
			if got, want := texts(a), "tide at noon <vault>; tide tables <good>"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if got := states(a); got != "good ok, hangs late" || !a.Partial || !slices.Equal(a.Missing, []string{"hangs"}) {
				t.Errorf("deaf %v: %s, partial %v, missing %v", deaf, got, a.Partial, a.Missing)
			}
			if got, want := a.Sources[1].Error, "hangs: no answer in time"; got != want {
				t.Errorf("deaf %v: error %q, want %q", deaf, got, want)
			}
			time.Sleep(2 * time.Hour) // the deaf one comes back: no goroutine is left
		}
	})
}

func TestTheBudgetBoundsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Router{}
		for i := range 10 {
			r.Sources = append(r.Sources, Source{Provider: &source{name: fmt.Sprint(i), wait: time.Duration(i) * 200 * time.Millisecond}, Timeout: 2 * time.Second})
		}
		start := time.Now()
		a, err := r.Recall(t.Context(), Query{Text: "tide", Limit: 5}, &shelf{})
		if took := time.Since(start); err != nil || took != RecallBudget {
			t.Errorf("took %s, %v", took, err)
		}
		if got := states(a); !strings.HasPrefix(got, "0 ok, 1 ok, 2 ok, 3 ok, 4 late") && !strings.HasPrefix(got, "0 ok, 1 ok, 2 ok, 3 ok, 4 ok, 5 late") {
			t.Error(got)
		}
		synctest.Wait()
	})
}

func TestTwoSlotsAProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &source{name: "slow", wait: time.Second, deaf: true}
		r := &Router{Sources: []Source{{Provider: slow}}}
		for range 2 {
			_, _ = r.Recall(t.Context(), Query{Limit: 1}, &shelf{})
		}
		start := time.Now()
		a, _ := r.Recall(t.Context(), Query{Limit: 1}, &shelf{})
		if took := time.Since(start); states(a) != "slow busy" || took != slotWait || slow.called.Load() != 2 {
			t.Errorf("%s after %s, asked %d times", states(a), took, slow.called.Load())
		}
		time.Sleep(time.Minute)
	})
}

func TestABrokenOneIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := &source{name: "bad", err: down(Retryable)}
		r := &Router{Sources: []Source{{Provider: bad}}, Gates: openGates(t)}
		for range maxFailures + 3 {
			if a, err := r.Recall(t.Context(), Query{Limit: 1}, &shelf{}); err != nil || !a.Partial {
				t.Fatal(a, err)
			}
		}
		if bad.called.Load() != maxFailures {
			t.Errorf("asked %d times", bad.called.Load())
		}
		slow := &source{name: "slow", wait: time.Hour}
		r.Sources = []Source{{Provider: slow}}
		for range maxFailures + 3 {
			_, _ = r.Recall(t.Context(), Query{Limit: 1}, &shelf{})
		}
		if slow.called.Load() != maxFailures {
			t.Errorf("the one that hangs was asked %d times", slow.called.Load())
		}
	})
}

func TestWhoGivesUpWaitingBlamesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := openGates(t)
		r := &Router{Sources: []Source{{Provider: &source{name: "slow", wait: time.Hour}}}, Gates: g}
		for range maxFailures + 1 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, cancel)
			_, _ = r.Recall(ctx, Query{Limit: 1}, &shelf{})
			synctest.Wait()
		}
		if err := g.Allow("slow", Reading, ""); err != nil {
			t.Error(err)
		}
	})
}

func TestTheVaultsErrorIsTheOnlyOne(t *testing.T) {
	broken := errors.New("broken")
	r := &Router{Sources: []Source{{Provider: &source{name: "good", hits: foreign("x")}}}}
	if _, err := r.Recall(t.Context(), Query{Limit: 1}, brokenShelf{broken}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type brokenShelf struct{ err error }

func (s brokenShelf) Search(context.Context) ([]vault.Hit, error) { return nil, s.err }
func (s brokenShelf) Look(string) (*vault.Hit, Fate)              { return nil, Unknown }
