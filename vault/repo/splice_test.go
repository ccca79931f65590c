package repo_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vademecum/vault/repo"
)

// TestSpliceVariants splices into every kind of index that git makes, and then
// lets git judge.
func TestSpliceVariants(t *testing.T) {
	t.Parallel()
	long := "memories/" + strings.Repeat("long/", 1000) + "name.md" // does not fit the 12 bits of the entry
	for _, c := range []struct {
		name  string
		setUp func(t *testing.T, dir string)
		after string // git ls-files that must be there besides
	}{
		{name: "v2"},
		{name: "v3 intent to add", after: "hinted.md", setUp: func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "hinted.md"), "x")
			git(t, dir, "add", "-N", "hinted.md")
		}},
		{name: "v4", setUp: func(t *testing.T, dir string) { git(t, dir, "update-index", "--index-version", "4") }},
		{name: "v4 intent to add", after: "hinted.md", setUp: func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "hinted.md"), "x")
			git(t, dir, "add", "-N", "hinted.md")
			git(t, dir, "update-index", "--index-version", "4")
		}},
		{name: "untracked cache", setUp: func(t *testing.T, dir string) {
			git(t, dir, "update-index", "--untracked-cache")
			git(t, dir, "status")
		}},
		{name: "fsmonitor", setUp: func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, ".git", "monitor"), "#!/bin/sh\nprintf '2\\000/\\000'\n")
			ok(t, os.Chmod(filepath.Join(dir, ".git", "monitor"), 0o700))
			git(t, dir, "config", "core.fsmonitor", ".git/monitor")
			git(t, dir, "update-index", "--fsmonitor")
			git(t, dir, "status")
		}},
		{name: "tree extension", setUp: func(t *testing.T, dir string) { git(t, dir, "read-tree", "HEAD") }},
		{name: "offset tables", setUp: func(t *testing.T, dir string) {
			git(t, dir, "config", "index.threads", "2")
			git(t, dir, "config", "index.recordEndOfIndexEntries", "true")
			git(t, dir, "config", "index.recordOffsetTable", "true")
			git(t, dir, "read-tree", "HEAD")
		}},
		{name: "no index", setUp: func(t *testing.T, dir string) { ok(t, os.Remove(filepath.Join(dir, ".git", "index"))) }},
		{name: "long name", after: long, setUp: func(t *testing.T, dir string) {
			h := gitIn(t, dir, "x", "hash-object", "-w", "--stdin")
			git(t, dir, "update-index", "--add", "--cacheinfo", "100644,"+h+","+long)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, dir := initRepo(t)
			commit(t, g, map[string]string{"a.md": "a", "m/2026/b.md": "b", "m/2026/c.md": "c", "m/2027/d.md": "d"})
			git(t, dir, "status")
			if c.setUp != nil {
				c.setUp(t, dir)
			}
			before := git(t, dir, "status", "--porcelain", "-uno")
			if c.name == "no index" {
				before = "" // we make one from HEAD, as git reset does
			}
			commit(t, g, map[string]string{"m/2026/b.md": "b2", "m/2026/b1.md": "new", "m/2027/d.md": ""})
			equal(t, "status", git(t, dir, "status", "--porcelain", "-uno"), before)
			want := "a.md\nm/2026/b.md\nm/2026/b1.md\nm/2026/c.md"
			if c.after != "" && c.after < "m/2026" {
				want = "a.md\n" + c.after + "\n" + strings.TrimPrefix(want, "a.md\n")
			} else if c.after != "" {
				want += "\n" + c.after
				want = strings.Join(sortedLines(want), "\n")
			}
			equal(t, "files", git(t, dir, "ls-files"), want)
			fsck(t, dir)
			git(t, dir, "reset", "-q")
			equal(t, "status after reset", git(t, dir, "status", "--porcelain", "-uno"), "")
		})
	}
}

func sortedLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		for j := range lines[:i] {
			if lines[i] < lines[j] {
				lines[i], lines[j] = lines[j], lines[i]
			}
		}
	}
	return lines
}

