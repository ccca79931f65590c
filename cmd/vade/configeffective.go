package main

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"vademecum/hooks"
	"vademecum/providers"
	"vademecum/providers/mcpclient"
	"vademecum/vault"
)

// What providers.Source and providers.WriteRoute take for nothing said.
const (
	defaultWeight       = 0.7
	defaultWriteTimeout = 30 * time.Second
)

// effectiveView is what a config comes to. It holds no secret.
type effectiveView struct {
	Path      string                       `json:"path" yaml:"-"`
	Identity  string                       `json:"identity" yaml:"identity"`
	Home      string                       `json:"home" yaml:"home"`
	Sync      effectiveSync                `json:"sync" yaml:"sync"`
	Capture   effectiveCapture             `json:"capture" yaml:"capture"`
	Hooks     effectiveHooks               `json:"hooks" yaml:"hooks"`
	Providers map[string]effectiveProvider `json:"providers" yaml:"providers,omitempty"`
	Profiles  map[string]effectiveProfile  `json:"profiles" yaml:"profiles"`
}

type effectiveSync struct {
	Auto      bool   `json:"auto" yaml:"auto"`
	Transport string `json:"transport" yaml:"transport"`
}

type effectiveCapture struct {
	Sync string `json:"sync" yaml:"sync"`
	Keep string `json:"keep" yaml:"keep"`
}

type effectiveHooks struct {
	Capture bool     `json:"capture" yaml:"capture"`
	Inject  bool     `json:"inject" yaml:"inject"`
	Redact  []string `json:"redact,omitempty" yaml:"redact,omitempty"`
}

// effectiveProvider is a provider with its defaults. Settings are the keys of
// its type that the owner set.
type effectiveProvider struct {
	Type         string         `json:"type" yaml:"type"`
	Settings     map[string]any `json:"settings,omitempty" yaml:",inline"`
	effectiveUse `yaml:",inline"`
	Sessions     bool   `json:"sessions" yaml:"sessions"`
	From         string `json:"from,omitempty" yaml:"from,omitempty"` // "": as the provider can
	WriteTimeout string `json:"write_timeout" yaml:"write_timeout"`
}

// effectiveUse is a route with its defaults. Empty lists: all.
type effectiveUse struct {
	Read         bool     `json:"read" yaml:"read"`
	Write        bool     `json:"write" yaml:"write"`
	Required     bool     `json:"required" yaml:"required"`
	Weight       float64  `json:"weight" yaml:"weight"`
	Timeout      string   `json:"timeout" yaml:"timeout"`
	MinRelevance float64  `json:"min_relevance" yaml:"min_relevance"`
	Tiers        []string `json:"tiers,omitempty" yaml:"tiers,omitempty"`
	Types        []string `json:"types,omitempty" yaml:"types,omitempty"`
	Scopes       []string `json:"scopes,omitempty" yaml:"scopes,omitempty"`
}

type effectiveProfile struct {
	Limit      int                     `json:"limit" yaml:"limit"`
	Tokens     int                     `json:"tokens" yaml:"tokens"` // 0: no bound
	Threshold  float64                 `json:"threshold" yaml:"threshold"`
	Strict     bool                    `json:"strict" yaml:"strict"`
	Tiers      []vault.Tier            `json:"tiers,omitempty" yaml:"tiers,omitempty"`
	Types      []vault.Type            `json:"types,omitempty" yaml:"types,omitempty"`
	Required   []string                `json:"required,omitempty" yaml:"required,omitempty"`
	BestEffort []string                `json:"best_effort,omitempty" yaml:"best_effort,omitempty"`
	Write      string                  `json:"write" yaml:"write"`
	Tier       vault.Tier              `json:"tier,omitempty" yaml:"tier,omitempty"`
	Routes     map[string]effectiveUse `json:"routes,omitempty" yaml:"routes,omitempty"`
}

