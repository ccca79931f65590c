package journal

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"vademecum/vault"
)

// TestMain is also the process that gets killed: it appends or drains until then.
func TestMain(m *testing.M) {
	switch dir := os.Getenv("JOURNAL_DIR"); os.Getenv("JOURNAL_DO") {
	case "append":
		appendForEver(dir)
	case "drain":
		drainForEver(dir)
	}
	os.Exit(m.Run())
}

// appendForEver says which events Append has acknowledged, a line each. Every
// third ends a turn.
func appendForEver(dir string) {
	j := Open(filepath.Join(dir, "journal"), Options{Timeout: 10 * time.Second})
	from, _ := strconv.Atoi(os.Getenv("JOURNAL_FROM"))
	for n := from; ; n++ {
		e := Event{Kind: Answer, Agent: "codex", Session: "s" + strconv.Itoa(os.Getpid()%3), Turn: strconv.Itoa(n / 3), Text: fmt.Sprintf("event%dx", n)}
		if n%3 == 2 {
			e.Kind = TurnEnd
		}
		if err := j.Append(e); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

func drainForEver(dir string) {
	v, err := vault.Open(vault.Options{Dir: dir, Identity: "todd"})
	if err != nil {
		panic(err)
	}
	fmt.Println("draining")
	j := Open(filepath.Join(dir, "journal"), Options{Lease: 50 * time.Millisecond, Attempts: 1000})
	for {
		if _, err := j.Drain(context.Background(), DrainOptions{}, &Capture{Vault: v}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// child runs until it is killed, life after it began, and returns what it said.
func child(t *testing.T, dir, do string, from int, life time.Duration) (said []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "JOURNAL_DO="+do, "JOURNAL_DIR="+dir, "JOURNAL_FROM="+strconv.Itoa(from))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		if said == nil {
			defer time.AfterFunc(life, func() { _ = cmd.Process.Kill() }).Stop()
		}
		said = append(said, s.Text())
	}
	_ = cmd.Wait()
	if stderr.Len() > 0 {
		t.Logf("%s: %s", do, stderr.String())
	}
	return said
}

// TestKilledAnywhere: whatever is killed in the middle of an append or a
// drain, what Append acknowledged is kept once.
func TestKilledAnywhere(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 3
	}
	dir := filepath.Join(t.TempDir(), "todd")
	acked := map[string]bool{}
	for round := range rounds {
		results := make(chan []string)
		for w := range 2 {
			go func() {
				life := time.Duration(40+rand.IntN(200)) * time.Millisecond
				results <- child(t, dir, "append", (2*round+w)*100_000, life)
			}()
		}
		go func() {
			results <- nil
			child(t, dir, "drain", 0, time.Duration(60+rand.IntN(200))*time.Millisecond)
			results <- nil
		}()
		for range 4 {
			for _, n := range <-results {
				acked[n] = true
			}
		}
	}
	k := &kept{Journal: Open(filepath.Join(dir, "journal"), Options{}), t: t, dir: dir}
	var err error
	if k.vault, err = vault.Open(vault.Options{Dir: dir, Identity: "todd"}); err != nil {
		t.Fatal(err)
	}
	defer k.vault.Close()
	time.Sleep(60 * time.Millisecond) // the leases of the killed are over
	if d := k.drain(DrainOptions{All: true}); d.Failed != 0 {
		t.Errorf("got %+v", d)
	}
	got := k.text()
	for n := range acked {
		if c := strings.Count(got, "event"+n+"x"); c != 1 {
			t.Errorf("event %s was acknowledged and is kept %d times", n, c)
		}
	}
	if len(acked) < 2*rounds {
		t.Errorf("only %d events in %d rounds", len(acked), rounds)
	}
	if s, err := k.Status(); err != nil || s.Bytes != 0 || s.Waiting() != 0 || s.Aside != 0 {
		t.Errorf("status %+v %v", s, err)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", k.vault.WorkDir(), "fsck", "--strict", "--no-dangling", "--no-progress").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("git fsck: %v\n%s", err, out)
	}
	t.Logf("%d events acknowledged", len(acked))
}
