package install

import (
	"os"
	"path/filepath"
	"strings"

	"vademecum/hooks/settings"
)

// Report is what is known of vade in one agent.
type Report struct {
	Name, Title string
	// Program or folder of the agent that was found; "" when none was.
	Found string
	// Hooks of Want that are installed; both count files where the agent takes
	// a plugin.
	Hooks, Want int
	// MCP and Skill say whether they are installed.
	MCP, Skill bool
	// Plugin is where vade is installed as a plugin; "" when it is not.
	Plugin string
	// HookFile and Program are where the hooks are and what they run, or what
	// the MCP server runs.
	HookFile, Program string
	// Off says where the agent's hooks are turned off; "" when they are not.
	Off string
	// Search says that the agent's model finds tools only by a search, and how
	// to change that; "" when it does not.
	Search string
	// Problem is why the settings cannot be read.
	Problem error
}

// Installed reports whether anything of vade is there.
func (r Report) Installed() bool { return r.Hooks > 0 || r.MCP || r.Plugin != "" }

// Report looks at the agent called name, which is one of Names.
func (h Host) Report(name string) Report {
	a, _ := h.find(name)
	r := Report{Name: name, Title: a.Title, Found: h.found(a)}
	r.Plugin, r.Problem = a.plugin()
	for _, part := range a.hooks {
		f := r.look(part)
		r.Hooks += f.have
		r.Want += f.want
		r.HookFile = part.file()
	}
	for _, part := range a.mcp {
		f := r.look(part)
		if _, skill := part.(filePart); skill {
			r.Skill = f.have > 0
		} else {
			r.MCP = f.have > 0
		}
	}
	r.switches(a)
	return r
}

// switches reads settings of the agent's that keep what is installed from
// having an effect.
func (r *Report) switches(a agent) {
	get := func(file string, path ...string) string {
		text, err := read(filepath.Join(a.home, file))
		if err != nil {
			return ""
		}
		d, err := settings.ParseJSON(text)
		if err != nil {
			return ""
		}
		raw, err := d.Get(path...)
		if err != nil {
			return ""
		}
		return string(raw)
	}
	switch r.Name {
	case "claude":
		if get("settings.json", "disableAllHooks") == "true" {
			r.Off = "disableAllHooks in " + filepath.Join(a.home, "settings.json")
		}
	case "gemini", "qwen":
		if get("settings.json", "hooksConfig", "enabled") == "false" || get("settings.json", "disableAllHooks") == "true" {
			r.Off = "hooksConfig.enabled in " + filepath.Join(a.home, "settings.json")
		}
		if r.Name == "qwen" && r.MCP && !strings.Contains(get("settings.json", "tools", "visible"), "mcp__"+serverName) {
			r.Search = "tools.visible in its settings shows them at once"
		}
	case "pi":
		if r.MCP && get("mcp.json", "mcpServers", serverName, "exposure") != `"direct"` {
			r.Search = `"exposure": "direct" in its mcp.json shows them at once`
		}
	}
}

// look is what the part's file has of it.
func (r *Report) look(part part) found {
	text, err := read(part.file())
	if text == nil && err == nil {
		f, _ := part.look([]byte{})
		f.have = 0
		return f
	}
	f, lookErr := part.look(text)
	if err == nil {
		err = lookErr
	}
	if err != nil && r.Problem == nil {
		r.Problem = &FileError{part.file(), err}
	}
	if f.program != "" {
		r.Program = f.program
	}
	return f
}

// found is the agent's program, or its folder.
func (h Host) found(a agent) string {
	for _, program := range a.programs {
		if path, err := h.Look(program); err == nil {
			return path
		}
	}
	if st, err := os.Stat(a.home); err == nil && st.IsDir() {
		return a.home
	}
	return ""
}
