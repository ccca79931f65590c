package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func (a *app) configEditCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "edit",
		Short: "Edit the config",
		Long: `Edit the config in $VISUAL or $EDITOR: a copy of it, which takes its place when you
have saved it and nothing is wrong with it. Otherwise the config stays as it is, and your
copy is kept.`,
		Args:    cobra.NoArgs,
		Example: "  vade config edit",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.editConfig(cmd.Context()) },
	}
}

// editedView is the JSON of an edit.
type editedView struct {
	checkView
	Changed bool `json:"changed"`
}

func (a *app) editConfig(ctx context.Context) error {
	before, err := a.readConfig()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "vade-config-")
	if err != nil { // there is no place for temporary files
		dir, err = os.MkdirTemp(filepath.Dir(a.configPath()), "vade-config-")
	}
	if err != nil {
		return err
	}
	draft := filepath.Join(dir, "config.yaml")
	after, err := a.editDraft(ctx, draft, before)
	if err != nil {
		_ = os.RemoveAll(dir)
		return err
	}
	v := editedView{checkView: a.checkView(a.configPath(), after), Changed: after != nil}
	if v.Changed {
		if err := a.saveConfig(v.checkView, draft, before, after); err != nil {
			return err // the draft stays
		}
	}
	_ = os.RemoveAll(dir)
	return a.printEdited(v)
}

// editDraft lets the owner edit a copy of the config, and returns what they
// saved; nil when that is what was there.
func (a *app) editDraft(ctx context.Context, draft string, before []byte) ([]byte, error) {
	start := before
	if before == nil {
		start = []byte(configTemplate)
	}
	if err := os.WriteFile(draft, start, 0o600); err != nil {
		return nil, err
	}
	if err := a.runEditor(ctx, draft); err != nil {
		if exitCode(err) == exitUsage {
			err = hinted(err, "set $EDITOR, or edit "+a.configPath()+" and run: vade config check")
		}
		return nil, err
	}
	after, err := os.ReadFile(draft)
	if err != nil || bytes.Equal(start, after) {
		return nil, err
	}
	return append([]byte{}, after...), nil
}

// saveConfig replaces the config. One that is of use is not replaced by one that
// is not, and nothing is that changed meanwhile.
func (a *app) saveConfig(v checkView, draft string, before, after []byte) error {
	path := a.configPath()
	keep := "your copy is kept: " + draft
	_, old := parseConfig(before, nil)
	if _, wasBad := firstProblem(old); !v.OK && !wasBad {
		v.Path = draft
		if err := a.showProblems(v); err != nil {
			return err
		}
		return hinted(fmt.Errorf("config %s is not changed, something is wrong with the new one; %s", path, keep), "mend the copy, then: cp "+draft+" "+path)
	}
	now, err := a.readConfig()
	if err == nil && ((now == nil) != (before == nil) || !bytes.Equal(now, before)) {
		err = &codedError{code: exitConflict, err: errors.New("it changed while you edited it")}
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = replaceFile(path, after)
	}
	if err != nil {
		return hinted(fmt.Errorf("config %s is not changed: %w; %s", path, err, keep), "compare the two, then copy yours over it")
	}
	return nil
}

// showProblems shows what is wrong with a config that is refused.
func (a *app) showProblems(v checkView) error {
	if a.flags.json {
		return a.printJSON(editedView{checkView: v})
	}
	for _, p := range v.Problems {
		a.printProblem(v.Path, p)
	}
	return nil
}

func (a *app) printEdited(v editedView) error {
	if !v.OK {
		a.code = exitFailed // it was bad before, too
	}
	if a.flags.json {
		return a.printJSON(v)
	}
	if !v.Changed {
		a.note("nothing changed")
		return nil
	}
	for _, p := range v.Problems {
		a.printProblem(v.Path, p)
	}
	a.printf("saved %s\n", v.Path)
	return nil
}

// configTemplate is what the owner of no config gets to edit.
const configTemplate = `# Settings of vade. Take away the "# " of what you want to set; what is shown is
# the default, or an example. docs/configuration.md explains each key.

# identity: me            # whose vault, where nothing else says so
# home: ~/memory          # folder of all vaults

# sync:
#   auto: true            # push and pull in the background after each write
#   transport: builtin    # exec: this machine's ssh and git programs

# capture:
#   sync: always          # never: captured turns stay on this host
#   keep: 90d             # or forever

# hooks:
#   capture: true
#   inject: true
#   redact: ['ACME-[0-9]{6}']   # what these match is not kept

# Other memory services. A key is never written here: env:NAME, file:PATH, or
# {command: [PROGRAM, ARGUMENT]} say where it is.
# providers:
#   mem0:
#     type: mem0
#     url: http://localhost:8888
#     key: env:MEM0_API_KEY
#     weight: 0.7
#     timeout: 250ms

# profiles:
#   passive:              # what hooks tell agents
#     limit: 2
#     routes:
#       mem0: {read: false}
`
