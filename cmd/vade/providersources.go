package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"vademecum/providers"
)

// sources are the providers of the config, each opened when it is first used.
type sources struct {
	open    map[string]*source
	routers map[string]*providers.Router // by profile
	outbox  *providers.Outbox
}

// source is an opened provider.
type source struct {
	provider    providers.Provider
	fingerprint string
	err         error
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
	if s == nil {
		s = &source{}
		s.provider, s.fingerprint, s.err = o.openProvider(name)
		o.sources.open[name] = s
	}
	return s, s.err
}

// closeProviders gives back what providers hold.
func (o *opened) closeProviders() {
	for _, s := range o.sources.open {
		if s.err == nil {
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
