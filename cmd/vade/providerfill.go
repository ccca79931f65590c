package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vademecum/providers"
	"vademecum/sync/journal"
)

// filledView is the JSON of provider backfill.
type filledView struct {
	Provider string `json:"provider"`
	DryRun   bool   `json:"dry_run,omitempty"`
	Lacked   int    `json:"lacked"` // memories that it did not have, by its receipts
	providers.Filled
}

func (a *app) providerBackfillCmd() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "backfill NAME",
		Short: "Hand over what the vault has and a provider has not",
		Long: `Hand over what the vault has and a provider has not: one that was added later,
or was away. What it has by its receipts is left out; interrupted, it goes on where
it was; a provider's limits are kept. What you remember meanwhile does not wait
for the end of it.`,
		Example:           "  vade provider backfill mem0 --dry-run\n  vade provider backfill mem0",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeProviders,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExisting(func(o *opened) error {
				b, err := o.outboxFor(args[0])
				if err != nil {
					return err
				}
				r := filledView{Provider: args[0], DryRun: dryRun, Filled: providers.Filled{Owed: map[journal.State]int{}}}
				if r.Lacked, r.Total, err = b.BackfillCount(args[0]); err != nil {
					return err
				}
				if !dryRun {
					p := a.progress("hand over to " + args[0])
					r.Filled, err = b.Backfill(cmd.Context(), args[0], p.update)
					p.done()
				}
				return a.printFilled(r, err)
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only count")
	return cmd
}

// outboxFor is the outbox, if it writes to the provider called name.
func (o *opened) outboxFor(name string) (*providers.Outbox, error) {
	if _, err := o.namedProviders([]string{name}); err != nil {
		return nil, err
	}
	o.takeTime()
	if _, err := o.source(name); err != nil {
		return nil, err
	}
	if _, ok := o.target(name); !ok {
		return nil, usagef("provider %s: write is off for every tier (vade config show)", name)
	}
	return o.outbox(), nil
}

func (a *app) printFilled(r filledView, err error) error {
	waits := 0 // not there yet, or never
	for _, n := range r.Owed {
		waits += n
	}
	if err == nil && waits > 0 {
		a.code = exitPartly
	}
	if err != nil && !a.flags.json {
		return hinted(err, "vade provider check "+r.Provider+"; what was handed over stays, and backfill goes on from there")
	}
	if a.flags.json {
		return errors.Join(a.printJSON(r), err)
	}
	switch {
	case r.DryRun:
		a.printf("%s: %d of %s to hand over\n", r.Provider, r.Lacked, count(r.Total, "memory", "memories"))
	default:
		a.printf("%s: %d of %s there by its receipts, %d of them from now%s\n",
			r.Provider, max(r.Total-waits, 0), count(r.Total, "memory", "memories"), max(r.Queued-waits, 0), owedWords(r.Owed))
	}
	return nil
}

func (a *app) providerVerifyCmd() *cobra.Command {
	var fix bool
	var limit int
	cmd := &cobra.Command{
		Use:   "verify NAME",
		Short: "Prove that a provider has what the vault has",
		Long: `Ask a provider for each memory that it should have, and for what it should not
have any more. A provider that cannot be asked says so. With --fix, what is missing
or old is handed over again and what should be gone is deleted. Exit code 1: they
do not agree.`,
		Example:           "  vade provider verify mem0\n  vade provider verify mem0 --fix\n  vade provider verify zep --limit 100 --json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeProviders,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExisting(func(o *opened) error {
				b, err := o.outboxFor(args[0])
				if err != nil {
					return err
				}
				v, err := b.Verify(cmd.Context(), args[0], limit, fix)
				if err != nil {
					return err
				}
				if fix {
					o.drainLater()
				}
				return a.printVerified(args[0], v)
			})
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "hand over again what is missing or old, delete what should be gone")
	cmd.Flags().IntVar(&limit, "limit", 0, "memories at most (0: all)")
	return cmd
}

// verified is the JSON of provider verify.
type verified struct {
	Provider string `json:"provider"`
	Agrees   bool   `json:"agrees"`
	providers.Verified
}

func (a *app) printVerified(name string, v providers.Verified) error {
	differs := len(v.Missing)+len(v.Stale)+len(v.Orphaned) > 0
	if differs && v.Mending == 0 {
		a.code = exitFailed
	}
	if a.flags.json {
		return a.printJSON(verified{name, !differs, v})
	}
	words := []string{fmt.Sprintf("%d there", v.OK)}
	for _, part := range []struct {
		n    int
		what string
	}{
		{len(v.Missing), "missing"},
		{len(v.Stale), "old or double"},
		{len(v.Orphaned), "that should be gone"},
		{v.Owed, "on the way"},
		{v.Unverifiable, "by its receipts alone: it cannot be asked"},
		{v.Mending, "queued to mend it"},
	} {
		if part.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	a.printf("%s: %s\n", name, strings.Join(words, ", "))
	for _, list := range []struct {
		ids  []string
		what string
	}{{v.Missing, "missing"}, {v.Stale, "old or double"}, {v.Orphaned, "should be gone"}} {
		for i, id := range list.ids {
			if i == 20 {
				a.printf("  … and %d more (--json lists all)\n", len(list.ids)-i)
				break
			}
			a.printf("  %s  %s\n", oneLine(id), a.paint(dim, list.what))
		}
	}
	return nil
}
