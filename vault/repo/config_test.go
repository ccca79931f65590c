package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vademecum/vault/repo"
)

const oddConfig = `# a comment
[core]
	repositoryformatversion = 0
	filemode = true ; another
	bare = false

[user]
	name = "Max  # Muster" # comment
	email=max@example.com
[remote "origin"]
	url = https://example.com/a.git	; trailing
	fetch = +refs/heads/*:refs/remotes/origin/*
[remote "we \"ird\\ name"]
	url = "spaces at end  "
[branch.main]
	remote = origin
[alias] co = checkout
[alias]
	long = log \
		--oneline
	flag
	empty =
	esc = "a\tb\nc\\d\"e"
[http] ; nothing in it
`

func TestConfigIsReadAsGitReadsIt(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	for _, text := range []string{oddConfig, strings.ReplaceAll(oddConfig, "\n", "\r\n"), "\ufeff" + oddConfig} {
		ok(t, os.WriteFile(filepath.Join(dir, ".git", "config"), []byte(text), 0o600))
		for _, key := range []string{
			"core.fileMode", "user.name", "user.email", "remote.origin.url", "remote.origin.fetch", `remote.we "ird\ name.url`,
			"branch.main.remote", "alias.co", "alias.long", "alias.empty", "alias.esc", "none.at", "user.nothing",
		} {
			want, err := gitTry(t, dir, "config", "--local", "--get", key)
			if key == `remote.we "ird\ name.url` {
				want += "  " // which the helper cuts off
			}
			v, found, gerr := g.Config(key)
			ok(t, gerr)
			equal(t, key+" is there", found, err == nil)
			v = strings.ReplaceAll(v, "\t\t", "  ") // as git before 2.45
			if err == nil && strings.TrimRight(v, " ") != strings.TrimRight(want, " ") {
				t.Errorf("%s: got %q, git says %q", key, v, want)
			}
		}
		v, _, err := g.Config("alias.flag")
		ok(t, err)
		equal(t, "a name alone", v, "true")
	}
	for _, text := range []string{"[core", "[core]\n\tx = \"open", "[core]\n1x = 2", "[a \"b]\n", "[core]\nx = \\q\n"} {
		ok(t, os.WriteFile(filepath.Join(dir, ".git", "config"), []byte(text), 0o600))
		_, _, err := g.Config("core.x")
		if _, found := errors.AsType[*repo.ConfigError](err); !found {
			t.Errorf("%q: got %v", text, err)
		}
		if _, err := gitTry(t, dir, "config", "--local", "--list"); err == nil {
			t.Errorf("git takes %q", text)
		}
	}
	ok(t, os.WriteFile(filepath.Join(dir, ".git", "config"), []byte("[core]\n\tbare = false\n"), 0o600))
}

func TestConfigEditsKeepTheRest(t *testing.T) {
	g, dir := initRepo(t)
	path := filepath.Join(dir, ".git", "config")
	for _, eol := range []string{"\n", "\r\n"} {
		text := strings.ReplaceAll(oddConfig, "\n", eol)
		change := func(what string, edit func() error, want string) {
			t.Helper()
			ok(t, os.WriteFile(path, []byte(text), 0o600))
			ok(t, edit())
			if diff := cmp.Diff(strings.ReplaceAll(want, "\n", eol), readFile(t, path)); diff != "" {
				t.Errorf("%s:\n%s", what, diff)
			}
		}
		replace := func(old, new string) string { return strings.Replace(oddConfig, old, new, 1) }
		change("replace", func() error { return g.SetConfig("user.name", "New; Name") },
			replace(`name = "Max  # Muster" # comment`, `name = "New; Name" # comment`))
		change("replace url", func() error { return g.SetRemote("origin", "git@example.com:b.git") },
			replace("https://example.com/a.git	; trailing", "git@example.com:b.git	; trailing"))
		change("the same", func() error { return g.SetConfig("user.email", "max@example.com") },
			replace("email=max@", "email = max@"))
		change("add to a section", func() error { return g.SetConfig("user.signingKey", "x") },
			replace("email=max@example.com\n", "email=max@example.com\n\tsigningKey = x\n"))
		change("add to an empty section", func() error { return g.SetConfig("http.proxy", "x") }, oddConfig+"\tproxy = x\n")
		change("add a section", func() error { return g.SetConfig("vade.id", `a"b\c`) }, oddConfig+"[vade]\n\tid = a\\\"b\\\\c\n")
		change("unset", func() error { return g.UnsetConfig("user.email") }, replace("\temail=max@example.com\n", ""))
		change("unset beside a header", func() error { return g.UnsetConfig("alias.co") }, replace("[alias] co = checkout", "[alias] "))
		change("unset what is not there", func() error { return g.UnsetConfig("user.none") }, oddConfig)
		change("remove a remote", func() error { return g.RemoveRemote("origin") },
			replace("[remote \"origin\"]\n\turl = https://example.com/a.git	; trailing\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n", ""))
		change("add a remote", func() error { return g.SetRemote("backup", "/srv/vault.git") },
			oddConfig+"[remote \"backup\"]\n\turl = /srv/vault.git\n\tfetch = +refs/heads/*:refs/remotes/backup/*\n")
	}
	equal(t, "git reads it", git(t, dir, "config", "--get", "remote.backup.url"), "/srv/vault.git")
	remotes, err := g.Remotes()
	ok(t, err)
	if diff := cmp.Diff([]repo.Remote{
		{Name: "origin", URL: "https://example.com/a.git"},
		{Name: `we "ird\ name`, URL: "spaces at end  "},
		{Name: "backup", URL: "/srv/vault.git"},
	}, remotes); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "a b", "../x", "a\nb", `q"`} {
		if err := g.SetRemote(bad, "/x"); err == nil {
			t.Errorf("remote %q was made", bad)
		}
	}
	for _, key := range []string{"", "x", "user.", ".x", "user.na me", "user.1x", "a\nb.c"} {
		if err := g.SetConfig(key, "x"); err == nil {
			t.Errorf("key %q was set", key)
		}
	}
	ok(t, os.WriteFile(path, []byte("[core]\n\tbare = false\n"), 0o600))
}