func TestSpliceRefusesWhatItCannotWrite(t *testing.T) {
	g, dir := initRepo(t)
	h := commit(t, g, map[string]string{"a.md": "a"})
	blob := repo.BlobHash([]byte("a"))
	git(t, dir, "update-index", "--split-index")
	err := g.Splice(t.Context(), []repo.IndexChange{{Path: "a.md", Hash: blob}})
	if e, found := errors.AsType[*repo.UnsupportedError](err); !found {
		t.Fatalf("split index: got %v (at %s)", err, h)
	} else if e.Remedy == "" {
		t.Error("no remedy")
	}
	git(t, dir, "update-index", "--no-split-index")
	ok(t, g.Splice(t.Context(), []repo.IndexChange{{Path: "a.md", Hash: blob}}))
	path := filepath.Join(dir, ".git", "index")
	b := []byte(readFile(t, path))
	for _, broken := range [][]byte{nil, b[:20], b[:len(b)-1], append(bytes.Clone(b[:40]), b[39:]...)} {
		ok(t, os.WriteFile(path, broken, 0o600))
		if err := g.Splice(t.Context(), []repo.IndexChange{{Path: "a.md", Hash: blob}}); !errors.Is(err, repo.ErrIndexCorrupt) {
			t.Errorf("index of %d bytes: got %v", len(broken), err)
		}
		if got := readFile(t, path); got != string(broken) {
			t.Error("a corrupt index was touched")
		}
	}
	ok(t, g.RebuildIndex(t.Context()))
	clean(t, dir)
}

func TestStagedWorkOfHumansSurvives(t *testing.T) {
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "a", "b.md": "b", "c.md": "c", "dir/x.md": "x"})
	writeFile(t, filepath.Join(dir, "a.md"), "staged by hand")
	writeFile(t, filepath.Join(dir, "new.md"), "staged too")
	git(t, dir, "add", "a.md", "new.md")
	git(t, dir, "rm", "-q", "--cached", "c.md")
	git(t, dir, "update-index", "--chmod=+x", "b.md")
	writeFile(t, filepath.Join(dir, "a.md"), "edited since")
	before := git(t, dir, "diff", "--cached")
	commit(t, g, map[string]string{"ours.md": "ours", "dir/x.md": "x2"})
	equal(t, "staged", git(t, dir, "diff", "--cached"), before)
	_, head, err := g.Head()
	ok(t, err)
	c, err := repo.ReadCommit(g, head)
	ok(t, err)
	staged, err := g.StagedPaths(t.Context(), c.Tree)
	ok(t, err)
	if diff := cmp.Diff([]string{"a.md", "b.md", "c.md", "new.md"}, staged); diff != "" {
		t.Error(diff)
	}
	git(t, dir, "commit", "-qm", "by hand")
	equal(t, "committed", git(t, dir, "show", "HEAD:a.md"), "staged by hand")
	equal(t, "ours", git(t, dir, "show", "HEAD:ours.md"), "ours")
	git(t, dir, "commit", "-qam", "the rest")
	equal(t, "ours after commit -am", git(t, dir, "show", "HEAD:dir/x.md"), "x2")
}

// What is noted of an index that held what main holds is of no other index, nor
// of another tree.
func TestStagedAfterNothingWas(t *testing.T) {
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "a", "b.md": "b"})
	staged := func(want ...string) {
		t.Helper()
		_, head, err := g.Head()
		ok(t, err)
		c, err := repo.ReadCommit(g, head)
		ok(t, err)
		for range 2 { // compared, and noted
			got, err := g.StagedPaths(t.Context(), c.Tree)
			ok(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("staged (-want +got):\n%s", diff)
			}
		}
	}
	staged()
	writeFile(t, filepath.Join(dir, "a.md"), "by hand")
	git(t, dir, "add", "a.md")
	staged("a.md")
	commit(t, g, map[string]string{"c.md": "c"})
	staged("a.md")
	git(t, dir, "commit", "-qm", "by hand")
	staged()
	git(t, dir, "reset", "-q", "--soft", "HEAD^")
	staged("a.md")
	git(t, dir, "reset", "-q")
	staged()
	commit(t, g, map[string]string{"a.md": "", "d.md": "d"})
	if noted, err := os.ReadFile(filepath.Join(dir, ".git", "vade", "unstaged")); err != nil || !strings.Contains(string(noted), strings.TrimSpace(git(t, dir, "rev-parse", "HEAD^{tree}"))) {
		t.Errorf("noted %q, %v, not that the new tree is in the index too", noted, err)
	}
	staged()
	clean(t, dir)
}

