package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// measure is one comparison: what we cost and what the yardstick costs, in
// the same run, and how many times as much we may cost at most.
type measure struct {
	Name     string  `json:"name"`
	Size     int     `json:"size,omitempty"` // memories in the vault
	Ours     float64 `json:"ours"`
	Theirs   float64 `json:"theirs"`
	Unit     string  `json:"unit"`
	Yard     string  `json:"yardstick"`
	Ratio    float64 `json:"ratio"`
	Allowed  float64 `json:"allowed,omitempty"`  // 0: only told
	Absolute bool    `json:"absolute,omitempty"` // Allowed bounds Ours, not Ratio
}

func (m measure) over() bool {
	switch {
	case m.Allowed == 0:
		return false
	case m.Absolute:
		return m.Ours > m.Allowed
	}
	return m.Ratio > m.Allowed
}

func (a *app) benchCmd() *cobra.Command {
	var sizes []int
	var runs int
	var keep bool
	names := benchNames()
	cmd := &cobra.Command{
		Use:     "bench [NAME…]",
		Short:   "Measure speed and size against git, in one run",
		GroupID: groupOwner,
		Long: `Measure what vade costs beside what git costs for the same on the same files, on
generated vaults in a throw-away folder. CPU time of whole processes, the median
of several runs that take turns. Needs git; "start" needs go.

Names: ` + strings.Join(names, ", ") + ` (default: all).`,
		Example:   "  vade bench remember --sizes 1000,10000,50000\n  vade bench --json start",
		ValidArgs: names,
		Args:      cobra.OnlyValidArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = names
			}
			dir, err := os.MkdirTemp("", "vade-bench-")
			if err != nil {
				return err
			}
			if keep {
				a.note("kept in %s", dir)
			} else {
				defer os.RemoveAll(dir)
			}
			b := &bench{a: a, dir: dir, sizes: sizes, runs: runs}
			if b.self, err = os.Executable(); err != nil {
				return err
			}
			return b.run(cmd.Context(), args)
		},
	}
	cmd.Flags().IntSliceVar(&sizes, "sizes", []int{1000, 10000}, "memories in the generated vaults")
	cmd.Flags().IntVar(&runs, "runs", 11, "runs of each side; the median counts")
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the folder")
	cmd.AddCommand(a.freshnessCmd(), a.mergeTreesCmd())
	return cmd
}

// freshnessCmd does nothing but look at what is on disk, so that a benchmark
// can tell what that costs.
func (a *app) freshnessCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "freshness",
		Short:  "Look at what is on disk and do nothing else",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withExisting(func(o *opened) error {
				s, err := o.snapshot(cmd.Context())
				if err == nil {
					a.printf("%d\n", s.Len())
				}
				return err
			})
		},
	}
}

// bench is one run of the benchmarks.
type bench struct {
	a     *app
	self  string // this program
	dir   string
	sizes []int
	runs  int

	vaults   map[int]*benchVault
	measures []measure
}

type benchmark struct {
	name string
	run  func(*bench, context.Context) error
}

func benchmarks() []benchmark {
	return []benchmark{
		{"start", (*bench).start},
		{"remember", (*bench).remember},
		{"recall", (*bench).recall},
		{"sync", (*bench).syncIdle},
		{"push", (*bench).push},
		{"merge", (*bench).merge},
		{"import", (*bench).importNotes},
	}
}

func benchNames() []string {
	var names []string
	for _, b := range benchmarks() {
		names = append(names, b.name)
	}
	return names
}

func (b *bench) run(ctx context.Context, names []string) error {
	for _, bm := range benchmarks() {
		if !slices.Contains(names, bm.name) {
			continue
		}
		b.a.note("%s …", bm.name)
		if err := bm.run(b, ctx); err != nil {
			return fmt.Errorf("bench %s: %w", bm.name, err)
		}
	}
	if b.a.flags.json {
		return b.a.printJSON(map[string]any{"measures": b.measures})
	}
	b.a.printf("%-34s %8s %11s %11s %8s %8s  %s\n", "what", "memories", "vade", "yardstick", "ratio", "allowed", "yardstick is")
	for _, m := range b.measures {
		b.a.printMeasure(m)
	}
	return nil
}

func (a *app) printMeasure(m measure) {
	allowed, size := "-", ""
	if m.Allowed > 0 {
		allowed = fmt.Sprintf("%.2f", m.Allowed)
		if m.Absolute {
			allowed = fmt.Sprintf("%.0f %s", m.Allowed, m.Unit)
		}
	}
	if m.Size > 0 {
		size = fmt.Sprint(m.Size)
	}
	ratio := fmt.Sprintf("%8.2f", m.Ratio)
	if m.over() {
		ratio = a.paint(red, ratio)
	}
	a.printf("%-34s %8s %8.1f %s %8.1f %s %s %8s  %s\n", m.Name, size, m.Ours, m.Unit, m.Theirs, m.Unit, ratio, allowed, m.Yard)
}

// add notes a comparison.
func (b *bench) add(m measure) {
	if m.Theirs > 0 {
		m.Ratio = m.Ours / m.Theirs
	}
	b.measures = append(b.measures, m)
}
