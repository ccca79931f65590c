package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vademecum/vault"
)

// shell runs vade as processes of their own on one home.
type shell struct {
	t    *testing.T
	home string
	host string
}

func newShell(t *testing.T, host string) *shell {
	return &shell{t: t, home: filepath.Join(t.TempDir(), host), host: host}
}

func (s *shell) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), "vade", args...)
	cmd.Dir = s.t.TempDir()
	cmd.Env = append(os.Environ(),
		"HOME="+s.home, "VADE_HOME="+s.home, "VADE_IDENTITY=todd", "VADE_HOST="+s.host, "VADE_NO_BACKGROUND=1",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	return cmd
}

// vade runs a command that must succeed and returns its output.
func (s *shell) vade(args ...string) string {
	s.t.Helper()
	cmd := s.command(args...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("vade %s: %v\n%s%s", strings.Join(args, " "), err, out.Bytes(), stderr.Bytes())
	}
	return out.String()
}

func (s *shell) vaultDir() string { return filepath.Join(s.home, "todd", "vault") }

func (s *shell) git(args ...string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), "git", append([]string{"-C", s.vaultDir()}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// clean proves that disk, index and history agree and that git finds no fault.
func (s *shell) clean() {
	s.t.Helper()
	if out := s.git("status", "--porcelain"); out != "" {
		s.t.Errorf("git status:\n%s", out)
	}
	if out := s.git("fsck", "--strict", "--no-dangling", "--no-progress"); out != "" {
		s.t.Errorf("git fsck:\n%s", out)
	}
}

// TestParallelRemember: 20 processes at once make 20 memories, no error, and
// no more than 20 commits.
func TestParallelRemember(t *testing.T) {
	s := newShell(t, "laptop")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if out, err := s.command("remember", "--title", fmt.Sprintf("Fact %d", i), fmt.Sprintf("the parallel zebra has number n%dx", i)).CombinedOutput(); err != nil {
				t.Errorf("remember %d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	var answer recallAnswer
	if err := json.Unmarshal([]byte(s.vade("recall", "--json", "--limit", "30", "parallel zebra")), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Hits) != 20 {
		t.Errorf("got %d hits, want 20", len(answer.Hits))
	}
	if n := s.git("rev-list", "--count", "HEAD"); len(n) > 2 || n > "20" {
		t.Errorf("%s commits, want at most 20", n)
	}
	s.clean()
}

// TestKilledAtAnyMoment kills remember, edit, sync and reindex at random
// moments: nothing that was acknowledged is lost, no file is half, and the
// next command just works. The e2e tests do it more often.
func TestKilledAtAnyMoment(t *testing.T) {
	kills := 24
	if testing.Short() {
		kills = 8
	}
	killAtRandom(t, kills)
}

func killAtRandom(t *testing.T, kills int) {
	s := newShell(t, "laptop")
	remote := filepath.Join(t.TempDir(), "remote.git")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", remote).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.vade("remember", "--title", "Edited", "version0x")
	s.vade("remote", "set", remote)
	k := &killer{s: s, want: map[string]bool{}}
	slowest := k.time()
	for n := 0; k.killed < kills && n < 10*kills; n++ {
		k.step(n, time.Duration(rand.Int64N(int64(slowest))))
	}
	if k.killed < kills {
		t.Fatalf("only %d of %d were killed in time", k.killed, kills)
	}
	k.check(t)
}

// killer counts what was acknowledged before the kill.
type killer struct {
	s      *shell
	killed int
	want   map[string]bool // words that must be found
	edited string          // the last acknowledged version of the edited memory
}

// time is how long a write takes here, so that kills fall into it.
func (k *killer) time() time.Duration {
	start := time.Now()
	k.s.vade("remember", "a first one to see how long it takes")
	return time.Since(start) * 5 / 4
}

func (k *killer) step(n int, after time.Duration) {
	word := fmt.Sprintf("ack%dx", n)
	args := [][]string{
		{"remember", "--json", "--title", word, word},
		{"remember", "--json", "--title", word, word},
		{"edit", "--json", "Edited", "--body", word},
		{"sync", "--json"},
		{"reindex", "--full", "--json"},
	}[n%5]
	cmd := k.s.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		k.s.t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	var r vault.Receipt
	acknowledged := json.Unmarshal(out.Bytes(), &r) == nil && r.Saved && r.Commit != ""
	exit, _ := errors.AsType[*exec.ExitError](err)
	switch {
	case exit != nil && exit.ExitCode() == -1:
		k.killed++
	case err != nil:
		k.s.t.Fatalf("vade %s: %v\n%s", strings.Join(args, " "), err, out.Bytes())
	}
	switch {
	case acknowledged && args[0] == "remember":
		k.want[word] = true
	case acknowledged && args[0] == "edit":
		k.edited = word
	}
}

func (k *killer) check(t *testing.T) {
	s := k.s
	s.vade("remember", "and the next command just works")
	text := readAll(t, s.vaultDir())
	for word := range k.want {
		if !strings.Contains(text, word) {
			t.Errorf("%s was acknowledged and is lost", word)
		}
	}
	if log := s.git("log", "-p", "--format=%s"); !strings.Contains(log, k.edited) {
		t.Errorf("the edit %s was acknowledged and is not in history", k.edited)
	}
	s.vade("sync")
	s.vade("sync")
	s.clean()
	s.vade("doctor", "--fix")
	var d doctorView
	if err := json.Unmarshal([]byte(s.vade("doctor", "--json")), &d); err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Findings {
		if f.State == stateBad {
			t.Errorf("doctor: %+v", f)
		}
	}
	if d.Counts["vault"] != d.Counts["head"] || d.Counts["vault"] != d.Counts["index"] || d.Counts["vault"] != d.Counts["remote"] {
		t.Errorf("counts differ: %v", d.Counts)
	}
	t.Logf("%d killed, %d acknowledged", k.killed, len(k.want))
}

// readAll is the text of every memory below dir, each of which must be whole.
func readAll(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(dir, "memories"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		data, err := os.ReadFile(path)
		if m := vault.ParseDocument(data).Memory(); m.ID == "" || m.Broken != nil || m.Body == "" {
			t.Errorf("%s is half a file:\n%s", path, data)
		}
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
