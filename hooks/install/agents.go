package install

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vademecum/hooks"
	"vademecum/hooks/settings"
	"vademecum/templates"
)

// Names are the agents that can be set up, in the order in which they are
// offered.
var Names = []string{"claude", "codex", "copilot", "gemini", "qwen", "opencode", "pi", "cline", "cursor", "kiro"}

// hookTimeout is how long an agent waits for a hook at most. Ours are done in
// hooks.Budget; a machine that is very busy gets some more.
const hookTimeout = 5 * time.Second

// agent is where one agent keeps what.
type agent struct {
	*hooks.Agent
	programs []string // that run it
	home     string   // its folder; that it is there shows that it has been used
	hooks    []part
	mcp      []part // and the skill
	// plugin says where vade is installed as a plugin of it; "" when it is not.
	plugin func() (string, error)
}

// find returns the agent called name; ok is false when there is none.
func (h Host) find(name string) (a agent, ok bool) {
	of, ok := hooks.Find(name)
	if !ok {
		return a, false
	}
	a = agent{Agent: of, programs: []string{name}, plugin: func() (string, error) { return "", nil }}
	switch name {
	case "claude":
		h.claude(&a)
	case "codex":
		h.codex(&a)
	case "copilot":
		h.copilot(&a)
	case "gemini":
		h.geminiShaped(&a, filepath.Join(h.Home, ".gemini"), "")
	case "qwen":
		h.geminiShaped(&a, filepath.Join(h.Home, ".qwen"), filepath.Join(h.Home, ".qwen", "skills"))
	case "opencode":
		h.opencode(&a)
	case "pi":
		h.pi(&a)
	case "cline":
		h.cline(&a)
	case "cursor":
		h.cursor(&a)
	case "kiro":
		h.kiro(&a)
	default:
		return a, false
	}
	return a, true
}

// quoted is s as JSON.
func quoted(s string) string {
	raw, _ := json.Marshal(s) // a string
	return string(raw)
}

// timeout is hookTimeout in the agent's unit.
func (a agent) timeout() int { return int(hookTimeout / a.TimeoutUnit) }

// skill is the skill in a folder of skills; "" is the one that many share.
func (h Host) skill(dir string) part {
	if dir == "" {
		dir = filepath.Join(h.Home, ".agents", "skills")
	}
	return filePart{filepath.Join(dir, templates.SkillName, "SKILL.md"), templates.Skill(), "name: " + templates.SkillName}
}

// server is the MCP server in a file with an object of servers.
func (h Host) server(path string, more ...[2]string) part {
	value := [][2]string{{"command", quoted(h.Program)}, {"args", `["mcp"]`}}
	return serverPart{h, path, "mcpServers", append(value, more...)}
}

// unknown are events that vade would understand and that the agent does not have.
var unknown = map[string][]string{
	"codex": {"PostToolUseFailure"},
	"kiro":  {"PostToolUseFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "SessionEnd", "agentSpawn", "postToolUse", "stop", "userPromptSubmit"},
}

// events are those that the agent is to have hooks for, in a fixed order.
func (a agent) events() []string {
	return slices.DeleteFunc(a.Events(), func(event string) bool { return slices.Contains(unknown[a.Name], event) })
}

// execHook is a hook in exec form: no shell, no quoting.
func (h Host) execHook(a *agent) func(string) string {
	return func(event string) string {
		return fmt.Sprintf(`{"type":"command","command":%s,"args":["hook",%q,%q],"timeout":%d}`, quoted(h.Program), a.Name, event, a.timeout())
	}
}

func (h Host) claude(a *agent) {
	a.home = h.dir("CLAUDE_CONFIG_DIR", ".claude")
	global := filepath.Join(h.Home, ".claude.json")
	if h.Env("CLAUDE_CONFIG_DIR") != "" {
		global = filepath.Join(a.home, ".claude.json")
	}
	file := filepath.Join(a.home, "settings.json")
	a.hooks = []part{hookPart{h: h, path: file, agent: a.Name, events: a.events(), entry: h.execHook(a)}}
	a.mcp = []part{
		serverPart{h, global, "mcpServers", [][2]string{{"type", `"stdio"`}, {"command", quoted(h.Program)}, {"args", `["mcp"]`}}},
		h.skill(filepath.Join(a.home, "skills")),
	}
	a.plugin = func() (string, error) {
		return enabledIn(file, "enabledPlugins", func(key string, on json.RawMessage) bool {
			return strings.HasPrefix(key, "vade@") && string(on) != "false"
		})
	}
}

// enabledIn says which member of the object at key of a file is wanted.
func enabledIn(file, key string, wanted func(string, json.RawMessage) bool) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", nil
	}
	d, err := settings.ParseJSON(raw)
	if err != nil {
		return "", &FileError{file, err}
	}
	keys, err := d.Keys(key)
	if err != nil {
		return "", &FileError{file, err}
	}
	for _, k := range keys {
		if value, err := d.Get(key, k); err == nil && wanted(k, value) {
			return fmt.Sprintf("%s, %s.%s", file, key, k), nil
		}
	}
	return "", nil
}

