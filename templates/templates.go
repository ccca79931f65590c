// Package templates holds, embedded, what vade puts into other programs: a
// plugin, extension or package for each coding agent, and the skill that
// teaches models to use the memory.
//
//	claude/    plugin for Claude Code, and for whoever reads Agent Plugins 1.0
//	codex/     plugin for Codex; a plugin.json in its root would hide the hooks
//	gemini/    extension for Gemini CLI
//	opencode/  plugin for OpenCode, one file
//	pi/        package for Pi
//	cline/     plugin for Cline
//	skill/     the Agent Skill, which the first three hold too
//
// Each can be installed as it is where the program vade is on the PATH. Commands
// name no version: Codex trusts a hook by the digest of its command.
package templates

import (
	"embed"
	"encoding/json"
	"io/fs"
	"strings"
)

//go:embed all:claude all:codex all:gemini all:opencode all:pi all:cline all:skill
var files embed.FS

// SkillName is the name of the skill, and of its folder.
const SkillName = "vade-memory"

// Files are the folders above.
func Files() fs.FS { return files }

// File is one of them; it panics when there is no such file, which a test of
// whoever asks for it shows.
func File(name string) []byte {
	raw, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return raw
}

// Skill is the text of the skill.
func Skill() []byte { return File("skill/" + SkillName + "/SKILL.md") }

// Script is one of the JavaScript files with program as the program to run.
func Script(name, program string) []byte {
	quoted, _ := json.Marshal(program) // a string
	return []byte(strings.Replace(string(File(name)), `const program = "vade"`, "const program = "+string(quoted), 1))
}
