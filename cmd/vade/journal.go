package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vademecum/providers"
	"vademecum/sync/journal"
	"vademecum/vault"
)

func (a *app) journalCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "journal",
		Short:   "See and steer what waits to be kept or delivered",
		GroupID: groupOwner,
		Long: `Hooks of agents append what they see to the journal and are gone. Whoever comes
next turns each turn that is over into a section of its session's file. What the
providers of the config are owed is here too, until they have confirmed it. What
does not work is tried again, after a second at first and after a quarter of an
hour in the end; after ten times it is dead: kept, shown here, and delivered when
you ask for it. One thing that does not work never holds up another.

States: queued, sending, accepted (taken, and not known to be kept), stored, empty (nothing of it was worth
keeping), deleted, retry, dead. A KEY may be cut to any unambiguous beginning
or end.`,
		Example: `  vade journal list
  vade journal show 3w2k
  vade journal retry --all
  vade journal drain --all`,
	}
	cmd.AddCommand(a.journalListCmd(), a.journalShowCmd(), a.journalRetryCmd(), a.journalDropCmd(), a.journalDrainCmd(), a.journalAppendCmd())
	return cmd
}

// journalView is the JSON of journal list.
type journalView struct {
	journal.Status
	Deliveries []journal.Delivery `json:"deliveries"`
	Unfinished []*journal.Episode `json:"unfinished"` // turns that are not over
}

func (a *app) journalListCmd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List what is owed, and what is dead",
		Args:    cobra.NoArgs,
		Example: "  vade journal list\n  vade journal list --all --json",
		RunE: func(*cobra.Command, []string) error {
			return a.withVault(func(o *opened) error {
				v, err := o.journalView(all)
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(v)
				}
				a.printJournal(v)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also what was delivered in the last week")
	return cmd
}

func (o *opened) journalView(all bool) (journalView, error) {
	v := journalView{Deliveries: []journal.Delivery{}, Unfinished: []*journal.Episode{}}
	j := o.journal()
	var err error
	if v.Status, err = j.Status(); err != nil {
		return v, err
	}
	open, err := j.Unfinished()
	if err != nil {
		return v, err
	}
	v.Unfinished = append(v.Unfinished, open...)
	list, err := j.Deliveries()
	for _, d := range list {
		if all || !d.State.Final() {
			v.Deliveries = append(v.Deliveries, d)
		}
	}
	return v, err
}

func (a *app) printJournal(v journalView) {
	for _, d := range v.Deliveries {
		a.printDelivery(d)
	}
	for _, e := range v.Unfinished {
		a.printf("%s  %s, %s so far\n", a.paint(dim, "going on  "), oneLine(e.Agent+" "+e.Session), count(e.Count, "event", "events"))
	}
	if v.Events > 0 {
		a.printf("%s appended and not looked at yet; \"vade journal drain\" does\n", count(v.Events, "event", "events"))
	}
	for _, w := range journalWarnings(v.Status) {
		a.printf("%s\n", a.paint(gold, w))
	}
	if len(v.Deliveries)+len(v.Unfinished)+v.Events == 0 {
		a.note("nothing waits")
	}
}

func (a *app) printDelivery(d journal.Delivery) {
	style := dim
	switch d.State {
	case journal.Dead:
		style = red
	case journal.Retry:
		style = gold
	}
	note := d.Result
	if d.Error != "" {
		note = d.Error
		if d.Attempts > 0 { // one that its provider's pause cut short does not count
			note = fmt.Sprintf("tried %s: %s", count(d.Attempts, "time", "times"), d.Error)
		}
	}
	if d.State == journal.Retry {
		note = fmt.Sprintf("again %s; %s", d.Due.Local().Format(time.TimeOnly), note)
	}
	what := oneLine(d.What)
	if providers.IsDeletion(d.Key) {
		what = "forget " + what
	}
	a.printf("%s  %s  to %s  %s\n", a.paint(style, fmt.Sprintf("%-8s", d.State)), a.paint(cyan, shortKey(d.Key)), d.To, what)
	if note != "" {
		a.printf("          %s\n", oneLine(note))
	}
}

// shortKey is as much of a key as tells a person which one it is.
func shortKey(key string) string { return key[max(0, len(key)-8):] }

// journalWarnings says what a person should look at.
func journalWarnings(s journal.Status) []string {
	var list []string
	if n := s.States[journal.Dead]; n > 0 {
		list = append(list, count(n, "delivery is", "deliveries are")+" dead; see \"vade journal list\"")
	}
	if s.Lost.Count > 0 {
		list = append(list, fmt.Sprintf("%s could not be kept, the last one %s: %s; \"vade journal drop --lost\" forgets this",
			count(s.Lost.Count, "event", "events"), shortTime(s.Lost.Last), oneLine(s.Lost.Error)))
	}
	if s.Aside > 0 {
		list = append(list, fmt.Sprintf("%s of the journal cannot be read; see its folder aside, \"vade journal drop --aside\" removes it",
			count(s.Aside, "line", "lines")))
	}
	return list
}

func (a *app) journalShowCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "show KEY",
		Short:   "Show one delivery and what is to be delivered",
		Args:    cobra.ExactArgs(1),
		Example: "  vade journal show 3w2k",
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withVault(func(o *opened) error {
				d, err := o.delivery(args[0])
				if err != nil {
					return err
				}
				events, err := o.eventsOf(d)
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(struct {
						journal.Delivery
						Events []journal.Event `json:"events"`
					}{d, events})
				}
				a.printDelivery(d)
				for _, e := range events {
					a.printf("\n%s  %s\n", a.paint(bold, string(e.Kind)), shortTime(e.Time))
					if e.Tool != nil {
						a.printf("%s %s\n%s%s\n", printable(e.Tool.Name), printable(e.Tool.Input), printable(e.Tool.Output), printable(e.Tool.Error))
					}
					if e.Text != "" {
						a.printf("%s\n", printable(e.Text))
					}
				}
				return nil
			})
		},
	}
}

