package main

import (
	"fmt"
	"strings"
	"time"

	"vademecum/vault"
)

// printReceipt shows what became of a write.
func (a *app) printReceipt(verb string, r vault.Receipt) error {
	if a.flags.json {
		return a.printJSON(r)
	}
	name := r.Title
	if name == "" {
		name = r.Path
	}
	id := ""
	if r.ID != "" {
		id = "  " + a.paint(cyan, string(r.ID))
	}
	a.printf("%s%s  %s\n", a.paint(green, verb), id, oneLine(name))
	a.printf("  %s\n", a.paint(dim, r.Path+"  "+state(r)))
	for _, w := range r.Warnings {
		a.printf("  %s\n", a.paint(gold, oneLine(w)))
	}
	return nil
}

// warnExpired says that what was just written is not recalled any more: its
// expiry lies in the past. It is in the receipt's JSON, and on stderr for a person.
func (o *opened) warnExpired(r *vault.Receipt, expires time.Time) {
	if expires.IsZero() || expires.After(o.vault.Now()) {
		return
	}
	msg := "it expired at " + vault.FormatTime(expires) + ": it is hidden, and the next sync removes it (vade edit " +
		r.Path + " --expires never keeps it)"
	if o.a.flags.json {
		r.Warnings = append(r.Warnings, msg)
		return
	}
	o.a.warn("%s", msg)
}

// state says in words where a write is.
func state(r vault.Receipt) string {
	words := []string{"saved"}
	if r.Commit != "" {
		words = append(words, "committed "+short(r.Commit))
	}
	switch {
	case r.Pushed:
		words = append(words, "pushed")
	case r.Ahead > 0:
		words = append(words, fmt.Sprintf("not pushed yet (%d ahead)", r.Ahead))
	}
	return strings.Join(append(words, providerStates(r.Providers)...), ", ")
}

// providerStates is "queued for mem0 and zep", for each state.
func providerStates(list []vault.ProviderReceipt) []string {
	var states []string
	names := map[string][]string{}
	for _, p := range list {
		if names[p.State] == nil {
			states = append(states, p.State)
		}
		names[p.State] = append(names[p.State], p.Name)
	}
	for i, s := range states {
		states[i] = s + " for " + strings.Join(names[s], " and ")
	}
	return states
}

func short(hash string) string { return hash[:min(len(hash), 10)] }
