package install

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newHost is a host with nothing on it.
func newHost(t *testing.T) Host {
	t.Helper()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return Host{
		Home: followed(home), State: filepath.Join(dir, "state"), Program: "/opt/a b/vade",
		Env: func(string) string { return "" }, Look: func(string) (string, error) { return "", fs.ErrNotExist },
	}
}

func (h Host) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(h.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// tree is every file and folder below dir with its text and mode.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := []byte(nil)
		if d.Type().IsRegular() {
			text, err = os.ReadFile(path)
		}
		rel, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(rel)] = info.Mode().String() + " " + string(text)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

func apply(t *testing.T, p *Plan, err error) *Plan {
	t.Helper()
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func setup(t *testing.T, h Host, names ...string) *Plan {
	t.Helper()
	p, err := h.Setup(names, Wish{MCP: true})
	return apply(t, p, err)
}

func uninstall(t *testing.T, h Host, names ...string) *Plan {
	t.Helper()
	p, err := h.Uninstall(names)
	return apply(t, p, err)
}

// foreign are settings as their owners left them.
var foreign = map[string]string{
	".claude/settings.json": "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n" +
		"      { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] }, // loud\n    ],\n  },\n}\n",
	".claude.json":                        `{"numStartups":7,"projects":{},"mcpServers":{"other":{"command":"x"}}}`,
	".codex/config.toml":                  "model = \"gpt\"\r\n[projects.\"/home/a b\"]\r\ntrust_level = \"trusted\"",
	".codex/hooks.json":                   "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
	".copilot/mcp-config.json":            "\uFEFF{\r\n\t\"mcpServers\": {}\r\n}\r\n",
	".gemini/settings.json":               "{\n    \"security\": {\"auth\": {\"selectedType\": \"oauth\"}}, // how\n    \"mcpServers\": {\n    }\n}",
	".qwen/settings.json":                 "",
	".config/opencode/opencode.jsonc":     "// all of it\n{\n\t\"$schema\": \"https://opencode.ai/config.json\",\n\t\"mcp\": { /* none */ },\n}\n",
	".pi/agent/mcp.json":                  "{}",
	".cline/data/settings/unrelated.json": "{",
	".cursor/hooks.json":                  "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [{\"command\": \"./audit.sh\"}]\n  }\n}\n",
	".agents/skills/other/SKILL.md":       "---\nname: other\n---\n",
}

func TestUninstallGivesEveryFileBack(t *testing.T) {
	for _, files := range []map[string]string{nil, foreign} {
		for _, names := range append([][]string{Names}, each(Names)...) {
			h := newHost(t)
			for name, text := range files {
				h.write(t, name, text)
			}
			before := tree(t, h.Home)
			setup(t, h, names...)
			in := tree(t, h.Home)
			if cmp.Equal(before, in) {
				t.Fatalf("%v: nothing was done", names)
			}
			if again := setup(t, h, names...); len(again.Changes) > 0 {
				t.Errorf("%v: the second time changes %v", names, paths(again))
			}
			uninstall(t, h, names...)
			if diff := cmp.Diff(before, tree(t, h.Home)); diff != "" {
				t.Errorf("%v: not as before (-before +after):\n%s", names, diff)
			}
			if left := tree(t, h.State); len(left) > 0 {
				t.Errorf("%v: state left: %v", names, left)
			}
		}
	}
}

func each(names []string) (lists [][]string) {
	for _, n := range names {
		lists = append(lists, []string{n})
	}
	return lists
}

func paths(p *Plan) (list []string) {
	for _, c := range p.Changes {
		list = append(list, c.Path)
	}
	return list
}

// TestUninstallAfterOthersWrote: agents write their settings anew, people add
// to them; what they wrote stays, what is ours goes, with and without a record.
func TestUninstallAfterOthersWrote(t *testing.T) {
	for _, lost := range []bool{false, true} {
		h := newHost(t)
		for name, text := range foreign {
			h.write(t, name, text)
		}
		setup(t, h, Names...)
		if lost {
			if err := os.RemoveAll(h.State); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range tree(t, h.Home) {
			path := filepath.Join(h.Home, name)
			_, text, _ = strings.Cut(text, " ")
			switch {
			case name == ".claude.json": // as a program does
				var v map[string]any
				if err := json.Unmarshal([]byte(text), &v); err != nil {
					t.Fatal(err)
				}
				v["numStartups"] = 8
				raw, _ := json.MarshalIndent(v, "", "\t")
				text = string(raw)
			case strings.HasSuffix(name, ".toml"):
				text += "\n[hooks.state]\nx = 1\n"
			case strings.HasSuffix(name, "settings.json"):
				text = strings.Replace(text, "{", "{\"added\": true, ", 1)
			default:
				continue
			}
			if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
				t.Fatal(err)
			}
		}
		uninstall(t, h, Names...)
		for name, text := range tree(t, h.Home) {
			if strings.Contains(text, "vade") {
				t.Errorf("lost %v: vade is still in %s: %s", lost, name, text)
			}
		}
		after := tree(t, h.Home)
		for name, want := range map[string]string{
			".claude.json":          `"numStartups": 8`,
			".claude/settings.json": `say done`,
			".codex/config.toml":    "[hooks.state]",
			".gemini/settings.json": `"added": true`,
		} {
			if !strings.Contains(after[name], want) {
				t.Errorf("lost %v: %s lacks %s: %s", lost, name, want, after[name])
			}
		}
		if want := strings.Replace(foreign[".claude/settings.json"], "{", "{\"added\": true, ", 1); !lost && !strings.HasSuffix(after[".claude/settings.json"], want) {
			t.Errorf("got %s, want %s", after[".claude/settings.json"], want)
		}
	}
}

// TestSetupAgainKeepsPlaces: Codex trusts a hook by its place and command.
func TestSetupAgainKeepsPlaces(t *testing.T) {
	h := newHost(t)
	setup(t, h, "codex")
	file := filepath.Join(h.Home, ".codex", "hooks.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(raw), "\"Stop\": [", "\"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"first\"}]},", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := setup(t, h, "codex"); slices.Contains(paths(p), file) && string(p.Changes[0].After) != changed {
		t.Errorf("got %s", p.Changes[0].After)
	}
	h.Program = "/usr/local/bin/vade"
	setup(t, h, "codex")
	raw, err = os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "a b") || strings.Count(string(raw), "/usr/local/bin/vade hook codex ") != strings.Count(changed, "hook codex ") ||
		strings.Index(string(raw), "first") > strings.Index(string(raw), "codex Stop") {
		t.Errorf("got %s", raw)
	}
	uninstall(t, h, "codex")
	if raw, err = os.ReadFile(file); err != nil || strings.Contains(string(raw), "vade") || !strings.Contains(string(raw), "first") {
		t.Errorf("got %s, %v", raw, err)
	}
}

func TestWithoutMCP(t *testing.T) {
	h := newHost(t)
	h.write(t, ".gemini/settings.json", "{}")
	setup(t, h, "gemini")
	if r := h.Report("gemini"); !r.MCP || !r.Skill || r.Hooks != r.Want || r.Program != h.Program {
		t.Errorf("got %+v", r)
	}
	p, err := h.Setup([]string{"gemini"}, Wish{})
	apply(t, p, err)
	if r := h.Report("gemini"); r.MCP || r.Skill || r.Hooks != r.Want {
		t.Errorf("got %+v", r)
	}
	uninstall(t, h, "gemini")
	if diff := cmp.Diff("-rw-r----- {}", tree(t, h.Home)[".gemini/settings.json"]); diff != "" {
		t.Error(diff)
	}
}

func TestSkillStaysForTheOthers(t *testing.T) {
	h := newHost(t)
	setup(t, h, "codex", "pi")
	uninstall(t, h, "pi")
	if r := h.Report("codex"); !r.Skill {
		t.Errorf("got %+v", r)
	}
	uninstall(t, h, "codex")
	if left := tree(t, h.Home); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestSetupRefuses(t *testing.T) {
	tests := []struct{ name, agent, file, text, want string }{
		{"broken JSON", "claude", ".claude/settings.json", "{\"hooks\": {", "settings.json: line 1: "},
		{"broken TOML", "codex", ".codex/config.toml", "model = \"x\n", "config.toml: line 1: a string does not end"},
		{"hooks are no object", "gemini", ".gemini/settings.json", `{"hooks": []}`, "hooks is no object"},
		{"server of another", "claude", ".claude.json", `{"mcpServers":{"vade":{"command":"other"}}}`, "runs something else"},
		{"server by hand", "codex", ".codex/config.toml", "[mcp_servers.vade]\ncommand = 'vade'\n", "is there already"},
		{"inline servers", "codex", ".codex/config.toml", "mcp_servers = {}\n", "inline table"},
		{"file of another", "opencode", ".config/opencode/plugins/vade.js", "export default 1\n", "not of vade's making"},
		{"plugin in Claude", "claude", ".claude/settings.json", `{"enabledPlugins":{"vade@vade":true}}`, "installed as a plugin"},
		{"plugin in Codex", "codex", ".codex/config.toml", "[plugins.\"vade@vade\"]\nenabled = true\n", "installed as a plugin"},
		{"extension in Gemini", "gemini", ".gemini/extensions/vade/x", "", "installed as a plugin"},
		{"package in Pi", "pi", ".pi/agent/settings.json", `{"packages":["npm:vade-pi"]}`, "installed as a plugin"},
		{"folder in Pi", "pi", ".pi/agent/x/package.json", `{"name": "vade-pi"}`, "installed as a plugin"},
		{"unknown agent", "emacs", "x", "", "cannot be set up"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t)
			h.write(t, tt.file, tt.text)
			if tt.name == "folder in Pi" {
				h.write(t, ".pi/agent/settings.json", `{"packages":[{"source":"./x"}]}`)
			}
			before := tree(t, h.Home)
			_, err := h.Setup([]string{tt.agent}, Wish{MCP: true})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if diff := cmp.Diff(before, tree(t, h.Home)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLinkedSettings(t *testing.T) {
	h := newHost(t)
	h.write(t, "dotfiles/claude.json", "{}\n")
	h.write(t, ".claude/x", "")
	link := filepath.Join(h.Home, ".claude", "settings.json")
	if err := os.Symlink(filepath.Join("..", "dotfiles", "claude.json"), link); err != nil {
		t.Skip(err)
	}
	before := tree(t, h.Home)
	setup(t, h, "claude")
	if st, err := os.Lstat(link); err != nil || st.Mode()&fs.ModeSymlink == 0 || !strings.Contains(tree(t, h.Home)["dotfiles/claude.json"], "vade") {
		t.Errorf("the link is gone or nothing was written through it: %v", err)
	}
	uninstall(t, h, "claude")
	if diff := cmp.Diff(before, tree(t, h.Home)); diff != "" {
		t.Error(diff)
	}
}

func TestChangedMeanwhile(t *testing.T) {
	h := newHost(t)
	h.write(t, ".claude/settings.json", "{}\n")
	p, err := h.Setup([]string{"claude"}, Wish{})
	if err != nil {
		t.Fatal(err)
	}
	h.write(t, ".claude/settings.json", "{\"model\": \"x\"}\n")
	if err := p.Apply(); err == nil || !strings.Contains(err.Error(), "meantime") {
		t.Errorf("got %v", err)
	}
}

func TestQuoteShell(t *testing.T) {
	for _, tt := range []struct {
		path    string
		windows bool
		want    string
	}{
		{"/usr/bin/vade", false, "/usr/bin/vade"},
		{"/opt/a b/it's/vade", false, `'/opt/a b/it'\''s/vade'`},
		{`C:\Users\x\vade.exe`, true, `C:\Users\x\vade.exe`},
		{`C:\Program Files\vade.exe`, true, `"C:\Program Files\vade.exe"`},
		{"/home/$USER/vade", false, `'/home/$USER/vade'`},
	} {
		if got := quoteShell(tt.path, tt.windows); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.path, got, tt.want)
		}
	}
}
