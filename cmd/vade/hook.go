package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vademecum/hooks"
	"vademecum/sync/journal"
	"vademecum/vault"
)

// hookConfig is what the owner says about the hooks of agents.
type hookConfig struct {
	// Redact are regular expressions; what they match is not kept.
	Redact []string `yaml:"redact"`
	// Capture and Inject turn one half off. Default true.
	Capture *bool `yaml:"capture"`
	Inject  *bool `yaml:"inject"`
}

// hookCmd is what agents run. Whatever happens, it ends with 0 and prints
// nothing that the agent would refuse: with 2, Claude Code and Codex throw the
// person's prompt away. See run, which holds it to that.
func (a *app) hookCmd() *cobra.Command {
	return &cobra.Command{
		Use:                "hook AGENT EVENT",
		Short:              "Take what an agent's hook tells, and answer with what is known",
		Hidden:             true,
		Args:               cobra.ArbitraryArgs,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		Example:            "  vade hook claude UserPromptSubmit < payload.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.env("VADE_HOOKS") == "off" {
				return nil
			}
			if len(args) == 0 {
				return usagef("vade hook needs an agent and its event")
			}
			agent, ok := hooks.Find(args[0])
			if !ok {
				return usagef("vade hook knows no agent %q", args[0])
			}
			event := ""
			if len(args) > 1 {
				event = args[1]
			}
			a.hook(cmd.Context(), agent, event)
			return nil
		},
	}
}

// hook receives one event within its budget and then, its answer being out,
// does what others need not wait for.
func (a *app) hook(ctx context.Context, agent *hooks.Agent, event string) {
	// Who ends us, or does not listen any more, does not keep us from keeping
	// what we were told: it takes less than a second.
	signal.Ignore(syscall.SIGPIPE)
	// The agent counts from when it started us; a busy machine takes a while
	// until we get here.
	budget := hooks.Budget - min(sinceStart(), hooks.Budget/2)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), budget)
	defer cancel()
	h := &hooking{a: a, until: time.Now().Add(budget)}
	if h.config, h.trouble = a.loadConfig(); h.locate() != nil {
		return // no folder to keep anything in
	}
	r := h.receiver()
	type result struct {
		outcome hooks.Outcome
		ok      bool
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if recover() != nil { // a bug of ours is nothing to an agent
				done <- result{}
			}
		}()
		done <- result{r.Receive(ctx, agent, event, a.stdin), true}
	}()
	var got result
	select {
	case got = <-done:
	case <-time.After(budget + 50*time.Millisecond):
	}
	if !got.ok {
		got.outcome.Entry = hooks.Entry{Time: a.now().UTC(), What: hooks.DidHook, Agent: agent.Name, Event: event, Error: "panic or timeout"}
	}
	if h.trouble != nil {
		got.outcome.Entry.Error = "config"
		if got.outcome.Missed != "" && h.identity != "" {
			h.journal.Lose(fmt.Errorf("the config has a mistake: %w", h.trouble))
		}
	}
	if len(got.outcome.Answer) > 0 {
		_, _ = a.stdout.Write(got.outcome.Answer)
	}
	_ = h.activity().Add(got.outcome.Entry)
	h.afterwards(got.outcome)
}

// hooking is one run of the hook command.
type hooking struct {
	a        *app
	config   config
	trouble  error // why the config is not what its owner wrote
	until    time.Time
	home     string
	identity string
	journal  *journal.Journal
	vaults   []*hookVault
	asking   []*askingVault
}

// locate finds the identity's folder.
func (h *hooking) locate() (err error) {
	if h.home, err = h.a.homeDir(h.config); err != nil {
		return err
	}
	h.identity, err = h.a.identity(h.config)
	return err
}

func (h *hooking) dir() string { return filepath.Join(h.home, h.identity) }

func (h *hooking) activity() hooks.Activity { return activityOf(h.dir()) }

