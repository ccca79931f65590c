package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"vademecum/hooks/install"
)

func (a *app) uninstallCmd() *cobra.Command {
	var agents []string
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "uninstall",
		Short:   "Take vade out of the settings of coding agents",
		GroupID: groupOwner,
		Long: `Take out what "vade setup" put into the settings of coding agents: all of them, or
those named. A file that nobody changed since is given back byte for byte, one that
was made for vade is removed, and of one that was changed what is not vade's stays.

Memories, config and remote are not touched. Hooks and tools of an agent that has vade
as a plugin are taken out there.`,
		Example: "  vade uninstall --dry-run\n  vade uninstall --agent codex",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.uninstall(agents, dryRun)
		},
	}
	cmd.Flags().StringSliceVar(&agents, "agent", nil, "agents to take it out of (default: all)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be written, and write nothing")
	return cmd
}

func (a *app) uninstall(agents []string, dryRun bool) error {
	host, err := a.installHost("")
	if err != nil {
		host.Program = "vade" // any that is named so is found by its name
	}
	if len(agents) == 0 || slices.Contains(agents, "all") {
		agents = install.Names
	}
	if agents, err = a.chosenAgents(host, agents); err != nil {
		return err
	}
	plan, err := host.Uninstall(agents)
	if err != nil {
		return setupError(err)
	}
	view := setupView{Agents: agents, DryRun: dryRun, Changes: setupChanges(plan, dryRun)}
	if !dryRun {
		if err := plan.Apply(); err != nil {
			return setupError(err)
		}
	}
	for _, name := range agents {
		if where := host.Report(name).Plugin; where != "" {
			view.Notes = append(view.Notes, name+" has vade as a plugin: take it out there ("+where+")")
		}
	}
	if len(plan.Changes) == 0 && !a.flags.json {
		a.printf("nothing of vade is in the settings of %s\n", strings.Join(agents, ", "))
		for _, n := range view.Notes {
			a.note("%s", n)
		}
		return nil
	}
	return a.printSetup(view, plan)
}
