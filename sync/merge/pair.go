package merge

import (
	"slices"
)

// unit is one file through the merge: in base and on both sides, wherever each
// has it.
type unit struct{ base, a, b entry }

// pairFound makes units of what base does not have. What the two sides found
// is one file where it is one memory by id, or one path and no memory.
func (e *engine) pairFound() error {
	p := pairing{engine: e, taken: map[string]bool{}}
	if len(e.a.found) > 0 && len(e.b.found) > 0 {
		if err := p.index(); err != nil {
			return err
		}
	}
	for _, a := range e.a.found {
		b, err := p.partner(a)
		if err != nil {
			return err
		}
		if b.there() {
			p.taken[b.path] = true
		}
		e.units = append(e.units, &unit{a: a, b: b})
	}
	for _, b := range e.b.found {
		if !p.taken[b.path] {
			e.units = append(e.units, &unit{b: b})
		}
	}
	return nil
}

// pairing finds the partners of side a's files among side b's.
type pairing struct {
	*engine
	byPath map[string]entry
	byID   map[string][]entry // by the id, and by each id that was taken over
	taken  map[string]bool    // by path
}

func (p *pairing) index() error {
	p.byPath, p.byID = map[string]entry{}, map[string][]entry{}
	for _, b := range p.b.found {
		p.byPath[b.path] = b
		all, err := p.allIDs(b)
		if err != nil {
			return err
		}
		for _, id := range all {
			p.byID[id] = append(p.byID[id], b)
		}
	}
	return nil
}

// allIDs returns the ids that name the memory e: its own first.
func (p *pairing) allIDs(e entry) ([]string, error) {
	id, merged, err := p.ids(e)
	if err != nil || id == "" {
		return nil, err
	}
	return append([]string{id}, merged...), nil
}

func (p *pairing) partner(a entry) (entry, error) {
	same, ok := p.byPath[a.path]
	if ok && !p.taken[a.path] && (same.hash == a.hash || !a.isMemory() || !same.isMemory()) {
		return same, nil
	}
	if len(p.byID) == 0 {
		return entry{}, nil
	}
	all, err := p.allIDs(a)
	if err != nil {
		return entry{}, err
	}
	var candidates []entry
	for _, id := range all {
		candidates = append(candidates, p.byID[id]...)
	}
	candidates = slices.DeleteFunc(candidates, func(b entry) bool { return p.taken[b.path] })
	for _, b := range candidates {
		if b.path == a.path || b.hash == a.hash {
			return b, nil
		}
	}
	if len(candidates) == 0 {
		return entry{}, nil
	}
	return candidates[0], nil
}
