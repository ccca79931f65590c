package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"vademecum/index/eval"
)

func (a *app) evalCmd() *cobra.Command {
	e := &evaluation{a: a}
	cmd := &cobra.Command{
		Use:     "eval DIR…",
		Short:   "Measure how well recall finds what it should, on judged collections",
		GroupID: groupOwner,
		Long: `Measure how well recall finds what it should, on collections that somebody else
judged, in the form of BEIR: corpus.jsonl, queries.jsonl, and qrels.tsv or
qrels/test.tsv. Each DIR is one, or a folder of them; numbered folders are parts
of one set. The documents are laid out as notes, indexed in a throw-away folder
and searched exactly as a vault is. Documents with metadata.session and
metadata.seq are the passages of one note for each session, in that order.

Reported are recall@1, 5 and 10, MRR@10 and nDCG@10 of each set, and of each
metadata.category of its questions. --compare tells the difference to an earlier
run and how likely it is by chance (paired randomisation, 10,000 rounds, fixed
seed); two of them are compared with each other, and nothing is searched.`,
		Example: `  vade eval collections/*
  vade eval collections/* --run before/
  vade eval collections/* --compare before/
  vade eval collections/cosqa --compare a.run --compare b.run
  vade eval collections/cosqa --explain --query cosqa-train-8333`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if e.depth < 1 || len(e.compare) > 2 {
				return usagef("--depth must be at least 1, and --compare is given at most twice")
			}
			return e.run(cmd.Context(), args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&e.runFile, "run", "", "write a TREC run `file`; a folder of them when there are several sets")
	fl.StringArrayVar(&e.compare, "compare", nil, "`run` to compare with, as --run wrote it; twice: with each other")
	fl.IntVar(&e.depth, "depth", eval.Depth, "documents a question")
	fl.BoolVar(&e.explain, "explain", false, "show every question's hits and how each score came about")
	fl.StringArrayVar(&e.queries, "query", nil, "only the question of this `id`; repeatable")
	return cmd
}

// evaluation is one run of the eval command.
type evaluation struct {
	a       *app
	runFile string
	compare []string
	depth   int
	explain bool
	queries []string
	several bool // sets
}

// evalSet is the collections of one set.
type evalSet struct {
	name        string
	collections []*eval.Collection
}

// evalAnswer is the JSON of an evaluation. What stands at its top are the means
// over all questions, of whichever set.
type evalAnswer struct {
	eval.Metrics
	Queries     int              `json:"queries"`
	Sets        []eval.Scores    `json:"sets"`
	Comparisons []evalComparison `json:"comparisons,omitempty"`
}

type evalComparison struct {
	Set     string            `json:"set"`
	A       string            `json:"a"`
	B       string            `json:"b"`
	Metrics []eval.Difference `json:"metrics"`
}

func (e *evaluation) run(ctx context.Context, dirs []string) error {
	sets, err := e.open(dirs)
	if err != nil {
		return err
	}
	e.several = len(sets) > 1
	answer := evalAnswer{Sets: []eval.Scores{}}
	p := e.a.progress("evaluating")
	for i, s := range sets {
		scores, comparison, err := e.set(ctx, s)
		if err != nil {
			return err
		}
		answer.Sets = append(answer.Sets, scores)
		if comparison != nil {
			answer.Comparisons = append(answer.Comparisons, *comparison)
		}
		p.update(i+1, len(sets))
	}
	p.done()
	answer.Metrics, answer.Queries = eval.Total(answer.Sets)
	if e.a.flags.json {
		return e.a.printJSON(answer)
	}
	e.a.printEval(answer)
	return nil
}

// open reads all collections in and below dirs and groups them by set.
func (e *evaluation) open(dirs []string) ([]evalSet, error) {
	var sets []evalSet
	for _, dir := range dirs {
		folders, err := eval.Find(dir)
		if err != nil {
			return nil, hinted(err, "a collection is a folder with corpus.jsonl, queries.jsonl and qrels.tsv")
		}
		for _, folder := range folders {
			c, err := eval.Open(folder)
			if err != nil {
				return nil, err
			}
			if len(e.queries) > 0 {
				c.Queries = slices.DeleteFunc(c.Queries, func(q eval.Query) bool { return !slices.Contains(e.queries, q.ID) })
			}
			i := slices.IndexFunc(sets, func(s evalSet) bool { return s.name == c.Set })
			if i < 0 {
				i = len(sets)
				sets = append(sets, evalSet{name: c.Set})
			}
			sets[i].collections = append(sets[i].collections, c)
		}
	}
	return sets, nil
}

// set evaluates s, writes its run and compares it as was asked.
func (e *evaluation) set(ctx context.Context, s evalSet) (eval.Scores, *evalComparison, error) {
	var run eval.Run
	var err error
	name := "this run"
	if len(e.compare) == 2 {
		name = e.compare[1]
		run, err = e.readRun(name, s.name)
	} else {
		run, err = e.answers(ctx, s)
	}
	if err != nil {
		return eval.Scores{}, nil, err
	}
	if err := e.writeRun(s.name, run); err != nil {
		return eval.Scores{}, nil, err
	}
	scores := eval.Score(s.name, s.collections, run)
	if len(e.compare) == 0 {
		return scores, nil, nil
	}
	before, err := e.readRun(e.compare[0], s.name)
	if err != nil {
		return scores, nil, err
	}
	old := eval.Score(s.name, s.collections, before)
	return scores, &evalComparison{s.name, e.compare[0], name, eval.Compare(old, scores)}, nil
}

// answers asks all questions of s.
func (e *evaluation) answers(ctx context.Context, s evalSet) (eval.Run, error) {
	all := eval.Run{}
	for _, c := range s.collections {
		if len(c.Queries) == 0 {
			continue
		}
		var visit func(eval.Query, []eval.Found)
		if e.explain && !e.a.flags.json {
			visit = func(q eval.Query, found []eval.Found) { e.a.printFound(q, found, c.Gold[q.ID]) }
		}
		dir, err := os.MkdirTemp("", "vade-eval-")
		if err != nil {
			return nil, err
		}
		run, err := c.Answers(ctx, dir, e.depth, e.explain, visit)
		_ = os.RemoveAll(dir)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, run)
	}
	return all, nil
}

// runPath is where the run of set is, when the user named it path.
func (e *evaluation) runPath(path, set string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() || err != nil && e.several {
		return filepath.Join(path, set+".run")
	}
	return path
}

func (e *evaluation) readRun(path, set string) (eval.Run, error) {
	path = e.runPath(path, set)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	run, err := eval.ReadRun(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return run, nil
}

func (e *evaluation) writeRun(set string, run eval.Run) error {
	if e.runFile == "" {
		return nil
	}
	if e.several || strings.HasSuffix(e.runFile, "/") {
		if err := os.MkdirAll(e.runFile, 0o755); err != nil {
			return err
		}
	}
	f, err := os.Create(e.runPath(e.runFile, set))
	if err != nil {
		return err
	}
	if err := run.Write(f, "vade"); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