func TestSpliceEndsConflictOfItsPaths(t *testing.T) {
	g, dir := initRepo(t)
	base := commit(t, g, map[string]string{"a.md": "a\n", "b.md": "b\n"})
	git(t, dir, "checkout", "-q", "-b", "side")
	writeFile(t, filepath.Join(dir, "a.md"), "side\n")
	writeFile(t, filepath.Join(dir, "b.md"), "side\n")
	git(t, dir, "commit", "-qam", "side")
	git(t, dir, "checkout", "-q", "main")
	writeFile(t, filepath.Join(dir, "a.md"), "main\n")
	writeFile(t, filepath.Join(dir, "b.md"), "main\n")
	git(t, dir, "commit", "-qam", "main")
	if _, err := gitTry(t, dir, "merge", "side"); err == nil {
		t.Fatal("no conflict")
	}
	state, err := g.State()
	ok(t, err)
	equal(t, "operation", state.Operation, repo.Merging)
	res, err := g.Scan(t.Context(), repo.ScanOptions{})
	ok(t, err)
	if diff := cmp.Diff([]string{"a.md", "b.md"}, res.Conflicted); diff != "" {
		t.Error(diff)
	}
	x, err := g.LockIndex(t.Context())
	ok(t, err)
	entries, err := x.Entries([]string{"a.md", "none.md"})
	ok(t, err)
	if len(entries) != 1 || entries["a.md"] != repo.Unmerged {
		t.Errorf("entries: %v", entries)
	}
	x.Release()
	blob, err := repo.WriteBlob(g, []byte("ours\n"))
	ok(t, err)
	ok(t, g.Flush())
	ok(t, g.WorkTree().WriteFile("a.md", []byte("ours\n")))
	ok(t, g.Splice(t.Context(), []repo.IndexChange{{Path: "a.md", Hash: blob}}))
	equal(t, "unmerged", git(t, dir, "diff", "--name-only", "--diff-filter=U"), "b.md")
	equal(t, "status", git(t, dir, "status", "--porcelain"), "M  a.md\nUU b.md")
	git(t, dir, "merge", "--abort")
	_ = base
}

// TestSpliceFileAndFolder: a name that was a file becomes a folder and back.
func TestSpliceFileAndFolder(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a": "file", "a.b": "between", "a0": "after"})
	git(t, dir, "read-tree", "HEAD") // with a TREE extension
	ok(t, os.Remove(filepath.Join(dir, "a")))
	commit(t, g, map[string]string{"a": "", "a/b/c": "below"})
	clean(t, dir)
	git(t, dir, "read-tree", "HEAD")
	ok(t, os.RemoveAll(filepath.Join(dir, "a")))
	commit(t, g, map[string]string{"a": "file", "a/b/c": ""})
	clean(t, dir)
	equal(t, "files", git(t, dir, "ls-files"), "a\na.b\na0")
	// Without the removal among the changes, the index still has no clash.
	blob := repo.BlobHash([]byte("file"))
	ok(t, g.Splice(t.Context(), []repo.IndexChange{{Path: "a/x", Hash: blob}}))
	equal(t, "files", git(t, dir, "ls-files"), "a.b\na/x\na0")
	ok(t, g.Splice(t.Context(), []repo.IndexChange{{Path: "a", Hash: blob}}))
	equal(t, "files", git(t, dir, "ls-files"), "a\na.b\na0")
	clean(t, dir)
}

