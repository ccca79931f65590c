package main

import (
	"net"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"vademecum/hooks"
	"vademecum/providers/mcpclient"
)

// providerName is what a provider may be called: it names a folder.
var providerName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`) })

// variableName is what an environment variable may be called.
var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// commonKeys go with providers of every type, beside those of a route.
var commonKeys = []string{
	"type", "read", "write", "required", "weight", "timeout", "min_relevance", "tiers", "types", "scopes",
	"sessions", "from", "write_timeout",
}

// provider checks that the keys of a provider go together.
func (w *configWalk) provider(n *yaml.Node, at spot) {
	w.providerName(at)
	has := map[string]pair{}
	for _, p := range first(pairsOf(n, 0)) {
		if !isNull(p.value) {
			has[p.key.Value] = p
		}
	}
	kind, ok := has["type"]
	if !ok {
		w.bad(at.key, at, "it has no type", "use one of "+providerTypeNames())
		return
	}
	keys, ok := providerTypes[kind.value.Value]
	if !ok {
		remedy := "use one of " + providerTypeNames()
		if like := closest(kind.value.Value, strings.Split(providerTypeNames(), ", ")); like != "" {
			remedy = "did you mean " + like + "?"
		}
		w.bad(kind.value, at.below(kind.key, "type", "type"), shown(kind.value.Value)+" is unknown", remedy)
		return
	}
	w.keysOfType(at, kind.value.Value, strings.Fields(keys), has)
	w.serviceURL(at, kind.value.Value, has)
	w.program(at, kind.value.Value, has)
}

func (w *configWalk) providerName(at spot) {
	name := at.key.Value
	switch {
	case name == "vault" || name == hooks.OwnVault || strings.HasPrefix(name, "vault:"):
		w.bad(at.key, at, "this name is reserved", "call it something else")
	case !providerName().MatchString(name):
		w.bad(at.key, at, "no provider can have this name", "use 1 to 63 of a-z 0-9 . _ - and start with a letter or digit")
	}
}

// keysOfType wants what a type needs, and nothing that it does not take.
func (w *configWalk) keysOfType(at spot, kind string, keys []string, has map[string]pair) {
	var taken []string
	for _, key := range keys {
		name, needed := strings.CutSuffix(key, "*")
		taken = append(taken, name)
		if _, ok := has[name]; needed && !ok {
			w.bad(at.key, at, kind+" needs "+name, "add "+name+": "+exampleOf(name))
		}
	}
	known := w.keysOf(reflect.TypeFor[providerConfig]())
	for name, p := range has {
		if _, ok := known[name]; ok && !slices.Contains(taken, name) && !slices.Contains(commonKeys, name) {
			w.bad(p.key, at.below(p.key, name, name), "a provider of type "+kind+" takes no "+name, "it takes "+strings.Join(taken, ", "))
		}
	}
}

// exampleOf is a value of a key that is needed.
func exampleOf(key string) string {
	switch key {
	case "url":
		return "https://HOST"
	case "key":
		return "env:NAME"
	case "command":
		return "[PROGRAM, ARGUMENT]"
	}
	return "…"
}

// serviceURL wants an address that gives nothing away. The adapters hold
// themselves to the same: this says it before anybody is asked.
func (w *configWalk) serviceURL(at spot, kind string, has map[string]pair) {
	p, ok := has["url"]
	if !ok {
		return
	}
	here := at.below(p.key, "url", "url")
	u, err := url.Parse(p.value.Value)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		w.bad(p.value, here, "this is no address of a service", "use https://HOST, or http://localhost:PORT")
		return
	case u.User != nil:
		w.bad(p.value, here, "the address holds a name or password", "take it out, and give it as key: "+exampleOf("key"))
	case u.RawQuery != "" || u.Fragment != "":
		w.bad(p.value, here, "the address must end with its path", "take out what follows ? or #")
	case u.Scheme == "http" && !w.saysYes(has["insecure"]) && !thisMachine(u.Hostname()):
		w.bad(p.value, here, "memories and the key would go to another machine for all to read", "use https, or allow it with insecure: true")
	}
	if _, keyed := has["key"]; kind == "memos" && !keyed && !thisMachine(u.Hostname()) {
		w.warn(p.value, here, "whoever reaches this address can read your memories: there is no key", "add key: "+exampleOf("key"))
	}
}

func (w *configWalk) saysYes(p pair) bool {
	var yes bool
	return p.value != nil && p.value.Decode(&yes) == nil && yes
}

// thisMachine reports whether host is this one.
func thisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// program checks what goes with programs and with some types only.
func (w *configWalk) program(at spot, kind string, has map[string]pair) {
	_, address := has["url"]
	c, command := has["command"]
	if command && c.value.Kind == yaml.SequenceNode && len(c.value.Content) == 0 {
		w.bad(c.value, at.below(c.key, "command", "command"), "it names no program", "use "+exampleOf("command"))
	}
	switch kind {
	case "mcp":
		if address == command {
			w.bad(at.key, at, "mcp needs either command or url", "give one of them")
		}
		w.mapping(at, has)
	case "jsonrpc":
		w.choice(at, has, "dialect", "vade", "paxm")
	case "zep":
		w.choice(at, has, "dialect", "v3", "v4")
		w.choice(at, has, "reranker", "rrf", "cross_encoder")
	}
}

// choice checks what key is set to, if it is: what is allowed depends on the type.
func (w *configWalk) choice(at spot, has map[string]pair, key string, allowed ...string) {
	if p, ok := has[key]; ok {
		w.oneOf(p.value, at.below(p.key, key, key), allowed...)
	}
}

// mapping wants to be told how an MCP server's tools are used.
func (w *configWalk) mapping(at spot, has map[string]pair) {
	_, known := has["preset"]
	_, tools := has["tools"]
	switch {
	case known:
		w.choice(at, has, "preset", mcpclient.Presets()...)
	case !tools:
		w.bad(at.key, at, "mcp needs preset or tools", "use preset: "+strings.Join(mcpclient.Presets(), ", ")+"; or map its tools")
	}
}

// providerRule checks one value of a provider.
func (w *configWalk) providerRule(n *yaml.Node, at spot, rule string) {
	switch rule {
	case "key":
		w.secret(n, at)
	case "env.*":
		if !variableName().MatchString(at.key.Value) {
			w.bad(at.key, at, "no variable can have this name", "use letters, digits and _")
		}
		w.variable(n, at)
	case "score":
		w.oneOf(n, at, "similarity", "distance", "rank", "none")
	case "from":
		w.oneOf(n, at, "all", "here")
	case "write_timeout":
		w.within(n, at, time.Second, 5*time.Minute)
	case "command":
		w.runnable(n, at)
	default:
		w.routeRule(n, at, rule)
	}
}