// eventsOf are the events of the episode that d delivers; none when they are
// gone, or when it delivers something else.
func (o *opened) eventsOf(d journal.Delivery) ([]journal.Event, error) {
	events := []journal.Event{}
	list, err := o.journal().Episodes()
	for _, e := range list {
		if e.Key != d.Key {
			continue
		}
		for _, r := range e.Records {
			events = append(events, r.Event)
		}
	}
	return events, err
}

// delivery is the one that ref names.
func (o *opened) delivery(ref string) (journal.Delivery, error) {
	list, err := o.journal().Deliveries()
	if err != nil {
		return journal.Delivery{}, err
	}
	var found []journal.Delivery
	for _, d := range list {
		if d.Key == ref {
			return d, nil
		}
		if lower := strings.ToLower(ref); len(ref) >= 4 && (strings.HasPrefix(d.Key, lower) || strings.HasSuffix(d.Key, lower)) {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 0:
		return journal.Delivery{}, &codedError{
			code: exitNotFound, hint: "\"vade journal list --all\" shows what there is; 4 characters are the least",
			err: fmt.Errorf("delivery %q: %w", ref, vault.ErrNotFound),
		}
	case 1:
		return found[0], nil
	}
	return journal.Delivery{}, &codedError{
		code: exitNotFound, hint: "give more of its key", err: fmt.Errorf("%d deliveries are called %q", len(found), ref),
	}
}

// picker chooses the deliveries that args name, or those that choose does.
func (o *opened) picker(args []string, choose func(journal.Delivery) bool) (func(journal.Delivery) bool, error) {
	wanted := map[[2]string]bool{}
	for _, ref := range args {
		d, err := o.delivery(ref)
		if err != nil {
			return nil, err
		}
		wanted[[2]string{d.To, d.Key}] = true
	}
	return func(d journal.Delivery) bool { return wanted[[2]string{d.To, d.Key}] || choose(d) }, nil
}

func (a *app) journalRetryCmd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "retry [KEY…]",
		Short:   "Try again, now, what failed or is dead",
		Example: "  vade journal retry 3w2k\n  vade journal retry --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usagef("name deliveries, or all of them with --all")
			}
			return a.withVault(func(o *opened) error {
				pick, err := o.picker(args, func(journal.Delivery) bool { return all })
				if err != nil {
					return err
				}
				n, err := o.journal().Retry(cmd.Context(), pick)
				if err != nil {
					return err
				}
				a.note("%s queued again", count(n, "delivery", "deliveries"))
				return o.drainAndHandOver(cmd.Context(), journal.DrainOptions{Wait: time.Minute})
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all that failed or are dead")
	return cmd
}

func (a *app) journalDropCmd() *cobra.Command {
	var dead, lost, aside bool
	cmd := &cobra.Command{
		Use:     "drop [KEY…]",
		Short:   "Cross off deliveries, with what was to be delivered",
		Example: "  vade journal drop 3w2k\n  vade journal drop --dead\n  vade journal drop --lost --aside",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !dead && !lost && !aside {
				return usagef("name deliveries, or use --dead, --lost or --aside")
			}
			return a.withVault(func(o *opened) error {
				pick, err := o.picker(args, func(d journal.Delivery) bool { return dead && d.State == journal.Dead })
				if err != nil {
					return err
				}
				j := o.journal()
				dropped, err := j.Drop(cmd.Context(), pick)
				if err == nil && lost {
					err = j.ForgetLoss()
				}
				if err == nil && aside {
					err = j.ForgetAside()
				}
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(map[string]any{"dropped": append([]journal.Delivery{}, dropped...)})
				}
				a.note("%s dropped", count(len(dropped), "delivery", "deliveries"))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&dead, "dead", false, "all that are dead")
	cmd.Flags().BoolVar(&lost, "lost", false, "forget how many events could not be kept")
	cmd.Flags().BoolVar(&aside, "aside", false, "remove what could not be read")
	return cmd
}

func (a *app) journalDrainCmd() *cobra.Command {
	opts := journal.DrainOptions{Wait: time.Minute}
	cmd := &cobra.Command{
		Use:     "drain",
		Short:   "Keep and hand over now what waits",
		Args:    cobra.NoArgs,
		Example: "  vade journal drain\n  vade journal drain --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withVault(func(o *opened) error {
				return o.drainAndHandOver(cmd.Context(), opts)
			})
		},
	}
	cmd.Flags().BoolVar(&opts.All, "all", false, "also turns that are not over")
	return cmd
}