// effective is what c comes to in this environment.
func (a *app) effective(c config) (effectiveView, error) {
	v := effectiveView{
		Path:     a.configPath(),
		Sync:     effectiveSync{Auto: isSet(c.Sync.Auto, true), Transport: firstOf(c.Sync.Transport, "builtin")},
		Capture:  effectiveCapture{Sync: firstOf(c.Capture.Sync, "always"), Keep: firstOf(c.Capture.Keep, "90d")},
		Hooks:    effectiveHooks{Capture: isSet(c.Hooks.Capture, true), Inject: isSet(c.Hooks.Inject, true), Redact: hidden("redact", c.Hooks.Redact)},
		Profiles: map[string]effectiveProfile{}, Providers: map[string]effectiveProvider{},
	}
	var err error
	if v.Identity, err = a.identity(c); err != nil {
		return v, err
	}
	if v.Home, err = a.homeDir(c); err != nil {
		return v, err
	}
	for name, p := range c.Providers {
		v.Providers[name] = p.effective()
	}
	names := slices.Collect(maps.Keys(hooks.BuiltIn()))
	for _, name := range append(names, slices.Collect(maps.Keys(c.Profiles))...) {
		v.Profiles[name] = c.effectiveProfile(name)
	}
	return v, nil
}

func (c providerConfig) effective() effectiveProvider {
	return effectiveProvider{
		Type: c.Type, Settings: c.settings(), effectiveUse: c.routeConfig.effective(), Sessions: isSet(c.Sessions, false),
		From: c.From, WriteTimeout: orDefault(c.WriteTimeout, defaultWriteTimeout),
	}
}

// settings are the keys of c's type that are set, without secrets.
func (c providerConfig) settings() map[string]any {
	set := map[string]any{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[providerConfig]()) {
		key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		value := reflect.ValueOf(c).FieldByIndex(field.Index)
		if key != "" && !value.IsZero() && !slices.Contains(commonKeys, key) {
			set[key] = setting(key, value.Interface())
		}
	}
	return set
}

// setting is the value of a key without secrets.
func setting(key string, value any) any {
	switch v := value.(type) {
	case string:
		if key == "url" {
			return maskURL(v)
		}
		return hiddenValue(key, v)
	case []string:
		return hidden(key, v)
	case secretConfig:
		return v.view(key)
	case map[string]secretConfig:
		return eachSetting(v)
	case map[string]string:
		return eachSetting(v)
	case *mcpclient.Mapping:
		return "as in the config"
	}
	return value
}

func eachSetting[T any](values map[string]T) map[string]any {
	set := map[string]any{}
	for name, value := range values {
		set[name] = setting(name, any(value))
	}
	return set
}

// view is where the secret is, or a variable's plain value if it is no secret.
func (s secretConfig) view(name string) any {
	if len(s.Command) > 0 {
		return map[string]any{"command": hidden("command", s.Command)}
	}
	return hiddenValue(name, s.From)
}

// hiddenValue is value, masked if it may be a secret.
func hiddenValue(name, value string) string {
	if !isReference(value) && name != "tools_hash" && saysSecret(name, value) {
		return masked
	}
	return value
}

// hidden is list with what may be a secret masked, behind a name for what
// follows it, too: --token TEXT.
func hidden(name string, list []string) []string {
	shown := make([]string, 0, len(list))
	before := ""
	for _, s := range list {
		shown = append(shown, hiddenValue(nameOf(name, before), s))
		before = s
	}
	return shown
}

func (c routeConfig) effective() effectiveUse {
	u := effectiveUse{
		Read: isSet(c.Read, true), Write: isSet(c.Write, true), Required: isSet(c.Required, false),
		Weight: defaultWeight, Timeout: orDefault(c.Timeout, providers.SourceTimeout), MinRelevance: valueOf(c.MinRelevance),
		Tiers: c.Tiers, Types: c.Types, Scopes: c.Scopes,
	}
	if c.Weight != nil {
		u.Weight = *c.Weight
	}
	return u
}

func orDefault(d duration, otherwise time.Duration) string {
	if d == 0 {
		return otherwise.String()
	}
	return d.String()
}

func (c config) effectiveProfile(name string) effectiveProfile {
	p := c.profile(name)
	v := effectiveProfile{
		Limit: p.Limit, Tokens: p.Tokens, Threshold: p.Threshold, Strict: p.Strict, Tiers: p.Tiers, Types: p.Types,
		Required: p.Required, BestEffort: p.BestEffort, Write: firstOf(p.Write, hooks.OwnVault), Tier: p.Tier,
		Routes: map[string]effectiveUse{},
	}
	for _, name := range c.providerNames() {
		v.Routes[name] = c.route(p.Name, name).effective()
	}
	return v
}
