package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

func TestCommitIsWhatGitSees(t *testing.T) {
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"memories/2026/11/a.md": "a\n", "memories/2026/11/b.md": "b\n", ".gitattributes": "* -text\n"})
	clean(t, dir)
	commit(t, g, map[string]string{"memories/2026/11/a.md": "a2\n", "memories/2026/12/데이터.md": "한국어\n"})
	clean(t, dir)
	commit(t, g, map[string]string{"memories/2026/11/b.md": "", "memories/2026/12/데이터.md": ""})
	clean(t, dir)
	equal(t, "files", git(t, dir, "ls-files"), ".gitattributes\nmemories/2026/11/a.md")
	equal(t, "branch", git(t, dir, "symbolic-ref", "HEAD"), repo.Main)
	equal(t, "log", git(t, dir, "log", "--format=%s|%an|%(trailers:key=Vade-Op,valueonly,separator=%x2C)"),
		"change|vade|test\nchange|vade|test\nchange|vade|test")
	reflog := git(t, dir, "reflog", "show", "--format=%gs|%gn|%ge", "main")
	equal(t, "reflog of main", reflog, strings.Repeat("test: commit|vade|vade@example.com\n", 2)+"test: commit|vade|vade@example.com")
	equal(t, "reflog of HEAD", git(t, dir, "reflog", "show", "--format=%gs|%gn|%ge", "HEAD"), reflog)
	if _, err := os.Stat(filepath.Join(dir, "memories", "2026", "12")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("empty folder is left: %v", err)
	}
}

func TestOpenReadsWhatGitWrote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	if _, err := repo.Open(filepath.Join(dir, "nowhere")); !errors.Is(err, repo.ErrNotRepository) {
		t.Errorf("open a folder that is none: %v", err)
	}
	for i := range 14 {
		writeFile(t, filepath.Join(dir, "notes", "n.md"), strings.Repeat("line of text that deltas well\n", 40)+string(rune('a'+i)))
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-qm", "n")
	}
	g := openRepo(t, dir)
	check := func(what string) {
		t.Helper()
		_, head, err := g.Head()
		ok(t, err)
		n := 0
		for c, err := range repo.Log(g, head) {
			ok(t, err)
			e, err := repo.Lookup(g, c.Tree, "notes/n.md")
			ok(t, err)
			_, err = repo.ReadBlob(g, e.Hash)
			ok(t, err)
			n++
		}
		equal(t, what+": commits", n, 14)
	}
	check("loose")
	git(t, dir, "gc", "-q")
	check("handle that was open before gc")
	g.Reload()
	check("reloaded")
	git(t, dir, "repack", "-adfq", "--depth=20")
	check("handle that was open before a second gc")
	g = openRepo(t, dir)
	check("opened anew")
}

func TestLinkedWorkTree(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "a"})
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, dir, "worktree", "add", "-q", "-b", "side", linked)
	l := openRepo(t, linked)
	commit(t, l, map[string]string{"b.md": "b"})
	clean(t, linked)
	clean(t, dir)
	wantScan(t, l, nil, "a.md", "b.md")
	equal(t, "side", git(t, dir, "ls-tree", "--name-only", "side"), "a.md\nb.md")
	branch, _, err := l.Head()
	ok(t, err)
	equal(t, "branch", branch, "refs/heads/side")
}

func TestPackedRefs(t *testing.T) {
	g, dir := initRepo(t)
	a := commit(t, g, map[string]string{"a.md": "a"})
	ok(t, g.CompareAndSet("refs/vade/rescue/one", plumbing.ZeroHash, a, ""))
	ok(t, g.CompareAndSet("refs/heads/other", plumbing.ZeroHash, a, ""))
	git(t, dir, "tag", "-am", "annotated", "v1")
	git(t, dir, "pack-refs", "--all", "--prune")
	h, err := g.Ref(repo.Main)
	ok(t, err)
	equal(t, "main", h, a)
	b := commit(t, g, map[string]string{"a.md": "b"})
	equal(t, "main", git(t, dir, "rev-parse", "main"), b.String())
	if err := g.CompareAndSet("refs/heads/other", b, a, ""); !errors.Is(err, repo.ErrRefMoved) {
		t.Errorf("wrong old value of a packed ref: %v", err)
	}
	equal(t, "other after a failed move", git(t, dir, "rev-parse", "other"), a.String())
	ok(t, g.CompareAndSet("refs/heads/other", a, plumbing.ZeroHash, ""))
	refs, err := g.Refs("")
	ok(t, err)
	equal(t, "refs", len(refs), 3)
	equal(t, "git's refs", git(t, dir, "for-each-ref", "--format=%(refname)"), "refs/heads/main\nrefs/tags/v1\nrefs/vade/rescue/one")
	ok(t, g.CompareAndSet("refs/heads/other/sub", plumbing.ZeroHash, a, ""))
}

// TestWritingAgainKeepsObjectsYoung: git's prune goes by age, so what is written
// again must not look old.
func TestWritingAgainKeepsObjectsYoung(t *testing.T) {
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "a"})
	old := time.Now().Add(-30 * 24 * time.Hour)
	young := func(pattern string) {
		t.Helper()
		paths, err := filepath.Glob(filepath.Join(dir, ".git", "objects", pattern))
		ok(t, err)
		for _, p := range paths {
			ok(t, os.Chtimes(p, old, old))
		}
		_, err = repo.WriteBlob(g, []byte("a"))
		ok(t, err)
		for _, p := range paths {
			if st, err := os.Stat(p); err == nil && time.Since(st.ModTime()) < time.Hour {
				return
			}
		}
		t.Errorf("%s: all are old", pattern)
	}
	h := repo.BlobHash([]byte("a")).String()
	young(h[:2] + "/" + h[2:])
	git(t, dir, "gc", "-q")
	g.Reload()
	young("pack/*.pack")
}
