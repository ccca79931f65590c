package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vademecum/providers/jsonrpc"
	"vademecum/providers/jsonrpc/conformance"
)

func (a *app) providerEvalCmd() *cobra.Command {
	var command, mode string
	var env []string
	var soak int
	cmd := &cobra.Command{
		Use:   "eval jsonrpc --command PROGRAM [ARGUMENT…]",
		Short: "Hold a provider program of your own to the protocol",
		Long: `Hold a provider program to the protocol of docs/provider-protocol.md: what it
promises is tried, in a folder of its own that is removed again. Arguments behind
"--" are the program's; it does not run in this folder, so name files by their
whole path. Exit code 0: nothing failed; 1: something did.`,
		Example: `  vade provider eval jsonrpc --command ./my-provider
  vade provider eval jsonrpc --command python3 -- "$PWD/provider.py"
  vade provider eval jsonrpc --command ./my-provider --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "jsonrpc" {
				return usagef("%q cannot be evaluated, only jsonrpc", args[0])
			}
			if command == "" {
				return usagef("name the program with --command")
			}
			o := conformance.Options{Command: command, Args: args[1:], Env: map[string]string{}, Mode: jsonrpc.Mode(mode), Soak: soak}
			for _, pair := range env {
				name, value, ok := strings.Cut(pair, "=")
				if !ok {
					return usagef("--env takes NAME=VALUE")
				}
				o.Env[name] = value
			}
			if soak < 0 {
				return usagef("--soak is a number of calls, not %d", soak)
			}
			if mode != "" && o.Mode != jsonrpc.OneShot && o.Mode != jsonrpc.LongLived {
				return usagef("--mode is %s or %s", jsonrpc.OneShot, jsonrpc.LongLived)
			}
			if terminal(a.stderr) && !a.flags.quiet {
				o.Began = func(name string) { a.note("%s …", name) }
			}
			return a.printEvaluated(conformance.Run(cmd.Context(), o))
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&command, "command", "", "the program: a path, or a name that is in $PATH")
	fl.StringVar(&mode, "mode", "", "one-shot or long-lived (default: as the program says)")
	fl.StringArrayVar(&env, "env", nil, "`NAME=VALUE` for the program; repeatable")
	fl.IntVar(&soak, "soak", 0, "calls of the last check (default 200)")
	return cmd
}

func (a *app) printEvaluated(r conformance.Report) error {
	if !r.OK() {
		a.code = exitFailed
	}
	if a.flags.json {
		return a.printJSON(r)
	}
	if err := r.Table(a.stdout); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return nil
}
