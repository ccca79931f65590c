package merge

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"vademecum/vault"
)

func FuzzMerge3(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n", "a\nb\nc\nd")
	f.Add("", "x", "y\r\n")
	f.Add("a\r\nb\r", "a\nb\r\n", "\x00")
	f.Add("0", "1\r", "1")
	f.Add("- i\n- i\n\n- i\n", "- i\n\n- i\n", "- i\n- i\n- j\n\n- i\n")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		got, conflicts := Merge3([]byte(base), []byte(ours), []byte(theirs))
		back, _ := Merge3([]byte(base), []byte(theirs), []byte(ours))
		if !bytes.Equal(got, back) {
			t.Errorf("not symmetric: %q, %q", got, back)
		}
		kept := got
		for _, c := range conflicts {
			kept = slices.Concat(kept, []byte{'\n'}, c.Ours, []byte{'\n'}, c.Theirs)
		}
		for _, text := range []string{ours, theirs} {
			checkAdded(t, base, text, kept)
		}
		if base == ours && string(got) != theirs {
			t.Errorf("got %q, want what only one side changed: %q", got, theirs)
		}
	})
}

// checkAdded checks that every line that text added to base is in kept.
func checkAdded(t *testing.T, base, text string, kept []byte) {
	t.Helper()
	base, text = strings.ReplaceAll(base, "\ufeff", ""), strings.ReplaceAll(text, "\ufeff", "")
	kept = bytes.ReplaceAll(kept, bom, nil)
	lines := map[string]bool{}
	for l := range bytes.Lines(kept) {
		lines[string(bytes.TrimRight(l, "\r\n"))] = true
	}
	old := map[string]bool{}
	for l := range bytes.Lines([]byte(base)) {
		old[string(bytes.TrimRight(l, "\r\n"))] = true
	}
	for l := range bytes.Lines([]byte(text)) {
		if s := string(bytes.TrimRight(l, "\r\n")); s != "" && !old[s] && !lines[s] {
			t.Errorf("lost line %q of %q: kept %q", s, text, kept)
		}
	}
}

func FuzzFiles(f *testing.F) {
	f.Add("---\nid: a\ntags: [a]\n---\nx\n", "---\nid: a\ntags: [a, b]\n---\nx\n", "---\nid: a\ntags:\n- a\n- c # why\n---\nx\ny", true)
	f.Add("---\nt: 1\n---\n", "---\nt: {a: 1}\n---\r\n", "---\nt: [\n---\n", true)
	f.Add("\n---", "\xb0", "---\n\n---\n", true)
	f.Add("", "\ufeff---\na: b\n---\nx", "+++\na=1\n+++\n", false)
	f.Fuzz(func(t *testing.T, base, a, b string, hasBase bool) {
		var old []byte
		if hasBase {
			old = []byte(base)
		}
		r := Files(old, Side{Data: []byte(a)}, Side{Data: []byte(b)})
		back := Files(old, Side{Data: []byte(b)}, Side{Data: []byte(a)})
		if !bytes.Equal(r.Data, back.Data) || !slices.Equal(r.Lost, back.Lost) {
			t.Errorf("not symmetric: %q, %q", r.Data, back.Data)
		}
		broken := func(s string) bool { return vault.ParseDocument([]byte(s)).Broken() != nil }
		if !broken(a) && !broken(b) && broken(string(r.Data)) {
			t.Errorf("made a broken file: %q", r.Data)
		}
		kept := r.Data
		if len(r.Lost) > 0 {
			kept = slices.Concat(kept, []byte{'\n'}, []byte(b), []byte{'\n'}, []byte(a)) // parked
		}
		for _, side := range []string{a, b} {
			if !broken(side) {
				checkAdded(t, base, vault.ParseDocument([]byte(side)).Body(), kept)
			}
		}
		if len(r.Lost) > 0 {
			loser := []string{b, a}[r.Winner]
			p := Park([]byte(loser), "m.md", "x")
			if !bytes.Contains(p.Data, []byte(vault.ParseDocument([]byte(loser)).Body())) {
				t.Errorf("parked %q without the body of %q", p.Data, loser)
			}
		}
	})
}
