package providers

import (
	"context"
	"slices"
	"strings"

	"vademecum/sync/journal"
)

// remove deletes what the provider has of d's memory.
func (l *lane) remove(ctx context.Context, d *journal.Delivery) journal.Outcome {
	e, has := l.book.Of(d.Group)
	p, ok := l.p.(Deleter)
	if !ok {
		if !has && !d.Unsure {
			return journal.Outcome{Key: d.Key, State: journal.Empty, Result: "it has nothing of this"}
		}
		return journal.Outcome{Key: d.Key, State: journal.Empty, Result: "it cannot delete"}
	}
	refs, err := l.refsOf(ctx, d, &e)
	if err != nil {
		return l.failed(ctx, d, err)
	}
	var parts []journal.Part
	left := refs
	for len(left) > 0 && err == nil {
		var r Receipt
		err = l.write(ctx, "delete", func(ctx context.Context) (err error) {
			r, err = p.Delete(ctx, left[0])
			return err
		})
		if err == nil {
			if r.State == journal.Accepted {
				parts = append(parts, journal.Part{State: r.State, Refs: []string{string(left[0])}, Handle: r.Handle})
			}
			left = left[1:]
		}
	}
	o := journal.Outcome{Key: d.Key, State: journal.Deleted}
	switch {
	case Is(err, Unsupported):
		o.State, o.Result = journal.Empty, "it cannot delete"
		return o
	case err != nil:
		e.Refs, e.Stale = nil, left
		e.Version = ""
		o = l.failed(ctx, d, err)
	case len(parts) > 0:
		o.State, o.Parts = journal.Accepted, parts
		return o
	default:
		e.Gone = true
	}
	if has || len(e.Stale) > 0 {
		if bookErr := l.book.write(&e); bookErr != nil {
			return journal.Outcome{Key: d.Key, Err: bookErr}
		}
	}
	return o
}

// refsOf are the provider's things of d's memory: by the book, by what it says
// itself, and by what it returned to somebody.
func (l *lane) refsOf(ctx context.Context, d *journal.Delivery, e *Entry) ([]Ref, error) {
	refs := e.all()
	for _, p := range d.Parts {
		for _, r := range p.Refs {
			refs = append(refs, Ref(r))
		}
	}
	if strings.Contains(d.Key, elsewhereKey) { // what others put stays
		return without(refs, nil), nil
	}
	hits, err := l.hitsOf(ctx, d.Group, len(refs) > 0)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		refs = append(refs, h.Ref)
	}
	return without(refs, nil), nil
}

// hitsOf asks the provider what it has of id. known: the book says so already,
// and a provider that can only be read from end to end is not.
func (l *lane) hitsOf(ctx context.Context, id string, known bool) (hits []Hit, err error) {
	if f, ok := l.p.(Finder); ok {
		err = l.call(ctx, "find", func(ctx context.Context) (err error) {
			hits, err = f.FindByID(ctx, id)
			return err
		})
		if !Is(err, Unsupported) {
			return slices.DeleteFunc(hits, func(h Hit) bool { return h.ID != id || !l.ours(&h) }), lookError(l.name, err)
		}
	}
	if _, ok := l.p.(Lister); !ok || known || !l.is.Attribution {
		return nil, nil
	}
	if l.listed == nil {
		if l.listed, err = l.list(ctx); err != nil {
			return nil, lookError(l.name, err)
		}
	}
	return l.listed[id], nil
}

// pageSize is how much is asked for at once of a provider that is listed.
const pageSize = 100

// list is everything of ours that the provider has, by id.
func (l *lane) list(ctx context.Context) (map[string][]Hit, error) {
	all := map[string][]Hit{}
	for cursor := ""; ; {
		var hits []Hit
		err := l.call(ctx, "list", func(ctx context.Context) (err error) {
			hits, cursor, err = l.p.(Lister).List(ctx, cursor, pageSize)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			if h.ID != "" && l.ours(&h) {
				all[h.ID] = append(all[h.ID], h)
			}
		}
		if cursor == "" {
			return all, nil
		}
	}
}
