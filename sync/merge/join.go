package merge

import (
	"cmp"
	"slices"

	"vademecum/vault"
)

// joinFolded brings an edit of a memory that the other side has folded into
// another one to where it lives now.
func (e *engine) joinFolded() error {
	if e.undo {
		return nil
	}
	for _, o := range e.outcomes {
		u := o.unit
		if !u.base.there() || u.a.there() == u.b.there() {
			continue
		}
		folder := e.a
		if u.a.there() {
			folder = e.b
		}
		into, err := e.folded(u.base, folder)
		if err != nil {
			return err
		}
		if into != nil && into != o {
			if err := e.join(o, into); err != nil {
				return err
			}
		}
	}
	return nil
}

// folded returns the outcome of the memory that took over base's id on lane l;
// nil when none did.
func (e *engine) folded(base entry, l *lane) (*outcome, error) {
	id, _, err := e.ids(base)
	if err != nil || id == "" {
		return nil, err
	}
	for _, o := range e.outcomes {
		now := o.unit.a
		if l == e.b {
			now = o.unit.b
		}
		if !now.there() || o.gone {
			continue
		}
		_, merged, err := e.ids(now)
		if err != nil {
			return nil, err
		}
		if slices.Contains(merged, id) {
			return o, nil
		}
	}
	return nil, nil
}

// join merges the edit o, made of o.unit.base, into the memory into.
func (e *engine) join(o, into *outcome) error {
	base, err := e.data(o.unit.base)
	if err != nil {
		return err
	}
	edit, err := e.content(o)
	if err != nil {
		return err
	}
	home, err := e.content(into)
	if err != nil {
		return err
	}
	r := Files(base, Side{Data: home}, Side{Data: edit})
	e.setContent(into, r.Data)
	into.from |= o.from
	o.gone = true
	e.result.Merged = append(e.result.Merged, into.path)
	if len(r.Lost) > 0 {
		e.lose(into, [][]byte{edit, home}[r.Winner], o.path)
	}
	return nil
}

// fact is what makes two memories one.
type fact struct {
	text, workspace string
	scope           vault.Scope
}

// foldEqual makes one memory of those that say the same and were added on both
// sides: the one with the earliest id stays.
func (e *engine) foldEqual() error {
	if e.undo {
		return nil
	}
	groups := map[fact][]*outcome{}
	var order []fact
	for _, o := range e.freshMemories() {
		doc, err := e.document(o)
		if err != nil {
			return err
		}
		m := doc.Memory()
		if m.ID == "" || m.Broken != nil || m.ConflictOf != "" || vault.IsCapture(o.path) || vault.IsConflict(o.path) {
			continue
		}
		f := fact{vault.Canonical(m.Title, m.Body), m.Workspace, m.Scope}
		if groups[f] == nil {
			order = append(order, f)
		}
		groups[f] = append(groups[f], o)
	}
	for _, f := range order {
		if err := e.foldGroup(groups[f]); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) foldGroup(group []*outcome) error {
	var from sides
	ids := map[*outcome]string{}
	for _, o := range group {
		id, err := e.idOf(o)
		if err != nil {
			return err
		}
		from, ids[o] = from|o.from, id
	}
	if len(group) < 2 || from != bothSides {
		return nil
	}
	slices.SortFunc(group, func(x, y *outcome) int {
		return cmp.Or(cmp.Compare(ids[x], ids[y]), cmp.Compare(x.path, y.path))
	})
	for _, o := range group[1:] {
		if ids[o] == ids[group[0]] {
			continue // a copy that somebody made
		}
		if err := e.foldInto(group[0], o); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) foldInto(keep, o *outcome) error {
	data, err := e.content(keep)
	if err != nil {
		return err
	}
	other, err := e.content(o)
	if err != nil {
		return err
	}
	folded, lost, ok := fold(data, other)
	if !ok {
		return nil
	}
	e.setContent(keep, folded)
	keep.from, o.gone = bothSides, true
	e.result.Folded = append(e.result.Folded, keep.path)
	if len(lost) > 0 {
		e.lose(keep, other, o.path)
	}
	return nil
}
