package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vademecum/hooks"
	"vademecum/index"
	"vademecum/providers"
	"vademecum/vault"
)

// filterFlags narrow recall and list.
type filterFlags struct {
	tags, types, tiers            []string
	since, until, workspace       string
	allWorkspaces, includeExpired bool
}

func (f *filterFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.tags, "tag", nil, "only with this tag; repeat for several, all must be there")
	fl.StringArrayVar(&f.types, "type", nil, "only of this type; repeatable, any of them")
	fl.StringArrayVar(&f.tiers, "tier", nil, "only of this tier: ltm or stm")
	fl.StringVar(&f.since, "since", "", "only updated since: 7d, 12h, 2026-11-01")
	fl.StringVar(&f.until, "until", "", "only updated before: 7d, 2026-11-30")
	fl.StringVar(&f.workspace, "workspace", "", "of this project and of none (default: the git repository you are in)")
	fl.BoolVar(&f.allWorkspaces, "all-workspaces", false, "of every project")
	fl.BoolVar(&f.includeExpired, "include-expired", false, "expired ones too")
	_ = cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(typeNames(), cobra.ShellCompDirectiveNoFileComp))
}

func (f *filterFlags) query(o *opened) (vault.Query, error) {
	q := vault.Query{Tags: splitList(f.tags), IncludeExpired: f.includeExpired, Now: o.vault.Now()}
	for _, s := range splitList(f.types) {
		t, err := parseType(s)
		if err != nil {
			return q, err
		}
		q.Types = append(q.Types, t)
	}
	for _, s := range splitList(f.tiers) {
		t, err := parseTier(s)
		if err != nil {
			return q, err
		}
		q.Tiers = append(q.Tiers, t)
	}
	var err error
	if q.Since, err = parseMoment(f.since, q.Now, -1); err != nil {
		return q, err
	}
	if q.Until, err = parseMoment(f.until, q.Now, -1); err != nil {
		return q, err
	}
	q.Workspace = o.workspace(f.workspace)
	q.AllWorkspaces = f.allWorkspaces || q.Workspace == "" // outside any project there is no project to keep to
	return q, nil
}

