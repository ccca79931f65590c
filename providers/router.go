package providers

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"vademecum/vault"
)

// Bounds of a recall, where nothing else is said.
const (
	RecallBudget  = 800 * time.Millisecond // for all sources together
	SourceTimeout = 250 * time.Millisecond // for one
	// slots is how many questions one provider is asked at once by a process,
	// and slotWait how long to wait for one to be free.
	slots    = 2
	slotWait = 20 * time.Millisecond
)

// Source is a provider as a recall asks it.
type Source struct {
	Provider    Provider
	Fingerprint string // of its config, see Gates
	// Weight is that of its list, the vault's being 1; 0 means 0.7.
	Weight float64
	// Required: a recall without its answer is not complete.
	Required bool
	Timeout  time.Duration // 0 means SourceTimeout
	// MinRelevance drops hits with a lower score, where scores are similarities.
	MinRelevance float64
	// Tiers and Scopes let only memories of these through; empty: all. Foreign
	// facts have neither and are not concerned.
	Tiers  []vault.Tier
	Scopes []string
}

// Router asks the vault and all sources at once. It may be used by any number
// of goroutines.
type Router struct {
	Sources []Source
	Vault   string        // id of the vault that asks
	Gates   *Gates        // nil: no breakers
	Budget  time.Duration // 0 means RecallBudget
	// Book says whose a provider's own id is, for providers that give no
	// metadata back; nil: not known.
	Book func(provider string, ref Ref) (id string, ok bool)

	// Slots bound how much one provider is asked at once; nil: by this router.
	Slots *Slots
	own   Slots
}

// Slots are places at providers, two at each. The zero value has all free.
type Slots struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // by provider
}

// of are the places at the provider called name.
func (s *Slots) of(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == nil {
		s.taken = map[string]chan struct{}{}
	}
	if s.taken[name] == nil {
		s.taken[name] = make(chan struct{}, slots)
	}
	return s.taken[name]
}

// Answered is how a source answered.
type Answered struct {
	Name     string  `json:"name"`
	OK       bool    `json:"ok"`
	Ms       float64 `json:"ms"`
	Hits     int     `json:"hits"`
	State    string  `json:"state"` // ok, late, busy, paused, failed
	Error    string  `json:"error,omitempty"`
	Required bool    `json:"required,omitempty"`
}

// The states of a source in a recall.
const (
	StateOK     = "ok"
	StateLate   = "late"   // no answer within its time
	StateBusy   = "busy"   // it was still at what it was asked before
	StatePaused = "paused" // its breaker is open, or it said when to come back
	StateFailed = "failed"
)

// reply is what came of one source.
type reply struct {
	n    int
	hits []Hit
	err  error
	took time.Duration
}

// gather asks every source and returns their hits, in the order of Sources,
// when all have answered or the budget is used up, whichever is first. A source
// that does not heed its context keeps its slot until it returns, and nobody
// waits for it.
func (r *Router) gather(ctx context.Context, q Query) ([][]Hit, []Answered) {
	budget := r.Budget
	if budget == 0 {
		budget = RecallBudget
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	replies := make(chan reply, len(r.Sources))
	for n := range r.Sources {
		go func() {
			start := time.Now()
			hits, err := r.ask(ctx, &r.Sources[n], q)
			replies <- reply{n, hits, err, time.Since(start)}
		}()
	}
	return r.collect(ctx, cancel, replies)
}

func (r *Router) collect(ctx context.Context, cancel func(), replies <-chan reply) ([][]Hit, []Answered) {
	defer cancel()
	start := time.Now()
	lists, answers := make([][]Hit, len(r.Sources)), make([]Answered, len(r.Sources))
	for n, s := range r.Sources {
		answers[n] = Answered{Name: s.Provider.Name(), State: StateLate, Required: s.Required, Error: named(s.Provider.Name(), context.DeadlineExceeded)}
	}
	note := func(got reply) {
		lists[got.n] = got.hits
		answers[got.n] = answers[got.n].with(got)
	}
	for range r.Sources {
		select {
		case got := <-replies:
			note(got)
			continue
		case <-ctx.Done():
		}
		for range len(replies) { // what came at the last moment
			note(<-replies)
		}
		break
	}
	for n := range answers {
		if answers[n].State == StateLate && answers[n].Ms == 0 {
			answers[n].Ms = ms(time.Since(start))
		}
	}
	return lists, answers
}

// with is a with what came of it.
func (a Answered) with(got reply) Answered {
	a.Ms, a.Hits, a.Error, a.State = ms(got.took), len(got.hits), "", StateOK
	switch {
	case got.err == nil:
		a.OK = true
		return a
	case errors.Is(got.err, errBusy):
		a.State = StateBusy
	case errors.Is(got.err, ErrPaused):
		a.State = StatePaused
	case errors.Is(got.err, context.DeadlineExceeded):
		a.State = StateLate
	default:
		a.State = StateFailed
	}
	a.Error = named(a.Name, got.err)
	return a
}

// named is what err says, with the name of whom it is about.
func named(name string, err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return name + ": no answer in time"
	}
	return name + ": " + strings.TrimPrefix(err.Error(), name+": ")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// errBusy: both slots of a provider are taken.
var errBusy = errors.New("it is still at what it was asked before")

// ask asks one source, once: what fails is not tried again while somebody waits.
func (r *Router) ask(ctx context.Context, s *Source, q Query) ([]Hit, error) {
	name := s.Provider.Name()
	if r.Gates != nil {
		if err := r.Gates.Allow(name, Reading, s.Fingerprint); err != nil {
			return nil, err
		}
	}
	leave, err := r.enter(ctx, name)
	if err != nil {
		return nil, err
	}
	timeout := s.Timeout
	if timeout == 0 {
		timeout = SourceTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	done := make(chan reply, 1)
	go func() {
		defer cancel()
		defer leave()
		hits, err := s.Provider.Search(ctx, q)
		if ctx.Err() == nil { // what comes too late is reported as that
			r.report(s, err)
		}
		done <- reply{hits: hits, err: err}
	}()
	select {
	case got := <-done:
		if got.err == nil {
			got.hits = s.ordered(got.hits, q.Limit)
		}
		return got.hits, got.err
	case <-ctx.Done():
		// The owner's patience ended, or the caller's: only the first says
		// something about the provider.
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			r.report(s, &Error{Provider: name, Op: "search", Class: Retryable, Msg: "no answer within " + timeout.String()})
		}
		return nil, ctx.Err()
	}
}

func (r *Router) report(s *Source, err error) {
	if r.Gates != nil {
		r.Gates.Report(s.Provider.Name(), Reading, s.Fingerprint, err)
	}
}

// enter takes one of the provider's slots.
func (r *Router) enter(ctx context.Context, name string) (leave func(), err error) {
	all := r.Slots
	if all == nil {
		all = &r.own
	}
	taken := all.of(name)
	leave = func() { <-taken }
	select {
	case taken <- struct{}{}:
		return leave, nil
	default:
	}
	wait := time.NewTimer(slotWait)
	defer wait.Stop()
	select {
	case taken <- struct{}{}:
		return leave, nil
	case <-wait.C:
		return nil, errBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
