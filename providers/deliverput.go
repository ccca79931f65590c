package providers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/sync/journal"
	"vademecum/vault"
	"vademecum/vault/repo"
)

// job is one memory on its way to the provider.
type job struct {
	d     journal.Delivery
	m     *vault.Memory
	items []Item
	parts []journal.Part // what is known of each item; State "" is still to be put
	had   Entry          // what the provider had before
	err   error          // why it failed
	done  bool           // its outcome is known
}

// put hands over memories.
func (l *lane) put(ctx context.Context, deliveries []journal.Delivery) error {
	// What was never tried goes first: it may be what is tried again that keeps the
	// gate closed.
	slices.SortStableFunc(deliveries, func(a, b journal.Delivery) int { return again(&a) - again(&b) })
	var jobs []*job
	for _, d := range deliveries {
		j, o := l.prepare(ctx, d)
		if o != nil {
			if err := l.settle(ctx, *o); err != nil {
				return err
			}
			continue
		}
		jobs = append(jobs, j)
	}
	if err := l.look(ctx, jobs); err != nil {
		return err
	}
	for _, chunk := range l.chunks(jobs) {
		l.send(ctx, chunk)
		if err := l.finish(ctx, chunk.jobs()); err != nil {
			return err
		}
	}
	return l.finish(ctx, jobs)
}

func again(d *journal.Delivery) int { return min(d.Attempts, 2) }

// prepare reads the memory of d in its version. It returns an outcome where
// nothing is to be put.
func (l *lane) prepare(ctx context.Context, d journal.Delivery) (*job, *journal.Outcome) {
	m, err := l.o.memory(d.What, versionIn(d.Key))
	switch {
	case errors.Is(err, repo.ErrObjectNotFound):
		return nil, &journal.Outcome{Key: d.Key, State: journal.Empty, Result: "this version is not in git any more"}
	case err != nil:
		o := l.failed(ctx, &d, err)
		return nil, &o
	}
	j := &job{d: d, m: m, items: items(l.p, l.is, l.o.Vault.Config().VaultID, m)}
	if len(j.items) == 0 || m.Expired(l.o.now()) {
		o := l.remove(ctx, &d)
		if o.Err == nil && o.State != journal.Accepted {
			o.State, o.Result = journal.Empty, "it says nothing"
			if m.Expired(l.o.now()) {
				o.Result = "it expired"
			}
		}
		return nil, &o
	}
	j.had, _ = l.book.Of(d.Group)
	j.parts = make([]journal.Part, len(j.items))
	for i := range min(len(d.Parts), len(j.parts)) {
		if s := d.Parts[i].State; s.Final() || s == journal.Accepted {
			j.parts[i] = d.Parts[i]
		}
	}
	if j.had.Version == m.Version { // it was confirmed, and we were killed before we could say so
		for i := range j.parts {
			j.parts[i] = journal.Part{State: journal.Stored}
		}
	}
	return j, nil
}

// memory reads the memory at path in one version.
func (o *Outbox) memory(path string, version vault.Version) (*vault.Memory, error) {
	o.reading.Lock()
	raw, err := repo.ReadBlob(o.Vault.Git(), plumbing.NewHash(string(version)))
	o.reading.Unlock()
	if err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", path, short(string(version)), err)
	}
	m := vault.ParseDocument(raw).Memory()
	m.Path, m.Version = path, version
	return &m, nil
}

// look asks the provider what it has of those jobs of which nobody knows
// whether it got them: they were tried before, or another host may have put
// them. It never puts what is there twice, and finds what is to go.
func (l *lane) look(ctx context.Context, jobs []*job) error {
	f, ok := l.p.(Finder)
	byID := map[string]*job{}
	var ids []string
	for _, j := range jobs {
		late := l.o.now().Sub(j.d.Queued) > grace/2
		if ok && j.pending() > 0 && (j.d.Attempts > 1 || j.d.Unsure || late && !l.is.Idempotent) {
			ids = append(ids, j.d.Group)
			byID[j.d.Group] = j
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var hits []Hit
	err := l.call(ctx, "find", func(ctx context.Context) (err error) {
		hits, err = f.FindByID(ctx, ids...)
		return err
	})
	if Is(err, Unsupported) { // an older service
		return nil
	}
	if err != nil {
		for _, id := range ids {
			byID[id].err = lookError(l.name, err)
		}
		return l.finish(ctx, slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.err == nil }))
	}
	for _, h := range hits {
		if j := byID[h.ID]; j != nil && l.ours(&h) {
			j.found(h)
		}
	}
	return nil
}

// lookError is err of a question, for what was to be put: that a question is
// refused says nothing about the item.
func lookError(name string, err error) error {
	if !Is(err, Permanent) {
		return err
	}
	return &Error{Provider: name, Op: "find", Class: Retryable, Msg: err.Error(), Err: err}
}

