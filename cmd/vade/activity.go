package main

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vademecum/hooks"
	"vademecum/vault"
)

// activityView is the JSON of activity.
type activityView struct {
	Since    time.Time              `json:"since"`
	Days     []activityDay          `json:"days"`
	Hooks    map[string][]hookFired `json:"hooks"`    // by agent, of all time
	Memories []memoryUsage          `json:"memories"` // used in that time, the most used first
	Never    int                    `json:"never"`    // memories that were never recalled or told
	Trouble  map[string]int         `json:"trouble"`  // what went wrong in that time, and how often
}

// activityDay is what happened on one day (UTC) for one agent; the agent is ""
// for a person at the command line.
type activityDay struct {
	Day        string  `json:"day"`
	Agent      string  `json:"agent"`
	Hooks      int     `json:"hooks"`      // hooks that fired
	Captured   int     `json:"captured"`   // of them, those of which something was kept
	Injections int     `json:"injections"` // of them, those that told the model something
	Told       int     `json:"told"`       // memories that they told
	Recalls    int     `json:"recalls"`    // by command
	Recalled   int     `json:"recalled"`   // memories that these found
	Remembered int     `json:"remembered"`
	Slowest    float64 `json:"slowest_ms"`
}

type hookFired struct {
	Event string    `json:"event"`
	Last  time.Time `json:"last"`
}

type memoryUsage struct {
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty"`
	Recalled int       `json:"recalled"`
	Told     int       `json:"told"`
	Last     time.Time `json:"last"`
}

func (a *app) activityCmd() *cobra.Command {
	var days int
	cmd := &cobra.Command{
		Use:     "activity",
		Short:   "Show what was recalled, injected and captured",
		GroupID: groupOwner,
		Long: `Show what vade did for you and your agents, by day and agent: hooks that fired,
what they captured, what they told a model, what was recalled by command; which
memories that were, and when each hook last fired.

The record holds counts, ids and durations, no text. It is bounded, stays on this
host, and nothing is ranked by it.`,
		Example: "  vade activity --days 7\n  vade activity --json | jq '.hooks.claude'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 1 {
				return usagef("--days must be at least 1")
			}
			return a.withVault(func(o *opened) error {
				v, err := o.activityView(cmd.Context(), days)
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(v)
				}
				a.printActivity(v)
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&days, "days", 7, "how far to look back")
	return cmd
}

func (o *opened) activity() hooks.Activity { return activityOf(filepath.Dir(o.vault.WorkDir())) }

func (o *opened) activityView(ctx context.Context, days int) (activityView, error) {
	now := o.vault.Now()
	v := activityView{
		Since: now.AddDate(0, 0, 1-days).Truncate(24 * time.Hour), Days: []activityDay{}, Memories: []memoryUsage{},
		Hooks: map[string][]hookFired{}, Trouble: map[string]int{},
	}
	record := o.activity()
	v.read(record.Entries())
	sums := record.Sums()
	for _, agent := range slices.Sorted(maps.Keys(sums.Fired)) {
		v.Hooks[agent] = lastFired(sums.Fired[agent])
	}
	s, err := o.snapshot(ctx)
	if err != nil {
		return v, err
	}
	defer s.SaveCatalog()
	v.name(s, sums)
	return v, nil
}

func lastFired(events map[string]time.Time) []hookFired {
	var list []hookFired
	for _, e := range slices.Sorted(maps.Keys(events)) {
		list = append(list, hookFired{e, events[e]})
	}
	return list
}

// read counts the entries since v.Since.
func (v *activityView) read(entries []hooks.Entry) {
	days := map[[2]string]*activityDay{}
	used := map[string]*memoryUsage{}
	for _, e := range entries {
		if e.Time.Before(v.Since) {
			continue
		}
		key := [2]string{e.Time.UTC().Format(time.DateOnly), e.Agent}
		d := days[key]
		if d == nil {
			d = &activityDay{Day: key[0], Agent: key[1]}
			days[key] = d
		}
		d.count(e)
		if e.Error != "" {
			v.Trouble[e.Error]++
		}
		for _, id := range e.IDs {
			u := used[id]
			if u == nil {
				u = &memoryUsage{ID: id}
				used[id] = u
			}
			u.count(e)
		}
	}
	for _, d := range days {
		v.Days = append(v.Days, *d)
	}
	slices.SortFunc(v.Days, func(a, b activityDay) int { return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Agent, b.Agent)) })
	for _, u := range used {
		if u.Recalled+u.Told > 0 {
			v.Memories = append(v.Memories, *u)
		}
	}
	slices.SortFunc(v.Memories, func(a, b memoryUsage) int {
		return cmp.Or(cmp.Compare(b.Recalled+b.Told, a.Recalled+a.Told), cmp.Compare(a.ID, b.ID))
	})
}

