package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vademecum/providers"
	"vademecum/providers/jsonrpc"
	"vademecum/providers/providertest"
)

// TestMain is also the broken programs.
func TestMain(m *testing.M) {
	if os.Getenv("TWIST") != "" {
		if err := twisted(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if to := os.Getenv("BLURT"); to != "" {
		blurt(to)
	}
	code := m.Run()
	if dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// blurt repeats the secret that it was given, where what is quoted of it is cut.
func blurt(to string) {
	out := os.Stdout
	if to == "err" {
		out = os.Stderr
	}
	secret := os.Getenv("CANARY")
	fmt.Fprintln(out, strings.Repeat("x", 66), secret, strings.Repeat("y", 290))
	if to == "out" {
		time.Sleep(time.Hour)
	}
	os.Exit(3)
}

var dir string // of the example

// example builds the Go example once.
var example = sync.OnceValues(func() (string, error) {
	var err error
	if dir, err = os.MkdirTemp("", "example-"); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "provider.exe")
	out, err := exec.Command("go", "build", "-o", program, "vademecum/examples/provider-go").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

// failed are the names of the checks that did.
func failed(r Report) (names []string) {
	for _, c := range r.Checks {
		if c.Outcome == Failed {
			names = append(names, c.Name)
		}
	}
	return names
}

func table(t *testing.T, r Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.Table(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGoExamplePasses(t *testing.T) {
	program, err := example()
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []jsonrpc.Mode{jsonrpc.Auto, jsonrpc.OneShot} {
		t.Run(string(mode), func(t *testing.T) {
			began := 0
			r := Run(t.Context(), Options{Command: program, Mode: mode, Soak: 60, Began: func(string) { began++ }})
			if !r.OK() || r.Passed+r.Skipped != len(checks()) || began != len(checks()) {
				t.Errorf("%d began\n%s", began, table(t, r))
			}
			wantSkipped := 0
			if mode == jsonrpc.OneShot {
				wantSkipped = 3 // cancel, concurrency, killed
			}
			if r.Skipped > wantSkipped {
				t.Errorf("skipped %d\n%s", r.Skipped, table(t, r))
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBrokenProgramsFailTheirCheck: each for its own reason, and for no other.
func TestBrokenProgramsFailTheirCheck(t *testing.T) {
	program, err := example()
	if err != nil {
		t.Fatal(err)
	}
	for name, twist := range twists {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && twist.check != "malformed-line" {
				t.Skip("one is enough")
			}
			soak := 8
			if twist.check == "soak" {
				soak = 40
			}
			r := Run(t.Context(), Options{Command: os.Args[0], Env: map[string]string{"TWIST": name, "PROGRAM": program}, Soak: soak})
			if got := failed(r); !slices.Equal(got, []string{twist.check}) {
				t.Errorf("failed %v, want %s\n%s", got, twist.check, table(t, r))
			}
		})
	}
}

func TestWhatDoesNotRun(t *testing.T) {
	for _, o := range []Options{
		{Command: "no-such-program-anywhere"},
		{Command: os.Args[0], Env: map[string]string{"TWIST": "there is none"}},
	} {
		r := Run(t.Context(), o)
		if got := failed(r); !slices.Equal(got, []string{"handshake"}) || len(r.Checks) != 1 {
			t.Errorf("%s", table(t, r))
		}
	}
}

// TestReportsHideWhatTheProgramWasGiven: people paste a report, and CI keeps it.
func TestReportsHideWhatTheProgramWasGiven(t *testing.T) {
	const canary = "hunter2canaryhunter2"
	for talk, says := range map[string]string{"out": "no answer within 1s; stdout is for answers only", "err": "exit status 3; it said: "} {
		r := Run(t.Context(), Options{Command: os.Args[0], Timeout: time.Second, Env: map[string]string{"BLURT": talk, "CANARY": canary}})
		got := table(t, r)
		if strings.Contains(got, "canary") || strings.Contains(got, "hunter2") || !strings.Contains(got, says) {
			t.Errorf("%s: want %q and no secret in\n%s", talk, says, got)
		}
	}
}

// TestProviderSuite: the Go example behind the adapter is a provider like any
// other.
func TestProviderSuite(t *testing.T) {
	program, err := example()
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []jsonrpc.Mode{jsonrpc.LongLived, jsonrpc.OneShot} {
		t.Run(string(mode), func(t *testing.T) {
			providertest.Run(t, providertest.Config{New: func(t *testing.T) providers.Provider {
				p, err := jsonrpc.Open(t.Context(), jsonrpc.Config{Name: "own", Command: program, Dir: t.TempDir(), Mode: mode})
				if err != nil {
					t.Fatal(err)
				}
				return p
			}})
		})
	}
}
