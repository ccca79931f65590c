package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

func (a *app) configShowCmd() *cobra.Command {
	var effective bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the config, without secrets",
		Long: `Show the config as you wrote it, with what may be a secret masked. --effective shows
what it comes to: what you did not set too, and how each profile uses each provider.`,
		Args:    cobra.NoArgs,
		Example: "  vade config show\n  vade config show --effective\n  vade config show --json",
		RunE: func(*cobra.Command, []string) error {
			if effective || a.flags.json {
				return a.showEffective()
			}
			return a.showConfig()
		},
	}
	cmd.Flags().BoolVar(&effective, "effective", false, "with all defaults, and the routes of each profile (--json always)")
	return cmd
}

// showConfig shows the file as its owner wrote it.
func (a *app) showConfig() error {
	path := a.configPath()
	raw, err := a.readConfig()
	if err != nil {
		return err
	}
	if raw == nil {
		a.note("there is no %s: all is as it is by default; vade config show --effective shows that", path)
		return nil
	}
	text, err := maskConfig(raw)
	if err != nil {
		return hinted(fmt.Errorf("config %s: %w", path, err), "it is shown once it can be read: until then nothing tells what in it is secret")
	}
	if terminal(a.stdout) {
		text = printable(text)
	}
	a.printf("%s", text)
	if text != "" && text[len(text)-1] != '\n' {
		a.printf("\n")
	}
	if _, problems := parseConfig(raw, nil); len(problems) > 0 {
		a.note("%s; vade config check names them", count(len(problems), "problem", "problems"))
	}
	return nil
}

func (a *app) showEffective() error {
	c, err := a.loadConfig()
	if err != nil {
		return err
	}
	v, err := a.effective(c)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.printJSON(v)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(v); err != nil {
		return err
	}
	a.printf("%s", b.String())
	return nil
}
