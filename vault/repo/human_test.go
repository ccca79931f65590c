package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// TestHostileEnvironment: what a human has set for their own git does not reach us,
// nor does our vault look changed through it.
func TestHostileEnvironment(t *testing.T) {
	elsewhere := t.TempDir()
	git(t, elsewhere, "init", "-q")
	for k, v := range map[string]string{
		"GIT_DIR": filepath.Join(elsewhere, ".git"), "GIT_WORK_TREE": elsewhere, "GIT_INDEX_FILE": filepath.Join(elsewhere, "index"),
		"GIT_OBJECT_DIRECTORY": filepath.Join(elsewhere, "objects"), "GIT_AUTHOR_DATE": "nonsense", "GIT_CONFIG_COUNT": "1",
		"GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true", "GIT_CEILING_DIRECTORIES": "/",
	} {
		t.Setenv(k, v)
	}
	g, dir := initRepo(t)
	// The helper's HOME is the git directory: a global config of theirs.
	writeFile(t, filepath.Join(dir, ".git", ".gitconfig"), "[core]\n\tautocrlf = true\n\thooksPath = hooks-that-fail\n\tsplitIndex = true\n[commit]\n\tgpgsign = true\n")
	writeFile(t, filepath.Join(dir, ".git", "hooks", "pre-commit"), "#!/bin/sh\nexit 1\n")
	ok(t, os.Chmod(filepath.Join(dir, ".git", "hooks", "pre-commit"), 0o700))
	commit(t, g, map[string]string{".gitattributes": "* -text\n", "crlf.md": "one\r\ntwo\r\n", "lf.md": "one\ntwo\n"})
	clean(t, dir)
	commit(t, g, map[string]string{"crlf.md": "one\r\n", "lf.md": "one\n"})
	clean(t, dir)
	equal(t, "bytes in history", gitRaw(t, dir, "", "show", "HEAD:crlf.md"), "one\r\n")
	git(t, dir, "checkout", "-q", "HEAD~1")
	git(t, dir, "checkout", "-q", "main")
	equal(t, "bytes on disk", readFile(t, filepath.Join(dir, "crlf.md")), "one\r\n")
	if names, err := os.ReadDir(elsewhere); err != nil || len(names) != 1 {
		t.Errorf("written elsewhere: %v, %v", names, err)
	}
}

func TestStateSeesOperations(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	state := func(want repo.Operation) {
		t.Helper()
		s, err := g.State()
		ok(t, err)
		equal(t, "operation", s.Operation, want)
	}
	s, err := g.State()
	ok(t, err)
	equal(t, "unborn", s, repo.State{Branch: repo.Main})
	commit(t, g, map[string]string{"a.md": "base\n"})
	state(repo.NoOperation)
	git(t, dir, "checkout", "-q", "-b", "side")
	writeFile(t, filepath.Join(dir, "a.md"), "side\n")
	git(t, dir, "commit", "-qam", "side")
	git(t, dir, "format-patch", "-q", "-1", "-o", ".git/patches")
	git(t, dir, "checkout", "-q", "main")
	writeFile(t, filepath.Join(dir, "a.md"), "main\n")
	git(t, dir, "commit", "-qam", "main")
	for _, c := range []struct {
		op    repo.Operation
		args  []string
		abort []string
	}{
		{repo.Merging, []string{"merge", "side"}, []string{"merge", "--abort"}},
		{repo.Rebasing, []string{"rebase", "side"}, []string{"rebase", "--abort"}},
		{repo.Rebasing, []string{"rebase", "--apply", "side"}, []string{"rebase", "--abort"}},
		{repo.CherryPick, []string{"cherry-pick", "side"}, []string{"cherry-pick", "--abort"}},
		{repo.Applying, []string{"am", "-q", ".git/patches/0001-side.patch"}, []string{"am", "--abort"}},
		{repo.Bisecting, []string{"bisect", "start"}, []string{"bisect", "reset"}},
	} {
		gitTry(t, dir, c.args...)
		state(c.op)
		git(t, dir, c.abort...)
		state(repo.NoOperation)
	}
	writeFile(t, filepath.Join(dir, "a.md"), "later\n")
	git(t, dir, "commit", "-qam", "later")
	gitTry(t, dir, "revert", "--no-edit", "HEAD~1")
	state(repo.Reverting)
	git(t, dir, "revert", "--abort")
	git(t, dir, "checkout", "-q", "--detach")
	s, err = g.State()
	ok(t, err)
	equal(t, "detached", s.Branch, "")
	equal(t, "commit", s.Commit.String(), git(t, dir, "rev-parse", "HEAD"))
	git(t, dir, "checkout", "-q", "main")
}

