package main

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"vademecum/hooks"
	"vademecum/providers"
	"vademecum/vault"
)

// outbox is what hands changes of the vault over to the providers of the config;
// nil where there are none.
func (o *opened) outbox() *providers.Outbox {
	if len(o.config.Providers) == 0 && !o.anyProviderBefore() {
		return nil
	}
	if o.sources.outbox != nil {
		return o.sources.outbox
	}
	b := &providers.Outbox{
		Vault: o.vault, Journal: o.journal(), Dir: o.providersDir(), Gates: o.gates(), Now: o.a.now,
		Notice: func(text string) { o.a.warn("%s", text) },
	}
	for _, name := range o.config.providerNames() {
		t, ok := o.target(name)
		if !ok {
			b.Others = append(b.Others, name)
			continue
		}
		b.Targets = append(b.Targets, t)
	}
	o.sources.outbox = b
	return b
}

// anyProviderBefore reports whether this vault was handed over to anybody: what
// is owed to a provider that was removed from the config is dropped.
func (o *opened) anyProviderBefore() bool { return exists(o.providersDir()) }

// target is the provider called name as it is written to; false when it is not
// at present. Of which tiers it gets memories, the profile says that writes them.
func (o *opened) target(name string) (providers.Target, bool) {
	c := o.config.Providers[name]
	var tiers []vault.Tier
	var route routeConfig
	for _, tier := range []vault.Tier{vault.STM, vault.LTM} {
		r := o.config.route(o.config.writingProfile(o.vault.Identity(), tier), name)
		admitted, _, err := r.admitted()
		if err == nil && isSet(r.Write, true) && (len(admitted) == 0 || slices.Contains(admitted, tier)) {
			tiers, route = append(tiers, tier), r
		}
	}
	if len(tiers) == 0 {
		return providers.Target{}, false
	}
	s, err := o.source(name)
	if err != nil {
		return providers.Target{}, false
	}
	_, types, _ := route.admitted()
	return providers.Target{
		Provider: s.provider, Fingerprint: s.fingerprint,
		Route: providers.WriteRoute{
			Tiers: tiers, Types: types, Scopes: route.Scopes, Sessions: isSet(c.Sessions, false),
			Timeout: time.Duration(c.WriteTimeout), From: c.From,
		},
	}, true
}

// writingProfile is the profile that writes memories of a tier to the vault of
// an identity: one that names that vault or that tier, and has routes; else
// default. What was written by hand has no profile, so what is in the vault
// decides.
func (c config) writingProfile(identity string, tier vault.Tier) string {
	best, found := 0, hooks.ProfileDefault
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		p := c.profile(name)
		own := p.Write == "" || p.Write == hooks.OwnVault
		points := 0
		switch {
		case len(c.Profiles[name].Routes) == 0 || !own && p.Write != identity || p.Tier != "" && p.Tier != tier:
			continue
		case !own:
			points = 2
		}
		if p.Tier == tier {
			points++
		}
		if points > best {
			best, found = points, name
		}
	}
	return found
}

// follow notes where the vault is for providers that are new, so that the next
// change is theirs. It is called before anything is written.
func (o *opened) follow(ctx context.Context) {
	unknown := func(name string) bool {
		return isSet(o.config.Providers[name].Write, true) && !exists(filepath.Join(o.providersDir(), name, "cursor"))
	}
	if !slices.ContainsFunc(o.config.providerNames(), unknown) {
		return // nothing need be opened to know that
	}
	if b := o.outbox(); b != nil {
		if err := b.Follow(ctx); err != nil {
			o.a.warn("%v", err)
		}
	}
}

// deleteGone has providers delete what they still have of the forgotten, in the
// background.
func (o *opened) deleteGone(ctx context.Context, gone []providers.Gone) {
	if o.queueGone(ctx, gone) {
		o.drainLater()
	}
}

// queueGone queues those deletions, and reports whether there were any.
func (o *opened) queueGone(ctx context.Context, gone []providers.Gone) bool {
	b := o.outbox()
	if b == nil {
		return false
	}
	for _, g := range gone {
		if err := b.QueueDelete(ctx, g.Provider, g.ID, g.Ref); err != nil && !errors.Is(err, providers.ErrNoTarget) {
			o.a.warn("%v", err)
		}
	}
	return len(gone) > 0
}

// owe queues what a write changed for the providers, and says so in its receipt.
func (o *opened) owe(ctx context.Context, r *vault.Receipt) {
	b := o.outbox()
	if b == nil || r.Commit == "" {
		return
	}
	id := string(r.ID)
	if id == "" {
		id = string(o.vault.Config().VaultID) + ":" + r.Path
	}
	kept, err := b.CannotDelete(id)
	if err == nil {
		err = b.CatchUp(ctx)
	}
	if err == nil {
		r.Providers, err = b.State(id)
	}
	if err != nil {
		r.Warnings = append(r.Warnings, "not queued for the providers yet: "+err.Error())
	}
	if !exists(filepath.Join(o.vault.WorkDir(), filepath.FromSlash(r.Path))) { // forgotten
		for _, name := range kept {
			r.Warnings = append(r.Warnings, name+" has it and cannot delete: remove it there yourself")
		}
	}
}
