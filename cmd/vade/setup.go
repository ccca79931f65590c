package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"vademecum/hooks/install"
	"vademecum/sync"
)

// setupChoice is what setup is to do: by flags, or as a person answered.
type setupChoice struct {
	agents  []string
	mcp     bool
	remote  string
	capture string // always, never, or "" for as it is
	program string
	dryRun  bool
}

// setupView is the JSON of setup and uninstall.
type setupView struct {
	Agents  []string      `json:"agents"`
	DryRun  bool          `json:"dry_run"`
	Program string        `json:"program,omitempty"`
	Changes []setupChange `json:"changes"`
	Remote  string        `json:"remote,omitempty"`
	Capture string        `json:"capture,omitempty"`
	Notes   []string      `json:"notes,omitempty"`
}

type setupChange struct {
	Path   string `json:"path"`
	Action string `json:"action"` // create, change, remove, note
	Diff   string `json:"diff,omitempty"`
}

func (a *app) setupCmd() *cobra.Command {
	var c setupChoice
	var noMCP, yes bool
	cmd := &cobra.Command{
		Use:     "setup",
		Short:   "Give coding agents this memory: hooks, MCP server, skill",
		GroupID: groupOwner,
		Long: `Put vade into the settings of your coding agents: hooks that tell them what is
known and keep what was done, the MCP server, and a skill that teaches when to use
it. On a terminal and without flags, setup asks; every answer is a flag too.

Agents: ` + strings.Join(install.Names, ", ") + `; "all" is those found here.

Settings are edited in place: comments, order and what others put there stay as
they are. A copy of each file is kept, and "vade uninstall" gives it back byte for
byte. An agent that has vade as a plugin is refused, because everything would happen
twice. Run setup again at any time: it changes only what has to change.`,
		Example: `  vade setup
  vade setup --agent all --dry-run
  vade setup --agent claude,codex --no-mcp
  vade setup --agent claude --remote git@github.com:me/memory.git --capture never`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.mcp = c.mcp && !noMCP; noMCP && cmd.Flags().Changed("mcp") {
				return usagef("--mcp and --no-mcp contradict each other")
			}
			asks := cmd.Flags().NFlag() == 0 && a.terminals()
			return a.setup(cmd.Context(), c, asks && !yes)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&c.agents, "agent", nil, "agents to set up, or all")
	f.BoolVar(&c.mcp, "mcp", true, "give them the MCP server and the skill")
	f.BoolVar(&noMCP, "no-mcp", false, "hooks only")
	f.StringVar(&c.remote, "remote", "", "git URL that the vault syncs to, as with \"vade remote set\"")
	f.StringVar(&c.capture, "capture", "", "captured turns go to the remote too: always or never")
	f.StringVar(&c.program, "program", "", "path of vade for agents to run (default: this program's)")
	f.BoolVar(&c.dryRun, "dry-run", false, "show what would be written, and write nothing")
	f.BoolVar(&yes, "yes", false, "ask nothing")
	return cmd
}

// terminals reports whether a person can be asked.
func (a *app) terminals() bool {
	in, ok := a.stdin.(*os.File)
	return ok && isTerminal(in) && terminal(a.stdout) && !a.flags.json
}

func (a *app) setup(ctx context.Context, c setupChoice, asks bool) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	host, err := a.installHost(c.program)
	if err != nil {
		return err
	}
	if c.remote != "" {
		if c.remote, err = a.absoluteURL(c.remote); err != nil {
			return err
		}
	}
	known := a.knownRemote(config)
	ask := &form{a, bufio.NewReader(a.stdin)}
	if asks {
		if err := ask.askSetup(host, &c, known, config.Capture.Sync); err != nil {
			return err
		}
	}
	if c.agents, err = a.chosenAgents(host, c.agents); err != nil {
		return err
	}
	if err := c.check(config, known); err != nil {
		return err
	}
	plan, err := host.Setup(c.agents, install.Wish{MCP: c.mcp})
	if err != nil {
		return setupError(err)
	}
	if asks && !c.dryRun {
		a.showPlan(plan, false)
		if ok, err := ask.yes("Write this?", true); err != nil || !ok {
			return err
		}
	}
	return a.carryOut(ctx, c, plan, host.Program)
}

// check refuses what cannot be meant: captured turns may hold anything that was
// said to an agent, so nobody's go to a remote unasked.
func (c setupChoice) check(config config, known string) error {
	switch c.capture {
	case "", "always", "never":
	default:
		return hinted(usagef("--capture %q is unknown", c.capture), "use always or never")
	}
	remote := firstOf(c.remote, known)
	if remote == "" || c.capture != "" || config.Capture.Sync != "" || len(c.agents) == 0 {
		return nil
	}
	return hinted(usagef("captured turns would go to %s too, and nobody said whether they may", remote),
		"say --capture always, or --capture never to keep them on this host")
}

// knownRemote is where the vault syncs to already; "" when there is no vault.
func (a *app) knownRemote(c config) string {
	o, err := a.open()
	if err != nil || !o.vault.Exists() {
		return ""
	}
	defer o.vault.Close()
	s, err := sync.Status(o.vault)
	if err != nil {
		return ""
	}
	return s.Remote
}

// carryOut does what was chosen. Where captures go is settled before anything
// can be captured, and before there is a remote.
func (a *app) carryOut(ctx context.Context, c setupChoice, plan *install.Plan, program string) error {
	view := setupView{Agents: c.agents, DryRun: c.dryRun, Program: program, Remote: c.remote, Capture: c.capture, Changes: setupChanges(plan, c.dryRun)}
	if !c.dryRun {
		if c.capture != "" {
			if err := a.setConfig("capture", "sync", c.capture); err != nil {
				return err
			}
		}
		if err := plan.Apply(); err != nil {
			return setupError(err)
		}
		if c.remote != "" {
			if err := a.withVault(func(o *opened) error {
				_, err := sync.SetRemote(ctx, o.vault, c.remote)
				return setRemoteError(err)
			}); err != nil {
				return err
			}
		}
	}
	view.Notes = setupNotes(c.agents)
	return a.printSetup(view, plan)
}

