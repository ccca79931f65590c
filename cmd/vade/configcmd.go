package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

func (a *app) configCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "See, check and edit your settings",
		GroupID: groupOwner,
		Long: `Your settings are one file of YAML, which you may edit in any editor:
docs/configuration.md explains each key. Nothing has to be set.`,
		Example: `  vade config show
  vade config edit
  vade config check`,
	}
	cmd.AddCommand(a.configShowCmd(), a.configPathCmd(), a.configEditCmd(), a.configCheckCmd())
	return cmd
}

func (a *app) configPathCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "Print where the config is",
		Long:    "Print where the config is: $VADE_CONFIG, else the platform's place for it.",
		Args:    cobra.NoArgs,
		Example: `  ls -l "$(vade config path)"`,
		RunE: func(*cobra.Command, []string) error {
			path := a.configPath()
			if a.flags.json {
				return a.printJSON(map[string]any{"path": path, "exists": exists(path)})
			}
			a.printf("%s\n", path)
			if !exists(path) {
				a.note("it is not there yet; vade config edit makes it")
			}
			return nil
		},
	}
}

func (a *app) configCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "Name all that is wrong with the config",
		Long: `Name all that is wrong with the config, or with another file before it becomes the
config: unknown keys, values that cannot be, routes to providers that are not there,
keys that are written into it. What is missing on this machine, such as a
variable, is a warning. Ends with 1 if there is more than warnings.`,
		Args:    cobra.MaximumNArgs(1),
		Example: "  vade config check\n  vade config check new.yaml --json",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				raw, err := os.ReadFile(args[0])
				if err != nil {
					return err
				}
				return a.printCheck(args[0], raw)
			}
			raw, err := a.readConfig()
			if err == nil && raw == nil {
				a.note("there is no %s: all is as it is by default", a.configPath())
			}
			if err != nil {
				return err
			}
			return a.printCheck(a.configPath(), raw)
		},
	}
}

// readConfig is the config's text; nil when there is no file.
func (a *app) readConfig() ([]byte, error) {
	raw, err := os.ReadFile(a.configPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	return append([]byte{}, raw...), nil
}

// checkView is the JSON of a check.
type checkView struct {
	Path     string          `json:"path"`
	OK       bool            `json:"ok"` // nothing but warnings
	Problems []configProblem `json:"problems"`
}

func (a *app) checkView(path string, raw []byte) checkView {
	_, problems := parseConfig(raw, a)
	_, bad := firstProblem(problems)
	return checkView{Path: path, OK: !bad, Problems: append([]configProblem{}, problems...)}
}

func (a *app) printCheck(path string, raw []byte) error {
	v := a.checkView(path, raw)
	if !v.OK {
		a.code = exitFailed
	}
	if a.flags.json {
		return a.printJSON(v)
	}
	for _, p := range v.Problems {
		a.printProblem(path, p)
	}
	if v.OK && raw != nil {
		a.printf("%s  %s\n", a.paint(green, "ok"), path)
	}
	return nil
}

// printProblem shows p the way compilers do, so that editors find the place.
func (a *app) printProblem(path string, p configProblem) {
	where, what := path, p.Problem
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", path, p.Line, p.Column)
	}
	if p.Key != "" {
		what = p.Key + ": " + what
	}
	if p.Warning {
		what = a.paint(gold, "warning") + ": " + what
	}
	a.printf("%s: %s\n", where, what)
	if p.Remedy != "" {
		a.printf("  %s\n", a.paint(dim, p.Remedy))
	}
}
