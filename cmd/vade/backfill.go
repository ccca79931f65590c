package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"vademecum/hooks"
	"vademecum/sync/journal"
	"vademecum/vault"
)

// backfillFlags say what to backfill.
type backfillFlags struct {
	agents []string
	since  string
	dryRun bool
	again  bool
}

func (a *app) backfillCmd() *cobra.Command {
	var flags backfillFlags
	cmd := &cobra.Command{
		Use:     "backfill [FILE...]",
		Short:   "Take past sessions from the agents' own transcripts",
		GroupID: groupOwner,
		Long: `Read what coding agents themselves keep of past sessions, and keep their turns as
hooks would have: as sections of session files, redacted, without what agents
put around it. Turns that hooks captured, or an earlier run took, are not taken
again; of an interrupted run the next one does the rest. What is taken is kept
as long as captures are (capture.keep), counted from now.

Without FILEs all transcripts of this user are read, where the agents keep them
(CLAUDE_CONFIG_DIR, CODEX_HOME and the like count). One that cannot be read is
named, and the others are taken; the exit code is then 5.`,
		Example: `  vade backfill --dry-run
  vade backfill --agent claude --agent codex --since 90d
  vade backfill --agent pi ~/old/sessions/*.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withVault(func(o *opened) error {
				b, err := o.newBackfill(flags, args)
				if err != nil {
					return err
				}
				if err := b.run(cmd.Context()); err != nil {
					return err
				}
				return b.print()
			})
		},
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&flags.agents, "agent", nil, "only of this agent: "+strings.Join(hooks.Remembering(), ", ")+"; repeatable")
	fl.StringVar(&flags.since, "since", "", "only turns since: 90d, 12h, 2026-11-01")
	fl.BoolVar(&flags.dryRun, "dry-run", false, "say what would be taken and change nothing")
	fl.BoolVar(&flags.again, "again", false, "read transcripts again that have not changed since the last run")
	_ = cmd.RegisterFlagCompletionFunc("agent", cobra.FixedCompletions(hooks.Remembering(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// backfilled is what came of the transcripts of one agent.
type backfilled struct {
	Agent       string `json:"agent"`
	Transcripts int    `json:"transcripts"`
	Unchanged   int    `json:"unchanged"` // since an earlier run; not read
	Sessions    int    `json:"sessions"`  // with turns
	Turns       int    `json:"turns"`
	Added       int    `json:"added"`
	Known       int    `json:"known"`   // captured by hooks, or taken before
	Nothing     int    `json:"nothing"` // that say nothing new, or were forgotten
	Older       int    `json:"older"`   // than --since
}

// backfillProblem is a transcript that could not be read, or not all of it.
type backfillProblem struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// backfill is one run.
type backfill struct {
	o     *opened
	flags backfillFlags
	since time.Time
	keep  time.Duration
	past  *hooks.Past
	vault *vault.Vault
	done  *backfillState
	bar   *progress

	transcripts []hooks.Transcript
	read, total int // MiB of transcripts, in bytes

	batch    [][]*journal.Episode // of one agent, by session
	turns    int                  // in batch
	bytes    int                  // of text in batch
	pending  []hooks.Transcript   // whose turns are in batch, at the latest
	sessions map[string]bool
	older    bool // the transcript has turns that are older than since

	DryRun   bool              `json:"dry_run"`
	Agents   []*backfilled     `json:"agents"`
	Problems []backfillProblem `json:"problems"`
}

func (o *opened) newBackfill(flags backfillFlags, files []string) (*backfill, error) {
	b := &backfill{o: o, flags: flags, sessions: map[string]bool{}, DryRun: flags.dryRun, Problems: []backfillProblem{}, Agents: []*backfilled{}}
	for _, name := range flags.agents {
		if !slices.Contains(hooks.Remembering(), name) {
			return nil, usagef("--agent %s: has no transcripts that can be read; there are %s", name, strings.Join(hooks.Remembering(), ", "))
		}
	}
	if len(files) > 0 && len(flags.agents) != 1 {
		return nil, usagef("files need one --agent that wrote them")
	}
	var err error
	if b.since, err = parseMoment(flags.since, o.vault.Now(), -1); err != nil {
		return nil, usagef("--since: %v", err)
	}
	if b.keep, err = o.config.Capture.keep(); err != nil {
		return nil, err
	}
	redactor, err := hooks.NewRedactor(o.config.Hooks.Redact)
	if err != nil {
		return nil, err
	}
	b.past = &hooks.Past{
		Redactor: redactor, Now: o.a.now, Workspace: func(dir string) string { return pastWorkspace(dir, o.home) },
		Progress: b.progressed,
	}
	b.find(files)
	return b, nil
}

// pastWorkspace is the project key of a folder in which somebody worked once.
// What it was is not known of one that is gone: its path keeps what was said
// there out of other projects.
func pastWorkspace(dir, vaultHome string) string {
	key := workspaceAt(dir, vaultHome)
	if _, err := os.Stat(dir); key == "" && errors.Is(err, fs.ErrNotExist) && filepath.IsAbs(dir) {
		return filepath.ToSlash(filepath.Clean(dir))
	}
	return key
}

// find lists the transcripts to read.
func (b *backfill) find(files []string) {
	for _, path := range files {
		full, _ := filepath.Abs(path)
		t, err := hooks.TranscriptAt(b.flags.agents[0], full)
		if err != nil {
			b.problem(path, err)
			continue
		}
		b.transcripts = append(b.transcripts, t)
	}
	if len(files) > 0 {
		return
	}
	agents := b.flags.agents
	if len(agents) == 0 {
		agents = hooks.Remembering()
	}
	for _, name := range agents {
		list, problems := hooks.Transcripts(name, hooks.Homes{Home: b.o.a.userHome(), Env: b.o.a.env})
		for _, err := range problems {
			b.problem(name, err)
		}
		b.transcripts = append(b.transcripts, list...)
	}
}

func (b *backfill) problem(path string, err error) {
	b.Problems = append(b.Problems, backfillProblem{path, err.Error()})
}

func (b *backfill) progressed(bytes int) {
	b.read += bytes
	b.bar.update(b.read>>20, b.total>>20)
}

// run reads every transcript and keeps its turns.
func (b *backfill) run(ctx context.Context) error {
	if !b.DryRun {
		b.o.drainDue(ctx) // what hooks captured comes first
	}
	var err error
	if b.vault, err = b.o.captureVault(); err != nil {
		return err
	}
	if b.vault != b.o.vault {
		defer b.vault.Close()
	}
	b.done = openBackfillState(b.o.journal().Dir(), b.vault)
	defer b.done.close()
	for _, t := range b.transcripts {
		b.total += int(t.Size)
	}
	b.bar = b.o.a.progress("reading transcripts, MiB")
	defer b.bar.done()
	if err := b.takeAll(ctx); err != nil {
		return err
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	if !b.DryRun && b.added() > 0 {
		b.o.maintain(ctx)
		if b.vault == b.o.vault {
			b.o.pushLater()
		}
	}
	return nil
}

func (b *backfill) added() (n int) {
	for _, a := range b.Agents {
		n += a.Added
	}
	return n
}

// of is the account of an agent.
func (b *backfill) of(agent string) *backfilled {
	for _, a := range b.Agents {
		if a.Agent == agent {
			return a
		}
	}
	b.Agents = append(b.Agents, &backfilled{Agent: agent})
	return b.Agents[len(b.Agents)-1]
}

// backfillItem is a turn of a transcript, or its end.
type backfillItem struct {
	transcript hooks.Transcript
	turn       *journal.Episode // nil at the end
	unchanged  bool
	told       hooks.Told
	err        error
}

// takeAll reads the transcripts and, at the same time, keeps what they tell.
func (b *backfill) takeAll(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	items := make(chan backfillItem, backfillTurns)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(items)
		b.readAll(ctx, items)
	})
	defer reading.Wait()
	defer stop()
	for i := range items {
		if err := b.take(ctx, i); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.flush(ctx)
}

// readAll reads the transcripts until ctx is over.
func (b *backfill) readAll(ctx context.Context, items chan<- backfillItem) {
	send := func(i backfillItem) error {
		select {
		case items <- i:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	read := 0
	for _, t := range b.transcripts {
		end := backfillItem{transcript: t, unchanged: !b.flags.again && b.done.has(t)}
		if !end.unchanged {
			end.told, end.err = b.past.Read(ctx, t, func(e *journal.Episode) error { return send(backfillItem{transcript: t, turn: e}) })
		}
		if send(end) != nil {
			return
		}
		read += int(t.Size)
		b.progressed(read - b.read)
	}
}

// take takes one turn, or notes that a transcript is over. Only what concerns
// all of them is an error.
func (b *backfill) take(ctx context.Context, i backfillItem) error {
	account := b.of(i.transcript.Agent)
	switch {
	case i.turn != nil && i.turn.End.Before(b.since):
		account.Older++
		b.older = true
		return nil
	case i.turn != nil:
		return b.add(ctx, i.turn)
	}
	older := b.older
	b.older = false
	account.Transcripts++
	if i.unchanged {
		account.Unchanged++
		return nil
	}
	if i.told.Lost > 0 {
		i.err = errors.Join(i.err, fmt.Errorf("%s cannot be read", count(i.told.Lost, "line", "lines")))
	}
	switch {
	case i.err != nil:
		b.problem(i.transcript.Path, i.err)
	case !i.told.Unfinished && !b.DryRun && !older:
		b.pending = append(b.pending, i.transcript) // until its turns are kept
	}
	return nil
}

const (
	// backfillTurns and backfillBytes bound what is kept in one commit.
	backfillTurns = 128
	backfillBytes = 4 << 20
)

// add takes one turn.
func (b *backfill) add(ctx context.Context, e *journal.Episode) error {
	if n := len(b.batch); n > 0 && (b.batch[0][0].Agent != e.Agent || b.turns == backfillTurns || b.bytes > backfillBytes) {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	i := slices.IndexFunc(b.batch, func(s []*journal.Episode) bool { return s[0].Session == e.Session })
	if i < 0 {
		i = len(b.batch)
		b.batch = append(b.batch, nil)
	}
	b.batch[i] = append(b.batch[i], e)
	b.turns++
	for _, r := range e.Records {
		b.bytes += len(r.Event.Text)
	}
	return nil
}

// flush keeps what was taken.
func (b *backfill) flush(ctx context.Context) error {
	if len(b.batch) > 0 {
		if err := b.keepBatch(ctx); err != nil {
			return err
		}
	}
	for _, t := range b.pending {
		if err := b.done.note(t); err != nil {
			return err
		}
	}
	b.pending = nil
	return nil
}

func (b *backfill) keepBatch(ctx context.Context) error {
	batch := b.batch
	b.batch, b.turns, b.bytes = nil, 0, 0
	account := b.of(batch[0][0].Agent)
	for _, session := range batch {
		if name := session[0].Agent + " " + session[0].Session; !b.sessions[name] {
			b.sessions[name] = true
			account.Sessions++
		}
	}
	// What is old is kept from now on, and not from when it was said.
	to := &journal.Capture{Vault: b.vault, Keep: b.keep, From: b.o.vault.Now(), DryRun: b.DryRun}
	for _, out := range to.ReceiveAll(ctx, batch) {
		switch {
		case out.Err != nil:
			return out.Err
		case out.State == journal.Stored:
			account.Added++
		case out.Result == vault.IsKept:
			account.Known++
		default:
			account.Nothing++
		}
		account.Turns++
	}
	return nil
}

// print shows what was done.
func (b *backfill) print() error {
	a := b.o.a
	b.bar.done()
	if len(b.Problems) > 0 {
		a.code = exitPartly
	}
	if a.flags.json {
		return a.printJSON(b)
	}
	verb := "added"
	if b.DryRun {
		verb = "would be added"
	}
	for _, p := range b.Problems {
		a.printf("%s  %s: %s\n", a.paint(gold, "skipped"), oneLine(p.Path), oneLine(p.Reason))
	}
	for _, t := range b.Agents {
		line := fmt.Sprintf("%d %s, %d known, %d with nothing new", t.Added, verb, t.Known, t.Nothing)
		if t.Older > 0 {
			line += fmt.Sprintf(", %d older", t.Older)
		}
		if t.Unchanged > 0 {
			line += fmt.Sprintf("; %d of the transcripts not changed since the last run", t.Unchanged)
		}
		a.printf("%-9s %s, %s: %s\n", t.Agent, count(t.Transcripts, "transcript", "transcripts"), count(t.Turns, "turn", "turns"), line)
	}
	if len(b.Agents) == 0 && len(b.Problems) == 0 {
		a.note("no agent's transcripts are here")
	}
	return nil
}