// drainView is the JSON of a drain.
type drainView struct {
	journal.Drained
	Providers []providers.LaneReport `json:"providers,omitempty"`
}

// drainAndHandOver keeps what waits, hands over what is owed, and prints both.
func (o *opened) drainAndHandOver(ctx context.Context, opts journal.DrainOptions) error {
	done, err := o.drain(ctx, opts)
	if err != nil {
		return err
	}
	if done.Stored > 0 {
		o.pushLater()
	}
	d, err := o.handOver(ctx, 0)
	if err != nil {
		return err
	}
	return o.a.printDrain(done, d)
}

func (a *app) printDrain(done journal.Drained, d providers.Delivered) error {
	if done.Failed > 0 || undelivered(d) {
		a.code = exitPartly
	}
	if a.flags.json {
		return a.printJSON(drainView{done, d.Lanes})
	}
	a.printDelivered(d)
	switch {
	case done.Busy:
		return &codedError{code: exitLocked, err: errors.New("another process drains the journal"), hint: "what it is told to look at waits for it; try again"}
	case done.Stored+done.Empty+done.Failed == 0:
		if !slices.ContainsFunc(d.Lanes, func(l providers.LaneReport) bool { return laneWords(l) != "" || l.Paused != "" }) {
			a.note("nothing to do")
		}
	default:
		a.printf("%s kept, %d held nothing new, %d failed\n", count(done.Stored, "turn", "turns"), done.Empty, done.Failed)
	}
	for _, msg := range done.Errors {
		a.warn("%s", oneLine(msg))
	}
	return nil
}

// journalAppendCmd is a hook for whatever has none of its own.
func (a *app) journalAppendCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "append",
		Short:   "Append events, a line of JSON each, from stdin",
		Hidden:  true,
		Args:    cobra.NoArgs,
		Example: `  echo '{"kind":"turn-end","agent":"mine","session":"1","text":"…"}' | vade journal append`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withVault(func(o *opened) error { return o.appendEvents(cmd.Context(), a.stdin) })
		},
	}
}

func (o *opened) appendEvents(ctx context.Context, r io.Reader) error {
	j := o.journal()
	dec := json.NewDecoder(r)
	for n := 1; ctx.Err() == nil; n++ {
		var e journal.Event
		err := dec.Decode(&e)
		if errors.Is(err, io.EOF) {
			o.drainLater()
			return nil
		}
		if err == nil && (e.Kind == "" || e.Agent == "" || e.Session == "") {
			err = errors.New("kind, agent and session are needed")
		}
		if err == nil {
			err = j.Append(e)
		}
		if err != nil {
			return fmt.Errorf("event %d: %w", n, err)
		}
	}
	return ctx.Err()
}
