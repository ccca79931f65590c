package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeTranscripts writes transcripts of Pi, which has no ids of turns, each
// of whose answers has a word of its own.
func writeTranscripts(t *testing.T, dir string, sessions, turns int) (files []string) {
	t.Helper()
	for s := range sessions {
		var b strings.Builder
		fmt.Fprintf(&b, `{"type":"session","id":"s%d","timestamp":"2026-11-01T09:00:00Z","cwd":"/w"}`+"\n", s)
		for n := range turns {
			at := time.Date(2026, 11, 1, 9, s, n, 0, time.UTC).Format(time.RFC3339)
			fmt.Fprintf(&b, `{"type":"message","timestamp":%q,"message":{"role":"user","content":"What is part %d of plan %d?"}}`+"\n", at, n, s)
			fmt.Fprintf(&b, `{"type":"message","timestamp":%q,"message":{"role":"assistant","content":[{"type":"text","text":"It is word%dx%dx, and nothing else would do."}]}}`+"\n", at, s, n)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", s))
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	return files
}

// TestKilledBackfill kills backfills at random moments: the next one takes
// what is missing, and nothing twice.
func TestKilledBackfill(t *testing.T) {
	s := newShell(t, "laptop")
	const sessions, turns = 12, 8
	args := append([]string{"backfill", "--agent", "pi"}, writeTranscripts(t, t.TempDir(), sessions, turns)...)
	killed := 0
	for range 12 {
		cmd := s.command(args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(rand.Int64N(int64(150*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		if cmd.Wait() != nil {
			killed++
		}
		timer.Stop()
	}
	s.vade(append(args, "--again")...)
	var done backfill
	if err := json.Unmarshal([]byte(s.vade(append(args, "--again", "--json")...)), &done); err != nil {
		t.Fatal(err)
	}
	if got := done.Agents[0]; got.Added != 0 || got.Known != sessions*turns {
		t.Errorf("another run: %+v", got)
	}
	var all strings.Builder
	paths, _ := filepath.Glob(filepath.Join(s.vaultDir(), "sessions", "*", "*", "*.md"))
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(raw)
	}
	for n := range sessions * turns {
		word := fmt.Sprintf("word%dx%dx", n/turns, n%turns)
		if c := strings.Count(all.String(), word); c != 1 {
			t.Errorf("%s is there %d times", word, c)
		}
	}
	s.clean()
	t.Logf("%d killed", killed)
}
