package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vademecum/cmd/yardstick/protocol"
)

var engines = []string{"fts5", "bleve", "bleve-bm25"}

// writeNotes makes a folder of notes by path.
func writeNotes(t *testing.T, notes map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range notes {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestEveryEngineFindsTheNote(t *testing.T) {
	notes := writeNotes(t, map[string]string{
		"a/one.md":     "# Deploys\nonly through actions, never from a laptop",
		"b/two.md":     "# Budget\nthe retry budget is three",
		"b/three.txt":  "the retry budget of a text file does not count",
		".git/four.md": "the retry budget of git does not count",
	})
	var args []string
	for _, name := range engines {
		index := filepath.Join(t.TempDir(), name)
		var out bytes.Buffer
		if err := run([]string{"build", name, notes, index}, nil, &out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var built protocol.Built
		if err := json.Unmarshal(out.Bytes(), &built); err != nil {
			t.Fatal(err)
		}
		if want := (protocol.Built{Notes: 2, Bytes: 85}); built != want {
			t.Errorf("%s built %+v, want %+v", name, built, want)
		}
		args = append(args, name+"="+index)
	}
	for _, c := range []struct {
		text string
		want []string
	}{
		{"laptop", []string{"a/one.md"}},
		{`what is the "retry budget" (AND why)? NOT -it* :`, []string{"b/two.md"}},
		{"unheard", nil},
		{"?!", nil},
	} {
		for name, got := range askAll(t, args, protocol.Question{Text: c.text, Limit: 1}) {
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s on %q (-want +got):\n%s", name, c.text, diff)
			}
		}
	}
}

// askAll asks q of every engine and returns their hits.
func askAll(t *testing.T, indexes []string, q protocol.Question) map[string][]string {
	t.Helper()
	var in, out bytes.Buffer
	for _, name := range engines {
		q.Engine = name
		if err := json.NewEncoder(&in).Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(append([]string{"ask"}, indexes...), &in, &out); err != nil {
		t.Fatal(err)
	}
	hits := map[string][]string{}
	answers := json.NewDecoder(&out)
	for _, name := range engines {
		var a protocol.Answer
		if err := answers.Decode(&a); err != nil {
			t.Fatal(err)
		}
		if a.Error != "" || a.Wall <= 0 {
			t.Errorf("%s on %q: error %q, %d ns", name, q.Text, a.Error, a.Wall)
		}
		hits[name] = a.Hits
	}
	return hits
}

func TestWhatIsRefused(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "use: yardstick build"},
		{[]string{"build", "grep", "a", "b"}, `engine "grep" is unknown`},
		{[]string{"ask", "grep=b"}, `engine "grep" is unknown`},
		{[]string{"build", "fts5", filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "x")}, "no such file"},
	} {
		err := run(c.args, strings.NewReader(""), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("run(%q) gave %v, want %q", c.args, err, c.want)
		}
	}
	a := answer(nil, protocol.Question{Engine: "fts5"})
	if !strings.Contains(a.Error, "not open") {
		t.Errorf("an engine that is not open answers %+v", a)
	}
}
