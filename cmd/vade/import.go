package main

import (
	"github.com/spf13/cobra"

	"vademecum/vault"
)

func (a *app) importCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "import",
		Short:   "Take notes that you have elsewhere",
		GroupID: groupOwner,
		Example: "  vade import markdown ~/notes --dry-run",
	}
	cmd.AddCommand(a.importMarkdownCmd())
	return cmd
}

func (a *app) importMarkdownCmd() *cobra.Command {
	var opts vault.ImportOptions
	cmd := &cobra.Command{
		Use:   "markdown DIR",
		Short: "Take a folder of markdown files as it is",
		Long: `Take the markdown files of a folder, byte for byte and with their folders, in one
commit that "vade undo" takes back. A second run adds only what is new. Notes
that were forgotten here stay forgotten. The originals are not touched.`,
		Example: `  vade import markdown ~/notes --dry-run
  vade import markdown ~/notes
  vade import markdown ~/obsidian --into obsidian`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withVault(func(o *opened) error {
				p := a.progress("importing")
				opts.Progress = p.update
				r, err := o.vault.ImportMarkdown(cmd.Context(), args[0], opts)
				p.done()
				if err != nil {
					return err
				}
				if r.Commit != "" {
					o.maintain(cmd.Context())
					o.pushLater()
				}
				return a.printImport(r)
			})
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&opts.DryRun, "dry-run", false, "say what would happen and change nothing")
	fl.StringVar(&opts.Into, "into", "", "folder below memories/ (default: named after DIR)")
	fl.BoolVar(&opts.AllowSecret, "allow-secret", false, "take notes that hold what looks like a secret")
	return cmd
}

// printImport shows what became of the files; refused ones make it exit code
// 5, partly done.
func (a *app) printImport(r vault.ImportReport) error {
	if r.Refused > 0 {
		a.code = exitPartly
	}
	if a.flags.json {
		return a.printJSON(r)
	}
	for _, f := range r.Files {
		if f.State != "added" {
			a.printf("%s  %s: %s\n", a.paint(gold, f.State), oneLine(f.Source), oneLine(f.Reason))
		}
	}
	verb := "added"
	if r.DryRun {
		verb = "would add"
	}
	a.printf("%s %s; %d known already, %d forgotten, %d changed, %d refused, %d not markdown\n",
		a.paint(green, verb), count(r.Added, "note", "notes"), r.Known, r.Forgotten, r.Changed, r.Refused, r.Skipped)
	for _, w := range r.Warnings {
		a.printf("%s\n", a.paint(gold, oneLine(w)))
	}
	if r.Commit != "" {
		a.note("committed %s; \"vade undo\" takes it back", short(r.Commit))
	}
	return nil
}
