package install

import (
	"os"
	"path/filepath"
	"slices"
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
	return r
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

// Recorded are the agents that the record has something for, in the order of Names.
func (h Host) Recorded() ([]string, error) {
	r, err := h.loadRecord()
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range Names {
		for _, f := range r.Files {
			if slices.Contains(f.Agents, name) {
				list = append(list, name)
				break
			}
		}
	}
	return list, nil
}

// Home is the folder in which the agent called name keeps its settings.
func (h Host) HomeOf(name string) string {
	a, _ := h.find(name)
	return filepath.Clean(a.home)
}