// TestInitAfterCrash: whatever part of Init was done, doing it again ends well.
func TestInitAfterCrash(t *testing.T) {
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "whole")
	g, err := repo.Init(whole)
	ok(t, err)
	g.Close()
	config := readFile(t, filepath.Join(whole, ".git", "config"))
	for name, part := range map[string]func(dir string){
		"nothing":     func(string) {},
		"work tree":   func(dir string) { ok(t, os.MkdirAll(dir, 0o700)) },
		"git folder":  func(dir string) { ok(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o700)) },
		"some of it":  func(dir string) { ok(t, os.MkdirAll(filepath.Join(dir, ".git", "objects", "info"), 0o700)) },
		"config":      func(dir string) { writeFile(t, filepath.Join(dir, ".git", "config"), config) },
		"half config": func(dir string) { writeFile(t, filepath.Join(dir, ".git", "tmp_config_1"), "[co") },
		"files":       func(dir string) { writeFile(t, filepath.Join(dir, "mine.md"), "mine") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "v")
			part(dir)
			if _, err := repo.Open(dir); err == nil {
				t.Error("opened what is not whole")
			}
			g, err := repo.Init(dir)
			ok(t, err)
			setUp(t, g)
			commit(t, g, map[string]string{"a.md": "a"})
			g.Close()
			fsck(t, dir)
			g, err = repo.Init(dir) // on a repository it is Open
			ok(t, err)
			_, head, err := g.Head()
			ok(t, err)
			if head.IsZero() {
				t.Error("history is gone")
			}
			g.Close()
		})
	}
}

func TestBareRepository(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "remote.git")
	git(t, t.TempDir(), "init", "-q", "--bare", "-b", "main", dir)
	g, err := repo.OpenBare(dir)
	ok(t, err)
	defer g.Close()
	h, _ := buildCommit(t, g, plumbing.ZeroHash, 0, map[string]string{"a.md": "a"})
	ok(t, g.CompareAndSet(repo.Main, plumbing.ZeroHash, h, "push"))
	fsck(t, dir)
	equal(t, "main", git(t, dir, "rev-parse", "main"), h.String())
	if _, err := g.Scan(t.Context(), repo.ScanOptions{}); err == nil {
		t.Error("scanned a work tree that is not there")
	}
	if _, err := g.LockIndex(t.Context()); err == nil {
		t.Error("locked an index that is not there")
	}
	if _, err := repo.OpenBare(t.TempDir()); !errors.Is(err, repo.ErrNotRepository) {
		t.Errorf("opened an empty folder: %v", err)
	}
}

// TestHumanAtWork: commits by hand, between ours, keep both.
func TestHumanAtWork(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"ours.md": "1\n", "theirs.md": "1\n"})
	for range 3 {
		writeFile(t, filepath.Join(dir, "theirs.md"), readFile(t, filepath.Join(dir, "theirs.md"))+"by hand\n")
		commit(t, g, map[string]string{"ours.md": readFile(t, filepath.Join(dir, "ours.md")) + "by us\n"})
		equal(t, "status", git(t, dir, "status", "--porcelain"), " M theirs.md")
		git(t, dir, "commit", "-qam", "by hand")
		clean(t, dir)
		git(t, dir, "mv", "theirs.md", "moved.md")
		git(t, dir, "commit", "-qm", "moved")
		git(t, dir, "mv", "moved.md", "theirs.md")
		git(t, dir, "commit", "-qm", "moved back")
		git(t, dir, "gc", "-q")
	}
	equal(t, "ours", git(t, dir, "show", "HEAD:ours.md"), "1\nby us\nby us\nby us")
	equal(t, "theirs", git(t, dir, "show", "HEAD:theirs.md"), "1\nby hand\nby hand\nby hand")
}
