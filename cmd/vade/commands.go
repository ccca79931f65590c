package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// commands is every command by name, in the order of docs/commands.md. They
// are built when they are needed: building all of them costs as much as
// everything else that vade does at its start.
func (a *app) commands() []builder {
	return []builder{
		{"remember", a.rememberCmd},
		{"recall", a.recallCmd},
		{"read", a.readCmd},
		{"list", a.listCmd},
		{"edit", a.editCmd},
		{"forget", a.forgetCmd},
		{"file", a.fileCmd},
		{"mcp", a.mcpCmd},
		{"memory-tool", a.memoryToolCmd},
		{"history", a.historyCmd},
		{"diff", a.diffCmd},
		{"undo", a.undoCmd},
		{"restore", a.restoreCmd},
		{"conflicts", a.conflictsCmd},
		{"setup", a.setupCmd},
		{"uninstall", a.uninstallCmd},
		{"sync", a.syncCmd},
		{"remote", a.remoteCmd},
		{"clone", a.cloneCmd},
		{"status", a.statusCmd},
		{"doctor", a.doctorCmd},
		{"reindex", a.reindexCmd},
		{"import", a.importCmd},
		{"backfill", a.backfillCmd},
		{"eval", a.evalCmd},
		{"activity", a.activityCmd},
		{"journal", a.journalCmd},
		{"config", a.configCmd},
		{"provider", a.providerCmd},
		{"drain", a.drainCmd},
		{"hook", a.hookCmd},
		{"bench", a.benchCmd},
		{"demo", a.demoCmd},
		{"version", a.versionCmd},
	}
}

// builder makes the command called name.
type builder struct {
	name  string
	build func() *cobra.Command
}

// needed are the builders that args can need: the one of the command that
// they name, or all of them for help, completion, aliases and typos.
func (a *app) needed(args []string) []builder {
	all := a.commands()
	if len(args) == 0 {
		return all
	}
	for _, b := range all {
		if b.name == args[0] {
			return []builder{b}
		}
	}
	return all
}

// release is the version of a release build, set by the linker.
var release = ""

// version is the release, else what the Go toolchain knows of the build.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && v == "devel" {
			v += "+" + s.Value[:12]
		}
	}
	return v
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: groupOwner,
		Args:    cobra.NoArgs,
		Example: "  vade version --json",
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	if a.flags.json {
		return a.printJSON(map[string]string{"version": version()})
	}
	a.printf("vade %s\n", version())
	return nil
}
