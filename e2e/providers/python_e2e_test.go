//go:build npm

package providers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vademecum/providers/jsonrpc"
	"vademecum/providers/jsonrpc/conformance"
)

// TestPythonExamplePasses the conformance kit, in both modes.
func TestPythonExamplePasses(t *testing.T) {
	program, err := filepath.Abs("../../examples/provider-python/provider.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []jsonrpc.Mode{jsonrpc.LongLived, jsonrpc.OneShot} {
		t.Run(string(mode), func(t *testing.T) {
			if _, err := os.Stat(program); err != nil {
				t.Fatal(err)
			}
			soak := 200
			if mode == jsonrpc.OneShot {
				soak = 20 // a process for each
			}
			r := conformance.Run(t.Context(), conformance.Options{Command: python(t), Args: []string{"-IS", program}, Mode: mode, Soak: soak})
			var table strings.Builder
			if err := r.Table(&table); err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + table.String())
			if !r.OK() || r.Passed < 25 {
				t.Error("it does not pass")
			}
		})
	}
}

// python is the interpreter itself: what is first in PATH may be a script that
// takes ten times as long to find it.
func python(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatalf("python3: %v", err)
	}
	return strings.TrimSpace(string(out))
}
