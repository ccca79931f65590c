package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"vademecum/providers"
	"vademecum/sync/journal"
)

func (a *app) providerCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "provider",
		Aliases: []string{"providers"},
		Short:   "See and steer the other memory services that you use",
		GroupID: groupOwner,
		Long: `Your vault is the truth; a provider is a replica and an extra source. The config
says which there are (docs/configuration.md). What you remember, edit and forget
is handed to them through the journal, in the background, and a recall asks
them beside the vault.`,
		Example: `  vade provider list
  vade provider check
  vade provider backfill mem0 --dry-run
  vade provider verify mem0`,
	}
	cmd.AddCommand(a.providerListCmd(), a.providerCheckCmd(), a.providerEvalCmd(), a.providerBackfillCmd(), a.providerVerifyCmd())
	return cmd
}

// providerView is the JSON of one provider in a list.
type providerView struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Read  string `json:"read"`  // ok, off, or why it is not asked
	Write string `json:"write"` // ok, off, or why nothing is handed over
	// Owed counts deliveries by their state, those that are over left out.
	Owed      map[journal.State]int `json:"owed"`
	LastError string                `json:"last_error,omitempty"`
	Error     string                `json:"error,omitempty"` // why it cannot be opened
	// Properties are what is known of it without asking it.
	Properties *providers.Properties `json:"properties,omitempty"`
}

func (a *app) providerListCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the providers of the config, and how they stand",
		Long:    "List the providers of the config, what is owed to them, and whether they are paused.\nNobody is asked; \"vade provider check\" asks.",
		Args:    cobra.NoArgs,
		Example: "  vade provider list\n  vade provider list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withVault(func(o *opened) error {
				views, err := o.providerViews()
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(map[string]any{"providers": views})
				}
				a.printProviders(views)
				return nil
			})
		},
	}
}

func (o *opened) providerViews() ([]providerView, error) {
	o.takeTime()
	views := []providerView{}
	owed, err := o.journal().Deliveries()
	if err != nil {
		return nil, err
	}
	for _, name := range o.config.providerNames() {
		c := o.config.Providers[name]
		v := providerView{Name: name, Type: c.Type, Read: "off", Write: "off", Owed: map[journal.State]int{}}
		s, err := o.source(name)
		if err != nil {
			v.Error = err.Error()
		} else {
			is := providers.PropertiesOf(s.provider)
			v.Properties = &is
			v.Read = o.standing(name, providers.Reading, s.fingerprint, isSet(c.Read, true))
			v.Write = o.standing(name, providers.Writing, s.fingerprint, isSet(c.Write, true))
		}
		for _, d := range owed {
			if d.To == name && !d.State.Final() {
				v.Owed[d.State]++
				v.LastError = firstOf(d.Error, v.LastError)
			}
		}
		views = append(views, v)
	}
	return views, nil
}

// standing is how a direction of a provider stands.
func (o *opened) standing(name string, d providers.Direction, fingerprint string, on bool) string {
	if !on {
		return "off"
	}
	if err := o.gates().Peek(name, d, fingerprint); err != nil {
		return err.Error()
	}
	return "ok"
}

func (a *app) printProviders(views []providerView) {
	if len(views) == 0 {
		a.note("no providers; docs/configuration.md shows how to add one with vade config edit")
		return
	}
	for _, v := range views {
		a.printf("%s  %s  read %s, write %s%s\n", a.paint(bold, v.Name), a.paint(dim, v.Type),
			a.standingWord(v.Read), a.standingWord(v.Write), owedWords(v.Owed))
		for _, why := range uniqueNonEmpty(v.Error, notOK(v.Read), firstOf(notOK(v.Write), v.LastError)) {
			a.printf("  %s\n", a.paint(gold, oneLine(why)))
		}
	}
}

func (a *app) standingWord(s string) string {
	if notOK(s) != "" {
		return a.paint(gold, "paused")
	}
	return s
}

func notOK(standing string) string {
	if standing == "ok" || standing == "off" {
		return ""
	}
	return standing
}

