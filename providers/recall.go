package providers

import (
	"context"
	"slices"

	"vademecum/vault"
)

// Shelf is the vault as a recall needs it to show what others found of ours.
type Shelf interface {
	// Search is the vault's own answer.
	Search(ctx context.Context) ([]vault.Hit, error)
	// Look returns the memory called id (see Item.ID) and what has become of it.
	// The hit is nil unless it is Here and the query's filters let it through.
	Look(id string) (*vault.Hit, Fate)
}

// Fate is what has become of a memory.
type Fate int

const (
	// Unknown: the vault never had it, or has not got it from another host yet.
	Unknown Fate = iota
	Here
	Forgotten // it has a tombstone
	Expired
)

// Answer is what a recall found.
type Answer struct {
	Hits []vault.Hit
	// Sources say how each answered, in the order of the router's.
	Sources []Answered
	// Partial: a source has not answered.
	Partial bool
	// Missing are the required ones among these.
	Missing []string
	// Gone are memories that a provider still returns though they are forgotten
	// or expired: their deletion is owed.
	Gone []Gone
}

// Gone is a memory that should not be at a provider any more.
type Gone struct {
	Provider, ID string
	Ref          Ref
}

// Recall asks the vault and all sources at once. What the vault found is in the
// answer whatever becomes of the others; its error is the only one. Memories
// of ours are shown as the vault has them now; what the vault forgot is not
// shown.
func (r *Router) Recall(ctx context.Context, q Query, shelf Shelf) (Answer, error) {
	type gathered struct {
		lists   [][]Hit
		answers []Answered
	}
	others := make(chan gathered, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		lists, answers := r.gather(ctx, q.wider())
		others <- gathered{lists, answers}
	}()
	local, err := shelf.Search(ctx)
	if err != nil {
		return Answer{}, err
	}
	got := <-others
	a := Answer{Sources: got.answers}
	for _, s := range got.answers {
		a.Partial = a.Partial || !s.OK
		if s.Required && !s.OK {
			a.Missing = append(a.Missing, s.Name)
		}
	}
	a.Hits = r.fuse(q, local, got.lists, shelf, &a.Gone)
	return a, nil
}

// wider is q asking for more: some of what comes is forgotten, or twice.
func (q Query) wider() Query {
	q.Limit += q.Limit/2 + 2
	return q
}

// fuse makes one answer of all lists. Where nothing came from elsewhere it is
// the vault's own.
func (r *Router) fuse(q Query, local []vault.Hit, lists [][]Hit, shelf Shelf, gone *[]Gone) []vault.Hit {
	f := newFusion(local)
	came := false
	for n := range r.Sources {
		s := &r.Sources[n]
		rank := 0
		for _, h := range lists[n] {
			if r.place(f, s, h, rank+1, shelf, gone) {
				rank++
				came = true
			}
		}
	}
	if !came {
		return local[:min(len(local), q.Limit)]
	}
	return f.hits(q.Text, q.Limit)
}

// place finds out whose h is, and counts it. It reports whether h may be shown.
func (r *Router) place(f *fusion, s *Source, h Hit, rank int, shelf Shelf, gone *[]Gone) bool {
	name, weight := s.Provider.Name(), s.Weight
	if weight == 0 {
		weight = sourceWeight
	}
	id := h.ID
	if id == "" && r.Book != nil {
		id, _ = r.Book(name, h.Ref)
	}
	hit, fate := (*vault.Hit)(nil), Unknown
	if id != "" {
		hit, fate = shelf.Look(id)
	}
	switch {
	case id == "" || fate == Unknown && h.Vault != "" && h.Vault != r.Vault: // nobody's of ours
		c, foreign := f.meet(h)
		if foreign {
			weight *= foreignShare
		}
		c.add(name, weight, rank)
		return true
	case fate == Forgotten || fate == Expired:
		*gone = append(*gone, Gone{Provider: name, ID: id, Ref: h.Ref})
		return false
	case hit == nil || !s.lets(hit):
		return false
	}
	f.know(*hit).add(name, weight, rank)
	return true
}

// lets reports whether the route of s lets a memory through.
func (s *Source) lets(h *vault.Hit) bool {
	return within(s.Tiers, h.Tier) && within(s.Scopes, h.Scope.Type)
}

// within reports whether v is one of list, or list names none.
func within[T ~string](list []T, v T) bool {
	if len(list) == 0 {
		return true
	}
	return slices.Contains(list, v)
}
