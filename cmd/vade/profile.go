package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vademecum/hooks"
	"vademecum/vault"
)

// profileConfig is what the owner says about a profile; what it does not say
// is as in the profile of that name that is built in, else as in default.
type profileConfig struct {
	Limit     *int     `yaml:"limit"`
	Tokens    *int     `yaml:"tokens"`
	Threshold *float64 `yaml:"threshold"`
	Strict    *bool    `yaml:"strict"`
	Tiers     []string `yaml:"tiers"`
	Types     []string `yaml:"types"`
	// Required and BestEffort are the vaults that are read, by identity; "own"
	// is the one in use.
	Required   []string `yaml:"required"`
	BestEffort []string `yaml:"best_effort"`
	// Write is the vault that is written to.
	Write string `yaml:"write"`
	// Tier is what is written as.
	Tier string `yaml:"tier"`
	// Routes say how this profile uses the providers, by their names.
	Routes map[string]routeConfig `yaml:"routes"`
}

func (c profileConfig) narrowed() (tiers []vault.Tier, types []vault.Type, err error) {
	for _, s := range c.Tiers {
		t, err := parseTier(s)
		if err != nil {
			return nil, nil, err
		}
		tiers = append(tiers, t)
	}
	for _, s := range c.Types {
		t, err := parseType(s)
		if err != nil {
			return nil, nil, err
		}
		types = append(types, t)
	}
	return tiers, types, nil
}

// over is p with what c says. c is checked.
func (c profileConfig) over(p hooks.Profile) hooks.Profile {
	set(&p.Limit, c.Limit)
	set(&p.Tokens, c.Tokens)
	set(&p.Threshold, c.Threshold)
	set(&p.Strict, c.Strict)
	tiers, types, _ := c.narrowed()
	if len(tiers) > 0 {
		p.Tiers = tiers
	}
	if len(types) > 0 {
		p.Types = types
	}
	if len(c.Required)+len(c.BestEffort) > 0 {
		p.Required, p.BestEffort = c.Required, c.BestEffort
	}
	if c.Write != "" {
		p.Write = c.Write
	}
	if c.Tier != "" {
		p.Tier = vault.Tier(strings.ToLower(c.Tier))
	}
	return p
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// profile returns the profile of that name; default when there is none.
func (c config) profile(name string) hooks.Profile {
	p, _ := c.findProfile(name)
	return p
}

// findProfile returns the profile of that name, "" for default.
func (c config) findProfile(name string) (hooks.Profile, error) {
	if name == "" {
		name = hooks.ProfileDefault
	}
	builtIn := hooks.BuiltIn()
	own, configured := c.Profiles[name]
	p, known := builtIn[name]
	if !known {
		p = c.Profiles[hooks.ProfileDefault].over(builtIn[hooks.ProfileDefault])
	}
	if !known && !configured {
		names := slices.Sorted(maps.Keys(builtIn))
		for n := range c.Profiles {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		slices.Sort(names)
		return p, hinted(usagef("profile %q is unknown", name), "use one of "+strings.Join(names, ", ")+", or add it to the config's profiles")
	}
	p = own.over(p)
	p.Name = name
	return p, nil
}

// another opens the vault called name: this one for its own name.
func (o *opened) another(name string) (*opened, error) {
	if name == "" || name == hooks.OwnVault || name == o.vault.Identity() {
		return o, nil
	}
	other, err := o.a.openVault(o.config, o.home, name)
	if err != nil {
		return nil, err
	}
	if !other.vault.Exists() {
		return nil, hinted(fmt.Errorf("%q has no vault here: %w", name, vault.ErrNotFound), "bring it with: vade clone URL --identity "+name)
	}
	return other, nil
}

// close closes o unless it is the vault that main works with.
func (o *opened) close(main *opened) {
	if o != main {
		_ = o.vault.Close()
	}
}

// writer opens the vault that the profile called name writes to, and fills in
// what the profile says of d.
func (o *opened) writer(name string, d *vault.Draft) (*opened, error) {
	p, err := o.config.findProfile(name)
	if err != nil {
		return nil, err
	}
	if d.Tier == "" {
		d.Tier = p.Tier
	}
	to, err := o.another(p.Write)
	if err == nil && to != o && d.Scope.Type == "" {
		d.Scope = vault.Scope{Type: "team", ID: to.vault.Identity()}
	}
	return to, err
}
