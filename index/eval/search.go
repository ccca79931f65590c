package eval

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"vademecum/index"
	"vademecum/vault"
)

// Depth is how many documents are asked for with each question.
const Depth = 10

// Answers builds the index of c in dir and asks each of its questions. Where c
// has sessions, the hits are passages. visit, which may be nil, is called with
// every question's hits, by one goroutine at a time.
func (c *Collection) Answers(ctx context.Context, dir string, depth int, explain bool, visit func(Query, []Found)) (Run, error) {
	src := c.Source()
	x, err := index.Open(dir, index.Options{})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if _, err := x.Update(ctx, src, nil); err != nil {
		return nil, fmt.Errorf("index %s: %w", c.Dir, err)
	}
	a := asking{c: c, src: src, x: x, depth: depth, explain: explain, visit: visit, run: Run{}}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() { a.work(ctx) })
	}
	workers.Wait()
	if a.err != nil {
		return nil, fmt.Errorf("search %s: %w", c.Dir, a.err)
	}
	return a.run, nil
}

// Found is a document that a question found.
type Found struct {
	ID      string
	Score   float64
	Explain string // how the score came about, when that was asked for
}

// asking is the questions of one collection on their way.
type asking struct {
	c       *Collection
	src     *Source
	x       *index.Index
	depth   int
	explain bool
	visit   func(Query, []Found)
	next    atomic.Int64

	mu  sync.Mutex // guards what follows, and visit
	run Run
	err error
}

func (a *asking) work(ctx context.Context) {
	for {
		i := int(a.next.Add(1)) - 1
		if i >= len(a.c.Queries) {
			return
		}
		q := a.c.Queries[i]
		found, err := a.ask(ctx, q)
		a.mu.Lock()
		if err != nil {
			a.err = err
		} else {
			a.run[q.ID] = found
			if a.visit != nil {
				a.visit(q, found)
			}
		}
		stop := a.err != nil
		a.mu.Unlock()
		if stop {
			return
		}
	}
}

func (a *asking) ask(ctx context.Context, q Query) ([]Found, error) {
	ask := vault.Query{Text: q.Text, Limit: a.depth, AllWorkspaces: true, IncludeExpired: true, Explain: a.explain}
	if a.src.Sessions {
		ask.Passages = a.depth
		if a.src.Singles { // of which long ones have several passages
			ask.Limit *= 4
		}
	}
	r, err := a.x.Search(ctx, a.src, ask)
	if err != nil {
		return nil, err
	}
	var found []Found
	seen := map[string]bool{}
	for _, h := range r.Hits {
		id := a.src.Doc(h)
		if !seen[id] && len(found) < a.depth {
			seen[id] = true
			found = append(found, Found{id, h.Score, h.Explain})
		}
	}
	return found, nil
}
