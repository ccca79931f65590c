package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vademecum/providers/mcpclient"
	"vademecum/vault"
)

// providerConfig is one provider, by the name that it has in receipts and hits.
// Which keys a type takes is in providerTypes.
type providerConfig struct {
	Type string `yaml:"type"`
	// URL is where the service is; https, unless it is on this machine.
	URL string `yaml:"url"`
	// Key is where the key is to be found, never the key itself.
	Key secretConfig `yaml:"key"`
	// User, Graph and Cube say whose memories these are there.
	User  string `yaml:"user"`
	Graph string `yaml:"graph"`
	Cube  string `yaml:"cube"`
	// Dialect is an older or newer form of the service's API.
	Dialect string `yaml:"dialect"`
	// Reranker of a type zep: rrf, or cross_encoder.
	Reranker string `yaml:"reranker"`
	// Insecure allows plain http to another machine.
	Insecure bool `yaml:"insecure"`
	// Infer lets the service make memories of its own of what it is given,
	// instead of keeping the text.
	Infer bool `yaml:"infer"`
	// Score says what the service's scores mean, where that depends on it.
	Score string `yaml:"score"`
	// Path is the file of a type sqlite.
	Path string `yaml:"path"`
	// Command and Env start a program: type jsonrpc, or mcp over stdio.
	Command []string                `yaml:"command"`
	Env     map[string]secretConfig `yaml:"env"`
	// OneShot starts Command for each request.
	OneShot bool `yaml:"one_shot"`
	// Preset and Tools map an MCP server's tools; ToolsHash is what was approved.
	Preset string `yaml:"preset"`
	// Tools map the tools of a server that no preset is about, see
	// mcpclient.Mapping; Vars are what {names} in it stand for.
	Tools     *mcpclient.Mapping `yaml:"tools"`
	Vars      map[string]string  `yaml:"vars"`
	ToolsHash string             `yaml:"tools_hash"`

	// What follows is how it is used where a profile says nothing else.
	routeConfig `yaml:",inline"`
	// Sessions: captured turns too. Default false.
	Sessions *bool `yaml:"sessions"`
	// From "here" hands over only what was changed on this host; "all" also what
	// came from others. Default all where the provider can be asked what it has.
	From string `yaml:"from"`
	// WriteTimeout bounds one write. Default 30s.
	WriteTimeout duration `yaml:"write_timeout"`
}

// routeConfig is how a profile uses a provider; nil and zero: as the provider says.
type routeConfig struct {
	Read         *bool    `yaml:"read"`  // ask it; default true
	Write        *bool    `yaml:"write"` // hand over what is remembered; default true
	Required     *bool    `yaml:"required"`
	Weight       *float64 `yaml:"weight"`  // of its list, the vault's being 1; default 0.7
	Timeout      duration `yaml:"timeout"` // of a question; default 250ms
	MinRelevance *float64 `yaml:"min_relevance"`
	Tiers        []string `yaml:"tiers"`
	Types        []string `yaml:"types"`
	Scopes       []string `yaml:"scopes"` // personal, team
}

// secretConfig says where a secret is: env:NAME, file:PATH, or a command that
// prints it (a keychain's). It never holds the secret.
type secretConfig struct {
	From    string   // env:NAME, file:PATH; of Env also a plain value
	Command []string // run without a shell; its first line is the secret
}

// duration is a time such as 250ms or 2s.
type duration time.Duration

// providerTypes are the kinds of provider and the keys that each takes besides
// type and those of a route; those with a star are needed.
var providerTypes = map[string]string{
	"zep":         "url key* user graph dialect reranker infer insecure",
	"mem0":        "url* key user infer score insecure",
	"mem0-cloud":  "url key* user infer insecure",
	"memos":       "url* key user cube insecure",
	"memos-cloud": "url key* user insecure",
	"openviking":  "url* key* infer insecure",
	"sqlite":      "path",
	"mcp":         "url key command env preset tools vars tools_hash insecure",
	"jsonrpc":     "command* env one_shot dialect",
}

// over is c with what r says.
func (c routeConfig) over(r routeConfig) routeConfig {
	c.Read, c.Write, c.Required = firstSet(r.Read, c.Read), firstSet(r.Write, c.Write), firstSet(r.Required, c.Required)
	c.Weight, c.MinRelevance = firstSet(r.Weight, c.Weight), firstSet(r.MinRelevance, c.MinRelevance)
	if r.Timeout != 0 {
		c.Timeout = r.Timeout
	}
	for _, list := range []struct{ to, from *[]string }{{&c.Tiers, &r.Tiers}, {&c.Types, &r.Types}, {&c.Scopes, &r.Scopes}} {
		if len(*list.from) > 0 {
			*list.to = *list.from
		}
	}
	return c
}

func firstSet[T any](values ...*T) *T {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

func isSet(b *bool, otherwise bool) bool {
	if b == nil {
		return otherwise
	}
	return *b
}

// route is how the profile called profile uses the provider called name.
func (c config) route(profile, name string) routeConfig {
	return c.Providers[name].over(c.Profiles[profile].Routes[name])
}

// providerNames are the providers of the config, sorted.
func (c config) providerNames() []string { return slices.Sorted(maps.Keys(c.Providers)) }

// admitted parses what a route lets through.
func (c routeConfig) admitted() (tiers []vault.Tier, types []vault.Type, err error) {
	return profileConfig{Tiers: c.Tiers, Types: c.Types}.narrowed()
}

func (d duration) String() string { return time.Duration(d).String() }

// providerTypeNames are the types, for messages.
func providerTypeNames() string {
	return strings.Join(slices.Sorted(maps.Keys(providerTypes)), ", ")
}

// providerType is what is known of the type of the provider called name.
func (c config) providerType(name string) (keys string, err error) {
	keys, ok := providerTypes[c.Providers[name].Type]
	if !ok {
		return "", hinted(fmt.Errorf("provider %s: type %q is unknown", name, c.Providers[name].Type), "use one of "+providerTypeNames())
	}
	return keys, nil
}
