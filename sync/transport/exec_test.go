package transport

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

func TestExecRunsTheUsersSSH(t *testing.T) {
	for _, tt := range []struct{ url, want string }{
		{"git@example.org:", "git@example.org git-upload-pack '"},
		{"ssh://example.org:2200", "-p 2200 example.org git-upload-pack '"},
	} {
		isolate(t)
		f := newFixture(t)
		log := fakeSSH(t)
		mustFetch(t, open(t, tt.url+f.bare, Options{Exec: true}), repo.NewMemory())
		got, err := os.ReadFile(log)
		if err != nil || !strings.HasPrefix(string(got), tt.want+f.bare) {
			t.Errorf("ssh got %q, %v; want %q", got, err, tt.want)
		}
	}
}

func TestExecReadsCoreSSHCommand(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	log := fakeSSH(t)
	git(t, f.bare, "config", "--global", "core.sshCommand", os.Getenv("GIT_SSH_COMMAND"))
	os.Unsetenv("GIT_SSH_COMMAND")
	mustFetch(t, open(t, "example.org:"+f.bare, Options{Exec: true}), repo.NewMemory())
	if _, err := os.Stat(log); err != nil {
		t.Error(err)
	}
}

func TestExecFollowsInsteadOf(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	fakeSSH(t)
	git(t, f.bare, "config", "--global", "url.git@example.org:"+filepath.Dir(f.bare)+"/.insteadOf", "git@work:")
	r := open(t, "git@work:remote.git", Options{Exec: true})
	mustFetch(t, r, repo.NewMemory())
	if want := "git@example.org:" + f.bare; !strings.Contains(r.String(), f.bare) {
		t.Errorf("got %s, want %s", r, want)
	}
}

func TestExecSSHFails(t *testing.T) {
	for words, want := range map[string]error{
		"git@host: Permission denied (publickey).":                    ErrAuth,
		"ERROR: Repository not found.":                                ErrNotFound,
		"ssh: Could not resolve hostname nowhere: Name unknown":       ErrUnreachable,
		"ssh: connect to host x port 22: Connection refused":          ErrUnreachable,
		"Host key verification failed.":                               ErrHostKey,
		"fatal: '/x' does not appear to be a git repository":          ErrNotFound,
		"bash: git-upload-pack: command not found":                    ErrUnreachable,
		"fatal: detected dubious ownership in repository at '/srv/x'": ErrAuth,
	} {
		isolate(t)
		script := filepath.Join(t.TempDir(), "ssh")
		write(t, script, "#!/bin/sh\necho \""+words+"\" >&2\nexit 255\n")
		t.Setenv("GIT_SSH_COMMAND", "sh '"+script+"'")
		_, _, err := open(t, "git@host:x", Options{Exec: true}).Refs(t.Context())
		if !errors.Is(err, want) || !strings.Contains(err.Error(), strings.Fields(words)[1]) {
			t.Errorf("%q: got %v, want %v", words, err, want)
		}
	}
}

// TestNothingSecretInArguments looks at the arguments of all children: git is a
// script that notes them.
func TestNothingSecretInArguments(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("git is a shell script here")
	}
	isolate(t)
	f := newFixture(t)
	g := serveWithToken(t, f, "todd")
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	real := strings.TrimSpace(git(t, dir, "--exec-path")) + "/git"
	script := "#!/bin/sh\necho \"$@\" >> '" + log + "'\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	u := strings.Replace(g.URL, "http://", "http://todd:"+escaped(token)+"@", 1) + "/remote.git"
	s := newGitDir(t)
	r := open(t, u, Options{Exec: true})
	first := mustFetch(t, r, s)
	second := commitTo(t, s, first, "b.md", "b")
	if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: second}}, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{token, escaped(token), "todd:"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%q is in the arguments:\n%s", secret, text)
		}
	}
}

func escaped(s string) string { return strings.ReplaceAll(s, "/", "%2F") }

func TestChildrenSeeNoRepositoryOfTheCaller(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "alias.upload-pack")
	t.Setenv("GIT_CONFIG_VALUE_0", "x")
	t.Setenv("GIT_TRACE", "1")
	t.Setenv("GIT_QUARANTINE_PATH", "/nowhere")
	defer os.Unsetenv("GIT_DIR")
	defer os.Unsetenv("GIT_CONFIG_COUNT")
	mustFetch(t, open(t, f.bare, Options{Exec: true}), repo.NewMemory())
	for _, kv := range quietEnv() {
		if strings.HasPrefix(kv, "GIT_DIR=") || strings.HasPrefix(kv, "GIT_TRACE=") || strings.HasPrefix(kv, "GIT_QUARANTINE") {
			t.Errorf("children see %s", kv)
		}
	}
}

func TestExecHTTPNeedsAGitDirectory(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	r := open(t, serveGit(t, f).URL+"/remote.git", Options{Exec: true})
	tip := mustRefs(t, r)[mainRef]
	if _, err := r.Fetch(t.Context(), repo.NewMemory(), []plumbing.Hash{tip}, nil); err == nil || !strings.Contains(err.Error(), "git directory") {
		t.Errorf("got %v", err)
	}
}

func TestParsePorcelain(t *testing.T) {
	for out, want := range map[string]string{
		"To x\n \ta:refs/heads/main\t1..2\nDone\n":                                               "",
		"To x\n!\ta:refs/heads/main\t[rejected] (stale info)\nDone\n":                            "stale info",
		"!\ta:refs/heads/main\t[remote rejected] (pre-receive hook declined)\n":                  "pre-receive hook declined",
		"!\t:refs/heads/x\t[remote rejected] (deletion prohibited)\n":                            "deletion prohibited",
		"=\ta:refs/heads/main\t[up to date]\n*\tb:refs/heads/n\t[new branch]\n garbage ! \t\t\n": "",
	} {
		got := ""
		if e := parsePorcelain(out); e != nil {
			got = e.Reason
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", out, got, want)
		}
	}
}
