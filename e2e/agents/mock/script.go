package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// turn is one message of a request, in any protocol.
type turn struct{ role, text string } // role: system, user, assistant, tool

type tool struct{ namespace, name string }

// reply is a call of a tool, or text.
type reply struct {
	tool tool
	args json.RawMessage
	text string
}

var (
	directive = regexp.MustCompile(`(?s)\[\[(call|say)\s+(.*?)\]\]`)
	marker    = regexp.MustCompile(`INJ-[A-Za-z0-9_.-]+`)
)

// markers are the words INJ-… in a request, each once, sorted.
func markers(body string) []string {
	found := marker.FindAllString(body, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// decide plays the directive that is next.
func decide(turns []turn, tools []tool, seen []string) reply {
	script, played := "", 0
	for _, t := range turns {
		switch {
		case t.role == "user" && directive.MatchString(t.text):
			script, played = t.text, 0
		case t.role == "tool":
			played++
		}
	}
	all := directive.FindAllStringSubmatch(script, -1)
	if played >= len(all) {
		return say("done", seen)
	}
	kind, rest := all[played][1], strings.TrimSpace(all[played][2])
	if kind == "say" {
		return say(rest, seen)
	}
	name, args, _ := strings.Cut(rest, " ")
	if args = strings.TrimSpace(args); args == "" {
		args = "{}"
	}
	if !json.Valid([]byte(args)) {
		return say("mock: bad arguments "+args, seen)
	}
	t, ok := pick(tools, name)
	if !ok {
		return say(fmt.Sprintf("mock: no tool %s among %v", name, tools), seen)
	}
	return reply{tool: t, args: json.RawMessage(args)}
}

func say(text string, seen []string) reply {
	return reply{text: text + " seen=" + strings.Join(seen, ",")}
}

// pick finds a tool by its name, its ending or a part of it.
func pick(tools []tool, want string) (tool, bool) {
	want = strings.ToLower(want)
	for _, fits := range []func(name string) bool{
		func(name string) bool { return name == want },
		func(name string) bool { return strings.HasSuffix(name, want) },
		func(name string) bool { return strings.Contains(name, want) },
	} {
		for _, t := range tools {
			if fits(strings.ToLower(t.name)) {
				return t, true
			}
		}
	}
	return tool{}, false
}
