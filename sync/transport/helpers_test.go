package transport

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

const mainRef = repo.Main

// contextForTests is for helpers that have no test at hand.
var contextForTests = context.Background()

// isolate gives the test, and the git commands that it and the package run, a
// home of their own. It returns that home.
func isolate(t testing.TB) string {
	t.Helper()
	home := t.TempDir()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_AUTHOR_NAME", "A")
	t.Setenv("GIT_AUTHOR_EMAIL", "a@example.org")
	t.Setenv("GIT_COMMITTER_NAME", "A")
	t.Setenv("GIT_COMMITTER_EMAIL", "a@example.org")
	t.Setenv("SSH_AUTH_SOCK", "")
	t.Setenv("NETRC", "")
	return home
}

// git runs git in dir and returns its trimmed output.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// A fixture is a bare repository.
type fixture struct {
	t       testing.TB
	bare    string
	pending []string // commands of git fast-import
}

// templates are fixtures to copy.
var templates = sync.OnceValues(func() (dir string, err error) {
	dir, err = os.MkdirTemp("", "vade-transport-test-")
	if err != nil {
		return dir, err
	}
	empty, one := filepath.Join(dir, "empty"), filepath.Join(dir, "one")
	if _, err := tryGit(dir, "init", "-q", "--bare", "-b", "main", empty); err != nil {
		return dir, err
	}
	if err := os.RemoveAll(filepath.Join(empty, "hooks")); err != nil {
		return dir, err
	}
	if err := os.CopyFS(one, os.DirFS(empty)); err != nil {
		return dir, err
	}
	return dir, fastImport(one, "commit "+mainRef+"\n"+stamp+fileCommand("one.md", "one\n"))
})

// stamp is the head of a commit: committer and message.
const stamp = "committer A <a@example.org> 1700000000 +0000\ndata 4\ntest\n"

func fileCommand(name, content string) string {
	return fmt.Sprintf("M 100644 inline %s\ndata %d\n%s\n", name, len(content), content)
}

// fastImport feeds one process what would take several for each commit.
func fastImport(dir, commands string) error {
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(commands)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git fast-import: %w: %s", err, out)
	}
	return nil
}

func removeTemplates() {
	if dir, _ := templates(); dir != "" {
		os.RemoveAll(dir)
	}
}

// newFixture makes a bare repository with one commit on main. Its fsck runs
// when the test ends.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	template, err := templates()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, bare: filepath.Join(t.TempDir(), "remote.git")}
	if err := os.CopyFS(f.bare, os.DirFS(filepath.Join(template, "one"))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { git(t, f.bare, "fsck", "--full", "--strict") })
	return f
}

// commit puts the pending files and this one into a commit on main and returns it.
func (f *fixture) commit(name, content string) plumbing.Hash {
	f.t.Helper()
	f.write(name, content)
	err := fastImport(f.bare, "commit "+mainRef+"\n"+stamp+"from "+mainRef+"^0\n"+strings.Join(f.pending, ""))
	if err != nil {
		f.t.Fatal(err)
	}
	f.pending = nil
	return f.head()
}

// write adds a file to the next commit.
func (f *fixture) write(name, content string) {
	f.pending = append(f.pending, fileCommand(name, content))
}

// head is where main is in the bare repository.
func (f *fixture) head() plumbing.Hash {
	f.t.Helper()
	return plumbing.NewHash(git(f.t, f.bare, "rev-parse", "refs/heads/main"))
}

// at is where ref is in the bare repository, zero when there is none.
func (f *fixture) at(ref string) plumbing.Hash {
	out, err := tryGit(f.bare, "rev-parse", "--verify", ref)
	if err != nil {
		return plumbing.ZeroHash
	}
	return plumbing.NewHash(out)
}

// commitTo writes a commit with one changed file on top of parent into s.
func commitTo(t testing.TB, s repo.Store, parent plumbing.Hash, name, content string) plumbing.Hash {
	t.Helper()
	h := commitLazily(t, s, parent, name, content)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return h
}

