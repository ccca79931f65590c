package settings

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// odd are settings files as people and programs leave them.
var odd = map[string]string{
	"no file":            "",
	"white space":        " \n\n",
	"a BOM and nothing":  bom,
	"empty object":       "{}",
	"empty, newline":     "{}\n",
	"empty, open":        "{\n}\n",
	"empty, comment":     "{\n  // nothing yet\n}\n",
	"empty, one line":    "{ /* nothing */ }",
	"only a comment":     "// settings",
	"two spaces":         "{\n  \"model\": \"opus\"\n}\n",
	"four spaces":        "{\n    \"model\": \"opus\",\n    \"env\": {\n        \"A\": \"1\"\n    }\n}",
	"tabs":               "{\n\t\"model\": \"opus\",\n\t\"n\": [1, 2]\n}\n",
	"CRLF":               "{\r\n  \"model\": \"opus\"\r\n}\r\n",
	"CRLF and BOM":       bom + "{\r\n  \"model\": \"opus\" // why\r\n}\r\n",
	"one line":           `{"model":"opus","list":[1]}`,
	"one line, trailing": `{"model":"opus",}`,
	"trailing comma":     "{\n  \"model\": \"opus\",\n}\n",
	"comment after":      "{\n  \"model\": \"opus\" // the best\n}\n",
	"comment after comma": `{
  "model": "opus", // the best
  /* and
     more */
}`,
	"comma on its own line": "{\n  \"a\": 1\n  , \"b\": 2\n}\n",
	"empty hooks":           "{\n  \"hooks\": {}\n}\n",
	"open empty hooks":      "{\n  \"hooks\": {\n\n  },\n  \"a\": 1\n}\n",
	"empty list":            "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
	"hooks of others": `{
  // mine
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]}, // loud
    ],
    "PreToolUse": [ { "matcher": "Bash", "hooks": [] } ]
  },
  "z": "\u00e9\"}"
}
`,
	"hooks on one line": `{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}}`,
	"deep":              "{\n \"hooks\": {\n  \"Stop\": [\n   {\n    \"hooks\": [\n     {\"command\": \"x\"}\n    ]\n   }\n  ]\n }\n}\n",
}

const group = `{"hooks":[{"type":"command","command":"/usr/bin/vade","args":["hook","claude","Stop"],"timeout":5}]}`

func ours(raw json.RawMessage) bool { return strings.Contains(string(raw), "vade") }

