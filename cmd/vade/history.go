package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"vademecum/sync"
	"vademecum/vault"
)

func (a *app) historyCmd() *cobra.Command {
	var limit int
	var session, agent string
	cmd := &cobra.Command{
		Use:     "history [REF]",
		Aliases: []string{"log"},
		Short:   "Show what changed, when and by whom",
		GroupID: groupHistory,
		Long: `Show the commits of the vault, or those that changed one memory: newest first,
through renames, also of a memory that is forgotten.`,
		Example: `  vade history
  vade history 7v5n9t
  vade history --session 0f3a`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRefs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return usagef("--limit must not be negative")
			}
			return a.withExisting(func(o *opened) error {
				entries, err := o.history(cmd.Context(), args, func(e vault.LogEntry) bool {
					return (session == "" || e.Session == session) && (agent == "" || e.Agent == agent)
				}, limit)
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(map[string]any{"entries": entries})
				}
				for _, e := range entries {
					a.printEntry(e)
				}
				if len(entries) == 0 {
					a.note("no commits")
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "at most this many (0: all)")
	// These hide the global flags of the same names, which say who acts.
	cmd.Flags().StringVar(&session, "session", "", "only what this session did")
	cmd.Flags().StringVar(&agent, "agent", "", "only what this agent did")
	return cmd
}

func (o *opened) history(ctx context.Context, args []string, wanted func(vault.LogEntry) bool, limit int) ([]vault.LogEntry, error) {
	entries := []vault.LogEntry{}
	if len(args) == 1 {
		all, err := o.vault.History(ctx, vault.Ref(args[0]))
		if err != nil {
			return nil, err
		}
		for _, e := range all {
			if wanted(e) && (limit == 0 || len(entries) < limit) {
				entries = append(entries, e)
			}
		}
		return entries, nil
	}
	for e, err := range o.vault.Log(ctx) {
		if err != nil {
			return nil, err
		}
		if !wanted(e) {
			continue
		}
		if entries = append(entries, e); len(entries) == limit {
			break
		}
	}
	return entries, nil
}

// commit is the commit that name, a hash or the start of one, names.
func (o *opened) commit(ctx context.Context, name string) (plumbing.Hash, error) {
	h, err := o.vault.ResolveCommit(ctx, name)
	if errors.Is(err, vault.ErrNotFound) {
		return h, hinted(err, `"vade history" lists the commits`)
	}
	return h, err
}

func (a *app) printEntry(e vault.LogEntry) {
	var who []string
	for _, s := range []string{e.Author, e.Agent, e.Host} {
		if s != "" {
			who = append(who, s)
		}
	}
	if e.Session != "" {
		who = append(who, "session "+e.Session)
	}
	version := ""
	if e.Version != "" {
		version = "  " + a.paint(dim, "version "+short(string(e.Version)))
	}
	a.printf("%s  %s  %s  %s%s\n", a.paint(cyan, short(e.Commit)), a.paint(dim, shortTime(e.When)),
		oneLine(e.Subject), a.paint(dim, "("+oneLine(strings.Join(who, ", "))+")"), version)
}

func (a *app) diffCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "diff [REF | COMMIT | REF@COMMIT]",
		Short:   "Show changes as a unified diff",
		GroupID: groupHistory,
		Long: `Without an argument: what is on disk and not committed. With a REF: what is not
committed of that memory, or if nothing, its last change. With REF@COMMIT: from
that version to the present one. With a COMMIT: what it changed.`,
		Example: `  vade diff
  vade diff 7v5n9t
  vade diff 7v5n9t@3f2a1bc
  vade diff 3f2a1bc`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRefs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExisting(func(o *opened) error {
				changes, err := o.changes(cmd.Context(), args)
				if err != nil {
					return err
				}
				return a.printChanges(changes)
			})
		},
	}
	return cmd
}

// changes are what a diff was asked to show.
func (o *opened) changes(ctx context.Context, args []string) ([]vault.FileChange, error) {
	if len(args) == 0 {
		return o.vault.Uncommitted(ctx)
	}
	name, commit, err := o.splitRef(ctx, args[0])
	if err != nil {
		return nil, err
	}
	if commit != "" {
		return o.vault.Since(ctx, vault.Ref(name), commit)
	}
	changes, err := o.vault.LastChange(ctx, vault.Ref(name))
	if !errors.Is(err, vault.ErrNotFound) {
		return changes, err
	}
	h, commitErr := o.vault.ResolveCommit(ctx, name)
	if commitErr != nil {
		return nil, err
	}
	return o.vault.ChangesOf(h)
}

func (a *app) printChanges(changes []vault.FileChange) error {
	if a.flags.json {
		type change struct {
			Path string `json:"path"`
			Diff string `json:"diff"`
		}
		out := []change{}
		for _, c := range changes {
			out = append(out, change{c.Path, unified(c)})
		}
		return a.printJSON(map[string]any{"changes": out})
	}
	for _, c := range changes {
		for line := range strings.Lines(unified(c)) {
			a.printf("%s\n", a.paintDiff(strings.TrimSuffix(line, "\n")))
		}
	}
	if len(changes) == 0 {
		a.note("no changes")
	}
	return nil
}