func (h Host) codex(a *agent) {
	a.home = h.dir("CODEX_HOME", ".codex")
	config := filepath.Join(a.home, "config.toml")
	entry := func(event string) string {
		timeout := a.timeout()
		if event == "SessionEnd" {
			timeout = 3 // Codex warns of more
		}
		return fmt.Sprintf(`{"type":"command","command":%s,"timeout":%d}`, quoted(h.shell(a.Name, event)), timeout)
	}
	a.hooks = []part{hookPart{h: h, path: filepath.Join(a.home, "hooks.json"), agent: a.Name, events: a.events(), entry: entry}}
	a.mcp = []part{tomlPart{h, config}, h.skill("")}
	a.plugin = func() (string, error) {
		raw, err := os.ReadFile(config)
		if err != nil {
			return "", nil
		}
		d, err := settings.ParseTOML(raw)
		if err != nil {
			return "", &FileError{config, err}
		}
		for _, path := range d.Tables() {
			if len(path) > 1 && path[0] == "plugins" && strings.HasPrefix(path[1], "vade@") {
				return config + ", plugins." + path[1], nil
			}
		}
		return "", nil
	}
}

// copilotHook gives the command for both shells that Copilot knows.
func (h Host) copilotHook(a *agent) func(string) string {
	return func(event string) string {
		line := " hook copilot " + event
		return fmt.Sprintf(`{"type":"command","bash":%s,"powershell":%s,"timeoutSec":%d}`,
			quoted(quoteShell(h.Program, false)+line), quoted("& '"+strings.ReplaceAll(h.Program, "'", "''")+"'"+line), a.timeout())
	}
}

func (h Host) copilot(a *agent) {
	a.home = h.dir("COPILOT_HOME", ".copilot")
	a.hooks = []part{hookPart{
		h: h, path: filepath.Join(a.home, "hooks", "vade.json"), agent: a.Name, events: a.events(), entry: h.copilotHook(a), flat: true,
		head: [][2]string{{"version", "1"}},
	}}
	a.mcp = []part{h.server(filepath.Join(a.home, "mcp-config.json"), [2]string{"type", `"local"`}, [2]string{"tools", `["*"]`}), h.skill("")}
	a.plugin = folder(filepath.Join(a.home, "installed-plugins", "vade"), filepath.Join(a.home, "plugins", "vade"))
}

// folder is the first of the folders that is there.
func folder(dirs ...string) func() (string, error) {
	return func() (string, error) {
		for _, dir := range dirs {
			if st, err := os.Stat(dir); err == nil && st.IsDir() {
				return dir, nil
			}
		}
		return "", nil
	}
}

// geminiShaped is Gemini CLI and Qwen Code, which began as the same.
func (h Host) geminiShaped(a *agent, home, skills string) {
	a.home = home
	file := filepath.Join(home, "settings.json")
	entry := func(event string) string {
		return fmt.Sprintf(`{"type":"command","name":"vade","command":%s,"timeout":%d}`, quoted(h.shell(a.Name, event)), a.timeout())
	}
	a.hooks = []part{hookPart{h: h, path: file, agent: a.Name, events: a.events(), entry: entry}}
	a.mcp = []part{h.server(file), h.skill(skills)}
	a.plugin = folder(filepath.Join(home, "extensions", "vade"))
}

// script is one of the JavaScript files, with the program in it.
func (h Host) script(path, template string) part {
	return filePart{path, templates.Script(template, h.Program), "// Vademecum for "}
}

