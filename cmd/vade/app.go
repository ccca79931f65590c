package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
)

// app is one run of the command line: its streams, its environment and what
// the global flags said.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string

	flags   globalFlags
	command string // name of the command that runs
	code    int    // exit code of a run that ended without an error, e.g. partly done

	pool *pool // of providers; nil but in a long-lived server

	writeErr error // the first write of the result that failed
}

type globalFlags struct {
	identity string
	home     string
	agent    string
	session  string
	json     bool
	quiet    bool
	noColor  bool
}

const rootLong = `Vade is a memory for coding agents that its owner can read, edit and keep.

Every memory is a markdown file with front matter, in one git repository per
identity. Open the folder in any editor, sync it with any git host, and recall
it in English, code, Korean, Japanese and Chinese. Nothing has to be set up:
the first "vade remember" makes the vault.

Exit codes: 0 ok, 1 failed, 2 usage, 3 not found or ambiguous, 4 conflict,
5 partly done, 6 locked by another process.`

const rootExample = `  vade remember "Production deploys run through GitHub Actions; never from a laptop"
  vade recall "how do we deploy production?"
  vade edit 7v5n9t --add-tag ci
  vade remote set git@example.com:me/memory.git && vade sync
  vade undo`

// root builds the command tree that args need. Nothing is opened before a
// command runs.
func (a *app) root(args ...string) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:           "vade",
		Short:         "A memory for coding agents that its owner can read, edit and keep",
		Long:          rootLong,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				return a.printVersion()
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError(cmd, err) })

	f := root.PersistentFlags()
	f.StringVar(&a.flags.identity, "identity", "", "whose vault (default: $VADE_IDENTITY, the config's, your login name)")
	f.StringVar(&a.flags.home, "home", "", "folder of all vaults (default: $VADE_HOME, the platform's data folder)")
	f.StringVar(&a.flags.agent, "agent", "", "agent that acts, for the record (default: $VADE_AGENT)")
	f.StringVar(&a.flags.session, "session", "", "its session, for the record (default: $VADE_SESSION)")
	f.BoolVar(&a.flags.json, "json", false, "print the result as JSON")
	f.BoolVarP(&a.flags.quiet, "quiet", "q", false, "print results only: no notes, no progress")
	f.BoolVar(&a.flags.noColor, "no-color", false, "no colours (also: $NO_COLOR)")

	root.AddGroup(
		&cobra.Group{ID: groupMemory, Title: "Memory:"},
		&cobra.Group{ID: groupHistory, Title: "History:"},
		&cobra.Group{ID: groupOwner, Title: "For the owner:"},
	)
	for _, b := range a.needed(args) {
		cmd := b.build()
		strict(cmd)
		root.AddCommand(cmd)
	}
	root.SetHelpCommandGroupID(groupOwner)
	root.SetCompletionCommandGroupID(groupOwner)
	return root
}

// strict makes wrong arguments of cmd and of what is below it mistakes of usage:
// cobra's own count of them is a plain error, and it shows the help for a word
// that names no command.
func strict(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usageError(cmd, err)
			}
			return nil
		}
	}
	if cmd.HasSubCommands() && cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError(cmd, fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath()))
			}
			return cmd.Help()
		}
	}
	for _, sub := range cmd.Commands() {
		strict(sub)
	}
}

const (
	groupMemory  = "memory"
	groupHistory = "history"
	groupOwner   = "owner"
)

// run executes args and returns the process's exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root(args...)
	root.SetArgs(args)
	if c, _, err := root.Find(args); err == nil {
		a.command = c.Name()
	}
	err := root.ExecuteContext(ctx)
	if a.command == "hook" {
		if err != nil {
			a.printError(err)
		}
		return exitOK // anything else blocks what a person asked their agent
	}
	if err == nil {
		err = a.unanswered()
	}
	if err == nil {
		return a.code
	}
	a.flags.json = a.flags.json || slices.Contains(args, "--json") // also when flags were not read
	if errors.Is(err, errSilent) {
		return exitCode(err)
	}
	a.printError(err)
	return exitCode(err)
}

// note prints talk for a person to stderr, unless --quiet.
func (a *app) note(format string, args ...any) {
	if !a.flags.quiet {
		fmt.Fprintf(a.stderr, format+"\n", args...)
	}
}

// warn prints a warning to stderr, whatever --quiet says: it is about data.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintf(a.stderr, "vade: "+format+"\n", args...)
}

// terminal reports whether w is a terminal that a person looks at.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}