func owedWords(owed map[journal.State]int) string {
	var b strings.Builder
	for _, s := range []journal.State{journal.Queued, journal.Sending, journal.Accepted, journal.Retry, journal.Dead} {
		if n := owed[s]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, s)
		}
	}
	return b.String()
}

func uniqueNonEmpty(list ...string) []string {
	var kept []string
	for _, s := range list {
		if s != "" && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// checkTimeout bounds one question of provider check.
const checkTimeout = 15 * time.Second

// checked is the JSON of one provider in a check.
type checkedProvider struct {
	Name     string   `json:"name"`
	OK       bool     `json:"ok"`
	Ms       float64  `json:"ms"`
	Version  string   `json:"version,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Error    string   `json:"error,omitempty"`
}

func (a *app) providerCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check [NAME…]",
		Short: "Ask providers whether they are there and take your key",
		Long: `Ask providers whether they are there and take your key. One that answers is not
paused any more, and what waited for it is tried at once.`,
		Example:           "  vade provider check\n  vade provider check mem0 --json",
		ValidArgsFunction: a.completeProviders,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withVault(func(o *opened) error {
				names, err := o.namedProviders(args)
				if err != nil {
					return err
				}
				list := o.checkProviders(cmd.Context(), names, true)
				if slices.ContainsFunc(list, func(c checkedProvider) bool { return !c.OK }) {
					a.code = exitPartly
				}
				var well []string
				for _, c := range list {
					if c.OK {
						well = append(well, c.Name)
					}
				}
				o.deliverAgain(cmd.Context(), well)
				if a.flags.json {
					return a.printJSON(map[string]any{"providers": list})
				}
				for _, c := range list {
					a.printChecked(c)
				}
				return nil
			})
		},
	}
}

// namedProviders are args, or all providers; a name that is none is an error.
func (o *opened) namedProviders(args []string) ([]string, error) {
	all := o.config.providerNames()
	if len(args) == 0 {
		return all, nil
	}
	for _, name := range args {
		if !slices.Contains(all, name) {
			return nil, &codedError{code: exitNotFound, err: fmt.Errorf("no provider is called %q", name), hint: "vade provider list shows those of the config"}
		}
	}
	return args, nil
}

func (a *app) completeProviders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	c, err := a.loadConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return c.providerNames(), cobra.ShellCompDirectiveNoFileComp
}

// checkProviders asks all of names at once. reset: those that answer are not
// paused any more.
func (o *opened) checkProviders(ctx context.Context, names []string, reset bool) []checkedProvider {
	o.takeTime()
	list := make([]checkedProvider, len(names))
	var asking sync.WaitGroup
	for i, name := range names {
		s, err := o.source(name) // one after the other: it keeps what it opens
		if err != nil {
			list[i] = checkedProvider{Name: name, Error: err.Error()}
			continue
		}
		asking.Go(func() { list[i] = o.checkProvider(ctx, name, s, reset) })
	}
	asking.Wait()
	return list
}

func (o *opened) checkProvider(ctx context.Context, name string, s *source, reset bool) checkedProvider {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	start := time.Now()
	h, err := s.provider.Health(ctx)
	c := checkedProvider{Name: name, OK: err == nil, Ms: milliseconds(time.Since(start)), Version: h.Version, Warnings: h.Warnings}
	if err == nil && reset {
		err = o.gates().Reset(name)
	}
	if err != nil {
		c.Error = err.Error()
	}
	return c
}

func (a *app) printChecked(c checkedProvider) {
	word := a.paint(green, "ok")
	if !c.OK {
		word = a.paint(red, "failed")
	}
	facts := fmt.Sprintf("%.0f ms", c.Ms)
	if c.Version != "" {
		facts = c.Version + ", " + facts
	}
	a.printf("%s  %s  %s\n", a.paint(bold, c.Name), word, a.paint(dim, oneLine(facts)))
	for _, w := range append(c.Warnings, c.Error) {
		if w != "" {
			a.printf("  %s\n", a.paint(gold, oneLine(w)))
		}
	}
}
