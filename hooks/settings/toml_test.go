package settings

import (
	"strings"
	"testing"
)

var oddTOML = map[string]string{
	"no file":        "",
	"a BOM":          bom + "model = \"x\"\n",
	"plain":          "model = \"x\"\n[projects.\"/home/a b\"]\ntrust_level = \"trusted\"\n",
	"no newline":     "model = 'x'",
	"CRLF":           "model = \"x\"\r\n# why\r\n[a]\r\nb = 1\r\n",
	"CRLF, open end": "a = 1\r\nb = 2",
	"only a comment": "# nothing",
	"empty lines":    "\n\n",
	"strings": "a = \"\"\"\n[no.header]\nb\\\"\"\"\"\nc = '''\n[nor.this]\n'''\n" +
		"d = \"# [x]\" # and\n\"quoted key\".'and this' = 1\n",
	"values":         "a = [1, [2, 3,], # c\n  \"]\",\n]\nb = { c = { d = [] }, e = 'x' }\nf = 1979-05-27 07:32:00\ng = +1_000.5e-3\nh = true\n",
	"arrays":         "[[skills.config]]\npath = \"x\"\n[[skills.config]]\npath = \"y\"\n[ a . \"b.c\" . d ]\n",
	"servers":        "[mcp_servers.other]\ncommand = \"x\"\n",
	"dotted servers": "mcp_servers.other.command = \"x\"\n",
}

const block = "[mcp_servers.vade]\ncommand = \"/usr/bin/vade\"\nargs = [\"mcp\"]\n"

func TestTOMLRemoveIsTheOppositeOfSet(t *testing.T) {
	for name, src := range oddTOML {
		t.Run(name, func(t *testing.T) {
			before, err := ParseTOML([]byte(src))
			if err != nil {
				t.Fatal(err)
			}
			if has, open := before.Has("mcp_servers", "vade"); has || !open {
				t.Fatalf("has %v, open %v", has, open)
			}
			in, err := before.SetBlock(block)
			if err != nil {
				t.Fatal(err)
			}
			if has, _ := in.Has("mcp_servers", "vade"); !has || in.Block() != block || !strings.HasPrefix(string(in.Bytes()), src) {
				t.Errorf("got %q", in.Bytes())
			}
			if again, err := in.SetBlock(block); err != nil || again != in {
				t.Errorf("set twice: %v", err)
			}
			other, err := in.SetBlock("x = 1\n")
			if err != nil || other.Block() != "x = 1\n" || strings.Count(string(other.Bytes()), tomlOpen) != 1 {
				t.Errorf("changed: %q, %v", other.Bytes(), err)
			}
			out, err := in.RemoveBlock(before)
			if err != nil || string(out.Bytes()) != src {
				t.Errorf("got %q, %v, want %q", out.Bytes(), err, src)
			}
		})
	}
}

// TestTOMLRemoveAmongOthers: Codex writes tables before and after ours.
func TestTOMLRemoveAmongOthers(t *testing.T) {
	before, _ := ParseTOML([]byte("a = 1\n"))
	in, err := before.SetBlock(block)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ src, want string }{
		{string(in.Bytes()) + "\n[hooks.state]\nx = 1\n", "a = 1\n\n[hooks.state]\nx = 1\n"},
		{strings.Replace(string(in.Bytes()), "\n\n", "\n", 1) + "[b]\n", "a = 1\n[b]\n"},
	} {
		d, err := ParseTOML([]byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		if d, err = d.RemoveBlock(before); err != nil || string(d.Bytes()) != tt.want {
			t.Errorf("got %q, %v, want %q", d.Bytes(), err, tt.want)
		}
	}
}

func TestTOMLHas(t *testing.T) {
	for _, tt := range []struct {
		src       string
		has, open bool
	}{
		{"[mcp_servers.vade]\n", true, true},
		{"[mcp_servers.\"vade\".env]\n", true, true},
		{"[mcp_servers]\nvade.command = 'x'\n", true, true},
		{"mcp_servers.vade.command = 'x'\n", true, true},
		{"mcp_servers = {}\n", false, false},
		{"[mcp_servers]\nvade = { command = 'x' }\n", true, true},
		{"[mcp_servers.other]\nvade = 1\n", false, true},
	} {
		d, err := ParseTOML([]byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		if has, open := d.Has("mcp_servers", "vade"); has != tt.has || open != tt.open {
			t.Errorf("%q: has %v, open %v", tt.src, has, open)
		}
	}
}

func TestTOMLRefused(t *testing.T) {
	for src, want := range map[string]string{
		"a = \"x\nb = 1":      "line 1: a string does not end",
		"a = \"\"\"x\nb = 1":  "line 1: a string does not end",
		"a\n":                 "an = is missing after a",
		"a =\nb = 1":          "line 1: a has no value",
		"[a\nb = 1":           "a ] is missing",
		"a = [1, 2\nb = 1\n":  "line 1: a ] is missing",
		"a = 1 b = 2":         "line 1: the line goes on",
		"x = 1\n= 2\n":        "line 2: a key is missing",
		"a = \"\xff\"":        "it is not UTF-8",
		"a = 'x' 'y'\n":       "the line goes on",
		"[a] b = 1\n":         "the line goes on",
		"a = { b = 1\nc = 2 ": "a } is missing",
	} {
		if _, err := ParseTOML([]byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", src, err, want)
		}
	}
}

func FuzzTOML(f *testing.F) {
	for _, src := range oddTOML {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		before, err := ParseTOML(src)
		if err != nil || strings.Contains(string(src), "vade") {
			return
		}
		in, err := before.SetBlock(block)
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		out, err := in.RemoveBlock(before)
		if err != nil || string(out.Bytes()) != string(src) {
			t.Errorf("got %q, %v, want %q; between %q", out.Bytes(), err, src, in.Bytes())
		}
	})
}
