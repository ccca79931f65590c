package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vademecum/sync"
	"vademecum/sync/transport"
	"vademecum/vault"
	"vademecum/vault/repo"
)

func (a *app) syncCmd() *cobra.Command {
	var watch, adoptDeletes, committed bool
	cmd := &cobra.Command{
		Use:     "sync",
		Short:   "Commit edits on disk, then bring this host and the remote together",
		GroupID: groupOwner,
		Long: `One round: commit what you changed in the vault with other programs, fetch,
merge, push. Without a remote it only commits. With --watch it goes on: at each
change on disk, and every few minutes.

Edits of different lines merge without a trace. Where two hosts changed the same
lines, the later change stays and the other is parked in conflicts/.

With --committed, edits on disk wait for the next round, and no file is looked
at that neither side changed: in a vault of 50,000 files that is most of the
work. So is the sync after each write, if all was looked at within a minute.`,
		Example: `  vade sync
  vade sync --watch
  vade sync --json | jq .pulled`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				if err := a.awaitVault(cmd.Context()); err != nil {
					return err
				}
			}
			return a.withExisting(func(o *opened) error {
				opts := sync.Options{Transport: o.transport(nil), AdoptDeletions: adoptDeletes, Committed: committed, Wait: time.Minute}
				if watch {
					return o.watch(cmd.Context(), opts)
				}
				p := a.progress("sync")
				opts.Transport = o.transport(p)
				o.drainDue(cmd.Context())
				r, err := sync.Round(cmd.Context(), o.vault, opts)
				p.done()
				if errors.Is(err, sync.ErrBusy) {
					return &codedError{code: exitLocked, err: err, hint: "that round will do; or try again"}
				}
				o.maintain(cmd.Context())
				o.handOverAfterSync(cmd.Context())
				return a.printRound(r, err)
			})
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "go on until interrupted")
	cmd.Flags().BoolVar(&committed, "committed", false, "push and pull only; edits on disk wait for the next round")
	cmd.Flags().BoolVar(&adoptDeletes, "adopt-deletes", false, "commit it even when most memories are gone from the work tree")
	cmd.MarkFlagsMutuallyExclusive("committed", "watch")
	cmd.MarkFlagsMutuallyExclusive("committed", "adopt-deletes")
	return cmd
}