// setupNotes are what is left for a person to do.
func setupNotes(agents []string) (notes []string) {
	if slices.Contains(agents, "codex") {
		notes = append(notes, "Codex runs a hook only once you trust it: start codex, type /hooks, and trust those of vade")
	}
	if slices.Contains(agents, "cursor") && slices.Contains(agents, "claude") {
		notes = append(notes, "Cursor can run Claude Code's hooks too: leave that off in its settings, or everything happens twice")
	}
	if len(agents) > 0 {
		notes = append(notes, "agents that run already have to be started again; \"vade doctor\" says when each hook last fired",
			"\"vade backfill\" takes what they kept of earlier sessions")
	}
	return notes
}

func (a *app) printSetup(view setupView, plan *install.Plan) error {
	if a.flags.json {
		return a.printJSON(view)
	}
	a.showPlan(plan, view.DryRun)
	if len(plan.Changes) == 0 {
		a.printf("nothing to change for %s\n", firstOf(strings.Join(view.Agents, ", "), "any agent"))
	}
	if view.Capture != "" {
		a.printf("captured turns go to the remote: %s\n", view.Capture)
	}
	if view.Remote != "" {
		a.printf("remote %s\n", view.Remote)
	}
	if view.DryRun {
		a.note("nothing was written (--dry-run)")
		return nil
	}
	for _, n := range view.Notes {
		a.note("%s", n)
	}
	return nil
}

func setupChanges(plan *install.Plan, diffs bool) []setupChange {
	list := []setupChange{}
	for _, c := range plan.Changes {
		one := setupChange{Path: c.Path, Action: action(c)}
		if diffs {
			one.Diff = string(diff.Diff("a", c.Before, "b", c.After))
		}
		list = append(list, one)
	}
	return list
}

// action is what a change does to its file.
func action(c install.Change) string {
	switch {
	case c.Before == nil && c.After != nil:
		return "create"
	case c.After == nil && c.Before != nil:
		return "remove"
	case string(c.Before) == string(c.After):
		return "note" // the record only
	}
	return "change"
}

// showPlan lists the changes, with their lines when asked for.
func (a *app) showPlan(plan *install.Plan, lines bool) {
	for _, c := range plan.Changes {
		if action(c) == "note" {
			continue
		}
		a.printf("%s  %s\n", a.paint(green, fmt.Sprintf("%-6s", action(c))), oneLine(c.Path))
		if !lines {
			continue
		}
		for line := range strings.Lines(string(diff.Diff("before", c.Before, "after", c.After))) {
			if strings.HasPrefix(line, "diff ") {
				continue
			}
			a.printf("  %s\n", a.paintDiff(printable(strings.TrimSuffix(line, "\n"))))
		}
	}
}

// installHost is this machine, with program as the vade that agents run.
func (a *app) installHost(program string) (install.Host, error) {
	h := install.Host{Home: a.userHome(), Env: a.env, Look: exec.LookPath, State: filepath.Join(filepath.Dir(a.configPath()), "agents")}
	var err error
	h.Program, err = ownProgram(program)
	return h, err
}

// ownProgram is the path under which agents find vade. What the PATH has is
// taken as it is, links and all: what they lead to may carry a version, and
// Codex trusts a hook by its command.
func ownProgram(program string) (string, error) {
	if program != "" {
		path, err := filepath.Abs(program)
		if err == nil {
			_, err = os.Stat(path)
		}
		return path, err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if found, err := exec.LookPath("vade"); err == nil && filepath.IsAbs(found) && sameFile(found, self) {
		return found, nil
	}
	if strings.Contains(filepath.ToSlash(self), "/go-build") {
		return "", hinted(errors.New("this vade is a build that go will remove"), "run \"go install ./cmd/vade\" and then \"vade setup\", or name one with --program")
	}
	return self, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// chosenAgents are the agents that names say, each once, in our order.
func (a *app) chosenAgents(h install.Host, names []string) ([]string, error) {
	found := foundAgents(h)
	if len(names) == 0 && len(found) > 0 {
		return nil, hinted(usagef("setup needs to know which agents"), "say --agent all, or some of these, which are here: --agent "+strings.Join(found, ","))
	}
	if len(names) == 0 {
		return nil, hinted(usagef("no coding agent was found here"), "name one with --agent: "+strings.Join(install.Names, ", "))
	}
	var chosen []string
	for _, name := range install.Names {
		if slices.Contains(names, name) || slices.Contains(names, "all") && slices.Contains(found, name) {
			chosen = append(chosen, name)
		}
	}
	for _, name := range names {
		if name != "all" && name != "none" && !slices.Contains(install.Names, name) {
			return nil, hinted(usagef("agent %q is unknown", name), "use all, or "+strings.Join(install.Names, ", "))
		}
	}
	return chosen, nil
}

// foundAgents are the agents that are on this machine.
func foundAgents(h install.Host) (found []string) {
	for _, name := range install.Names {
		if h.Report(name).Found != "" {
			found = append(found, name)
		}
	}
	return found
}

// setupError gives an error of the installer its exit code and hint.
func setupError(err error) error {
	if errors.Is(err, install.ErrTwoChannels) {
		return &codedError{code: exitConflict, err: err}
	}
	if _, ok := errors.AsType[*install.FileError](err); ok {
		return hinted(err, "mend the file, or leave that agent out; nothing was written to it")
	}
	return err
}
