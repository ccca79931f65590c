package install

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vademecum/templates"
)

var update = flag.Bool("update", false, "write the plugins' hooks anew")

// TestPluginHooks holds the plugins to what setup would write, with the bare
// name of the program; run it with -update after changing an agent's events.
func TestPluginHooks(t *testing.T) {
	h := newHost(t)
	h.Program = "vade"
	for name, agent := range map[string]string{
		"claude/hooks/hooks.json":                    "claude",
		"claude/com.github.copilot/hooks/hooks.json": "copilot",
		"codex/hooks/hooks.json":                     "codex",
		"gemini/hooks/hooks.json":                    "gemini",
	} {
		a, _ := h.find(agent)
		want, err := a.hooks[0].put(nil)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join("..", "..", "templates", name), want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(string(want), string(templates.File(name))); diff != "" {
			t.Errorf("%s is out of date; run this test with -update (-want +got):\n%s", name, diff)
		}
	}
}

func TestTemplates(t *testing.T) {
	skills := 0
	err := fs.WalkDir(templates.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw := templates.File(path)
		switch {
		case strings.HasSuffix(path, ".json"):
			if !json.Valid(raw) {
				t.Errorf("%s is no JSON", path)
			}
		case strings.HasSuffix(path, "SKILL.md"):
			skills++
			if !bytes.Equal(raw, templates.Skill()) {
				t.Errorf("%s differs from skill/; copy it", path)
			}
		}
		return nil
	})
	if err != nil || skills != 4 {
		t.Errorf("%d skills, %v", skills, err)
	}
	if _, err := fs.Stat(templates.Files(), "codex/plugin.json"); err == nil {
		t.Error("codex/plugin.json hides the hooks from Codex")
	}
}

// TestSkill holds to the limits of agentskills.io.
func TestSkill(t *testing.T) {
	head, body, ok := strings.Cut(strings.TrimPrefix(string(templates.Skill()), "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(head, "name: "+templates.SkillName+"\n") {
		t.Fatalf("head is %q", head)
	}
	_, description, _ := strings.Cut(head, "description: ")
	description, _, _ = strings.Cut(description, "\n")
	if len(description) == 0 || len(description) > 1024 || strings.Contains(description, ": ") {
		t.Errorf("the description has %d bytes, or needs quotes: %s", len(description), description)
	}
	if n := strings.Count(body, "\n"); n > 500 {
		t.Errorf("%d lines", n)
	}
}

func TestScriptNamesTheProgram(t *testing.T) {
	for _, name := range []string{"opencode/vade.js", "pi/vade.js", "cline/index.js"} {
		got := string(templates.Script(name, `C:\a "b"\vade.exe`))
		if !strings.Contains(got, `const program = "C:\\a \"b\"\\vade.exe"`) {
			t.Errorf("%s runs something else", name)
		}
	}
}
