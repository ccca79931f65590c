package hooks

import (
	"slices"

	"vademecum/vault"
)

// Profile says how much is recalled, and from where.
type Profile struct {
	// Name is what the config calls it.
	Name string
	// Limit is how many memories at most.
	Limit int
	// Tokens bounds the text of all of them together; 0: no bound. A token is
	// taken for 4 bytes where bytes are counted.
	Tokens int
	// Threshold is the share of a prompt's words, from 0 to 1, that a memory
	// must have to be told; 0: any hit.
	Threshold float64
	// Strict keeps only memories that have every rarer word of the query.
	Strict bool
	// Tiers and Types narrow the search; empty: all.
	Tiers []vault.Tier
	Types []vault.Type
	// Required and BestEffort are the vaults that are read, by identity: a
	// recall fails without one of the first and goes on without one of the
	// second. Both empty: the own vault.
	Required   []string
	BestEffort []string
	// Write is the vault that is written to; "": the own one.
	Write string
	// Tier is what is written as when nothing else is said.
	Tier vault.Tier
}

// The names of the profiles that hooks use.
const (
	ProfileDefault = "default"
	ProfileInitial = "passive_initial" // the first prompt of a session
	ProfilePassive = "passive"         // each later one
)

// BuiltIn are the profiles that are there without any configuration.
func BuiltIn() map[string]Profile {
	return map[string]Profile{
		ProfileDefault: {Limit: 5},
		ProfileInitial: {Limit: 5, Tokens: 1000, Threshold: 0.2},
		ProfilePassive: {Limit: 2, Tokens: 500, Threshold: 0.35},
		"stm":          {Limit: 5, Tiers: []vault.Tier{vault.STM}, Tier: vault.STM},
		"ltm":          {Limit: 5, Tiers: []vault.Tier{vault.LTM}, Tier: vault.LTM},
	}
}

// Query narrows q as p says.
func (p Profile) Query(q vault.Query) vault.Query {
	q.Limit, q.Budget, q.Strict, q.Tiers, q.Types = p.Limit, p.Tokens, p.Strict, p.Tiers, p.Types
	return q
}

// Relevant returns those of hits that have at least p's share of the words of
// the query text, in their order.
func (p Profile) Relevant(text string, hits []vault.Hit) []vault.Hit {
	if p.Threshold <= 0 || len(hits) == 0 {
		return hits
	}
	kept := hits[:0:0]
	for i, share := range newQuestion(questions(text)).shares(hits) {
		if share >= p.Threshold {
			kept = append(kept, hits[i])
		}
	}
	return kept
}

// OwnVault stands for the vault of the identity in use.
const OwnVault = "own"

// Vaults are the identities whose vaults p reads for own, each once.
func (p Profile) Vaults(own string) []string {
	var names []string
	for _, name := range slices.Concat(p.Required, p.BestEffort) {
		if name == OwnVault {
			name = own
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return []string{own}
	}
	return names
}

// Requires reports whether a recall fails without the vault called name.
func (p Profile) Requires(name, own string) bool {
	return !slices.Contains(p.BestEffort, name) && !(name == own && slices.Contains(p.BestEffort, OwnVault))
}
