package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"vademecum/hooks"
	"vademecum/hooks/install"
)

// probeTimeout is how long a program that doctor asks has for all its answers.
const probeTimeout = 15 * time.Second

// checkAgents says for each coding agent that has vade whether it works there.
// That it is in the settings is not enough: hooks are turned off, not trusted,
// or run a program that is gone.
func (d *doctor) checkAgents(ctx context.Context) error {
	host, err := d.o.a.installHost("")
	if err != nil {
		host.Program = "vade"
	}
	sums := d.o.activity().Sums()
	programs := map[string]bool{} // that run as MCP servers
	for _, name := range install.Names {
		r := host.Report(name)
		switch {
		case r.Installed() || r.Problem != nil && r.Found != "":
			d.add(d.checkAgent(ctx, host, r, sums))
			if r.MCP && r.Program != "" && exists(r.Program) {
				programs[r.Program] = true
			}
		case r.Found != "":
			d.add(finding{Check: "agent " + name, State: stateOK, Detail: "found, without vade"})
		}
	}
	if d.offline {
		return nil
	}
	for program := range programs {
		d.add(checkServer(ctx, program))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkAgent looks at one agent; the first thing that is wrong decides.
func (d *doctor) checkAgent(ctx context.Context, host install.Host, r install.Report, sums hooks.Sums) finding {
	f := finding{Check: "agent " + r.Name, State: stateOK, Detail: agentDetail(r)}
	again := "vade setup --agent " + r.Name
	last := lastFired(sums.Fired[r.Name])
	for _, one := range last {
		f.Items = append(f.Items, fmt.Sprintf("%s last fired %s", one.Event, one.Last.UTC().Format(time.RFC3339)))
	}
	wrong := func(state, detail, remedy string) finding {
		f.State, f.Detail, f.Remedy = state, f.Detail+"; "+detail, remedy
		return f
	}
	switch {
	case r.Problem != nil:
		return wrong(stateNote, r.Problem.Error(), "mend that file; "+r.Title+" may ignore it as a whole")
	case r.Plugin != "" && r.Hooks > 0:
		return wrong(stateBad, "everything happens twice", "vade uninstall --agent "+r.Name)
	case r.Off != "":
		return wrong(stateBad, "its hooks are turned off", r.Off+" does that")
	case r.Plugin != "":
	case r.Program != "" && !exists(r.Program):
		return wrong(stateBad, r.Program+" is gone", again)
	case r.Hooks < r.Want:
		return wrong(stateNote, "some hooks are missing", again)
	}
	if r.Name == "codex" && !d.offline {
		if detail, remedy := codexTrust(ctx, host); detail != "" {
			return wrong(stateBad, detail, remedy)
		}
	}
	switch {
	case len(last) == 0:
		return wrong(stateNote, "no hook has fired yet", "start "+r.Title+" anew and ask it something")
	case r.Search != "":
		f.Detail += "; its model finds the tools by a search (" + r.Search + ")"
	}
	return f
}

// agentDetail is what an agent has.
func agentDetail(r install.Report) string {
	parts := []string{fmt.Sprintf("hooks %d of %d", r.Hooks, r.Want)}
	if r.Plugin != "" {
		parts = []string{"plugin in " + r.Plugin}
	}
	if r.MCP {
		parts = append(parts, "MCP server")
	}
	if r.Skill {
		parts = append(parts, "skill")
	}
	return strings.Join(parts, ", ")
}

// codexTrust says what keeps Codex from running our hooks; "" when nothing does.
func codexTrust(ctx context.Context, host install.Host) (detail, remedy string) {
	program := host.CodexProgram()
	if program == "" {
		return "", ""
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	t, err := host.CodexTrust(ctx, program)
	switch {
	case err != nil:
		return "", "" // of another age; when its hooks fire is shown
	case t.Untrusted > 0:
		return fmt.Sprintf("%d of %d hooks are not trusted, so Codex skips them", t.Untrusted, t.Trusted+t.Untrusted), "start codex, type /hooks, and trust those of vade"
	case t.Disabled > 0:
		return fmt.Sprintf("%d hooks are disabled", t.Disabled), "start codex, type /hooks, and enable those of vade"
	case t.Trusted == 0:
		return "Codex lists none of them", "vade setup --agent codex; [features] hooks in its config.toml may be off"
	}
	return "", ""
}

// checkServer speaks to the MCP server as agents of both eras do.
func checkServer(ctx context.Context, program string) finding {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	f := finding{Check: "mcp", State: stateOK}
	s, err := install.AskServer(ctx, program)
	if err != nil {
		f.State, f.Detail, f.Remedy = stateBad, program+" mcp: "+err.Error(), "vade setup writes the path of this vade; agents that run have to be started again"
		return f
	}
	later := slices.DeleteFunc(slices.Clone(s.Tools), func(name string) bool { return slices.Contains(s.Eager, name) })
	f.Detail = fmt.Sprintf("%s speaks %s and %s; in Claude Code %s are there at once, %s after a search",
		program, s.Modern, s.Legacy, strings.Join(s.Eager, " and "), strings.Join(later, ", "))
	return f
}
