package repo_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// gitEnv is an environment in which no config of this machine counts.
func gitEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Human", "GIT_AUTHOR_EMAIL=human@example.com",
		"GIT_COMMITTER_NAME=Human", "GIT_COMMITTER_EMAIL=human@example.com",
	}
}

func gitCmd(ctx context.Context, dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir = dir
	c.Env = gitEnv(filepath.Join(dir, ".git"))
	return c
}

// git runs the real git in dir and returns what it prints.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := gitTry(t, dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func gitTry(t testing.TB, dir string, args ...string) (string, error) {
	c := gitCmd(context.Background(), dir, args...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		out = append(out, errs.Bytes()...)
	}
	return strings.TrimRight(string(out), "\n"), err
}

// gitIn runs git with stdin and returns what it prints.
func gitIn(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	return strings.TrimRight(gitRaw(t, dir, stdin, args...), "\n")
}

// gitRaw is gitIn for output to the byte.
func gitRaw(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	c := gitCmd(context.Background(), dir, args...)
	c.Stdin = strings.NewReader(stdin)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

// fsck fails the test unless git finds nothing wrong.
func fsck(t testing.TB, dir string) {
	t.Helper()
	out, err := gitTry(t, dir, "fsck", "--strict", "--full", "--no-dangling", "--no-progress")
	if err != nil || out != "" {
		t.Errorf("git fsck: %v\n%s", err, out)
	}
}

// initRepo makes a repository of ours and checks it when the test ends.
func initRepo(t testing.TB) (*repo.GitDir, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault")
	g, err := repo.Init(dir)
	ok(t, err)
	setUp(t, g)
	t.Cleanup(func() {
		fsck(t, dir)
		g.Close()
	})
	return g, dir
}

func openRepo(t testing.TB, dir string) *repo.GitDir {
	t.Helper()
	g, err := repo.Open(dir)
	ok(t, err)
	setUp(t, g)
	t.Cleanup(func() { g.Close() })
	return g
}

func setUp(t testing.TB, g *repo.GitDir) {
	g.Committer = repo.Signature{Name: "vade", Email: "vade@example.com"}
	g.Warn = func(msg string) { t.Log("warning:", msg) }
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// testTime is the clock of commits that write makes; it moves a second each time.
var testTime = time.Unix(1_700_000_000, 0).UTC()

func sign(n int) repo.Signature {
	return repo.Signature{Name: "vade", Email: "vade@example.com", When: testTime.Add(time.Duration(n) * time.Second)}
}

// buildCommit writes blobs, trees and a commit on top of head; "" removes a file.
func buildCommit(t testing.TB, s repo.Store, head plumbing.Hash, n int, files map[string]string) (plumbing.Hash, []repo.IndexChange) {
	t.Helper()
	var tree plumbing.Hash
	var parents []plumbing.Hash
	if !head.IsZero() {
		c, err := repo.ReadCommit(s, head)
		ok(t, err)
		tree, parents = c.Tree, []plumbing.Hash{head}
	}
	var edits []repo.Edit
	var changes []repo.IndexChange
	for path, content := range files {
		var h plumbing.Hash
		if content != "" {
			var err error
			h, err = repo.WriteBlob(s, []byte(content))
			ok(t, err)
		}
		edits = append(edits, repo.Edit{Path: path, Hash: h})
		changes = append(changes, repo.IndexChange{Path: path, Hash: h})
	}
	tree, err := repo.EditTree(s, tree, edits)
	ok(t, err)
	c := &repo.Commit{
		Tree: tree, Parents: parents, Author: sign(n), Committer: sign(n),
		Message: repo.FormatMessage("change", "", repo.Trailer{Key: "Vade-Op", Value: "test"}),
	}
	h, err := repo.WriteCommit(s, c)
	ok(t, err)
	return h, changes
}

// commit writes files and commits them, as the vault does; "" removes one.
func commit(t testing.TB, g *repo.GitDir, files map[string]string) plumbing.Hash {
	t.Helper()
	for path, content := range files {
		if content == "" {
			ok(t, g.WorkTree().Remove(path))
		}
	}
	for path, content := range files {
		if content != "" {
			ok(t, g.WorkTree().WriteFile(path, []byte(content)))
		}
	}
	_, head, err := g.Head()
	ok(t, err)
	n := 0
	if !head.IsZero() {
		n, err = repo.Count(g, plumbing.ZeroHash, head)
		ok(t, err)
	}
	h, changes := buildCommit(t, g, head, n, files)
	ok(t, g.CompareAndSet("HEAD", head, h, "test: commit"))
	index, err := g.LockIndex(context.Background())
	ok(t, err)
	ok(t, index.SpliceMove(changes, head, h))
	return h
}

// clean fails the test unless git status has nothing to say.
func clean(t testing.TB, dir string) {
	t.Helper()
	if out := git(t, dir, "status", "--porcelain"); out != "" {
		t.Errorf("git status:\n%s", out)
	}
	if out := git(t, dir, "diff", "--cached", "--stat"); out != "" {
		t.Errorf("git diff --cached:\n%s", out)
	}
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	ok(t, os.MkdirAll(filepath.Dir(path), 0o700))
	ok(t, os.WriteFile(path, []byte(content), 0o600))
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	ok(t, err)
	return string(b)
}
