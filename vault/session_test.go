package vault

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var sessionStart = time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC)

// said is a turn whose section is text.
func said(minute int, name, text string) Turn {
	at := sessionStart.Add(time.Duration(minute) * time.Minute)
	return Turn{
		Start: at, End: at, Key: "key " + name + fmt.Sprint(minute), Names: []string{name}, Texts: []string{TextKey("a", text)},
		Render: func(known func(string) bool) string {
			if known(TextKey("a", text)) {
				return ""
			}
			return "## " + at.Format(time.TimeOnly) + "\n\n" + text
		},
	}
}

func openSessionVault(t *testing.T) *Vault {
	t.Helper()
	v, err := Open(Options{Dir: filepath.Join(t.TempDir(), "todd"), Identity: "todd", Origin: Origin{Host: "laptop"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

func mustCapture(t *testing.T, v *Vault, s Session, keep time.Duration, turns ...Turn) []Captured {
	t.Helper()
	done, _, err := v.Capture(t.Context(), s, turns, keep)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestCaptureOneFileASession(t *testing.T) {
	v := openSessionVault(t)
	s := Session{Agent: "codex", ID: "s1", Workspace: "github.com/acme/shop"}
	first := mustCapture(t, v, s, time.Hour, said(0, "a", "one"), said(1, "b", "two"))
	next := mustCapture(t, v, s, time.Hour, said(24*60, "c", "three")) // resumed the next day
	if first[0].Path != first[1].Path || next[0].Path != first[0].Path || !strings.HasPrefix(first[0].Path, "sessions/2026/11/30-codex-") {
		t.Errorf("paths: %v %v", first, next)
	}
	if again := mustCapture(t, v, s, time.Hour, said(1, "b", "two, told otherwise")); again[0].Path != "" {
		t.Errorf("a known turn was kept: %v", again)
	}
	other := mustCapture(t, v, Session{Agent: "codex", ID: "s2", Workspace: s.Workspace}, time.Hour, said(5, "x", "Two"), said(6, "y", "new"))
	if other[0].Path != "" || other[1].Path == "" || other[1].Path == first[0].Path {
		t.Errorf("another session: %v", other)
	}
	elsewhere := mustCapture(t, v, Session{Agent: "codex", ID: "s3"}, 0, said(5, "x", "two"))
	if elsewhere[0].Path == "" {
		t.Errorf("a repeat in another workspace is none: %v", elsewhere)
	}
	raw, err := os.ReadFile(filepath.Join(v.WorkDir(), filepath.FromSlash(first[0].Path)))
	if err != nil {
		t.Fatal(err)
	}
	m := ParseDocument(raw).Memory()
	if want := "## 16:00:00\n\none\n\n## 16:01:00\n\ntwo\n\n## 16:00:00\n\nthree\n"; m.Body != want {
		t.Errorf("body:\n%s", m.Body)
	}
	if !m.Expires.Equal(sessionStart.Add(25*time.Hour)) || m.Tier != STM {
		t.Errorf("expires %s, tier %s", m.Expires, m.Tier)
	}
}

func TestCaptureGoesOnInAnotherPart(t *testing.T) {
	v := openSessionVault(t)
	s := Session{Agent: "claude", ID: "s1"}
	paths := map[string]int{}
	for i := range 12 {
		text := fmt.Sprintf("turn%dx ", i) + strings.Repeat("word ", 4000)
		paths[mustCapture(t, v, s, 0, said(i, fmt.Sprint("n", i), text))[0].Path]++
	}
	if len(paths) != 4 {
		t.Errorf("parts: %v", paths)
	}
	for p, n := range paths {
		st, err := os.Stat(filepath.Join(v.WorkDir(), filepath.FromSlash(p)))
		if err != nil || st.Size() > maxSession || n != 3 {
			t.Errorf("%s: %d turns, %v %v", p, n, st.Size(), err)
		}
	}
	if again := mustCapture(t, v, s, 0, said(0, "n0", "else")); again[0].Path != "" {
		t.Errorf("a turn of the first part was kept again: %v", again)
	}
}

// TestCaptureBesideWhatIsThere: another session's file with the same short
// name, a broken one and a human's edit are not lost.
func TestCaptureBesideWhatIsThere(t *testing.T) {
	v := openSessionVault(t)
	s := Session{Agent: "codex", ID: "s1"}
	path := mustCapture(t, v, s, 0, said(0, "a", "one"))[0].Path
	full := filepath.Join(v.WorkDir(), filepath.FromSlash(path))
	edit := func(old, with string) {
		t.Helper()
		raw, err := os.ReadFile(full)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(strings.Replace(string(raw), old, with, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit("one", "one, says a human")
	if next := mustCapture(t, v, s, 0, said(1, "b", "two")); next[0].Path != path {
		t.Errorf("kept in %s", next[0].Path)
	}
	raw, _ := os.ReadFile(full)
	if !strings.Contains(string(raw), "says a human") || !strings.Contains(string(raw), "two") {
		t.Errorf("got:\n%s", raw)
	}
	edit("origin: {", "origin: {{[")
	broken := mustCapture(t, v, s, 0, said(2, "c", "three"))
	if broken[0].Path == path || broken[0].Path == "" {
		t.Errorf("beside a broken one: %v", broken)
	}
	edit("origin: {{[", "origin: {")
	edit("id: ", "id: 01JDZ3M8Q4X0W3K2V7N5T9R6BC # ")
	foreign := mustCapture(t, v, Session{Agent: "codex", ID: "s1"}, 0, said(3, "d", "four"))
	if foreign[0].Path == path || foreign[0].Path == "" {
		t.Errorf("beside a foreign one: %v", foreign)
	}
	if now, _ := os.ReadFile(full); strings.Contains(string(now), "four") {
		t.Error("a foreign file was changed")
	}
}