func parsed(t *testing.T, src string) *JSON {
	t.Helper()
	d, err := ParseJSON([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func install(t *testing.T, d *JSON) *JSON {
	t.Helper()
	var err error
	for _, event := range []string{"SessionStart", "Stop"} {
		if d, err = d.Append(group, "hooks", event); err != nil {
			t.Fatal(err)
		}
	}
	if d, err = d.Set(`{"command":"vade","args":["mcp"]}`, "mcpServers", "vade"); err != nil {
		t.Fatal(err)
	}
	return d
}

func uninstall(t *testing.T, d, before *JSON) *JSON {
	t.Helper()
	var err error
	if d, err = d.Remove(before, "mcpServers", "vade"); err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"SessionStart", "Stop"} {
		if d, err = d.RemoveElements(before, ours, "hooks", event); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// TestRemoveIsTheOppositeOfAdd: byte for byte, for every odd file; and what
// was there before says the same while we are in.
func TestRemoveIsTheOppositeOfAdd(t *testing.T) {
	for name, src := range odd {
		t.Run(name, func(t *testing.T) {
			before := parsed(t, src)
			in := install(t, before)
			if again := string(install(t, uninstall(t, in, before)).Bytes()); again != string(in.Bytes()) {
				t.Errorf("the second install differs:\n%s", cmp.Diff(string(in.Bytes()), again))
			}
			for line := range strings.Lines(src) {
				text := strings.Trim(strings.ReplaceAll(line, ",", ""), " \t\r\n{}[]")
				if !strings.Contains(strings.ReplaceAll(string(in.Bytes()), ",", ""), text) {
					t.Errorf("line %q is gone", line)
				}
			}
			if got := string(uninstall(t, in, before).Bytes()); got != src {
				t.Errorf("got %q, want %q; between:\n%s", got, src, in.Bytes())
			}
		})
	}
}

// TestRemoveKeepsWhatOthersAddedMeanwhile also when they write the file anew.
func TestRemoveKeepsWhatOthersAddedMeanwhile(t *testing.T) {
	for name, src := range odd {
		t.Run(name, func(t *testing.T) {
			before := parsed(t, src)
			later, err := install(t, before).Append(`{"hooks":[{"command":"theirs"}]}`, "hooks", "Stop")
			if err != nil {
				t.Fatal(err)
			}
			if later, err = later.Set(`true`, "theirs"); err != nil {
				t.Fatal(err)
			}
			left := uninstall(t, later, before)
			if s := string(left.Bytes()); strings.Contains(s, "vade") || strings.Count(s, "theirs") != 2 {
				t.Errorf("got %s", s)
			}
			want, err := before.Append(`{"hooks":[{"command":"theirs"}]}`, "hooks", "Stop")
			if err != nil {
				t.Fatal(err)
			}
			if want, err = want.Set(`true`, "theirs"); err != nil {
				t.Fatal(err)
			}
			if before.root != nil && len(before.root.items) > 0 && !same(left.plain(left.root), want.plain(want.root)) {
				t.Errorf("got %s, want what %s says", left.Bytes(), want.Bytes())
			}
		})
	}
}

func TestAddLooksLikeTheRest(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"nothing", "", "{\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  }\n}\n"},
		{"tabs", "{\n\t\"x\": 1\n}", "{\n\t\"x\": 1,\n\t\"a\": {\n\t\t\"b\": [\n\t\t\t1\n\t\t]\n\t}\n}"},
		{"CRLF", "{\r\n \"x\": 1\r\n}", "{\r\n \"x\": 1,\r\n \"a\": {\r\n  \"b\": [\r\n   1\r\n  ]\r\n }\r\n}"},
		{"one line", `{"x":1}`, `{"x":1, "a": {"b":[1]}}`},
		{"comment", "{\n  \"x\": 1 // one\n}", "{\n  \"x\": 1, // one\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  }\n}"},
		{"trailing comma", "{\n  \"x\": 1, // one\n}", "{\n  \"x\": 1, // one\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  },\n}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := parsed(t, tt.src).Append("1", "a", "b")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(d.Bytes())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"cut", "{\n \"a\": {", "line 2"},
		{"no quotes", "{a: 1}", "line 1: a key in double quotes is missing"},
		{"no comma", "{\n\"a\": 1\n\"b\": 2}", "line 3: a comma or } is missing"},
		{"a list", "[]", "line 1: it is no object"},
		{"two roots", "{}\n{}", "line 2: there is more after the end"},
		{"a word", `{"a": yes}`, `"yes" is no value`},
		{"an open string", "{\"a\": \"x\n\"}", "a string does not end"},
		{"an open comment", "{} /*", "a comment does not end"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "it is not UTF-8"},
		{"depth", strings.Repeat(`{"a":`, 300), "nested too deeply"},
		{"hooks are a list", `{"hooks":[]}`, "hooks is no object"},
		{"an event is a text", `{"hooks":{"Stop":"x"}}`, "hooks.Stop is no list"},
		{"twice", "{\"hooks\":{},\n\"hooks\":{}}", "line 2: hooks is there twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := ParseJSON([]byte(tt.src))
			if err == nil {
				_, err = d.Append(group, "hooks", "Stop")
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestSetReplaces(t *testing.T) {
	d := parsed(t, "{\n  \"mcp\": { \"args\": [\"mcp\"], \"command\": \"x\" } // ours\n}\n")
	same, err := d.Set(`{"command":"x","args":["mcp"]}`, "mcp")
	if err != nil || same != d {
		t.Errorf("what says the same was written anew: %v", err)
	}
	other, err := d.Set(`{"command":"y"}`, "mcp")
	if want := "{\n  \"mcp\": {\n    \"command\": \"y\"\n  } // ours\n}\n"; err != nil || string(other.Bytes()) != want {
		t.Errorf("got %q, %v; want %q", other.Bytes(), err, want)
	}
}

func FuzzJSON(f *testing.F) {
	for _, src := range odd {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		before, err := ParseJSON(src)
		if err != nil || strings.Contains(string(src), "vade") {
			return
		}
		in, err := before.Append(group, "hooks", "Stop")
		if err != nil {
			return
		}
		if !json.Valid(in.plain(in.root)) {
			t.Fatalf("no JSON: %s", in.Bytes())
		}
		out, err := in.RemoveElements(before, ours, "hooks", "Stop")
		if err != nil || string(out.Bytes()) != string(src) {
			t.Errorf("got %q, %v, want %q; between:\n%s", out.Bytes(), err, src, in.Bytes())
		}
	})
}
