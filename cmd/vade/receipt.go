package main

import (
	"fmt"
	"strings"

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
	return strings.Join(words, ", ")
}

func short(hash string) string { return hash[:min(len(hash), 10)] }
