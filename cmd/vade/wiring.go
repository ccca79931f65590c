package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"vademecum/index"
	"vademecum/vault"
)

// opened is what a command works with.
type opened struct {
	a      *app
	config config
	home   string // folder of all vaults
	vault  *vault.Vault

	sources sources
}

// open reads the config and opens the vault of the identity that the flags,
// the environment or the config name.
func (a *app) open() (*opened, error) {
	if err := a.checkClock(); err != nil {
		return nil, err
	}
	c, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	home, err := a.homeDir(c)
	if err != nil {
		return nil, err
	}
	identity, err := a.identity(c)
	if err != nil {
		return nil, err
	}
	o := &opened{a: a, config: c, home: home}
	o.vault, err = vault.Open(vault.Options{
		Dir:      filepath.Join(home, identity),
		Identity: identity,
		Origin:   a.origin(identity),
		Now:      a.now,
		Warn:     func(msg string) { a.warn("%s", msg) },
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// withVault runs fn on the opened vault and closes it.
func (a *app) withVault(fn func(*opened) error) error {
	o, err := a.open()
	if err != nil {
		return err
	}
	defer o.vault.Close()
	defer o.closeProviders()
	defer o.tellLoss()
	o.follow(context.Background())
	return fn(o)
}

// tellLoss warns of events of hooks that could not be kept: a hook has nobody
// to tell.
func (o *opened) tellLoss() {
	switch o.a.command {
	case "status", "journal", "drain", "mcp": // they show it, or nobody sees it
		return
	}
	lost, err := o.journal().Lost()
	if err == nil && lost.Count > 0 && !o.a.flags.quiet {
		o.a.warn("%s of agents could not be kept, the last one %s: %s; \"vade journal drop --lost\" forgets this",
			count(lost.Count, "event", "events"), shortTime(lost.Last), oneLine(lost.Error))
	}
}

// noVaultYet is what to do when there is no vault.
const noVaultYet = `vade remember "…" makes one, vade clone URL brings one from another host`

// withExisting is withVault for commands that make no sense before the first
// write.
func (a *app) withExisting(fn func(*opened) error) error {
	return a.withVault(func(o *opened) error {
		if !o.vault.Exists() {
			return hinted(fmt.Errorf("%q has no vault here yet: %w", o.vault.Identity(), vault.ErrNotFound),
				noVaultYet)
		}
		return fn(o)
	})
}

func (a *app) origin(identity string) vault.Origin {
	return vault.Origin{
		User: identity, Host: a.hostName(),
		Agent:   firstOf(a.flags.agent, a.env("VADE_AGENT")),
		Session: firstOf(a.flags.session, a.env("VADE_SESSION")),
	}
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// now is the clock of this run: the system's, or the fixed $VADE_NOW
// (RFC 3339), which makes what is written reproducible.
func (a *app) now() time.Time {
	if fixed := a.env("VADE_NOW"); fixed != "" {
		if t, err := time.Parse(time.RFC3339, fixed); err == nil {
			return t
		}
	}
	return time.Now()
}

// checkClock refuses a $VADE_NOW that is no time: going by another clock than
// the one that was asked for would be found out much later.
func (a *app) checkClock() error {
	fixed := a.env("VADE_NOW")
	if _, err := time.Parse(time.RFC3339, fixed); fixed != "" && err != nil {
		return usagef("VADE_NOW is %q, which is no time such as 2026-11-30T16:00:00Z", fixed)
	}
	return nil
}

// index opens the search index; it exists for as long as the process.
func (o *opened) index() (*index.Index, error) {
	return index.Open(o.vault.IndexDir(), index.Options{})
}

// snapshot is what is on disk now.
func (o *opened) snapshot(ctx context.Context) (*vault.Snapshot, error) {
	return o.vault.Snapshot(ctx)
}