// unified is a change as text; missing sides are empty files.
func unified(c vault.FileChange) string {
	return string(diff.Diff("a/"+c.Path, c.Old, "b/"+c.Path, c.New))
}

func (a *app) paintDiff(line string) string {
	text := line
	if terminal(a.stdout) {
		text = printable(line)
	}
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
		return a.paint(bold, text)
	case strings.HasPrefix(line, "+"):
		return a.paint(green, text)
	case strings.HasPrefix(line, "-"):
		return a.paint(red, text)
	case strings.HasPrefix(line, "@@"):
		return a.paint(cyan, text)
	}
	return text
}

func (a *app) undoCmd() *cobra.Command {
	var target sync.UndoTarget
	var ofSession, ofAgent string
	cmd := &cobra.Command{
		Use:     "undo [COMMIT]",
		Short:   "Take back a change; later changes by others stay",
		GroupID: groupHistory,
		Long: `Take back the last change that was made on this host, or a COMMIT, or everything
that a session or an agent did. Exactly that is reverted, in one commit: later
edits stay, and where one stands in the way it is kept and named. An undo can
itself be undone.`,
		Example: `  vade undo
  vade undo 3f2a1bc
  vade undo --session 0f3a
  vade undo --agent codex`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target = sync.UndoTarget{Session: ofSession, Agent: ofAgent}
			if len(args)+bit(ofSession)+bit(ofAgent) > 1 {
				return usagef("give one of COMMIT, --session and --agent")
			}
			return a.withExisting(func(o *opened) error {
				if len(args) == 1 {
					h, err := o.commit(cmd.Context(), args[0])
					if err != nil {
						return err
					}
					target.Commit = h
				}
				return o.undo(cmd.Context(), target)
			})
		},
	}
	// These hide the global flags of the same names, which say who acts.
	cmd.Flags().StringVar(&ofSession, "session", "", "everything that this session did")
	cmd.Flags().StringVar(&ofAgent, "agent", "", "everything that this agent did")
	return cmd
}

// bit is 1 for a flag that was given.
func bit(s string) int { return min(len(s), 1) }

func (o *opened) undo(ctx context.Context, target sync.UndoTarget) error {
	done, err := sync.Undo(ctx, o.vault, target)
	if errors.Is(err, sync.ErrNothingToUndo) {
		return hinted(err, `"vade history" shows what was done, by which session and agent`)
	}
	if err != nil {
		return err
	}
	a := o.a
	if !done.Changed {
		return nothingLeft(done)
	}
	if b := o.outbox(); b != nil { // so that "vade journal list" shows at once what they will get
		if err := b.CatchUp(ctx); err != nil {
			a.warn("not queued for the providers yet: %v", err)
		}
	}
	o.pushLater()
	if a.flags.json {
		return a.printJSON(done)
	}
	for _, e := range done.Undoes {
		a.printf("%s  %s  %s\n", a.paint(green, "undone"), a.paint(cyan, short(e.Commit)), oneLine(e.Subject))
	}
	for _, p := range done.Paths {
		a.printf("  %s\n", a.paint(dim, p))
	}
	for _, p := range done.Kept {
		a.printf("  %s\n", a.paint(gold, p+" was changed later; that stays"))
	}
	if done.Held != "" {
		a.printf("  %s\n", a.paint(gold, "saved but not committed: "+done.Held))
		return nil
	}
	a.printf("  %s\n", a.paint(dim, "committed "+short(done.Commit)+"; \"vade undo\" brings it back"))
	return nil
}

// nothingLeft says why an undo changed nothing.
func nothingLeft(done sync.Undone) error {
	what := short(done.Undoes[0].Commit) + " (" + oneLine(done.Undoes[0].Subject) + ")"
	if len(done.Undoes) > 1 {
		what = count(len(done.Undoes), "commit", "commits")
	}
	if len(done.Kept) == 0 {
		return hinted(fmt.Errorf("%s: %w", what, sync.ErrNothingToUndo), "it was undone already, or later changes took it back")
	}
	return &codedError{
		code: exitConflict,
		err:  fmt.Errorf("nothing of %s can be undone: later changes of %s stand in the way", what, strings.Join(done.Kept, ", ")),
		hint: `"vade history REF" shows them; undo those first, or edit or forget it`,
	}
}

func (a *app) restoreCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "restore REF@COMMIT",
		Short:   "Bring back an older version of a memory",
		GroupID: groupHistory,
		Long: `Bring back the exact bytes that a memory had after a COMMIT; "vade history REF"
lists them. A forgotten memory is named by its id or its path. Restoring it is
a new decision: its tombstone is lifted.`,
		Example: `  vade restore 7v5n9t@3f2a1bc
  vade restore memories/2026/11/deploy-rule-7v5n9t.md@3f2a1bc`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRefs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExisting(func(o *opened) error {
				name, commit, err := o.splitRef(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if commit == "" {
					return hinted(usagef("restore needs REF@COMMIT, not %q", args[0]), `"vade history REF" lists the commits`)
				}
				h, err := o.commit(cmd.Context(), commit)
				if err != nil {
					return err
				}
				r, err := o.vault.Restore(cmd.Context(), vault.Ref(name), h)
				if err != nil {
					return err
				}
				o.afterWrite(cmd.Context(), &r)
				return a.printReceipt("restored", r)
			})
		},
	}
}
