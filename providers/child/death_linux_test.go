package child

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestChildDiesWithUs: when we are killed, what we run is, too.
func TestChildDiesWithUs(t *testing.T) {
	note := filepath.Join(t.TempDir(), "pid")
	p := start(t, "keeper", map[string]string{"NOTE": note})
	grandchild := 0
	for deadline := time.Now().Add(10 * time.Second); grandchild == 0; time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(note); err == nil {
			grandchild, _ = strconv.Atoi(string(b))
		}
		if time.Now().After(deadline) {
			t.Fatal("it was not started: " + p.Stderr())
		}
	}
	if err := syscall.Kill(p.Pid(), syscall.SIGKILL); err != nil { // not its group
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); alive(grandchild); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it is alive")
		}
	}
}
