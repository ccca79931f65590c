package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"vademecum/providers"
)

// sources are the providers of the config, each opened when it is first used.
type sources struct {
	open    map[string]*source
	routers map[string]*providers.Router // by profile
	outbox  *providers.Outbox
	// patient: nobody waits, so that a program may take its time to say what it
	// can do, and a keychain to ask its owner.
	patient bool
}

// source is an opened provider.
type source struct {
	provider    providers.Provider
	fingerprint string
	err         error
}

// pool keeps providers open from one call of a long-lived server to the next:
// a program that takes seconds to start would otherwise never answer in time.
type pool struct {
	slots providers.Slots

	mu   sync.Mutex
	open map[string]providers.Provider // by name and fingerprint of the config
}

// get is the provider of that key, opened by fn if it is not yet.
func (p *pool) get(key string, fn func() (providers.Provider, error)) (providers.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.open[key]; have != nil {
		return have, nil
	}
	opened, err := fn()
	if err != nil {
		return nil, err
	}
	if p.open == nil {
		p.open = map[string]providers.Provider{}
	}
	p.open[key] = opened
	return opened, nil
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, have := range p.open {
		_ = providers.Close(have)
	}
	p.open = nil
}

// providersDir is where this host keeps what it knows of the providers.
func (o *opened) providersDir() string {
	return filepath.Join(filepath.Dir(o.vault.WorkDir()), "providers")
}

func (o *opened) gates() *providers.Gates {
	return providers.OpenGates(o.providersDir(), time.Now)
}

// source opens the provider called name, once.
func (o *opened) source(name string) (*source, error) {
	if o.sources.open == nil {
		o.sources.open = map[string]*source{}
	}
	s := o.sources.open[name]
	if s == nil || s.err != nil && o.sources.patient {
		s = &source{}
		ctx, cancel := context.WithTimeout(context.Background(), o.openTimeout())
		s.provider, s.fingerprint, s.err = o.openProvider(ctx, name)
		cancel()
		o.sources.open[name] = s
	}
	return s, s.err
}

// openTimeout bounds opening a provider.
func (o *opened) openTimeout() time.Duration {
	if o.sources.patient {
		return 30 * time.Second
	}
	return time.Second
}

// takeTime is called by what nobody waits for, before it opens a provider.
func (o *opened) takeTime() {
	o.sources.patient, o.sources.outbox = true, nil
}

// closeProviders gives back what providers hold, unless others use them too.
func (o *opened) closeProviders() {
	for _, s := range o.sources.open {
		if s.err == nil && o.a.pool == nil {
			_ = providers.Close(s.provider)
		}
	}
	o.sources = sources{}
}

// router is the router of the providers that profile asks; nil where there are
// none. warnings name those that cannot be asked.
func (o *opened) router(profile string) (r *providers.Router, warnings []string) {
	if len(o.config.Providers) == 0 || !o.vault.Exists() {
		return nil, nil
	}
	if r := o.sources.routers[profile]; r != nil {
		return r, nil
	}
	r = &providers.Router{Vault: string(o.vault.Config().VaultID), Gates: o.gates(), Book: o.whoseRef}
	if o.a.pool != nil {
		r.Slots = &o.a.pool.slots
	}
	for _, name := range o.config.providerNames() {
		route := o.config.route(profile, name)
		if !isSet(route.Read, true) {
			continue
		}
		s, err := o.source(name)
		if err != nil {
			warnings = append(warnings, "not asked: "+err.Error())
			continue
		}
		tiers, _, err := route.admitted()
		if err != nil {
			warnings = append(warnings, "not asked: "+name+": "+err.Error())
			continue
		}
		r.Sources = append(r.Sources, providers.Source{
			Provider: s.provider, Fingerprint: s.fingerprint, Required: isSet(route.Required, false),
			Weight: valueOf(route.Weight), MinRelevance: valueOf(route.MinRelevance), Timeout: time.Duration(route.Timeout),
			Tiers: tiers, Scopes: route.Scopes,
		})
	}
	if o.sources.routers == nil {
		o.sources.routers = map[string]*providers.Router{}
	}
	o.sources.routers[profile] = r
	return r, warnings
}

func valueOf(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

// fingerprintOf tells one config of a provider, with its key, from another.
func fingerprintOf(c providerConfig, key string) string {
	raw, err := json.Marshal(c)
	if err != nil {
		raw = fmt.Append(nil, c)
	}
	sum := sha256.Sum256(append(raw, "\x00"+key...))
	return hex.EncodeToString(sum[:8])
}
