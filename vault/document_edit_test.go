package vault

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestEditStyles: an entry keeps the style that it has.
func TestEditStyles(t *testing.T) {
	at := time.Date(2026, 11, 30, 16, 1, 0, 0, time.UTC)
	add := func(key string, items ...string) func(*Document) error {
		return func(d *Document) error { return d.AddToList(key, items...) }
	}
	remove := func(key string, items ...string) func(*Document) error {
		return func(d *Document) error { return d.RemoveFromList(key, items...) }
	}
	set := func(key string, v any) func(*Document) error {
		return func(d *Document) error { return d.Set(key, v) }
	}
	del := func(key string) func(*Document) error {
		return func(d *Document) error { return d.Delete(key) }
	}
	tests := []struct {
		name, header, want string
		edit               func(*Document) error
	}{
		{"add to brackets with padding", "tags: [ a,b ]\n", "tags: [ a,b, x ]\n", add("tags", "x")},
		{"add two", "tags: [a]\n", "tags: [a, x, \"y, z\"]\n", add("tags", "x", "y, z", "a")},
		{"add to empty brackets", "tags: [ ]  # none\n", "tags: [x]  # none\n", add("tags", "x")},
		{"add behind a trailing comma", "tags: [a,]\n", "tags: [a, x,]\n", add("tags", "x")},
		{"add a tag with a comma to a bare list", "tags: a, b\n", "tags: [a, b, \"x, y\"]\n", set("tags", []string{"a", "b", "x, y"})},
		{"add to a tight bare list", "tags: 'a,b'\n", "tags: 'a,b,x'\n", add("tags", "x")},
		{"add what is there", "tags: [a , b]\n", "tags: [a , b]\n", add("tags", "b")},
		{"add to null", "tags: ~ # none\n", "tags: [x] # none\n", add("tags", "x")},
		{"add to an anchored block list", "tags: &t\n  - a\nalso: *t\n", "tags: &t\n  - a\n  - x\nalso: *t\n", add("tags", "x")},
		{"add to a block list that ends in a comment", "tags:\n  - a\n  # more to come\nzz: 1\n", "tags:\n  - a\n  - x\n  # more to come\nzz: 1\n", add("tags", "x")},
		{"remove the first", "tags: [a, b, c] # z\n", "tags: [b, c] # z\n", remove("tags", "a")},
		{"remove the last", "tags: [a, b, c]\n", "tags: [a, b]\n", remove("tags", "c")},
		{"remove all", "tags: [a, b]\n", "tags: []\n", remove("tags", "a", "b")},
		{"remove the last two", "tags: [a, b, c]\n", "tags: [a]\n", remove("tags", "c", "b")},
		{"remove one of several lines", "tags: [\n  a, # one\n  b,\n  c\n]\n", "tags: [\n  a, # one\n  c\n]\n", remove("tags", "b")},
		{"remove from a block list", "tags:\n  - a # one\n  # about b\n  - b\n  - c\n", "tags:\n  - a # one\n  # about b\n  - c\n", remove("tags", "b")},
		{"remove the only line", "tags:\n  - a\nzz: 1\n", "tags: []\nzz: 1\n", remove("tags", "a")},
		{"remove from a bare list", "tags: a, b, c\n", "tags: a, c\n", remove("tags", "b")},
		{"remove an item that others repeat", "tags: [&x one, two]\nwhy: *x\n", "tags: [two]\nwhy: &x one\n", remove("tags", "one")},
		{"remove a line that others repeat", "tags:\n- &x one\n- two\naliases: [*x, *x]\n", "tags:\n- two\naliases: [&x one, *x]\n", remove("tags", "one")},
		{"reorder", "tags: [a, 'b', c]\n", "tags: ['b', a]\n", set("tags", []string{"b", "a"})},
		{"list to a scalar", "tags: a # one\n", "tags: [b, c] # one\n", set("tags", []string{"b", "c"})},
		{"scalar over a list", "why: [a, b] # one\n", "why: because # one\n", set("why", "because")},
		{"scalar over a block list", "why: # one\n  - a\n  - b\nzz: 1\n", "why: because # one\nzz: 1\n", set("why", "because")},
		{"single quotes", "title: 'a'  # x\n", "title: 'it''s: b'  # x\n", set("title", "it's: b")},
		{"double quotes", "title: \"a\"\n", "title: \"say \\\"b\\\"\"\n", set("title", `say "b"`)},
		{"line break in single quotes", "title: 'a'\n", "title: \"b\\nc\"\n", set("title", "b\nc")},
		{"literal block", "why: |\n    one\n    two\nzz: 1\n", "why: |\n    three\n\n    four\nzz: 1\n", set("why", "three\n\nfour\n")},
		{"literal block without a last line end", "why: |\n  one\n", "why: |-\n  two\n  three\n", set("why", "two\nthree")},
		{"alias", "base: &b x\nwhy: *b # c\n", "base: &b x\nwhy: because # c\n", set("why", "because")},
		{"time, plain", "updated: 2026-01-02\n", "updated: 2026-11-30T16:01:00Z\n", set("updated", at)},
		{"time, quoted", "updated: '2026-01-02'\n", "updated: '2026-11-30T16:01:00Z'\n", set("updated", at)},
		{"time, the same in another zone", "updated: 2026-11-30T17:01:00+01:00\n", "updated: 2026-11-30T17:01:00+01:00\n", set("updated", at)},
		{"bool and number", "zz: x\n", "zz: true\n", set("zz", true)},
		{"number, the same", "zz: 7 # seven\n", "zz: 7 # seven\n", set("zz", 7)},
		{"string that looks like a number", "zz: 7\n", "zz: 7\n", set("zz", "7")},
		{"string that looks like another", "zz: 7\n", "zz: \"8\"\n", set("zz", "8")},
		{"mapping on one line", "origin: {user: a, agent: 'b'} # o\n", "origin: {user: todd, turn: 3} # o\n", set("origin", Origin{User: "todd", Turn: 3})},
		{"mapping on several", "origin:\n  # who\n  user: 'a'\n  agent: b\nzz: 1\n", "origin:\n  # who\n  user: 'todd'\n  turn: 3\nzz: 1\n", set("origin", Origin{User: "todd", Turn: 3})},
		{"mapping, the same", "scope: {id: todd, type: personal}\n", "scope: {id: todd, type: personal}\n", set("scope", Scope{Type: "personal", ID: "todd"})},
		{"mapping of anything", "zz: {a: b}\n", "zz: {a: \"1\", b: 1, c: true, d: 0.5}\n", set("zz", map[string]any{"a": "1", "b": 1, "c": true, "d": .5})},
		{"null", "zz: 1 # one\n", "zz: null # one\n", set("zz", nil)},
		{"null, the same", "zz: ~\n", "zz: ~\n", set("zz", nil)},
		{"fraction", "zz: 1\n", "zz: 0.5\n", set("zz", .5)},
		{"new key in its place", "id: x\ntags: [a]\n\n# rest\nzz: 1\n", "id: x\ntitle: T\ntags: [a]\n\n# rest\nzz: 1\n", set("title", "T")},
		{"new key before all others", "# about tags\ntags: [a]\nzz: 1\n", "id: x\n# about tags\ntags: [a]\nzz: 1\n", set("id", "x")},
		{"new key behind a block scalar", "title: |+\n  a\n\n\nzz: 1\n", "title: |+\n  a\n\n\ntags: [x]\nzz: 1\n", add("tags", "x")},
		{"new unknown key", "id: x\n# end\n", "id: x\n# end\n\"a: b\": c\n", set("a: b", "c")},
		{"delete with its comment", "id: x\n\n# apart\n\n# about why\nwhy: |\n  a\n\n  b\nzz: 1\n", "id: x\n\n# apart\n\nzz: 1\n", del("why")},
		{"delete the only key", "zz: 1\n", "", del("zz")},
		{"delete what is not there", "zz: 1\n", "zz: 1\n", del("why")},
		{"delete what others repeat", "why: &w because\nzz: *w\nyy: *w\n", "zz: &w because\nyy: *w\n", del("why")},
	}
	for _, tt := range tests {
		for _, eol := range []string{"\n", "\r\n"} {
			t.Run(tt.name, func(t *testing.T) {
				file := func(header string) string {
					return strings.ReplaceAll("---\n"+header+"---\nbody\n", "\n", eol)
				}
				d := ParseDocument([]byte(file(tt.header)))
				if err := tt.edit(d); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(file(tt.want), string(d.Bytes())); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if err := ParseDocument(d.Bytes()).Broken(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestRefusedEditsChangeNothing(t *testing.T) {
	tests := []struct {
		name, header string
		edit         func(*Document) error
	}{
		{"list edit of a mapping", "tags: {a: b}\n", func(d *Document) error { return d.AddToList("tags", "x") }},
		{"lines of another key", "a: 1\n", func(d *Document) error { return d.SetRaw("b", []byte("c: 1\n")) }},
		{"lines of two keys", "a: 1\n", func(d *Document) error { return d.SetRaw("b", []byte("b: 1\nc: 2\n")) }},
		{"lines that break the header", "a: 1\n", func(d *Document) error { return d.SetRaw("b", []byte("b: [\n")) }},
		{"lines that end the header", "a: 1\n", func(d *Document) error { return d.SetRaw("b", []byte("b: 1\n---\n")) }},
		{"lines with an alias from elsewhere", "a: 1\n", func(d *Document) error { return d.SetRaw("b", []byte("b: *x\n")) }},
		{"an anchored block that others repeat", "a: &x\n  - 1\nb: *x\n", func(d *Document) error { return d.Delete("a") }},
		{"a key in braces", "{a: 1}\n", func(d *Document) error { return d.Set("a", "2") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := "---\n" + tt.header + "---\nbody\n"
			d := ParseDocument([]byte(file))
			if err := tt.edit(d); !errors.Is(err, ErrBroken) {
				t.Errorf("got %v, want ErrBroken", err)
			}
			if got := string(d.Bytes()); got != file {
				t.Errorf("changed to %q", got)
			}
		})
	}
	d := ParseDocument([]byte("---\na: 1\n---\n"))
	for _, v := range []any{"\xff", []string{"\xff"}, time.Time{}, []any{1}, map[string]any{"b": nil}, map[string]any{"b": []any{}}, struct{}{}} {
		if err := d.Set("a", v); err == nil {
			t.Errorf("Set(%#v): no error", v)
		}
	}
}

// TestRawMovesBetweenFiles: what Raw returns is what SetRaw takes, whatever
// the line ends.
func TestRawMovesBetweenFiles(t *testing.T) {
	from := ParseDocument([]byte("---\r\nid: x\r\n# about tags\r\ntags:\r\n  - a # one\r\n  - b\r\n\r\nzz: 1\r\n---\r\n"))
	to := ParseDocument([]byte("---\ntitle: T\n# last\n---\nbody\n"))
	if got := string(from.Raw("tags")); got != "# about tags\r\ntags:\r\n  - a # one\r\n  - b\r\n" {
		t.Fatalf("raw tags %q", got)
	}
	for _, key := range []string{"zz", "tags", "id"} {
		if err := to.SetRaw(key, from.Raw(key)); err != nil {
			t.Fatal(err)
		}
	}
	want := "---\nid: x\ntitle: T\n# about tags\ntags:\n  - a # one\n  - b\n# last\nzz: 1\n---\nbody\n"
	if diff := cmp.Diff(want, string(to.Bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := to.SetRaw("tags", []byte("tags: [c]")); err != nil {
		t.Fatal(err)
	}
	want = "---\nid: x\ntitle: T\ntags: [c]\n# last\nzz: 1\n---\nbody\n"
	if diff := cmp.Diff(want, string(to.Bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSetBody(t *testing.T) {
	tests := []struct{ name, file, text, want, rawWant string }{
		{"LF", "---\na: 1\n---\nold\n", "new", "---\na: 1\n---\nnew\n", "---\na: 1\n---\nnew"},
		{"LF takes no CRLF", "old\n", "a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n"},
		{"CRLF", "a\r\nb\r\n", "c\nd", "c\r\nd\r\n", "c\nd"},
		{"mixed is left alone", "a\r\nb\n", "c\nd\r\n", "c\nd\r\n", "c\nd\r\n"},
		{"no final newline", "---\na: 1\n---\nold", "new", "---\na: 1\n---\nnew", "---\na: 1\n---\nnew"},
		{"empty", "---\na: 1\n---\nold\n", "", "---\na: 1\n---\n", "---\na: 1\n---\n"},
		{"behind a fence without a line end", "---\r\na: 1\r\n---", "new", "---\r\na: 1\r\n---\r\nnew\r\n", "---\r\na: 1\r\n---\r\nnew"},
		{"text that looks like front matter", "old\n", "---\nid: x\n---\n", "---\n---\n---\nid: x\n---\n", "---\n---\n---\nid: x\n---\n"},
		{"text that opens front matter", "old\n", "---\nid: x\n", "---\n---\n---\nid: x\n", "---\n---\n---\nid: x\n"},
		{"text that starts with a rule", "old\n", "--- a\n", "--- a\n", "--- a\n"},
		{"text that starts with a BOM", "old\n", "\ufeffa\n", "---\n---\n\ufeffa\n", "---\n---\n\ufeffa\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := ParseDocument([]byte(tt.file))
			if err := d.SetBody(tt.text); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tt.want {
				t.Errorf("SetBody: %q, want %q", got, tt.want)
			}
			d = ParseDocument([]byte(tt.file))
			if err := d.SetRawBody(tt.text); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tt.rawWant {
				t.Errorf("SetRawBody: %q, want %q", got, tt.rawWant)
			}
			if got := ParseDocument(d.Bytes()).Body(); got != tt.text {
				t.Errorf("reads back as %q, want %q", got, tt.text)
			}
		})
	}
}