func (d *activityDay) count(e hooks.Entry) {
	d.Slowest = max(d.Slowest, e.Ms)
	switch e.What {
	case hooks.DidHook:
		d.Hooks++
		if e.Kept != "" {
			d.Captured++
		}
		if e.Bytes > 0 {
			d.Injections++
			d.Told += len(e.IDs)
		}
	case hooks.DidRecall:
		d.Recalls++
		d.Recalled += len(e.IDs)
	case hooks.DidRemember:
		d.Remembered++
	}
}

func (u *memoryUsage) count(e hooks.Entry) {
	switch e.What {
	case hooks.DidHook:
		u.Told++
	case hooks.DidRecall:
		u.Recalled++
	default:
		return
	}
	if e.Time.After(u.Last) {
		u.Last = e.Time
	}
}

// name adds titles, and counts what was never used.
func (v *activityView) name(s *vault.Snapshot, sums hooks.Sums) {
	titles := map[string]string{}
	for i := range s.Len() {
		m, err := s.Meta(i)
		if err != nil {
			continue
		}
		id := firstOf(string(m.ID), m.Path)
		titles[id] = m.Title
		if _, used := sums.Memories[id]; !used && !vault.IsCapture(m.Path) {
			v.Never++
		}
	}
	for i := range v.Memories {
		v.Memories[i].Title = titles[v.Memories[i].ID]
	}
}

func (a *app) printActivity(v activityView) {
	if len(v.Days) == 0 {
		a.note("nothing since %s", v.Since.Format(time.DateOnly))
	} else {
		a.printf("%-10s  %-9s %6s %8s %8s %6s %8s %10s\n", "day", "agent", "hooks", "captured", "injected", "told", "recalls", "remembered")
	}
	for _, d := range v.Days {
		a.printf("%-10s  %-9s %6d %8d %8d %6d %8d %10d\n", d.Day, firstOf(d.Agent, "you"), d.Hooks, d.Captured, d.Injections, d.Told, d.Recalls, d.Remembered)
	}
	if len(v.Memories) > 0 {
		a.printf("\nmost used:\n")
	}
	for _, m := range v.Memories[:min(len(v.Memories), 10)] {
		a.printf("  %s  recalled %d, told %d  %s\n", a.paint(cyan, vault.ID(m.ID).Suffix()), m.Recalled, m.Told, oneLine(m.Title))
	}
	a.printf("never used: %s\n", count(v.Never, "memory", "memories"))
	for _, agent := range slices.Sorted(maps.Keys(v.Hooks)) {
		var parts []string
		for _, f := range v.Hooks[agent] {
			parts = append(parts, oneLine(f.Event)+" "+shortTime(f.Last))
		}
		a.printf("%s last fired: %s\n", oneLine(agent), strings.Join(parts, ", "))
	}
	for _, what := range slices.Sorted(maps.Keys(v.Trouble)) {
		a.printf("%s\n", a.paint(gold, "trouble: "+oneLine(what)+" "+count(v.Trouble[what], "time", "times")))
	}
}

// noteActivity puts e on record. Failing to is no error of the command's.
func (o *opened) noteActivity(what string, start time.Time, ids ...string) {
	origin := o.vault.Origin()
	_ = o.activity().Add(hooks.Entry{
		Time: o.a.now().UTC().Truncate(time.Millisecond), What: what, Agent: origin.Agent, Session: origin.Session,
		IDs: ids, Ms: milliseconds(time.Since(start)),
	})
}

// hitIDs are the ids of hits, paths where they have none.
func hitIDs(hits []vault.Hit) []string {
	var ids []string
	for _, h := range hits {
		ids = append(ids, h.Name())
	}
	return ids
}
