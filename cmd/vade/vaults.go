package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"vademecum/hooks"
	"vademecum/vault"
)

// vaultsOf are the vaults that p reads for the identity own. Where captured
// turns are kept in a vault of their own, local, it is read with the own one.
func (c config) vaultsOf(p hooks.Profile, own, local string) []string {
	names := p.Vaults(own)
	if c.Capture.Sync == "never" && slices.Contains(names, own) && !slices.Contains(names, local) {
		names = append(names, local)
	}
	return names
}

// localName is the identity whose vault takes what stays on this host.
func (o *opened) localName() string { return o.identity() + localSuffix }

// vaults are the names of the vaults that a recall by p asks.
func (o *opened) vaults(p hooks.Profile) []string {
	names := o.config.vaultsOf(p, o.vault.Identity(), o.localName())
	if i := slices.Index(names, o.localName()); i >= 0 && !o.hasLocal() {
		names = slices.Delete(names, i, i+1) // nothing was captured yet
	}
	return names
}

func (o *opened) hasLocal() bool {
	_, err := os.Stat(filepath.Join(o.home, o.localName(), "vault"))
	return err == nil
}

// everyVault are the vaults that any profile reads, this one first.
func (o *opened) everyVault() []string {
	names := []string{o.vault.Identity()}
	for _, profile := range slices.Concat([]string{hooks.ProfileDefault}, slices.Sorted(maps.Keys(o.config.Profiles))) {
		p, err := o.config.findProfile(profile)
		if err != nil {
			continue
		}
		for _, name := range o.vaults(p) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// holder opens the one of the vaults called names that has what ref names:
// this one where it does, or where none does. It is the caller's to close.
func (o *opened) holder(ctx context.Context, ref string, names []string) (*opened, error) {
	if _, err := o.resolve(ctx, ref); !errors.Is(err, vault.ErrNotFound) {
		return o, nil // what else is wrong with ref, whoever reads it says
	}
	for _, name := range names {
		other, err := o.another(name)
		if err != nil || other == o {
			continue
		}
		if _, err := other.resolve(ctx, ref); err == nil {
			return other, nil
		}
		other.close(o)
	}
	return o, nil
}

// readAnywhere is readRef, in another one of the vaults called names where this
// one has nothing of that name: recall shows what those have too.
func (o *opened) readAnywhere(ctx context.Context, ref string, names func() []string) (*vault.Memory, []byte, error) {
	m, raw, err := o.readRef(ctx, ref)
	if !errors.Is(err, vault.ErrNotFound) {
		return m, raw, err
	}
	from, lookErr := o.holder(ctx, ref, names())
	if lookErr != nil || from == o {
		return nil, nil, err
	}
	defer from.close(o)
	return from.readRef(ctx, ref)
}

// resolve finds what REF or REF@COMMIT names in this vault as it is.
func (o *opened) resolve(ctx context.Context, ref string) (int, error) {
	if !o.vault.Exists() {
		return 0, vault.ErrNotFound
	}
	name, commit, err := o.splitRef(ctx, ref)
	if err != nil || commit != "" {
		return 0, err
	}
	s, err := o.snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return s.Resolve(vault.Ref(name))
}

// writable is holder for a change by the profile p: a vault that p only reads
// is its members' to change.
func (o *opened) writable(ctx context.Context, ref string, p hooks.Profile) (*opened, error) {
	to, err := o.holder(ctx, ref, o.vaults(p))
	if err != nil {
		return nil, err
	}
	name := to.vault.Identity()
	if to == o || name == p.Write || name == o.localName() {
		return to, nil
	}
	to.close(o)
	return nil, hinted(fmt.Errorf("it is in the vault %s, which is only read here", name), "vade --identity "+name+" changes it")
}
