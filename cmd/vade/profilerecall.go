package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"vademecum/hooks"
	"vademecum/vault"
)

// profileFlags choose a profile and change it for once.
type profileFlags struct {
	name      string
	limit     int
	budget    int
	threshold float64
	strict    bool
}

func (f *profileFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.name, "profile", "", "profile to recall by: default, passive_initial, passive, stm, ltm, or one of the config")
	fl.IntVar(&f.limit, "limit", 5, "hits at most")
	fl.IntVar(&f.budget, "budget", 0, "tokens of text over all hits at most (0: no limit)")
	fl.Float64Var(&f.threshold, "threshold", 0, "only hits with this share of the query's words, from 0 to 1")
	fl.BoolVar(&f.strict, "strict", false, "only hits that have every rarer word of the query")
}

// profile is the profile that was chosen, with what other flags say.
func (f *profileFlags) profile(cmd *cobra.Command, c config) (hooks.Profile, error) {
	p, err := c.findProfile(f.name)
	if err != nil {
		return p, err
	}
	changed := cmd.Flags().Changed
	if changed("limit") {
		p.Limit = f.limit
	}
	if changed("budget") {
		p.Tokens = f.budget
	}
	if changed("threshold") {
		p.Threshold = f.threshold
	}
	if changed("strict") {
		p.Strict = f.strict
	}
	switch {
	case p.Limit < 1 || p.Tokens < 0:
		return p, usagef("--limit must be at least 1 and --budget not negative")
	case p.Threshold < 0 || p.Threshold > 1:
		return p, usagef("--threshold must be from 0 to 1")
	}
	return p, nil
}

// queryBy is q narrowed by p; filters that q has already stay.
func queryBy(p hooks.Profile, q vault.Query) vault.Query {
	tiers, types := q.Tiers, q.Types
	q = p.Query(q)
	if len(tiers) > 0 {
		q.Tiers = tiers
	}
	if len(types) > 0 {
		q.Types = types
	}
	return q
}

// recallBy answers q as p says, from all the vaults that it reads and the
// providers that are asked besides.
func (o *opened) recallBy(ctx context.Context, p hooks.Profile, q vault.Query) (answer recallAnswer, founds []found, err error) {
	q = queryBy(p, q)
	limit := q.Limit
	if p.Threshold > 0 {
		q.Limit += 16 // some will not be relevant
	}
	if r := o.routerFor(p, q, &answer); r != nil {
		founds, err = o.recallWithProviders(ctx, r, p, q, &answer)
	} else {
		founds, err = o.recallVaults(ctx, p, q, &answer)
	}
	answer.Hits = answer.Hits[:min(len(answer.Hits), limit)]
	if len(answer.Hits) > 0 {
		answer.Reason = ""
	} else if answer.Reason == "" {
		answer.Reason = fmt.Sprintf("nothing has %.0f %% of the query's words", 100*p.Threshold)
	}
	return answer, founds, err
}

// recallVaults puts into answer what the vaults have that p reads.
func (o *opened) recallVaults(ctx context.Context, p hooks.Profile, q vault.Query, answer *recallAnswer) (founds []found, err error) {
	names := o.vaults(p)
	answer.Query, answer.Hits = q.Text, []vault.Hit{}
	var lists [][]vault.Hit
	for _, name := range names {
		f, pa, err := o.recallFrom(ctx, name, len(names) > 1, q)
		answer.Providers = append(answer.Providers, pa)
		switch {
		case err != nil && p.Requires(name, o.vault.Identity()) && name != o.localName():
			return founds, err
		case err != nil:
			answer.Partial = true
			answer.Warnings = append(answer.Warnings, err.Error())
			continue
		}
		founds = append(founds, f)
		answer.Warnings = append(answer.Warnings, f.warnings...)
		answer.Partial = answer.Partial || len(f.warnings) > 0
		answer.Reason = firstOf(answer.Reason, f.result.Reason)
		lists = append(lists, p.Relevant(q.Text, f.result.Hits))
	}
	answer.Hits = append(answer.Hits, hooks.Fuse(lists...)...)
	return founds, nil
}

// recallFrom asks one vault.
func (o *opened) recallFrom(ctx context.Context, name string, several bool, q vault.Query) (found, providerAnswer, error) {
	own := name == o.vault.Identity()
	pa := providerAnswer{Name: "vault"}
	if !own {
		pa.Name = "vault:" + name
	}
	other, err := o.another(name)
	if err != nil {
		return found{}, pa, err
	}
	defer other.close(o)
	f, scan, err := other.search(ctx, q)
	if err != nil {
		return f, pa, err
	}
	for i := range f.result.Hits {
		if several {
			markHit(&f.result.Hits[i], name, own || name == o.localName())
		}
	}
	pa.OK, pa.Ms, pa.Scan = true, f.ms, scan
	f.own = own
	f.snapshot.SaveCatalog()
	return f, pa, nil
}
