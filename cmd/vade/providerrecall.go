package main

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"vademecum/hooks"
	"vademecum/index"
	"vademecum/providers"
	"vademecum/vault"
)

// routerFor is the router of the providers that p asks for q; nil when there
// are none. What keeps one from being asked is a warning in answer.
func (o *opened) routerFor(p hooks.Profile, q vault.Query, answer *recallAnswer) *providers.Router {
	if q.AsOf != "" || q.Strict { // what others hold is the present, and their words are not ours
		return nil
	}
	r, warnings := o.router(p.Name)
	answer.Warnings = append(answer.Warnings, warnings...)
	answer.Partial = answer.Partial || len(warnings) > 0
	if r == nil || len(r.Sources) == 0 {
		return nil
	}
	return r
}

// recallWithProviders puts into answer what the vaults and the providers have.
func (o *opened) recallWithProviders(ctx context.Context, r *providers.Router, p hooks.Profile, q vault.Query, answer *recallAnswer) (founds []found, err error) {
	s := &shelf{o: o, query: q}
	s.search = func(ctx context.Context) ([]vault.Hit, error) {
		founds, err = o.recallVaults(ctx, p, q, answer)
		for _, f := range founds {
			if f.own {
				s.snapshot = f.snapshot
			}
		}
		return answer.Hits, err
	}
	got, err := r.Recall(ctx, providers.Query{Text: q.Text, Limit: q.Limit, Workspace: q.Workspace}, s)
	if err != nil {
		return founds, err
	}
	answer.Hits = withinBudget(p.Relevant(q.Text, got.Hits), q.Budget)
	answer.Partial = answer.Partial || got.Partial
	for _, a := range got.Sources {
		answer.Providers = append(answer.Providers, providerAnswer{Name: a.Name, OK: a.OK, Ms: a.Ms, State: a.State, Error: a.Error})
		if !a.OK {
			answer.Warnings = append(answer.Warnings, "not in this answer: "+a.Error)
		}
	}
	answer.missing, answer.gone = got.Missing, got.Gone
	return founds, nil
}

// withinBudget is hits without those of others that budget has no room for,
// in tokens; 0: no bound. What the vault found is cut to it already.
func withinBudget(hits []vault.Hit, budget int) []vault.Hit {
	if budget == 0 {
		return hits
	}
	used := 0
	for _, h := range hits {
		if isVaults(h) {
			used += index.Tokens(h.Text)
		}
	}
	kept := hits[:0:0]
	for _, h := range hits {
		if !isVaults(h) {
			if used += index.Tokens(h.Text); used > budget {
				used -= index.Tokens(h.Text)
				continue
			}
		}
		kept = append(kept, h)
	}
	return kept
}

// isVaults reports whether a vault found h itself.
func isVaults(h vault.Hit) bool {
	return len(h.Providers) > 0 && (h.Providers[0] == "vault" || strings.HasPrefix(h.Providers[0], "vault:"))
}

// shelf is the vault for the router.
type shelf struct {
	o        *opened
	query    vault.Query
	search   func(context.Context) ([]vault.Hit, error)
	snapshot *vault.Snapshot // of the own vault, when it has been searched
}

var _ providers.Shelf = (*shelf)(nil)

// Search implements providers.Shelf.
func (s *shelf) Search(ctx context.Context) ([]vault.Hit, error) {
	hits, err := s.search(ctx)
	if err == nil && s.snapshot == nil { // only other vaults are read
		s.snapshot, err = s.o.vault.Recent(ctx, trustedFor)
	}
	return hits, err
}

// Look implements providers.Shelf.
func (s *shelf) Look(id string) (*vault.Hit, providers.Fate) {
	i := s.find(id)
	if i < 0 {
		if s.forgotten(id) {
			return nil, providers.Forgotten
		}
		return nil, providers.Unknown
	}
	m, err := s.snapshot.Memory(i)
	switch {
	case err != nil || vault.IsConflict(m.Path):
		return nil, providers.Here
	case m.Expired(s.query.Now) && !s.query.IncludeExpired:
		return nil, providers.Expired
	case !s.query.Admits(m):
		return nil, providers.Here
	}
	h := hitOf(m)
	if raw, err := s.snapshot.Read(i); err == nil && len(raw) >= len(m.Body) {
		h.Line = 1 + bytes.Count(raw[:len(raw)-len(m.Body)], []byte{'\n'})
		h.Passage = vault.Passage{Start: len(raw) - len(m.Body), End: len(raw) - len(m.Body) + len(h.Text)}
	}
	return &h, providers.Here
}

// find returns the entry of the memory that a provider knows as id, or -1.
func (s *shelf) find(id string) int {
	if path, ok := strings.CutPrefix(id, string(s.o.vault.Config().VaultID)+":"); ok {
		return s.snapshot.Find(path)
	}
	if _, err := vault.ParseID(id); err != nil {
		return -1
	}
	i, err := s.snapshot.Resolve(vault.Ref(id))
	if err != nil {
		return -1
	}
	return i
}

// forgotten reports whether id has a tombstone.
func (s *shelf) forgotten(id string) bool {
	parsed, err := vault.ParseID(id)
	if err == nil {
		_, err = s.o.vault.ReadAt(s.snapshot.Head(), vault.TombstonePath(parsed))
	}
	return err == nil
}

// maxShown is how many bytes of a memory are shown that nothing says which part
// of it answers.
const maxShown = 1500

// hitOf is m as a hit that the vault did not find by itself.
func hitOf(m *vault.Memory) vault.Hit {
	h := vault.Hit{
		ID: m.ID, Title: m.Title, Path: m.Path, Version: m.Version, Text: m.Body, Line: 1,
		Tier: m.Tier, Type: m.Type, Tags: append([]string{}, m.Tags...), Workspace: m.Workspace,
		Created: m.Created, Updated: m.Updated, Origin: m.Origin, Scope: m.Scope, ConflictOf: m.ConflictOf,
	}
	if m.SupersededBy != "" {
		h.SupersededBy = &m.SupersededBy
	}
	if len(h.Text) > maxShown {
		cut := maxShown
		for !utf8.RuneStart(h.Text[cut]) {
			cut--
		}
		h.Text, h.Excerpt = h.Text[:cut], true
	}
	return h
}