// awaitVault waits for the first remember or clone: who watches from the login
// on may have neither yet.
func (a *app) awaitVault(ctx context.Context) error {
	for told := false; ; told = true {
		there := false
		err := a.withVault(func(o *opened) error {
			if there = o.vault.Exists(); !there && !told {
				a.note("%q has no vault here yet; waiting for \"vade remember\" or \"vade clone\"", o.vault.Identity())
			}
			return nil
		})
		if err != nil || there {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// transport is how remotes are spoken to, with progress on p.
func (o *opened) transport(p *progress) transport.Options {
	a := o.a
	return transport.Options{
		Exec: o.config.Sync.Transport == "exec",
		Auth: transport.Auth{Token: a.env("VADE_REMOTE_TOKEN")},
		Env:  a.env,
		Progress: func(now transport.Progress) {
			if now.Phase == transport.Speaking {
				if now.Text != "" && p != nil {
					a.note("remote: %s", oneLine(now.Text))
				}
				return
			}
			p.phase(string(now.Phase), int(now.Done), int(now.Total))
		},
	}
}

// handOverAfterSync queues what came from other hosts for the providers, and
// sends it: in the background, or here if this is it.
func (o *opened) handOverAfterSync(ctx context.Context) {
	b := o.outbox()
	if b == nil {
		return
	}
	if err := b.CatchUp(ctx); err != nil {
		o.a.warn("%v", err)
		return
	}
	if o.a.env("VADE_NO_BACKGROUND") == "" {
		o.drainLater()
		return
	}
	if _, err := o.handOver(ctx, linger); err != nil {
		o.a.warn("%v", err)
	}
}

func (o *opened) watch(ctx context.Context, opts sync.Options) error {
	a := o.a
	a.note("watching %s; stop with Ctrl-C", o.vault.WorkDir())
	return sync.Watch(ctx, o.vault, sync.WatchOptions{
		Options: opts,
		Note:    func(msg string) { a.warn("%s", msg) },
		Round: func(r sync.Report, err error) {
			o.drainDue(ctx)
			o.handOverAfterSync(ctx)
			if err == nil && r.Nothing() && len(r.Warnings) == 0 {
				return
			}
			if err := a.printRound(r, err); err != nil {
				a.printError(err)
			}
			o.maintain(ctx)
		},
	})
}

// maintain packs loose objects when there are many of them. It is not part of
// anybody's answer: what goes wrong is named by doctor.
func (o *opened) maintain(ctx context.Context) {
	if !o.vault.Exists() {
		return
	}
	_ = o.vault.Lock(ctx, func() error {
		_, err := o.vault.Git().PackLoose(ctx, repo.PackOptions{})
		return err
	})
}

// printRound shows what a round did. A conflict is no failure: both sides are
// kept and every host converges without anybody's help. Exit code 5, partly
// done, says that the vault as a whole could not be brought together.
func (a *app) printRound(r sync.Report, err error) error {
	if slices.ContainsFunc(r.Left, func(l sync.Left) bool { return l.Path == "" }) {
		a.code = exitPartly
	}
	if a.flags.json {
		if err != nil {
			err = syncHint(err)
			out := struct {
				sync.Report
				Error string `json:"error"`
				Code  int    `json:"code"`
				Hint  string `json:"hint,omitempty"`
			}{r, err.Error(), exitCode(err), hintFor(err)}
			if jsonErr := a.printJSON(out); jsonErr != nil {
				return jsonErr
			}
			return &codedError{code: exitCode(err), err: fmt.Errorf("%w: %w", errSilent, err)}
		}
		return a.printJSON(r)
	}
	for _, line := range roundLines(r) {
		a.printf("%s\n", oneLine(line))
	}
	for _, l := range r.Left {
		a.warn("left alone: %s", oneLine(strings.TrimSpace(l.Path+" "+l.Reason)))
	}
	for _, w := range r.Warnings {
		a.warn("%s", oneLine(w))
	}
	if err == nil && r.Nothing() {
		a.note("nothing to do%s", remoteWords(r))
	}
	return syncHint(err)
}

func roundLines(r sync.Report) []string {
	var lines []string
	add := func(n int, format string, args ...any) {
		if n > 0 {
			lines = append(lines, fmt.Sprintf(format, args...))
		}
	}
	add(len(r.Committed), "committed %s that had been saved only", count(len(r.Committed), "file", "files"))
	add(len(r.Adopted), "committed %s that changed on disk", count(len(r.Adopted), "file", "files"))
	add(len(r.Expired), "removed %s", count(len(r.Expired), "expired memory", "expired memories"))
	add(r.Pulled, "pulled %s", count(r.Pulled, "commit", "commits"))
	add(r.Pushed, "pushed %s", count(r.Pushed, "commit", "commits"))
	for _, p := range r.Conflicts {
		lines = append(lines, "conflict: the other side is parked in "+p)
	}
	for _, p := range r.Flags {
		lines = append(lines, "edited here, forgotten there: it lives, see "+p)
	}
	for _, p := range r.Folded {
		lines = append(lines, "said on two hosts, now one memory: "+p)
	}
	return lines
}

func remoteWords(r sync.Report) string {
	if r.Remote == "" {
		return "; no remote is set (\"vade remote set URL\")"
	}
	return ", in step with " + r.Remote
}

// syncHint says what to do about a remote that did not work.
func syncHint(err error) error {
	if err == nil {
		return nil
	}
	var hint string
	code := exitCode(err)
	_, foreign := errors.AsType[*sync.ForeignError](err)
	switch {
	case foreign:
		hint = "set the right one with \"vade remote set URL\", or use --identity"
	case errors.Is(err, transport.ErrAuth):
		hint = "check the token ($VADE_REMOTE_TOKEN, netrc or git's credential helper) or the ssh key"
	case errors.Is(err, transport.ErrUnreachable), errors.Is(err, transport.ErrNotFound):
		hint = "everything is kept here; the next sync that reaches the remote catches up"
		code = exitFailed // a folder that is missing there is no memory that was not found
	default:
		return err
	}
	return &codedError{code: code, hint: hint, err: err}
}

// afterWrite completes a receipt with what is known of the remote and of the
// providers, and has the write pushed and handed over in the background. It
// never waits for anybody else.
func (o *opened) afterWrite(ctx context.Context, r *vault.Receipt) {
	o.owe(ctx, r)
	s, err := sync.Status(o.vault)
	if err != nil || s.Remote == "" {
		o.drainLater()
		return
	}
	r.Ahead = s.Ahead
	if s.LastError != "" {
		r.Warnings = append(r.Warnings, "not replicated: the last sync failed: "+s.LastError)
	}
	o.pushLater()
}

// pushLater starts a sync in the background when there is a remote to sync
// with, which drains the journal first; else what the journal holds is drained.
func (o *opened) pushLater() {
	if auto := o.config.Sync.Auto; auto == nil || *auto {
		if s, err := sync.Status(o.vault); err == nil && s.Remote != "" {
			if o.a.env("VADE_NO_BACKGROUND") == "" {
				o.background(o.syncAfterWrite()...)
			}
			return
		}
	}
	o.drainLater()
}

// lookEvery is how often the syncs after writes look for edits on disk.
const lookEvery = time.Minute

// syncAfterWrite are the arguments of the sync that follows a write. Looking at
// every file after each of many writes would cost more than all else.
func (o *opened) syncAfterWrite() []string {
	if age := o.vault.Now().Sub(sync.LastLook(o.vault)); age >= 0 && age < lookEvery {
		return []string{"sync", "--committed"}
	}
	return []string{"sync"}
}

// adopt commits what a human changed at path by other means.
func (o *opened) adopt(ctx context.Context, path string) error {
	_, err := sync.Adopt(ctx, o.vault, sync.AdoptOptions{Paths: []string{path}, Still: time.Nanosecond})
	return err
}
