package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	b := &bench{a: a}
	var keep bool
	var svg string
	names := benchNames()
	cmd := &cobra.Command{
		Use:     "bench [NAME…]",
		Short:   "Measure speed and size against git and other engines, in one run",
		GroupID: groupOwner,
		Long: `Measure what vade costs beside what others cost for the same on the same files,
on vaults in a throw-away folder: generated ones, or copies of a folder of notes
(--vault). Processor time of whole processes, the median of several runs that
take turns, unless the name says otherwise. Needs git and go.

"build" and "search" compare with SQLite FTS5 and stock bleve, which live in a
program of their own, yardstick; "search" asks inside running processes, each
question of each engine in turn. "concurrent" has 8 readers, 4 writers and a
rebuild at work at once, and fails if an answer is stale or lacks a hit.

Names: ` + strings.Join(names, ", ") + ` (default: all).`,
		Example: "  vade bench remember --sizes 1000,10000,50000\n  vade bench build search cold --sizes 100000 --bytes 300 --svg plots\n" +
			"  vade bench search --vault ~/notes\n  vade bench concurrent --duration 1m\n  vade bench --json start",
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
			if err := b.prepare(dir); err != nil {
				return err
			}
			if err := b.run(cmd.Context(), args); err != nil || svg == "" {
				return err
			}
			return b.savePlots(svg)
		},
	}
	fl := cmd.Flags()
	fl.IntSliceVar(&b.sizes, "sizes", []int{1000, 10000}, "memories in the generated vaults")
	fl.IntVar(&b.size, "bytes", 1000, "size of a generated memory")
	fl.StringVar(&b.notes, "vault", "", "measure on a copy of the markdown files in `DIR` instead")
	fl.IntVar(&b.runs, "runs", 11, "runs of each side; the median counts")
	fl.IntVar(&b.questions, "questions", 20, "questions of each class that search asks")
	fl.StringSliceVar(&b.engines, "engines", []string{fts5, bleve}, "whom to compare with: fts5, bleve, bleve-bm25")
	fl.StringVar(&b.yardsticks, "yardstick", "", "`DIR` of the programs yardstick and bare (default: beside vade, else built)")
	fl.DurationVar(&b.duration, "duration", 10*time.Second, "how long concurrent takes")
	fl.StringVar(&svg, "svg", "", "write plots to `DIR`")
	fl.BoolVar(&keep, "keep", false, "leave the folder")
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
	a          *app
	self       string // this program
	dir        string
	sizes      []int
	size       int // bytes of a generated memory
	runs       int
	notes      string // folder of somebody's notes, "" for generated ones
	questions  int
	engines    []string
	yardsticks string // folder of the programs, "" for where they are looked for
	duration   time.Duration

	vaults   map[int]*benchVault
	measures []measure
	plots    []*plot
}

// prepare checks what the flags say; dir is the throw-away folder.
func (b *bench) prepare(dir string) error {
	b.dir = dir
	if len(b.sizes) == 0 || slices.Min(b.sizes) < 1 || b.size < 1 || b.runs < 1 || b.questions < 1 {
		return usagef("--sizes, --bytes, --runs and --questions must be at least 1")
	}
	var err error
	if b.self, err = os.Executable(); err != nil || b.notes == "" {
		return err
	}
	if b.notes, err = filepath.Abs(b.notes); err != nil {
		return err
	}
	n, err := countNotes(b.notes)
	b.sizes = []int{n}
	return err
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
		{"hooks", (*bench).hooks},
		{"sync", (*bench).syncIdle},
		{"push", (*bench).push},
		{"merge", (*bench).merge},
		{"import", (*bench).importNotes},
		{"build", (*bench).build},
		{"search", (*bench).search},
		{"cold", (*bench).cold},
		{"write", (*bench).write},
		{"concurrent", (*bench).concurrent},
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
	b.a.printf("%-40s %8s %11s %11s %8s %8s  %s\n", "what", "memories", "vade", "yardstick", "ratio", "allowed", "yardstick is")
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
	ratio := fmt.Sprintf("%8.*f", ratioDigits(m.Ratio), m.Ratio)
	if m.over() {
		ratio = a.paint(red, ratio)
	}
	a.printf("%-40s %8s %11s %11s %s %8s  %s\n", m.Name, size, quantity(m.Ours, m.Unit), quantity(m.Theirs, m.Unit), ratio, allowed, m.Yard)
}

func ratioDigits(ratio float64) int {
	if ratio > 0 && ratio < 0.1 {
		return 4
	}
	return 2
}

// quantity prints v so that its first digits show, however small it is.
func quantity(v float64, unit string) string {
	digits := 1
	if v != 0 && math.Abs(v) < 10 {
		digits = 2
	}
	if v != 0 && math.Abs(v) < 0.1 {
		digits = 4
	}
	if unit == "" {
		digits = 0
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", digits, v, unit))
}

// add notes a comparison.
func (b *bench) add(m measure) {
	if m.Theirs > 0 {
		m.Ratio = m.Ours / m.Theirs
	}
	b.measures = append(b.measures, m)
}
