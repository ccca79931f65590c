package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vademecum/sync"
	"vademecum/sync/journal"
	"vademecum/vault"
)

// captureConfig says what becomes of captured turns.
type captureConfig struct {
	// Sync "always" keeps captured turns in the vault, which goes to its
	// remote; "never" keeps them in a vault of their own, NAME.local, which has
	// none. Default always; setup asks.
	Sync string `yaml:"sync"`
	// Keep is how long after its last turn a session's file expires: "90d", or
	// "forever". Default 90d.
	Keep string `yaml:"keep"`
}

// keepCaptures is how long captured turns are kept by default.
const keepCaptures = 90 * 24 * time.Hour

// keep is Keep as a duration; 0 is for ever.
func (c captureConfig) keep() (time.Duration, error) {
	switch c.Keep {
	case "":
		return keepCaptures, nil
	case "forever":
		return 0, nil
	}
	days, ok := strings.CutSuffix(c.Keep, "d")
	n, err := strconv.Atoi(days)
	if !ok || err != nil || n < 1 || n > 36500 {
		return 0, hinted(fmt.Errorf("capture.keep %q is no number of days", c.Keep), "use 90d, or forever")
	}
	return time.Duration(n) * 24 * time.Hour, nil
}

// localSuffix ends the name of the identity whose vault takes captured turns
// that are not to leave this host: a vault without a remote, and otherwise one
// like any other.
const localSuffix = ".local"

// journalOf is the journal of an identity's folder.
func journalOf(dir string) *journal.Journal {
	return journal.Open(filepath.Join(dir, "journal"), journal.Options{})
}

func (o *opened) journal() *journal.Journal { return journalOf(filepath.Dir(o.vault.WorkDir())) }

// drainLater starts a drain in the background when there is something for it
// to do and nobody is at it. It never waits.
func (o *opened) drainLater() {
	if o.a.env("VADE_NO_BACKGROUND") != "" {
		return
	}
	if j := o.journal(); j.NeedsDrain() || o.handOverDue() {
		startDetached(j.Dir(), []string{"drain", "--home", o.home, "--identity", o.identity()})
	}
}

// drainDue drains what is due before a round of sync, so that it goes out
// with it. What does not work is shown by status.
func (o *opened) drainDue(ctx context.Context) {
	if !o.journal().NeedsDrain() {
		return
	}
	if done, err := o.drain(ctx, journal.DrainOptions{}); err != nil {
		o.a.warn("%v", err)
	} else if done.Failed > 0 {
		o.a.warn("%s; see \"vade journal list\"", oneLine(strings.Join(done.Errors, "; ")))
	}
}

// drainCmd is what runs in the background.
func (a *app) drainCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "drain",
		Short:   "Keep what hooks captured and hand over what is owed, in the background",
		Hidden:  true,
		Args:    cobra.NoArgs,
		Example: "  vade drain",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withVault(func(o *opened) error {
				d, err := o.drain(cmd.Context(), journal.DrainOptions{})
				if err == nil && d.Stored > 0 && o.config.Capture.Sync != "never" {
					err = o.syncHere(cmd.Context())
				}
				_, handErr := o.handOver(cmd.Context(), linger)
				return errors.Join(err, handErr)
			})
		},
	}
}

// syncHere brings what was stored to the remote, if there is one: this process
// is in the background already.
func (o *opened) syncHere(ctx context.Context) error {
	s, err := sync.Status(o.vault)
	if auto := o.config.Sync.Auto; err != nil || s.Remote == "" || auto != nil && !*auto {
		return err
	}
	_, err = sync.Round(ctx, o.vault, sync.Options{Transport: o.transport(nil), Wait: time.Minute})
	if errors.Is(err, sync.ErrBusy) {
		return nil
	}
	return err
}

// drain hands what is in the journal to the vault that takes captures, and
// removes what has expired there.
func (o *opened) drain(ctx context.Context, opts journal.DrainOptions) (journal.Drained, error) {
	v, err := o.captureVault()
	if err != nil {
		return journal.Drained{}, err
	}
	if v != o.vault {
		defer v.Close()
	}
	keep, err := o.config.Capture.keep()
	if err != nil {
		return journal.Drained{}, err
	}
	j := o.journal()
	done, err := j.Drain(ctx, opts, &journal.Capture{Vault: v, Keep: keep})
	if err != nil || done.Busy {
		return done, err
	}
	return done, expireDaily(ctx, v, filepath.Join(j.Dir(), "expired"))
}

// captureVault is the vault that captured turns go to.
func (o *opened) captureVault() (*vault.Vault, error) {
	if o.config.Capture.Sync != "never" {
		return o.vault, nil
	}
	name := o.identity() + localSuffix
	if err := vault.CheckIdentity(name); err != nil {
		return nil, fmt.Errorf("capture.sync never: %w", err)
	}
	return vault.Open(vault.Options{
		Dir: filepath.Join(o.home, name), Identity: name, Origin: o.vault.Origin(), Now: o.a.now,
		Warn: func(msg string) { o.a.warn("%s", msg) },
	})
}

// expireDaily removes expired memories when nobody did for a day; the marker
// says when. Without a journal there is nobody to.
func expireDaily(ctx context.Context, v *vault.Vault, marker string) error {
	if st, err := os.Stat(marker); err == nil && time.Since(st.ModTime()) < 24*time.Hour || !v.Exists() {
		return nil
	}
	if _, err := os.Stat(filepath.Dir(marker)); err != nil {
		return nil
	}
	if _, err := sync.Expire(ctx, v, nil); err != nil {
		return err
	}
	return os.WriteFile(marker, nil, 0o600)
}
