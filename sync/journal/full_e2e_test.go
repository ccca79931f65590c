//go:build e2e && linux

package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"vademecum/vault"
)

// TestDiskFull: on a full disk Append says so in time and counts the loss;
// what was acknowledged is delivered when there is space again.
func TestDiskFull(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	k := &kept{Journal: Open(filepath.Join(disk, "todd", "journal"), Options{}), t: t, dir: filepath.Join(disk, "todd")}
	k.append(event(0, TurnEnd, "kept0x"))
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, bytes.Repeat([]byte("x"), 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, failed := 1, 0
	for i := 1; failed < 3; i++ {
		e := event(i, TurnEnd, fmt.Sprintf("kept%dx %s", i, strings.Repeat("word ", 4000)))
		e.Turn = fmt.Sprint(i)
		start := time.Now()
		if err := k.Append(e); err != nil {
			failed++
			if !strings.Contains(err.Error(), "no space") || time.Since(start) > time.Second {
				t.Errorf("%v after %s", err, time.Since(start))
			}
			continue
		}
		if failed > 0 {
			t.Errorf("event %d was kept after one that was not", i)
		}
		kept++
	}
	if l, err := k.Lost(); err != nil || l.Count != failed {
		t.Errorf("lost %+v %v, want %d", l, err, failed)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	var err error
	if k.vault, err = vault.Open(vault.Options{Dir: filepath.Join(t.TempDir(), "todd"), Identity: "todd"}); err != nil {
		t.Fatal(err)
	}
	defer k.vault.Close()
	k.dir = filepath.Dir(k.vault.WorkDir())
	k.drain(DrainOptions{All: true})
	got := k.text()
	for i := range kept {
		if n := strings.Count(got, fmt.Sprintf("kept%dx", i)); n != 1 {
			t.Errorf("event %d is kept %d times", i, n)
		}
	}
	if s, _ := k.Status(); s.Aside != 0 {
		t.Errorf("%d lines set aside", s.Aside)
	}
	t.Logf("%d kept, %d refused", kept, failed)
}