// ours reports whether h is from our vault, as far as it says.
func (l *lane) ours(h *Hit) bool {
	return h.Vault == "" || h.Vault == string(l.o.Vault.Config().VaultID)
}

// found notes that the provider has h: the part that is to be put, or a thing
// that is to go.
func (j *job) found(h Hit) {
	if h.Version == j.m.Version && h.Part < len(j.parts) {
		p := &j.parts[h.Part]
		if p.State == "" {
			*p = journal.Part{State: journal.Stored, Refs: []string{string(h.Ref)}}
			return
		}
		if slices.Contains(p.Refs, string(h.Ref)) {
			return
		}
	}
	j.had.Stale = append(j.had.Stale, h.Ref)
}

// pending is how many parts are still to be put.
func (j *job) pending() int {
	n := 0
	for _, p := range j.parts {
		if p.State == "" {
			n++
		}
	}
	return n
}

// finish settles the jobs whose end is known: each of their parts was put, or
// one failed. First the book, then what the book says is to go, then the journal.
func (l *lane) finish(ctx context.Context, jobs []*job) error {
	var over []*job
	var entries []*Entry
	for _, j := range jobs {
		if !j.done && (j.err != nil || j.pending() == 0) {
			j.done = true
			over = append(over, j)
			if e := l.entry(j); e != nil {
				entries = append(entries, e)
			}
		}
	}
	if err := l.book.write(entries...); err != nil {
		return err
	}
	outcomes := make([]journal.Outcome, 0, len(over))
	for _, j := range over {
		outcomes = append(outcomes, l.outcome(ctx, j))
	}
	return l.settle(ctx, outcomes...)
}

// state is how far j is with all its parts put.
func (j *job) state() journal.State {
	state := journal.Empty
	for _, p := range j.parts {
		switch p.State {
		case journal.Accepted:
			return journal.Accepted
		case journal.Stored:
			state = journal.Stored
		}
	}
	return state
}

// refs are how the provider calls the parts.
func (j *job) refs() []Ref {
	var list []Ref
	for _, p := range j.parts {
		for _, r := range p.Refs {
			list = append(list, Ref(r))
		}
	}
	return without(list, nil)
}

// entry is what the book says from now on; nil where that is what it says.
func (l *lane) entry(j *job) *Entry {
	e, refs := j.had, j.refs()
	switch {
	case j.err == nil && j.had.Version == j.m.Version && len(refs) == 0:
		return nil
	case j.err != nil || j.state() == journal.Accepted: // not confirmed, and yet there may be something
		e.Stale = without(append(slices.Clone(e.Stale), refs...), e.Refs)
		if len(e.Stale) == len(j.had.Stale) {
			return nil
		}
	case j.state() == journal.Empty && len(refs) == 0: // it kept nothing new
		e.Version = j.m.Version
	default:
		e.Stale = without(slices.Concat(e.Stale, e.Refs), refs)
		if l.is.Replaces && len(j.had.Refs) <= len(refs) { // the version before is gone by itself
			e.Stale = without(j.had.Stale, slices.Concat(refs, j.had.Refs))
		}
		e.Version, e.Refs = j.m.Version, refs
	}
	e.ID, e.Expires = j.d.Group, j.m.Expires
	return &e
}

// outcome is what became of a job, after what it replaced is deleted.
func (l *lane) outcome(ctx context.Context, j *job) journal.Outcome {
	if j.err != nil {
		o := l.failed(ctx, &j.d, j.err)
		o.Parts = j.parts
		return o
	}
	o := journal.Outcome{Key: j.d.Key, State: j.state(), Parts: j.parts}
	if o.State == journal.Accepted {
		return o
	}
	if left, err := l.tidy(ctx, j.d.Group); err != nil {
		f := l.failed(ctx, &j.d, err)
		f.Parts = j.parts
		if !f.Permanent {
			f.Err = fmt.Errorf("the new version is there, the one before is to go: %w", err)
			return f
		}
		o.Result = "an earlier version stays: " + err.Error()
	} else if left {
		o.Result = "an earlier version stays: it cannot delete"
	}
	return o
}

// tidy deletes what the provider has of earlier versions. left reports that
// it cannot.
func (l *lane) tidy(ctx context.Context, id string) (left bool, err error) {
	e, ok := l.book.Of(id)
	if !ok || len(e.Stale) == 0 {
		return false, nil
	}
	d, ok := l.p.(Deleter)
	if !ok {
		return true, nil
	}
	stale := e.Stale
	for len(stale) > 0 && err == nil {
		ref := stale[0]
		err = l.write(ctx, "delete", func(ctx context.Context) error {
			_, err := d.Delete(ctx, ref)
			return err
		})
		if err == nil {
			stale = stale[1:]
		}
	}
	e.Stale = stale
	if bookErr := l.book.write(&e); bookErr != nil {
		return false, bookErr
	}
	if Is(err, Unsupported) {
		return true, nil
	}
	return false, err
}
