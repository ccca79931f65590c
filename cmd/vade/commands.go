package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// commands is every command, in the order that help lists them.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.rememberCmd(), a.recallCmd(), a.readCmd(), a.listCmd(), a.editCmd(), a.forgetCmd(), a.fileCmd(),
		a.historyCmd(), a.diffCmd(), a.undoCmd(), a.restoreCmd(), a.conflictsCmd(),
		a.syncCmd(), a.remoteCmd(), a.cloneCmd(), a.statusCmd(), a.doctorCmd(), a.reindexCmd(), a.importCmd(),
		a.benchCmd(), a.demoCmd(), a.versionCmd(),
	}
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
		RunE: func(*cobra.Command, []string) error {
			if a.flags.json {
				return a.printJSON(map[string]string{"version": version()})
			}
			a.printf("vade %s\n", version())
			return nil
		},
	}
}
