package main

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/spf13/cobra"

	"vademecum/index"
)

func (a *app) reindexCmd() *cobra.Command {
	var ifStale, full bool
	cmd := &cobra.Command{
		Use:     "reindex",
		Short:   "Bring the search index up to date",
		GroupID: groupOwner,
		Long: `Bring the search index up to date with what is on disk. Recall does not need it:
what is not in the index is searched all the same, only slower. The index is
derived and may be deleted at any time.`,
		Example: "  vade reindex\n  vade reindex --full",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withExisting(func(o *opened) error {
				return o.reindex(cmd.Context(), ifStale, full)
			})
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "from nothing, instead of what changed")
	cmd.Flags().BoolVar(&ifStale, "if-stale", false, "only when much is not in it")
	_ = cmd.Flags().MarkHidden("if-stale")
	return cmd
}

// reindexMemory, and 1 KiB a memory, is what indexing tries to make do with.
// It lives longer than the processes that main leaves their garbage to: without a limit
// 100,000 memories take 700 MiB, with it 400, and no more processor time.
const reindexMemory = 192 << 20

func (o *opened) reindex(ctx context.Context, ifStale, full bool) error {
	a := o.a
	s, err := o.snapshot(ctx)
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(reindexMemory + int64(s.Len())<<10)
	x, err := o.index()
	if err != nil {
		return err
	}
	defer x.Close()
	if ifStale && x.Stale(s).Pending < refreshAt {
		return nil
	}
	if full {
		if err := o.vault.DropCatalog(); err != nil {
			return err
		}
	}
	p := a.progress("indexing")
	var stats index.UpdateStats
	if full {
		stats, err = x.Rebuild(ctx, s, p.update)
	} else {
		stats, err = x.Update(ctx, s, p.update)
	}
	p.done()
	if err != nil {
		return err
	}
	s.SaveCatalog()
	for _, u := range s.Unreadable {
		a.warn("%s cannot be read and keeps what the index knows of it: %v", u.Path, u.Err)
		a.code = exitPartly
	}
	if stats.Skipped {
		return &codedError{code: exitLocked, err: errors.New("another process is indexing"), hint: "its work counts for everybody"}
	}
	if a.flags.json {
		return a.printJSON(map[string]any{
			"memories": s.Len(), "analysed": stats.Analysed, "generations": stats.Generations,
			"unreadable": append([]string{}, stats.Unreadable...),
		})
	}
	a.note("%s indexed, %d new", count(s.Len(), "memory", "memories"), stats.Analysed)
	return nil
}
