// Package install puts vade's hooks, MCP server and skill into the settings of
// coding agents, and takes them out again.
//
// A plan is made first and shows every change; applying it keeps a copy of each
// file as it was before vade first touched it, and a record of what was written:
//
//	State/installed.json   files, by path: what they were, what we left them as
//	State/backup/…         copies of them; they may hold their owner's keys
//
// Uninstalling gives a file back byte for byte when nobody changed it since, and
// else takes out what is ours and leaves the rest. What cannot be understood is
// not edited.
package install

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Host is the machine, and the user, whose agents are set up.
type Host struct {
	Home    string                               // the user's home folder
	Env     func(string) string                  // its environment
	Look    func(program string) (string, error) // finds a program, as exec.LookPath does
	Program string                               // path of vade, as agents are to run it
	State   string                               // folder of the record and the copies
}

// Wish is what an agent is to have.
type Wish struct {
	MCP bool // the MCP server, and the skill that tells how to use it
}

// dir is the folder that the variable names, else the one below the home.
func (h Host) dir(variable, below string) string {
	if dir := h.Env(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(h.Home, filepath.FromSlash(below))
}

// shell is the command line of a hook for agents that run one with a shell.
func (h Host) shell(agent, event string) string {
	return quoteShell(h.Program, runtime.GOOS == "windows") + " hook " + agent + " " + event
}

// quoteShell quotes a path where it has to be, for a POSIX shell or Windows'.
func quoteShell(path string, windows bool) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 127 || strings.ContainsRune("/._-+:@,", r) || windows && r == '\\'
	}
	switch {
	case !slices.ContainsFunc([]rune(path), func(r rune) bool { return !safe(r) }):
		return path
	case windows:
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// isVade reports whether a command's program is vade, whatever its folder.
func (h Host) isVade(program string) bool {
	name := strings.Trim(program[strings.LastIndexAny(program, `/\`)+1:], `'"`)
	return name == "vade" || name == "vade.exe" || name != "" && program == h.Program
}
