//go:build npm

package mem0

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vademecum/providers/mem0"
)

const key = "m0sk_test"

// startPeer starts a Mem0 server that keeps its memories in dir, and returns its
// URL and what ends it.
func startPeer(t *testing.T, dir string) (url string, stop func()) {
	t.Helper()
	root := os.Getenv("VADE_E2E_MEM0")
	if root == "" {
		t.Fatal("VADE_E2E_MEM0 is not set: use e2e/mem0/run")
	}
	script, err := filepath.Abs("peer/server.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", script)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "MEM0_ROOT=" + root, "PEER_DIR=" + dir, "PEER_KEY=" + key}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(stop)
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the peer did not start: %v", err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(port), stop
}

func connect(t *testing.T, c mem0.Config) *mem0.Server {
	t.Helper()
	if c.Key == "" {
		c.Key = key
	}
	s, err := mem0.NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
