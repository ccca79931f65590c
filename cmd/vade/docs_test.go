package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/commands.md anew")

// TestCommandsDoc holds docs/commands.md to what the commands say of
// themselves; run it with -update after changing one.
func TestCommandsDoc(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "commands.md")
	want := commandsDoc()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/commands.md is out of date; run this test with -update (-want +got):\n%s", diff)
	}
}

// TestEveryCommandExplainsItself: a short and an example for each command, and
// a long text for each that is not a mere list or show.
func TestEveryCommandExplainsItself(t *testing.T) {
	a := &app{env: func(string) string { return "" }}
	for _, c := range everyCommand(a.root()) {
		if c.Short == "" || c.Example == "" {
			t.Errorf("%s lacks a short description or an example", c.CommandPath())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s has no usage text", c.CommandPath(), f.Name)
			}
		})
	}
}

// everyCommand lists the visible commands below root that can be run.
func everyCommand(root *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, c := range root.Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		all = append(all, c)
		all = append(all, everyCommand(c)...)
	}
	return all
}

func commandsDoc() string {
	a := &app{env: func(string) string { return "" }}
	root := a.root()
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Written by go test ./cmd/vade -run TestCommandsDoc -update; do not edit. -->\n\n")
	b.WriteString(root.Long + "\n\n")
	b.WriteString(docsPreface)
	b.WriteString("\n## Every command\n\n" + flagsDoc(root.PersistentFlags()) + "\n")
	for _, c := range everyCommand(root) {
		commandDoc(&b, c)
	}
	return b.String()
}

const docsPreface = `A REF names a memory: an id, an unambiguous prefix (from 4 characters) or suffix (from 6) of one, a path, or an exact title.
REF@COMMIT names an older version of it. A REF that fits several memories is refused with the candidates. The version of a file is its git
blob id; ` + "`--if-match`" + ` takes any prefix of at least 4 digits.

Results go to stdout, talk to stderr. ` + "`vade completion bash|zsh|fish|powershell`" + ` prints a completion script that also completes references.

## Configuration and environment

` + "`~/.config/vade/config.yaml`" + ` (or ` + "`$VADE_CONFIG`" + `; on macOS and Windows the platform's folder) may hold:

` + "```yaml" + `
identity: todd        # default identity
home: ~/memory        # folder of all vaults
sync:
  auto: true          # push and pull in the background after each write
  transport: builtin  # exec: use this machine's ssh and git programs
capture:
  sync: always        # never: captured turns stay on this host, in the vault of the identity NAME.local
  keep: 90d           # a session's file expires so long after its last turn; or forever
hooks:
  capture: true       # keep what agents' hooks tell; false: keep nothing
  inject: true        # tell agents what is known; false: tell nothing
  redact:             # regular expressions; what they match is not kept
    - 'ACME-[0-9]{6}'
profiles:             # for --profile, and of the names passive_initial and passive for hooks
  passive:
    limit: 2          # memories at most
    tokens: 500       # of text at most
    threshold: 0.35   # share of the prompt's words that a memory must have
    tiers: [ltm, stm] # also: types, strict
  acme:
    required: [own]            # vaults that are read, by identity; a recall fails without one of these
    best_effort: [acme-team]   # and goes on without one of these
    write: acme-team           # vault that remember writes to; also: tier
` + "```" + `

| variable | meaning |
|---|---|
| VADE_IDENTITY, VADE_HOME | like --identity and --home |
| VADE_AGENT, VADE_SESSION | who acts, for the record; like --agent and --session |
| VADE_HOST | name of this host for the record, instead of the system's |
| VADE_PROJECT_DIR, VADE_WORKSPACE | project of ` + "`" + `vade mcp` + "`" + `; like its --dir and --workspace |
| VADE_REMOTE_TOKEN | token for an https remote |
| VADE_NO_BACKGROUND | anything: start no process in the background |
| VADE_NOW | RFC 3339: a fixed clock, for reproducible runs |
| VISUAL, EDITOR, NO_COLOR | as everywhere |
`

func commandDoc(b *strings.Builder, c *cobra.Command) {
	level := strings.Repeat("#", 1+strings.Count(c.CommandPath(), " "))
	fmt.Fprintf(b, "%s %s\n\n", level, c.CommandPath())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(b, "%s\n\n", firstOf(c.Long, c.Short))
	} else {
		fmt.Fprintf(b, "    %s\n\n%s\n\n", c.UseLine(), firstOf(c.Long, c.Short+"."))
	}
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, "Also: %s.\n\n", strings.Join(c.Aliases, ", "))
	}
	if c.HasAvailableLocalFlags() {
		b.WriteString(flagsDoc(c.NonInheritedFlags()))
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "```sh\n%s\n```\n\n", strings.ReplaceAll(strings.TrimPrefix(c.Example, "  "), "\n  ", "\n"))
}

func flagsDoc(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			value = " " + value
		}
		if b.Len() == 0 {
			b.WriteString("| flag | meaning |\n|---|---|\n")
		}
		fmt.Fprintf(&b, "| `%s%s` | %s |\n", name, value, strings.ReplaceAll(usage, "|", "\\|"))
	})
	return b.String()
}
