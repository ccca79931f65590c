package providers

import (
	"context"
	"fmt"
	"slices"

	"vademecum/sync/journal"
)

// piece is one part of one job, and chunk what goes in one request.
type piece struct {
	j    *job
	part int
}

type chunk []piece

func (c chunk) jobs() []*job {
	var list []*job
	for _, p := range c {
		if !slices.Contains(list, p.j) {
			list = append(list, p.j)
		}
	}
	return list
}

// manyItems is how many items go in one request where the provider knows no
// bound, and aloneAfter how often one is tried in company: a request may fail
// because of one of its items.
const (
	manyItems  = 64
	aloneAfter = 2
)

// chunks divides what is to be put into requests.
func (l *lane) chunks(jobs []*job) []chunk {
	size := 1
	if _, ok := l.p.(BatchPutter); ok {
		size = manyItems
		if l.is.MaxBatch > 0 {
			size = l.is.MaxBatch
		}
	}
	var list []chunk
	var open chunk
	for _, j := range jobs {
		for i, p := range j.parts {
			switch {
			case p.State != "" || j.done:
			case j.d.Attempts > aloneAfter || size == 1:
				list = append(list, chunk{{j, i}})
			default:
				if open = append(open, piece{j, i}); len(open) == size {
					list, open = append(list, open), nil
				}
			}
		}
	}
	if len(open) > 0 {
		list = append(list, open)
	}
	return list
}

// send makes one request, and notes what came of it in the jobs. What the
// provider refuses in company for good is tried alone.
func (l *lane) send(ctx context.Context, c chunk) {
	c = slices.DeleteFunc(slices.Clone(c), func(p piece) bool { return p.j.err != nil })
	if len(c) == 0 {
		return
	}
	list := make([]Item, len(c))
	for i, p := range c {
		list[i] = p.j.items[p.part]
	}
	var results []PutResult
	err := l.write(ctx, "put", func(ctx context.Context) error {
		results = PutAll(ctx, l.p, list)
		return overall(results)
	})
	if len(results) != len(c) { // it was not asked
		for _, p := range c {
			p.j.err = &notAsked{err}
		}
		return
	}
	if len(c) > 1 && !slices.ContainsFunc(results, func(r PutResult) bool { return !Terminal(r.Err) }) {
		for _, p := range c {
			l.send(ctx, chunk{p})
		}
		return
	}
	for i, r := range results {
		switch {
		case r.Err == nil && !r.State.Final() && r.State != journal.Accepted:
			c[i].j.err = &Error{Provider: l.name, Op: "put", Class: Protocol, Ambiguous: true, Msg: fmt.Sprintf("answered with the state %q", r.State)}
		case r.Err == nil:
			c[i].j.parts[c[i].part] = partOf(r.Receipt)
		case isOurs(r.Err) || err == nil:
			c[i].j.err = r.Err
		default: // a timeout, as call puts it
			c[i].j.err = err
		}
	}
}

// notAsked is why a request was not made.
type notAsked struct{ error }

func (e *notAsked) Unwrap() error { return e.error }

// overall is what a batch says about the provider: that it is well if it took
// anything, else why not.
func overall(results []PutResult) error {
	for _, r := range results {
		if ends(r.Err) {
			return r.Err
		}
	}
	for _, r := range results {
		if r.Err == nil {
			return nil
		}
	}
	return firstError(results)
}

func partOf(r Receipt) journal.Part {
	return journal.Part{State: r.State, Refs: plain(r.Refs), Handle: r.Handle}
}
