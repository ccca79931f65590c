package main

import (
	"github.com/spf13/cobra"

	"vademecum/vault"
)

func (a *app) conflictsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "conflicts",
		Short:   "Settle what two hosts changed differently",
		GroupID: groupHistory,
		Long: `Where two hosts changed the same lines, the later change stays and the other is
parked as a memory of its own in conflicts/, so that nothing is lost and no file
holds a conflict marker. These commands show and settle them.`,
		Example: `  vade conflicts list
  vade conflicts show 7v5n9t
  vade conflicts resolve 7v5n9t --keep theirs`,
	}
	cmd.AddCommand(a.conflictsListCmd(), a.conflictsShowCmd(), a.conflictsResolveCmd())
	return cmd
}

// conflictView is the JSON of a conflict.
type conflictView struct {
	Kind   string         `json:"kind"` // edited-twice or edited-and-forgotten
	Parked memoryListing  `json:"parked"`
	Winner *memoryListing `json:"winner"`
	Diff   string         `json:"diff,omitempty"`
}

func (o *opened) conflictView(c vault.Conflict) conflictView {
	v := conflictView{Kind: "edited-twice", Parked: o.listing(c.Parked)}
	if c.Forgotten {
		v.Kind = "edited-and-forgotten"
	}
	if c.Winner != nil {
		w := o.listing(c.Winner)
		v.Winner = &w
	}
	return v
}

func (a *app) conflictsListCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List what is not settled",
		Args:    cobra.NoArgs,
		Example: "  vade conflicts list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withVault(func(o *opened) error {
				all, err := o.vault.Conflicts(cmd.Context())
				if err != nil {
					return err
				}
				views := []conflictView{}
				for _, c := range all {
					views = append(views, o.conflictView(c))
				}
				if a.flags.json {
					return a.printJSON(map[string]any{"conflicts": views})
				}
				for _, v := range views {
					a.printConflict(v)
				}
				if len(views) == 0 {
					a.note("no conflicts")
				}
				return nil
			})
		},
	}
}

func (a *app) printConflict(v conflictView) {
	what := "changed on two hosts"
	if v.Kind == "edited-and-forgotten" {
		what = "edited on one host, forgotten on another; it lives"
	}
	name := v.Parked.ID.Suffix()
	if name == "" {
		name = v.Parked.Path
	}
	a.printf("%s  %s  %s\n", a.paint(cyan, name), oneLine(v.Parked.Title), a.paint(dim, what))
	a.printf("  %s\n", a.paint(dim, "parked "+v.Parked.Path))
	if v.Winner != nil {
		a.printf("  %s\n", a.paint(dim, "stands "+v.Winner.Path))
	}
}

func (a *app) conflictsShowCmd() *cobra.Command {
	return &cobra.Command{
		Use:               "show REF",
		Short:             "Show both sides and how they differ",
		Long:              "Show both sides of a conflict. REF names the parked side, or the memory that it lost to.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRefs,
		Example:           "  vade conflicts show 7v5n9t",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExisting(func(o *opened) error {
				c, err := o.vault.FindConflict(cmd.Context(), vault.Ref(args[0]))
				if err != nil {
					return err
				}
				v := o.conflictView(c)
				change := vault.FileChange{Path: c.Parked.Path, New: []byte(c.Parked.Body)}
				if c.Winner != nil {
					change.Old, change.Path = []byte(c.Winner.Body), c.Winner.Path
				}
				if !c.Forgotten {
					v.Diff = unified(change)
				}
				if a.flags.json {
					return a.printJSON(v)
				}
				a.printConflict(v)
				if c.Forgotten {
					a.printf("\n%s\n", printable(c.Parked.Body))
					return nil
				}
				return a.printChanges([]vault.FileChange{change})
			})
		},
	}
}

func (a *app) conflictsResolveCmd() *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "resolve REF",
		Short: "Settle a conflict; history keeps both sides",
		Long: `Settle a conflict in one commit. REF names the parked side, or the memory that it
lost to.

  --keep ours    the memory stays as it is, the parked side goes
  --keep theirs  the parked side takes the memory's place; after a forget: forget it
  --keep both    the parked side becomes a memory of its own`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRefs,
		Example:           "  vade conflicts resolve 7v5n9t --keep both",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch vault.Keep(keep) {
			case vault.KeepOurs, vault.KeepTheirs, vault.KeepBoth:
			default:
				return usagef("--keep %q is unknown; use ours, theirs or both", keep)
			}
			return a.withExisting(func(o *opened) error {
				c, err := o.vault.FindConflict(cmd.Context(), vault.Ref(args[0]))
				if err != nil {
					return err
				}
				r, err := o.vault.ResolveConflict(cmd.Context(), c, vault.Keep(keep))
				if err != nil {
					return err
				}
				o.afterWrite(cmd.Context(), &r)
				return a.printReceipt("resolved", r)
			})
		},
	}
	cmd.Flags().StringVar(&keep, "keep", "", "ours, theirs or both")
	_ = cmd.MarkFlagRequired("keep")
	_ = cmd.RegisterFlagCompletionFunc("keep", cobra.FixedCompletions([]string{"ours", "theirs", "both"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