// activityOf is the record of an identity's folder.
func activityOf(dir string) hooks.Activity { return hooks.Activity{Dir: filepath.Join(dir, "hooks")} }

func (h *hooking) receiver() *hooks.Receiver {
	h.journal = journal.Open(filepath.Join(h.dir(), "journal"), journal.Options{
		Timeout: hooks.Budget - 100*time.Millisecond, Until: h.until.Add(-80 * time.Millisecond),
	})
	cwd, _ := os.Getwd()
	r := &hooks.Receiver{
		Dir: filepath.Join(h.dir(), "hooks"), Journal: h.journal, Stores: h.stores,
		Profile:   func(name string) hooks.Profile { return h.config.profile(name) },
		Workspace: func(dir string) string { return workspaceAt(dir, h.home) },
		Now:       h.a.now, Cwd: cwd, Session: h.session(),
		NoCapture: off(h.config.Hooks.Capture), NoInject: off(h.config.Hooks.Inject),
	}
	var err error
	if r.Redactor, err = hooks.NewRedactor(h.config.Hooks.Redact); err != nil && h.trouble == nil {
		h.trouble = err
	}
	if h.trouble != nil {
		// What its owner does not want kept is not known, so nothing is.
		r.NoCapture = true
	}
	return r
}

func off(b *bool) bool { return b != nil && !*b }

// session is the session that agents tell their hooks in the environment.
func (h *hooking) session() string {
	env := h.a.env
	return firstOf(env("CLAUDE_CODE_SESSION_ID"), env("GEMINI_SESSION_ID"), env("QWEN_CODE_SESSION_ID"), h.a.flags.session, env("VADE_SESSION"))
}

// stores opens the vaults that a profile reads, those that are there. With
// captures in a vault of their own, that one is read too.
func (h *hooking) stores(p hooks.Profile) ([]hooks.Store, error) {
	var list []hooks.Store
	for _, name := range h.config.vaultsOf(p, h.identity, h.identity+localSuffix) {
		if vault.CheckIdentity(name) != nil {
			continue
		}
		v := h.vault(name)
		if name == h.identity && len(h.config.Providers) > 0 {
			asking := &askingVault{hookVault: v, profile: p}
			h.asking = append(h.asking, asking)
			list = append(list, asking)
			continue
		}
		list = append(list, v)
	}
	return list, nil
}

func (h *hooking) vault(name string) *hookVault {
	for _, v := range h.vaults {
		if v.name == name {
			return v
		}
	}
	own := name == h.identity || name == h.identity+localSuffix
	v := &hookVault{name: name, own: own, open: func() (*opened, error) { return h.a.openVault(h.config, h.home, name) }}
	h.vaults = append(h.vaults, v)
	return v
}

// afterwards starts what is due in the background, and lets the next hook
// know what this one saw on disk.
func (h *hooking) afterwards(out hooks.Outcome) {
	for _, v := range h.vaults {
		v.afterwards()
	}
	for _, v := range h.asking {
		v.afterwards()
	}
	if h.a.env("VADE_NO_BACKGROUND") != "" {
		return
	}
	switch out.Kept {
	case journal.TurnEnd, journal.SessionEnd, journal.SessionStart, journal.Compaction:
		if h.journal.NeedsDrain() || deliveriesDue(h.journal, h.config) {
			startDetached(h.journal.Dir(), []string{"drain", "--home", h.home, "--identity", h.identity})
		}
	}
}

// openVault opens the vault of an identity.
func (a *app) openVault(c config, home, identity string) (*opened, error) {
	o := &opened{a: a, config: c, home: home}
	var err error
	o.vault, err = vault.Open(vault.Options{
		Dir: filepath.Join(home, identity), Identity: identity, Origin: a.origin(identity), Now: a.now,
		Warn: func(msg string) { a.warn("%s", msg) },
	})
	if err != nil {
		return nil, fmt.Errorf("vault %s: %w", identity, err)
	}
	return o, nil
}