// TestConfigValuesSurvive: whatever is set, git and we read it back.
func TestConfigValuesSurvive(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	for _, v := range []string{"", "plain", " lead", "trail ", "a#b", "a;b", `"quoted"`, `back\slash\`, "tab\there", "line\nbreak", "데이터", "a = b", "[x]", "cr\rx"} {
		ok(t, g.SetConfig("vade.test", v))
		got, found, err := g.Config("vade.test")
		ok(t, err)
		if !found || got != v {
			t.Errorf("%q: read back %q", v, got)
		}
		if out := gitRaw(t, dir, "", "config", "--get", "-z", "vade.test"); out != v+"\x00" {
			t.Errorf("%q: git reads %q", v, out)
		}
	}
}

func TestUnsupportedRepositories(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, feature string
		setUp         func(t *testing.T, dir string)
	}{
		{"sha256", "sha256", func(t *testing.T, dir string) {
			ok(t, os.RemoveAll(filepath.Join(dir, ".git")))
			git(t, dir, "init", "-q", "--object-format=sha256")
		}},
		{"reftable", "reftable", func(t *testing.T, dir string) {
			git(t, dir, "config", "core.repositoryformatversion", "1")
			git(t, dir, "config", "extensions.refStorage", "reftable")
		}},
		{"sparse", "sparse", func(t *testing.T, dir string) { git(t, dir, "sparse-checkout", "set", "a") }},
		{"split index", "split", func(t *testing.T, dir string) { git(t, dir, "config", "core.splitIndex", "true") }},
		{"partial", "partial", func(t *testing.T, dir string) { git(t, dir, "config", "remote.origin.promisor", "true") }},
		{"shallow", "shallow", func(t *testing.T, dir string) {
			other := filepath.Join(t.TempDir(), "other")
			git(t, dir, "clone", "-q", "file://"+dir, other)
			git(t, dir, "fetch", "-q", "--depth=1", "--update-shallow", "file://"+other)
		}},
		{"unknown extension", "futureThing", func(t *testing.T, dir string) {
			git(t, dir, "config", "core.repositoryformatversion", "1")
			git(t, dir, "config", "extensions.futureThing", "true")
		}},
		{"version", "version 2", func(t *testing.T, dir string) { git(t, dir, "config", "core.repositoryformatversion", "2") }},
		{"elsewhere", "core.worktree", func(t *testing.T, dir string) { git(t, dir, "config", "core.worktree", t.TempDir()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			git(t, dir, "init", "-q", "-b", "main")
			for _, m := range []string{"a", "b"} {
				writeFile(t, filepath.Join(dir, "x.md"), m)
				git(t, dir, "add", "x.md")
				git(t, dir, "commit", "-qm", m)
			}
			c.setUp(t, dir)
			_, err := repo.Open(dir)
			e, found := errors.AsType[*repo.UnsupportedError](err)
			if !found || !strings.Contains(strings.ToLower(e.Feature), strings.ToLower(c.feature)) || e.Remedy == "" {
				t.Errorf("got %v", err)
			}
		})
	}
}
