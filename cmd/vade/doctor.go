package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// finding is one thing that a doctor looked at.
type finding struct {
	Check  string   `json:"check"`
	State  string   `json:"state"` // ok, note, bad, fixed
	Detail string   `json:"detail,omitempty"`
	Items  []string `json:"items,omitempty"` // paths and lines
	Remedy string   `json:"remedy,omitempty"`
}

const (
	stateOK    = "ok"
	stateNote  = "note"
	stateBad   = "bad"
	stateFixed = "fixed"
)

// doctorView is the JSON of doctor.
type doctorView struct {
	OK       bool           `json:"ok"`
	Counts   map[string]int `json:"counts"` // memories in: vault, index, head, remote
	Findings []finding      `json:"findings"`
}

func (a *app) doctorCmd() *cobra.Command {
	var fix, offline bool
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Prove that vault, index, history and remote agree",
		GroupID: groupOwner,
		Long: `Look at everything that could be wrong and name it, with the way out: files with
broken front matter, unreadable folders, left-over locks, a search index or a git
index that is not what is on disk, damaged objects, a remote that lags behind, a
provider that does not answer or gave deliveries up.
Nothing is changed without --fix, and --fix never touches the text of a memory.
Before there is a vault it looks at the agents alone.`,
		Example: "  vade doctor\n  vade doctor --fix\n  vade doctor --json | jq '.findings[] | select(.state != \"ok\")'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withVault(func(o *opened) error {
				d := &doctor{o: o, fix: fix, offline: offline, counts: map[string]int{}}
				if err := d.run(cmd.Context()); err != nil {
					return err
				}
				return a.printDoctor(d)
			})
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "mend what can be mended without touching a memory's text")
	cmd.Flags().BoolVar(&offline, "offline", false, "ask neither the remote nor the providers")
	return cmd
}

func (a *app) printDoctor(d *doctor) error {
	v := doctorView{OK: true, Counts: d.counts, Findings: d.findings}
	for _, f := range d.findings {
		v.OK = v.OK && f.State != stateBad
	}
	if !v.OK {
		a.code = exitFailed
	}
	if a.flags.json {
		return a.printJSON(v)
	}
	for _, f := range d.findings {
		a.printFinding(f)
	}
	a.printf("memories: %d on disk, %d in the index, %d in history", d.counts["vault"], d.counts["index"], d.counts["head"])
	if n, ok := d.counts["remote"]; ok {
		a.printf(", %d on the remote", n)
	}
	a.printf("\n")
	return nil
}

func (a *app) printFinding(f finding) {
	mark := map[string]string{
		stateOK: a.paint(green, "ok   "), stateNote: a.paint(cyan, "note "),
		stateBad: a.paint(red, "BAD  "), stateFixed: a.paint(green, "fixed"),
	}[f.State]
	a.printf("%s  %s", mark, f.Check)
	if f.Detail != "" {
		a.printf(": %s", oneLine(f.Detail))
	}
	a.printf("\n")
	for i, item := range f.Items {
		if i == 20 {
			a.printf("         … and %d more (--json lists all)\n", len(f.Items)-i)
			break
		}
		a.printf("         %s\n", oneLine(item))
	}
	if f.Remedy != "" && f.State != stateOK {
		a.printf("         %s\n", a.paint(gold, f.Remedy))
	}
}

// doctor is one run of the checks, in an order in which later ones may rely
// on what earlier ones mended.
type doctor struct {
	o            *opened
	fix, offline bool
	counts       map[string]int
	findings     []finding
}

func (d *doctor) add(f finding) { d.findings = append(d.findings, f) }

// report adds a finding that is bad, or only a note, when there are items.
func (d *doctor) report(check string, items []string, state, detail, remedy string) {
	if len(items) == 0 {
		d.add(finding{Check: check, State: stateOK})
		return
	}
	d.add(finding{Check: check, State: state, Items: items, Detail: detail, Remedy: remedy})
}

func (d *doctor) run(ctx context.Context) error {
	checks := []func(context.Context) error{
		d.checkLock, d.checkWrites, d.checkGit, d.checkObjects, d.checkWorkTree, d.checkNotes, d.checkIndex, d.checkRemote, d.checkProviders, d.checkAgents, d.checkHooks,
	}
	if !d.o.vault.Exists() {
		d.add(finding{Check: "vault", State: stateNote, Detail: "there is none here yet", Remedy: noVaultYet})
		checks = []func(context.Context) error{d.checkAgents, d.checkHooks}
	}
	for _, check := range checks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := check(ctx); err != nil {
			return fmt.Errorf("doctor: %w", err)
		}
	}
	return nil
}
