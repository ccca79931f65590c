package main

import (
	"errors"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"vademecum/hooks"
	"vademecum/vault"
)

// rule checks the value at at, whose kind is right. This is the one place that
// says which values a config may hold.
func (w *configWalk) rule(n *yaml.Node, at spot) {
	switch at.rule {
	case "identity":
		w.identity(n, at, false)
	case "sync.transport":
		w.oneOf(n, at, "builtin", "exec")
	case "capture.sync":
		w.oneOf(n, at, "always", "never")
	case "capture.keep":
		if _, err := (captureConfig{Keep: n.Value}).keep(); err != nil {
			w.bad(n, at, shown(n.Value)+" is no number of days", "use 90d, or forever")
		}
	case "hooks.redact[]":
		w.expression(n, at)
	case "providers.*":
		w.provider(n, at)
	default:
		if rest, ok := strings.CutPrefix(at.rule, "profiles.*."); ok {
			w.profileRule(n, at, rest)
		} else if rest, ok := strings.CutPrefix(at.rule, "providers.*."); ok {
			w.providerRule(n, at, rest)
		}
	}
}

func (w *configWalk) profileRule(n *yaml.Node, at spot, rule string) {
	switch rule {
	case "limit":
		w.number(n, at, 1, 0)
	case "tokens":
		w.number(n, at, 0, 0)
	case "threshold":
		w.number(n, at, 0, 1)
	case "tiers[]", "tier":
		w.tier(n, at)
	case "types[]":
		w.memoryType(n, at)
	case "required[]", "best_effort[]", "write":
		w.identity(n, at, true)
	case "routes.*":
		w.routed(n, at)
	default:
		if rest, ok := strings.CutPrefix(rule, "routes.*."); ok {
			w.routeRule(n, at, rest)
		}
	}
}

// routeRule checks what a provider and a profile's route to it have in common.
func (w *configWalk) routeRule(n *yaml.Node, at spot, rule string) {
	switch rule {
	case "weight":
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil && f == 0 {
			w.bad(n, at, "must be above 0", "use read: false to leave it out")
			return
		}
		w.number(n, at, 0, 10)
	case "min_relevance":
		w.number(n, at, 0, 1)
	case "timeout":
		w.within(n, at, 50*time.Millisecond, 2*time.Second)
	case "tiers[]":
		w.tier(n, at)
	case "types[]":
		w.memoryType(n, at)
	case "scopes[]":
		w.oneOf(n, at, "personal", "team")
	}
}

// routed checks that there is a provider of the name that a route has.
func (w *configWalk) routed(_ *yaml.Node, at spot) {
	if at.key == nil {
		return
	}
	var names []string
	if w.providers != nil {
		for _, p := range first(pairsOf(resolved(w.providers), 0)) {
			if p.key.Value == at.key.Value {
				return
			}
			names = append(names, p.key.Value)
		}
	}
	remedy := "add it to the config's providers"
	if like := closest(at.key.Value, names); like != "" {
		remedy = "did you mean " + shownKey(like) + "?"
	}
	w.bad(at.key, at, "no provider has this name", remedy)
}

func first[A, B any](a A, _ B) A { return a }

func (w *configWalk) oneOf(n *yaml.Node, at spot, allowed ...string) {
	if slices.Contains(allowed, n.Value) {
		return
	}
	remedy := "use " + strings.Join(allowed, ", ")
	if last := len(allowed) - 1; last > 0 {
		remedy = "use " + strings.Join(allowed[:last], ", ") + " or " + allowed[last]
	}
	w.bad(n, at, shown(n.Value)+" is unknown", remedy)
}

// number wants at least least and, unless that is 0, at most most. n is a number.
func (w *configWalk) number(n *yaml.Node, at spot, least, most float64) {
	var f float64
	err := n.Decode(&f)
	switch {
	case err == nil && f >= least && (most == 0 || f <= most):
	case most > 0:
		w.bad(n, at, "must be from "+plainNumber(least)+" to "+plainNumber(most), "")
	case least == 0:
		w.bad(n, at, "must not be negative", "")
	default:
		w.bad(n, at, "must be at least "+plainNumber(least), "")
	}
}

func plainNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// within wants a time between two others. n is a time.
func (w *configWalk) within(n *yaml.Node, at spot, least, most time.Duration) {
	if d, err := time.ParseDuration(n.Value); err != nil || d < least || d > most {
		w.bad(n, at, "must be from "+least.String()+" to "+most.String(), "")
	}
}

// identity wants the name of one; own allows "own" beside.
func (w *configWalk) identity(n *yaml.Node, at spot, own bool) {
	if n.Value == "" || own && n.Value == hooks.OwnVault || vault.CheckIdentity(n.Value) == nil {
		return
	}
	w.bad(n, at, shown(n.Value)+" is no name of an identity", "use 1 to 63 of a-z 0-9 . _ - and start with a letter or digit")
}

func (w *configWalk) tier(n *yaml.Node, at spot) {
	if _, err := parseTier(n.Value); err != nil {
		w.bad(n, at, "tier "+shown(n.Value)+" is unknown", "use ltm or stm")
	}
}

func (w *configWalk) memoryType(n *yaml.Node, at spot) {
	if _, err := parseType(n.Value); err != nil {
		w.bad(n, at, "type "+shown(n.Value)+" is unknown", "use one of "+strings.Join(typeNames(), ", "))
	}
}

// expression checks a pattern of what is not to be kept, without repeating it.
func (w *configWalk) expression(n *yaml.Node, at spot) {
	_, err := hooks.NewRedactor([]string{n.Value})
	if err == nil {
		return
	}
	if bad, ok := errors.AsType[*syntax.Error](err); ok {
		w.bad(n, at, "this is no regular expression: "+string(bad.Code), "see https://pkg.go.dev/regexp/syntax")
		return
	}
	w.bad(n, at, "this pattern matches everything", "take away what matches an empty text, such as *")
}