// commitLazily is commitTo without the flush.
func commitLazily(t testing.TB, s repo.Store, parent plumbing.Hash, name, content string) plumbing.Hash {
	t.Helper()
	blob, err := repo.WriteBlob(s, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	tree := plumbing.ZeroHash
	c := &repo.Commit{Message: "write " + name + "\n"}
	if !parent.IsZero() {
		p, err := repo.ReadCommit(s, parent)
		if err != nil {
			t.Fatal(err)
		}
		tree, c.Parents = p.Tree, []plumbing.Hash{parent}
	}
	if c.Tree, err = repo.EditTree(s, tree, []repo.Edit{{Path: name, Hash: blob}}); err != nil {
		t.Fatal(err)
	}
	c.Author = repo.Signature{Name: "B", Email: "b@example.org"}
	c.Committer = c.Author
	h, err := repo.WriteCommit(s, c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// open opens the remote and closes it when the test ends.
func open(t testing.TB, url string, opts Options) *Remote {
	t.Helper()
	r, err := Open(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close %s: %v", r, err)
		}
	})
	return r
}

// mustRefs lists the refs of r.
func mustRefs(t testing.TB, r *Remote) map[string]plumbing.Hash {
	t.Helper()
	refs, _, err := r.Refs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// mustFetch fetches main into s, on top of haves, and returns it.
func mustFetch(t testing.TB, r *Remote, s repo.Store, haves ...plumbing.Hash) plumbing.Hash {
	t.Helper()
	want := mustRefs(t, r)[mainRef]
	if _, err := r.Fetch(t.Context(), s, []plumbing.Hash{want}, haves); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, s, want)
	return want
}

// wantWhole checks that s holds everything that tip reaches.
func wantWhole(t testing.TB, s repo.Store, tip plumbing.Hash) {
	t.Helper()
	if err := connected(t.Context(), s, []plumbing.Hash{tip}, nil, nil); err != nil {
		t.Errorf("store is not whole: %v", err)
	}
}

// A way makes the repository of a fixture reachable, and gives its URL.
type way struct {
	name string
	url  func(t testing.TB, f *fixture) (string, Options)
}

// ways are all the transports; each test of what they share runs over every one.
func ways() []way {
	return []way{
		{"path", func(_ testing.TB, f *fixture) (string, Options) { return f.bare, Options{} }},
		{"file", func(_ testing.TB, f *fixture) (string, Options) {
			return "file://" + filepath.ToSlash(f.bare), Options{}
		}},
		{"http", func(t testing.TB, f *fixture) (string, Options) { return serveGit(t, f).URL + "/remote.git", Options{} }},
		{"ssh", func(t testing.TB, f *fixture) (string, Options) { return serveSSH(t, f).url(), Options{} }},
		{"exec ssh", func(t testing.TB, f *fixture) (string, Options) {
			fakeSSH(t)
			return "git@example.org:" + f.bare, Options{Exec: true}
		}},
		{"exec path", func(_ testing.TB, f *fixture) (string, Options) { return f.bare, Options{Exec: true} }},
		{"exec http", func(t testing.TB, f *fixture) (string, Options) {
			return serveGit(t, f).URL + "/remote.git", Options{Exec: true}
		}},
	}
}

// A storeKind makes an empty local store.
type storeKind struct {
	name string
	make func(t testing.TB) repo.Store
}

func storeKinds() []storeKind {
	return []storeKind{
		{"memory", func(testing.TB) repo.Store { return repo.NewMemory() }},
		{"gitdir", func(t testing.TB) repo.Store { return newGitDir(t) }},
	}
}

// newGitDir makes an empty vault; fsck runs when the test ends.
func newGitDir(t testing.TB) *repo.GitDir {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault")
	g, err := repo.Init(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		g.Close()
		git(t, dir, "fsck", "--full", "--strict")
	})
	return g
}

// overEvery runs test for each transport, with one kind of store or the other.
func overEvery(t *testing.T, test func(t *testing.T, f *fixture, open func() *Remote, s repo.Store)) {
	t.Helper()
	for i, w := range ways() {
		for j, k := range storeKinds() {
			if i%2 == j {
				continue // each way once, with one kind or the other
			}
			t.Run(w.name+"/"+k.name, func(t *testing.T) {
				isolate(t)
				f := newFixture(t)
				url, opts := w.url(t, f)
				test(t, f, func() *Remote { return open(t, url, opts) }, k.make(t))
			})
		}
	}
}

// hashes is a sorted copy, for comparisons.
func hashes(m map[string]plumbing.Hash) []string {
	var out []string
	for name, h := range m {
		out = append(out, name+" "+h.String())
	}
	slices.Sort(out)
	return out
}

// writeHook gives the bare repository a hook in sh.
func writeHook(t testing.TB, f *fixture, name, script string) {
	t.Helper()
	dir := filepath.Join(f.bare, "hooks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}
