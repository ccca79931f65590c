package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vade": main})
}

// TestScripts plays what a person does at a shell: testdata/script/*.txtar.
// Each script has an empty HOME, two hosts (A and B, see the command "on") and
// the real git.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup:               setUpScript,
		Cmds:                scriptCommands,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

func setUpScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"HOME": home, "USERPROFILE": home, "VADE_HOME": "", "VADE_IDENTITY": "todd", "VADE_HOST": "host",
		"VADE_NO_BACKGROUND": "1", "TZ": "UTC", "NO_COLOR": "1", "EDITOR": "", "VISUAL": "",
		"GIT_CONFIG_NOSYSTEM": "1", "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "",
		"VAULT": filepath.Join(home, ".local", "share", "vade", "todd", "vault"),
		"A":     filepath.Join(env.WorkDir, "A", "todd", "vault"),
		"B":     filepath.Join(env.WorkDir, "B", "todd", "vault"),
		"C":     filepath.Join(env.WorkDir, "C", "todd", "vault"),
	} {
		env.Setenv(name, value)
	}
	gitconfig := "[user]\n\tname = Todd\n\temail = todd@example.com\n[init]\n\tdefaultBranch = main\n[safe]\n\tdirectory = *\n"
	return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitconfig), 0o600)
}

var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	// on HOST: the commands that follow are HOST's.
	"on": func(ts *testscript.TestScript, _ bool, args []string) {
		ts.Setenv("VADE_HOME", ts.MkAbs(args[0]))
		ts.Setenv("VADE_HOST", args[0])
		ts.Setenv("VAULT", filepath.Join(ts.MkAbs(args[0]), "todd", "vault"))
	},
	// memory VARIABLE GLOB: sets VARIABLE to the one file of the present vault
	// that GLOB names.
	"memory": func(ts *testscript.TestScript, neg bool, args []string) {
		found, err := filepath.Glob(filepath.Join(ts.Getenv("VAULT"), filepath.FromSlash(args[1])))
		ts.Check(err)
		if neg {
			if len(found) > 0 {
				ts.Fatalf("%s is there: %v", args[1], found)
			}
			return
		}
		if len(found) != 1 {
			ts.Fatalf("%d files match %s: %v", len(found), args[1], found)
		}
		ts.Setenv(args[0], found[0])
	},
	// append FILE TEXT: adds a line as an editor would.
	"append": func(ts *testscript.TestScript, _ bool, args []string) {
		f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		ts.Check(err)
		_, err = f.WriteString(args[1] + "\n")
		ts.Check(err)
		ts.Check(f.Close())
	},
	// replace FILE OLD NEW: changes text in a file in place.
	"replace": func(ts *testscript.TestScript, _ bool, args []string) {
		path := ts.MkAbs(args[0])
		raw, err := os.ReadFile(path)
		ts.Check(err)
		if !strings.Contains(string(raw), args[1]) {
			ts.Fatalf("%s does not hold %q:\n%s", args[0], args[1], raw)
		}
		ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(raw), args[1], args[2])), 0o600))
	},
	// clean: the present vault is what its history says, and git finds no fault.
	"clean": func(ts *testscript.TestScript, _ bool, _ []string) {
		vault := ts.Getenv("VAULT")
		ts.Check(ts.Exec("git", "-C", vault, "status", "--porcelain"))
		if out := ts.ReadFile("stdout"); out != "" {
			ts.Fatalf("git status is not clean:\n%s", out)
		}
		ts.Check(ts.Exec("git", "-C", vault, "fsck", "--strict", "--no-dangling", "--no-progress"))
		if out := ts.ReadFile("stdout") + ts.ReadFile("stderr"); out != "" {
			ts.Fatalf("git fsck:\n%s", out)
		}
	},
	// same HOST HOST…: the trees of the hosts are equal and hold no marker.
	"same": func(ts *testscript.TestScript, _ bool, args []string) {
		trees := map[string][]string{}
		for _, host := range args {
			ts.Check(ts.Exec("git", "-C", ts.Getenv(host), "rev-parse", "HEAD^{tree}"))
			tree := strings.TrimSpace(ts.ReadFile("stdout"))
			trees[tree] = append(trees[tree], host)
			if ts.Exec("git", "-C", ts.Getenv(host), "grep", "-l", "^<<<<<<<") == nil {
				ts.Fatalf("%s holds conflict markers in %s", host, ts.ReadFile("stdout"))
			}
		}
		if len(trees) != 1 {
			ts.Fatalf("the hosts differ: %v", trees)
		}
	},
	// setvar VARIABLE: sets VARIABLE to the last output.
	"setvar": func(ts *testscript.TestScript, _ bool, args []string) {
		ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
	},
}