func (a *app) recallCmd() *cobra.Command {
	var f filterFlags
	var pf profileFlags
	var explain bool
	var asOf string
	var passages int
	cmd := &cobra.Command{
		Use:     "recall QUERY…",
		Short:   "Find memories by what they say",
		GroupID: groupMemory,
		Long: `Find memories by what they say, best first: in English, code, Korean, Japanese
and Chinese. The query is plain text; no character in it has a special meaning.

What is on disk counts, committed or not: an edit made a moment ago, by any
program, is found. Inside a git repository you get that project's memories and
those of no project.`,
		Example: `  vade recall "how do we deploy production?"
  vade recall 배포는 어떻게 하지?
  vade recall --tag ci --type decision --since 30d deploy
  vade recall --profile passive "what was decided about retries?"
  vade recall --as-of 2026-11-30 "how do we deploy?"
  vade recall --json --limit 3 "retry budget" | jq '.hits[].title'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withVault(func(o *opened) error {
				q, err := f.query(o)
				if err != nil {
					return err
				}
				p, err := pf.profile(cmd, o.config)
				if err != nil {
					return err
				}
				if passages < 1 {
					return usagef("--passages must be at least 1")
				}
				q.Text, q.Explain, q.Passages = strings.Join(args, " "), explain, passages
				q.AsOf = pastMoment(asOf, q.Now)
				return o.recall(cmd.Context(), p, q)
			})
		},
	}
	f.register(cmd)
	pf.register(cmd)
	cmd.Flags().BoolVar(&explain, "explain", false, "show how each hit's score came about")
	cmd.Flags().StringVar(&asOf, "as-of", "", "answer from what the vault held then: a `commit`, 7d, 2026-11-30, 2026-11-30T16:00:00Z")
	cmd.Flags().IntVar(&passages, "passages", 1, "hits of one memory at most, each another passage of it")
	return cmd
}

// pastMoment is s, or when s is an age such as 7d, the moment that long before now.
func pastMoment(s string, now time.Time) string {
	if t, err := parseMoment(s, now, -1); err == nil && s != "" {
		return t.UTC().Format(time.RFC3339)
	}
	return s
}

// recallAnswer is the JSON of a recall.
type recallAnswer struct {
	Query     string           `json:"query"`
	Hits      []vault.Hit      `json:"hits"`
	Reason    string           `json:"reason,omitempty"` // why there are none
	Providers []providerAnswer `json:"providers"`
	Partial   bool             `json:"partial"`
	Warnings  []string         `json:"warnings,omitempty"`

	missing []string         // required providers that have not answered
	gone    []providers.Gone // what providers still have of the forgotten
}

type providerAnswer struct {
	Name string  `json:"name"`
	OK   bool    `json:"ok"`
	Ms   float64 `json:"ms"`
	Scan float64 `json:"scan_ms,omitempty"` // of which looking for what changed on disk
	// State and Error say why a provider has not answered.
	State string `json:"state,omitempty"`
	Error string `json:"error,omitempty"`
}

// recall answers q by profile p from what is on disk and then, once the answer
// is out, has the index brought up to date in the background if much was not
// in it.
func (o *opened) recall(ctx context.Context, p hooks.Profile, q vault.Query) error {
	start := time.Now()
	answer, founds, err := o.recallBy(ctx, p, q)
	if err != nil {
		return err
	}
	a := o.a
	if a.flags.json {
		err = a.printJSON(answer)
	} else {
		a.printHits(answer)
	}
	if err != nil {
		return err
	}
	o.noteActivity(hooks.DidRecall, start, hitIDs(answer.Hits)...)
	if len(answer.missing) > 0 {
		a.code = exitPartly
	}
	o.deleteGone(ctx, answer.gone)
	for _, f := range founds {
		if q.AsOf != "" {
			break // what is indexed is the present
		}
		o.refreshIndex(f.result)
	}
	return nil
}

func (a *app) printHits(answer recallAnswer) {
	for _, w := range answer.Warnings {
		a.warn("%s", w)
	}
	if len(answer.Hits) == 0 {
		a.note("nothing found: %s", answer.Reason)
		return
	}
	for i, h := range answer.Hits {
		if i > 0 {
			a.printf("\n")
		}
		a.printHit(h)
	}
}

func (a *app) printHit(h vault.Hit) {
	a.printf("%s  %s\n", a.paint(bold, oneLine(h.Title)), a.paint(dim, hitFacts(h)))
	for line := range strings.SplitSeq(strings.TrimSpace(printable(h.Text)), "\n") {
		a.printf("  %s\n", line)
	}
	where := fmt.Sprintf("%s:%d", h.Path, h.Line)
	if h.Foreign {
		where = "not in the vault; " + oneLine(h.Name())
	}
	a.printf("  %s\n", a.paint(cyan, where))
	if h.Explain != "" {
		a.printf("  %s\n", a.paint(dim, strings.ReplaceAll(printable(h.Explain), "\n", "\n  ")))
	}
}

// hitFacts is what a reader weighs a hit by: where it is from and how old.
func hitFacts(h vault.Hit) string {
	var facts []string
	if h.ID != "" {
		facts = append(facts, h.ID.Suffix())
	}
	if h.Type != "" && h.Type != vault.TypeNote {
		facts = append(facts, string(h.Type))
	}
	if len(h.Tags) > 0 {
		facts = append(facts, "#"+strings.Join(h.Tags, " #"))
	}
	if when := h.Updated; !when.IsZero() {
		facts = append(facts, when.Local().Format("2006-01-02"))
	}
	if h.Workspace != "" {
		facts = append(facts, h.Workspace)
	}
	if h.SupersededBy != nil {
		facts = append(facts, "superseded")
	}
	if h.ConflictOf != "" {
		facts = append(facts, "parked side of a conflict")
	}
	if other := others(h.Providers); other != "" {
		facts = append(facts, "also "+other)
		if h.Foreign || len(h.Providers) > 0 && h.Providers[0] != "vault" {
			facts[len(facts)-1] = "from " + other
		}
	}
	return oneLine(strings.Join(facts, " · "))
}

// others are the providers besides the vault that found something.
func others(names []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == "vault" || strings.HasPrefix(name, "vault:")
	}), ", ")
}

// found is a search with what it was made on.
type found struct {
	snapshot *vault.Snapshot
	result   index.Result
	ms       float64
	warnings []string
	own      bool // of the identity in use
}
