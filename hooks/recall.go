package hooks

import (
	"context"
	"slices"

	"vademecum/vault"
)

// moreHits is how many hits beyond a profile's limit are asked for: some were
// told before, some are not relevant.
const moreHits = 16

// asked is what is looked for on behalf of a prompt.
type asked struct {
	prompt    string
	session   string
	workspace string
	profile   Profile
}

// recall returns what the stores know about a prompt and the session was not
// told yet, and how many hits there were before that was sorted out.
func (r *Receiver) recall(ctx context.Context, a asked, told *session) (notes []note, found int, err error) {
	texts := questions(a.prompt)
	stores, err := r.stores(a.profile)
	if err != nil {
		return nil, 0, err
	}
	lists, missing := ask(ctx, stores, r.sourceTimeout(), func(ctx context.Context, s Store) ([]vault.Hit, error) {
		return searchAll(ctx, s, r.query(a), texts)
	})
	if missing > 0 {
		err = ErrTimeout
	}
	hits := Fuse(lists...)
	if len(hits) == 0 {
		return nil, 0, err
	}
	for i, share := range newQuestion(texts).shares(hits) {
		n := note{hit: hits[i], text: withTitle(hits[i].Title, hits[i].Text)}
		if len(notes) < a.profile.Limit && share >= a.profile.Threshold && !told.knows(n) && !stale(hits[i], a.session) {
			notes = append(notes, n)
		}
	}
	return notes, len(hits), err
}

func (r *Receiver) query(a asked) vault.Query {
	q := a.profile.Query(vault.Query{Workspace: a.workspace, AllWorkspaces: a.workspace == "", Now: r.now()})
	q.Limit, q.Budget = a.profile.Limit+moreHits, 0
	return q
}

// searchAll asks one store for each of texts; what the first finds comes first.
func searchAll(ctx context.Context, s Store, q vault.Query, texts []string) ([]vault.Hit, error) {
	var all []vault.Hit
	for _, text := range texts {
		q.Text = text
		hits, err := s.Search(ctx, q)
		if err != nil && len(all) == 0 {
			return nil, err
		}
		for _, h := range hits {
			if !slices.ContainsFunc(all, func(o vault.Hit) bool { return o.Name() == h.Name() }) {
				all = append(all, h)
			}
		}
	}
	return all, nil
}

// stale reports whether h is nothing to tell session: its own words, or
// something that was said better since.
func stale(h vault.Hit, session string) bool {
	return h.SupersededBy != nil || captured(h.Path) && h.Origin.Session == session && session != ""
}
