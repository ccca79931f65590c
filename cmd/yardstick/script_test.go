package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestVadeBench plays vade bench with tiny sizes: testdata/script/*.txtar. It
// builds the programs, as people do.
func TestVadeBench(t *testing.T) {
	if testing.Short() {
		t.Skip("builds three programs")
	}
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin+string(filepath.Separator), "vademecum/cmd/vade", "vademecum/cmd/yardstick/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("GOCACHE", goCache())
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"xml": checkXML},
	})
}

// goCache is where this machine's go keeps what it built: HOME is another in scripts.
func goCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "go-build")
}

// checkXML FILE…: each is well formed.
func checkXML(ts *testscript.TestScript, _ bool, files []string) {
	for _, file := range files {
		f, err := os.Open(ts.MkAbs(file))
		ts.Check(err)
		defer f.Close()
		d := xml.NewDecoder(f)
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				ts.Fatalf("%s: %v", file, err)
			}
		}
	}
}
