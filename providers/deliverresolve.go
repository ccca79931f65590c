package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"vademecum/sync/journal"
)

// askLater is when something is looked at again that cannot be asked after.
const askLater = time.Hour

// resolve asks what became of an accepted delivery.
func (l *lane) resolve(ctx context.Context, d *journal.Delivery) journal.Outcome {
	parts := slices.Clone(d.Parts)
	asked, err := l.ask(ctx, d, parts)
	o := journal.Outcome{Key: d.Key, State: journal.Accepted, Parts: parts, Err: err}
	waiting := slices.ContainsFunc(parts, func(p journal.Part) bool { return p.State == journal.Accepted })
	switch {
	case Terminal(err): // it came to nothing
		o.State, o.Permanent = "", true
	case !waiting:
		return l.resolved(ctx, d, parts)
	case l.o.now().Sub(d.Since) >= giveUp:
		o.State, o.Permanent = "", true
		o.Err = fmt.Errorf("accepted %d h ago and not confirmed since: %w", int(giveUp.Hours()), cmp.Or(err, errUnconfirmed))
	case !asked:
		o.Result, o.After = "it cannot be asked what became of it", l.o.now().Add(askLater)
	}
	if p, ok := errors.AsType[*Paused](l.closed); ok {
		o.After = p.Until
	}
	if o.Permanent { // put again in case somebody wants it tried again
		for i := range parts {
			if parts[i].State == journal.Accepted {
				parts[i] = journal.Part{}
			}
		}
	}
	return o
}

// errUnconfirmed: the provider did not say more.
var errUnconfirmed = errors.New("it says no more")

// ask asks after each part that was accepted. asked reports whether there is a
// way to.
func (l *lane) ask(ctx context.Context, d *journal.Delivery, parts []journal.Part) (asked bool, err error) {
	r, ok := l.p.(Resolver)
	for i := range parts {
		p := &parts[i]
		if !ok || p.State != journal.Accepted || p.Handle == "" && len(p.Refs) == 0 {
			continue
		}
		asked = true
		var got Receipt
		err := l.call(ctx, "resolve", func(ctx context.Context) (err error) {
			got, err = r.Resolve(ctx, Receipt{State: p.State, Refs: refsIn(*p), Handle: p.Handle})
			return err
		})
		if err != nil {
			if Terminal(err) {
				*p = journal.Part{}
			}
			return true, err
		}
		if len(got.Refs) == 0 {
			got.Refs = refsIn(*p)
		}
		*p = partOf(got)
	}
	if f, ok := l.p.(Finder); ok && !asked && !isDelete(d.Key) {
		return true, l.confirm(ctx, f, d, parts)
	}
	return asked, nil
}

// confirm looks whether what was accepted is there by now.
func (l *lane) confirm(ctx context.Context, f Finder, d *journal.Delivery, parts []journal.Part) error {
	var hits []Hit
	err := l.call(ctx, "find", func(ctx context.Context) (err error) {
		hits, err = f.FindByID(ctx, d.Group)
		return err
	})
	if err != nil {
		return lookError(l.name, err)
	}
	for _, h := range hits {
		if h.ID == d.Group && l.ours(&h) && h.Version == versionIn(d.Key) && h.Part < len(parts) {
			parts[h.Part] = journal.Part{State: journal.Stored, Refs: []string{string(h.Ref)}}
		}
	}
	return nil
}

func refsIn(p journal.Part) []Ref {
	var list []Ref
	for _, r := range p.Refs {
		list = append(list, Ref(r))
	}
	return list
}

// resolved ends a delivery all of whose parts are confirmed.
func (l *lane) resolved(ctx context.Context, d *journal.Delivery, parts []journal.Part) journal.Outcome {
	e, has := l.book.Of(d.Group)
	kept := slices.ContainsFunc(parts, func(p journal.Part) bool { return p.State != journal.Deleted })
	if isDelete(d.Key) || !kept {
		e.Gone = true
		if has {
			if err := l.book.write(&e); err != nil {
				return journal.Outcome{Key: d.Key, State: journal.Accepted, Err: err}
			}
		}
		return journal.Outcome{Key: d.Key, State: journal.Deleted}
	}
	m, err := l.o.memory(d.What, versionIn(d.Key))
	if err != nil {
		return journal.Outcome{Key: d.Key, State: journal.Accepted, Err: err}
	}
	j := &job{d: *d, m: m, parts: parts, had: e, done: true}
	if entry := l.entry(j); entry != nil {
		if err := l.book.write(entry); err != nil {
			return journal.Outcome{Key: d.Key, State: journal.Accepted, Err: err}
		}
	}
	return l.outcome(ctx, j)
}