func (h Host) opencode(a *agent) {
	base := h.dir("XDG_CONFIG_HOME", ".config")
	a.home = filepath.Join(base, "opencode")
	config := filepath.Join(a.home, "opencode.json")
	if other := config + "c"; exists(other) {
		config = other
	}
	a.hooks = []part{h.script(filepath.Join(a.home, "plugins", "vade.js"), "opencode/vade.js")}
	a.mcp = []part{serverPart{h, config, "mcp", [][2]string{
		{"type", `"local"`}, {"command", "[" + quoted(h.Program) + `,"mcp"]`}, {"enabled", "true"},
	}}, h.skill("")}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (h Host) pi(a *agent) {
	a.home = h.dir("PI_CODING_AGENT_DIR", ".pi/agent")
	a.hooks = []part{h.script(filepath.Join(a.home, "extensions", "vade.js"), "pi/vade.js")}
	a.mcp = []part{h.server(filepath.Join(a.home, "mcp.json"), [2]string{"exposure", `"direct"`}), h.skill("")}
	a.plugin = func() (string, error) {
		file := filepath.Join(a.home, "settings.json")
		raw, err := os.ReadFile(file)
		if err != nil {
			return "", nil
		}
		d, err := settings.ParseJSON(raw)
		if err != nil {
			return "", &FileError{file, err}
		}
		list, err := d.Elements("packages")
		for _, raw := range list {
			if ofPi(raw, a.home) {
				return file + ", packages", nil
			}
		}
		return "", err
	}
}

// ofPi reports whether an entry of Pi's packages is ours: by the package's name,
// or by what the folder holds that it names.
func ofPi(raw json.RawMessage, home string) bool {
	const name = "vade-pi"
	var entry string
	if json.Unmarshal(raw, &entry) != nil {
		var long struct {
			Source string `json:"source"`
		}
		_ = json.Unmarshal(raw, &long)
		entry = long.Source
	}
	dir := entry
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(home, dir)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "package.json"))
	return strings.Contains(entry, name) || strings.Contains(string(text), `"name": "`+name+`"`)
}

func (h Host) cline(a *agent) {
	a.home = filepath.Join(h.Home, ".cline")
	dir := filepath.Join(a.home, "plugins", "vade")
	a.hooks = []part{
		filePart{filepath.Join(dir, "package.json"), templates.File("cline/package.json"), `"name": "vade"`},
		h.script(filepath.Join(dir, "index.js"), "cline/index.js"),
	}
	a.mcp = []part{h.server(filepath.Join(a.home, "data", "settings", "cline_mcp_settings.json"), [2]string{"type", `"stdio"`}), h.skill("")}
}

func (h Host) cursor(a *agent) {
	a.home = filepath.Join(h.Home, ".cursor")
	a.programs = []string{"cursor", "cursor-agent"}
	entry := func(event string) string {
		return fmt.Sprintf(`{"command":%s,"timeout":%d}`, quoted(h.shell(a.Name, event)), a.timeout())
	}
	a.hooks = []part{hookPart{
		h: h, path: filepath.Join(a.home, "hooks.json"), agent: a.Name, events: a.events(), entry: entry, flat: true, head: [][2]string{{"version", "1"}},
	}}
	a.mcp = []part{h.server(filepath.Join(a.home, "mcp.json")), h.skill("")}
}

func (h Host) kiro(a *agent) {
	a.home = filepath.Join(h.Home, ".kiro")
	a.programs = []string{"kiro", "kiro-cli"}
	var list []string
	for _, event := range a.events() {
		list = append(list, fmt.Sprintf(`    {"name": "vade %s", "trigger": %q, "action": {"type": "command", "command": %s}, "timeout": %d, "enabled": true}`,
			event, event, quoted(h.shell(a.Name, event)), a.timeout()))
	}
	text := "{\n  \"version\": \"v1\",\n  \"hooks\": [\n" + strings.Join(list, ",\n") + "\n  ]\n}\n"
	a.hooks = []part{filePart{filepath.Join(a.home, "hooks", "vade.json"), []byte(text), " hook kiro "}}
	a.mcp = []part{h.server(filepath.Join(a.home, "settings", "mcp.json")), h.skill(filepath.Join(a.home, "skills"))}
}
