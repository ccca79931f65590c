package mcpclient

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vademecum/providers"
	"vademecum/providers/providertest"
)

func TestPresetsFitTogether(t *testing.T) {
	for _, name := range Presets() {
		c := Config{Name: "p", Command: os.Args[0], Dir: t.TempDir(), Preset: name}
		if p, err := Open(c); err != nil || providers.PropertiesOf(p).Kind != "mcp" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServerMemoryPresetFitsItsTools: what we send fits the schemas that the real
// server gives.
func TestServerMemoryPresetFitsItsTools(t *testing.T) {
	b, err := os.ReadFile("testdata/server-memory-tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var real mcp.ListToolsResult
	if err := json.Unmarshal(b, &real); err != nil {
		t.Fatal(err)
	}
	m := serverMemory("").mapping
	for _, c := range []Call{m.Search, m.Put, m.Delete, m.Find} {
		found := false
		for _, tool := range real.Tools {
			if tool.Name != c.Tool {
				continue
			}
			found = true
			schema, ok := tool.InputSchema.(map[string]any)
			if !ok {
				t.Fatalf("%T", tool.InputSchema)
			}
			for name := range c.Args {
				if at(schema, "/properties/"+name) == nil {
					t.Errorf("%s: there is no argument %q", c.Tool, name)
				}
			}
			for _, name := range schema["required"].([]any) {
				if c.Args[name.(string)] == nil {
					t.Errorf("%s: %s is required", c.Tool, name)
				}
			}
		}
		if !found {
			t.Errorf("there is no tool %s", c.Tool)
		}
	}
}

func TestExpand(t *testing.T) {
	item := providertest.Item(1, "Mind the {title} and the {ref}")
	v := itemValues(item)
	v["limit"], v["project"] = 5, ""
	got := expand(object{
		"text": "{text}", "n": "{limit}", "gone": "{project}", "kept": "in {project}!", "tags": "{tags}", "expires": "{expires}",
		"list": list{"{text}", "{metadata_list}", "end"}, "deep": object{"a": list{object{"of": "{title} at {created}"}}}, "plain": true, "brace": "{",
	}, v)
	want := object{
		"text": item.Text, "n": 5, "kept": "in !", "tags": list{"ci"},
		"list": list{
			item.Text, "vault_id=" + item.ID, "vault_of=" + item.Vault, "vault_origin=codex", "vault_rev=" + string(item.Version), "vault_scope=personal:me", "vault_type=decision",
			"vault_workspace=github.com/acme/app", "end",
		},
		"deep": object{"a": list{object{"of": "item 1 at 2026-11-30T16:00:01Z"}}}, "plain": true, "brace": "{",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMappingsThatCannotBe(t *testing.T) {
	good := Call{Tool: "s", Args: object{"q": "{query}"}}
	for says, m := range map[string]Mapping{
		"no search.tool":           {},
		"nothing is called {user}": {Search: Call{Tool: "s", Args: object{"a": list{object{"u": "is {user}"}}}}},
		"is no JSON pointer":       {Search: Call{Tool: "s", Items: "results"}},
		"no group (?P<ref>":        {Search: Call{Tool: "s", Lines: "(.*)"}},
		"missing closing":          {Search: Call{Tool: "s", Lines: "(?P<ref>"}},
		"cannot replace":           {Search: good, Replace: true},
		"cannot wait":              {Search: good, Queued: true},
		"nothing is called {ref}":  {Search: good, Put: Call{Tool: "p", Args: object{"r": "{ref}"}}},
	} {
		_, err := Open(Config{Name: "p", Command: os.Args[0], Dir: t.TempDir(), Mapping: &m})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %s, got %v", says, err)
		}
	}
}

func TestConfigsThatCannotBe(t *testing.T) {
	for says, change := range map[string]func(*Config){
		"no name":                 func(c *Config) { c.Name = "" },
		"not an absolute path":    func(c *Config) { c.Dir = "here" },
		"either a command or":     func(c *Config) { c.URL = "https://mcp.example/mcp" },
		`preset "zep" is unknown`: func(c *Config) { c.Preset = "zep" },
		"in the clear":            func(c *Config) { c.Command, c.URL = "", "http://mcp.example/mcp" },
		"not an http address":     func(c *Config) { c.Command, c.URL = "", "ftp://mcp.example" },
		"executable file not":     func(c *Config) { c.Command = "no-such-server-anywhere" },
	} {
		c := Config{Name: "p", Command: os.Args[0], Dir: t.TempDir(), Preset: "server-memory"}
		change(&c)
		if _, err := Open(c); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %s, got %v", says, err)
		}
	}
	for _, address := range []string{"http://localhost:1933/mcp", "http://127.0.0.1/mcp", "http://[::1]:8/mcp", "https://mcp.example/mcp"} {
		if _, err := Open(Config{Name: "p", URL: address, Dir: t.TempDir(), Preset: "openviking"}); err != nil {
			t.Error(err)
		}
	}
}

func result(structured any, texts ...string) *mcp.CallToolResult {
	r := &mcp.CallToolResult{StructuredContent: structured}
	for _, text := range texts {
		r.Content = append(r.Content, &mcp.TextContent{Text: text})
	}
	return r
}

func TestHits(t *testing.T) {
	score := func(f float64) *float64 { return &f }
	for name, c := range map[string]struct {
		call   Call
		answer *mcp.CallToolResult
		want   []providers.Hit
	}{
		"structured before text": {
			serverMemory("").mapping.Search,
			result(object{"entities": list{object{"name": "n", "observations": list{"the text", "vault_id=a", "vault_rev=v", "vault_part=2/3"}}, object{"observations": list{"no name"}}}}, "{}"),
			[]providers.Hit{{Ref: "n", Text: "the text", ID: "a", Version: "v", Part: 1}},
		},
		"a string of JSON in a result": {
			mem0("").mapping.Search,
			result(object{"result": `{"results":[{"id":"m","memory":"t","score":0.5,"metadata":{"vault_id":"a"},"created_at":"bad"},{"id":7,"memory":"u","score":"NaN"}]}`}),
			[]providers.Hit{{Ref: "m", Text: "t", ID: "a", Score: score(0.5)}, {Ref: "7", Text: "u"}},
		},
		"text as JSON": {
			graphiti("").mapping.Find,
			result(nil, `{"message":"ok","episodes":[{"uuid":"e","content":"c","source_description":"vault_id=a\nvault_rev=v"}]}`),
			[]providers.Hit{{Ref: "e", Text: "c", ID: "a", Version: "v"}},
		},
		"one object": {basicMemory("").mapping.Put, result(object{"permalink": "vade/x"}), []providers.Hit{{Ref: "vade/x"}}},
		"nothing":    {mem0("").mapping.Search, result(nil, "no results"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.call.hits(toAnswer(c.answer))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLines(t *testing.T) {
	p, err := Open(Config{Name: "p", URL: "http://localhost:1933/mcp", Dir: t.TempDir(), Preset: "openviking"})
	if err != nil {
		t.Fatal(err)
	}
	c := p.(interface{ search() *Call }).search()
	got := c.hits(toAnswer(result(nil, "Found 2 item(s):\n\n- [memory 83%] viking://~/memories/a.md\n    The tide.\n- [resource 7%] viking://~/b\n    (no abstract)\n\nUse the read tool to expand a URI.")))
	if len(got) != 2 || got[0].Ref != "viking://~/memories/a.md" || got[0].Text != "The tide." || *got[1].Score != 7 {
		t.Errorf("got %+v", got)
	}
	if got := c.hits(toAnswer(result(nil, "No matching context found."))); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

func (p *peer) search() *Call { return &p.cfg.Mapping.Search }

func FuzzHits(f *testing.F) {
	f.Add(`{"result":"{\"results\":[{\"id\":1}]}"}`, "/results/0/~1")
	f.Add(`[[[]]]`, "/0/0")
	f.Fuzz(func(t *testing.T, text, pointer string) {
		a := toAnswer(result(nil, text))
		for _, h := range (&Call{Items: pointer, Ref: "/id", Meta: pointer}).hits(a) {
			if h.Ref == "" {
				t.Error("a hit without ref")
			}
		}
	})
}