// TestSpliceKeepsRacyEntriesVisible: a file edited in the second in which git add
// had hashed it is only noticed because the index is not younger; after our
// splice it must still be.
func TestSpliceKeepsRacyEntriesVisible(t *testing.T) {
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"racy.md": "one", "other.md": "x"})
	second := time.Unix(1_800_000_000, 0)
	path := filepath.Join(dir, "racy.md")
	ok(t, os.Chtimes(path, second, second))
	git(t, dir, "add", "racy.md")
	git(t, dir, "update-index", "--refresh")
	writeFile(t, path, "two") // the same size
	ok(t, os.Chtimes(path, second, second))
	ok(t, os.Chtimes(filepath.Join(dir, ".git", "index"), second, second))
	git(t, dir, "config", "core.trustctime", "false") // the clock of ctime cannot be turned back
	equal(t, "status before", git(t, dir, "--no-optional-locks", "status", "--porcelain"), " M racy.md")
	ok(t, os.Chtimes(filepath.Join(dir, ".git", "index"), second, second))
	g = openRepo(t, dir)
	commit(t, g, map[string]string{"other.md": "y"})
	equal(t, "status after", git(t, dir, "status", "--porcelain"), " M racy.md")
}

// TestSpliceDoesNotVouchForOthersEdits: when a human has saved over the file that
// we wrote, before the splice, git must see their version as a change.
func TestSpliceDoesNotVouchForOthersEdits(t *testing.T) {
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "old"})
	_, head, err := g.Head()
	ok(t, err)
	h, changes := buildCommit(t, g, head, 1, map[string]string{"a.md": "new"})
	ok(t, g.WorkTree().WriteFile("a.md", []byte("new")))
	st, err := os.Stat(filepath.Join(dir, "a.md"))
	ok(t, err)
	f, err := os.OpenFile(filepath.Join(dir, "a.md"), os.O_WRONLY, 0)
	ok(t, err)
	fmt.Fprint(f, "hum")
	f.Close()
	ok(t, os.Chtimes(filepath.Join(dir, "a.md"), st.ModTime(), st.ModTime()))
	ok(t, g.CompareAndSet(repo.Main, head, h, "x"))
	ok(t, g.Splice(t.Context(), changes))
	equal(t, "status", git(t, dir, "status", "--porcelain"), " M a.md")
}

func TestLockedIndex(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "a"})
	lock := filepath.Join(dir, ".git", "index.lock")
	writeFile(t, lock, "")
	start := time.Now()
	err := g.Splice(t.Context(), []repo.IndexChange{{Path: "a.md", Hash: repo.BlobHash([]byte("a"))}})
	locked, found := errors.AsType[*repo.LockedError](err)
	if !found || locked.Path != lock {
		t.Fatalf("got %v", err)
	}
	if d := time.Since(start); d < time.Second || d > 5*time.Second {
		t.Errorf("waited for %v", d)
	}
	old := time.Now().Add(-time.Hour)
	ok(t, os.Chtimes(lock, old, old))
	var warned string
	g.Warn = func(msg string) { warned = msg }
	ok(t, g.Splice(t.Context(), []repo.IndexChange{{Path: "a.md", Hash: repo.BlobHash([]byte("a"))}}))
	if !strings.Contains(warned, "index.lock") {
		t.Errorf("warning: %q", warned)
	}
	writeFile(t, lock, "")
	boot := time.Now().Add(-20 * 365 * 24 * time.Hour)
	ok(t, os.Chtimes(lock, boot, boot))
	ok(t, g.Splice(t.Context(), []repo.IndexChange{{Path: "a.md", Hash: repo.BlobHash([]byte("a"))}}))
	clean(t, dir)
}

// TestOldLockOfRunningGit: a lock is not stale, however old, while a git process is
// at work in the repository; a git commit with its editor open is.
func TestOldLockOfRunningGit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes can only be looked at on Linux")
	}
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "a"})
	lock := filepath.Join(dir, ".git", "index.lock")
	writeFile(t, lock, "")
	old := time.Now().Add(-time.Hour)
	ok(t, os.Chtimes(lock, old, old))
	c := gitCmd(t.Context(), dir, "cat-file", "--batch")
	in, err := c.StdinPipe()
	ok(t, err)
	ok(t, c.Start())
	_, err = g.LockIndex(t.Context())
	if e, found := errors.AsType[*repo.LockedError](err); !found || e.Age < 59*time.Minute {
		t.Errorf("while git runs: %v", err)
	}
	in.Close()
	c.Wait()
	x, err := g.LockIndex(t.Context())
	ok(t, err)
	x.Release()
	x.Release()
	if err := x.Splice([]repo.IndexChange{{Path: "a.md"}}); err == nil {
		t.Error("spliced without the lock")
	}
	clean(t, dir)
}
