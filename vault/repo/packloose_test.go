package repo_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// looseHistory makes a repository with the commits of build as loose objects only.
func looseHistory(t testing.TB, build func(s repo.Store) plumbing.Hash) (*repo.GitDir, string) {
	t.Helper()
	tmp, err := repo.Init(filepath.Join(t.TempDir(), "packed"))
	ok(t, err)
	defer tmp.Close()
	head := build(tmp)
	ok(t, tmp.Flush())
	ok(t, tmp.CompareAndSet(repo.Main, plumbing.ZeroHash, head, ""))
	g, dir := initRepo(t)
	pack := gitRaw(t, tmp.WorkTree().Path(), head.String(), "pack-objects", "--revs", "--stdout", "-q")
	gitRaw(t, dir, pack, "-c", "core.fsync=none", "unpack-objects", "-q")
	ok(t, g.CompareAndSet(repo.Main, plumbing.ZeroHash, head, "built"))
	return g, dir
}

// packedHistory is looseHistory with the objects in packs.
func packedHistory(t testing.TB, build func(s repo.Store) plumbing.Hash) (*repo.GitDir, string) {
	t.Helper()
	g, dir := initRepo(t)
	head := build(g)
	ok(t, g.CompareAndSet(repo.Main, plumbing.ZeroHash, head, "built"))
	return g, dir
}

// growingFolder is n commits, each with one more note in one folder, and now and
// then an edit of an old one.
func growingFolder(t testing.TB, n int) func(repo.Store) plumbing.Hash {
	return func(s repo.Store) plumbing.Hash {
		rnd := rand.New(rand.NewPCG(1, 2))
		var head plumbing.Hash
		for i := range n {
			files := map[string]string{notePath(i % 400): note(rnd, i)}
			if i%7 == 6 {
				files = map[string]string{notePath(rnd.IntN(min(i, 400))): note(rnd, i) + "one more line\n"}
			}
			head, _ = buildCommit(t, s, head, i, files)
		}
		return head
	}
}

func objectSize(t testing.TB, dir string) (loose, packs int, bytes int64) {
	t.Helper()
	root := filepath.Join(dir, ".git", "objects")
	ok(t, filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		st, err := e.Info()
		if err != nil {
			return err
		}
		bytes += st.Size()
		switch {
		case strings.HasSuffix(path, ".pack"):
			packs++
		case len(filepath.Base(filepath.Dir(path))) == 2:
			loose++
		}
		return nil
	}))
	return loose, packs, bytes
}

func TestPackLoose(t *testing.T) {
	t.Parallel()
	g, dir := looseHistory(t, growingFolder(t, 150))
	before, _, _ := objectSize(t, dir)
	other := openRepo(t, dir)
	_, head, err := other.Head()
	ok(t, err)
	stats, err := g.PackLoose(t.Context(), repo.PackOptions{})
	ok(t, err)
	equal(t, "packed below the limit", stats.Objects, 0)
	stats, err = g.PackLoose(t.Context(), repo.PackOptions{Loose: 250})
	ok(t, err)
	equal(t, "packed", stats.Objects, before)
	loose, packs, size := objectSize(t, dir)
	equal(t, "loose objects left", loose, 0)
	equal(t, "packs", packs, 1)
	fsck(t, dir)
	if depth := chainDepth(t, dir); depth > 50 {
		t.Errorf("delta chain of %d", depth)
	}
	n := 0
	for c, err := range repo.Log(other, head) { // a handle from before
		ok(t, err)
		for f, err := range repo.Files(other, c.Tree, "") {
			ok(t, err)
			if n%25 == 0 {
				_, err = repo.ReadBlob(other, f.Hash)
				ok(t, err)
			}
		}
		n++
	}
	equal(t, "commits", n, 150)
	git(t, dir, "gc", "-q")
	_, _, best := objectSize(t, dir)
	t.Logf("%d bytes, git gc %d", size, best)
	if size > 2*best {
		t.Errorf("%d bytes, more than twice the %d of git gc", size, best)
	}
}

func chainDepth(t testing.TB, dir string) int {
	t.Helper()
	idx, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*.idx"))
	ok(t, err)
	depth := 0
	for _, path := range idx {
		for _, line := range lines(git(t, dir, "verify-pack", "-v", path)) {
			if f := strings.Fields(line); len(f) == 7 {
				var d int
				fmt.Sscan(f[5], &d)
				depth = max(depth, d)
			}
		}
	}
	return depth
}

func TestPackLooseOfOddHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		g, dir := initRepo(t)
		commits := randomHistory(t, g, rand.New(rand.NewPCG(seed, 3)), 80, time.Hour)
		ok(t, g.CompareAndSet(repo.Main, plumbing.ZeroHash, commits[79], ""))
		git(t, dir, "tag", "-am", "t", "v1")
		lost := repo.BlobHash([]byte("no commit names it"))
		gitIn(t, dir, "no commit names it", "hash-object", "-w", "--stdin")
		// Some of it packed already, some of it both.
		git(t, dir, "repack", "-q")
		_, err := g.PackLoose(t.Context(), repo.PackOptions{Loose: -1})
		ok(t, err)
		loose, _, _ := objectSize(t, dir)
		equal(t, "loose objects left", loose, 0)
		_, err = repo.ReadBlob(g, lost)
		ok(t, err)
		for _, h := range commits {
			_, err := repo.ReadCommit(g, h)
			ok(t, err)
		}
		git(t, dir, "reset", "-q", "--hard")
	}
}

func TestPackLooseLeavesBrokenObjects(t *testing.T) {
	dir := t.TempDir()
	g, err := repo.Init(dir)
	ok(t, err)
	defer g.Close()
	var warnings []string
	g.Warn = func(msg string) { warnings = append(warnings, msg) }
	commit(t, g, map[string]string{"a.md": "a", "b.md": "b"})
	h := repo.BlobHash([]byte("a")).String()
	path := filepath.Join(dir, ".git", "objects", h[:2], h[2:])
	ok(t, os.Chmod(path, 0o600))
	ok(t, os.WriteFile(path, []byte("garbage"), 0o600))
	stats, err := g.PackLoose(t.Context(), repo.PackOptions{Loose: -1})
	ok(t, err)
	equal(t, "packed", stats.Objects, 3)
	equal(t, "warnings", len(warnings), 1)
	equal(t, "the broken file", readFile(t, path), "garbage")
}

func TestManySmallPacksAreMerged(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"start.md": "s"})
	for i := range 12 {
		for j := range 3 {
			commit(t, g, map[string]string{fmt.Sprintf("%d.md", j): strings.Repeat(fmt.Sprintf("line %d\n", i), 30)})
		}
		_, err := g.PackLoose(t.Context(), repo.PackOptions{Loose: -1, Packs: 1000})
		ok(t, err)
	}
	_, packs, _ := objectSize(t, dir)
	equal(t, "packs", packs, 12)
	keep, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*.pack"))
	ok(t, err)
	writeFile(t, strings.TrimSuffix(keep[0], "pack")+"keep", "")
	stats, err := g.PackLoose(t.Context(), repo.PackOptions{Packs: 8})
	ok(t, err)
	if stats.Packs < 7 {
		t.Errorf("merged %d packs", stats.Packs)
	}
	_, packs, _ = objectSize(t, dir)
	if packs > 5 {
		t.Errorf("%d packs left", packs)
	}
	if _, err := os.Stat(keep[0]); err != nil {
		t.Errorf("a pack to keep: %v", err)
	}
	clean(t, dir)
}

// BenchmarkPackLoose packs 5,000 commits of one file each, against git gc on a
// copy of the same objects.
func BenchmarkPackLoose(b *testing.B) {
	const n = 5000
	for range b.N {
		b.StopTimer()
		g, dir := looseHistory(b, growingFolder(b, n))
		other := filepath.Join(b.TempDir(), "copy")
		ok(b, os.CopyFS(other, os.DirFS(dir)))
		b.StartTimer()
		ours := cpuOf(func() {
			stats, err := g.PackLoose(b.Context(), repo.PackOptions{})
			ok(b, err)
			if stats.Objects < n {
				b.Fatalf("packed %d", stats.Objects)
			}
		})
		b.StopTimer()
		theirs := cpuOf(func() { git(b, other, "gc", "-q") })
		_, _, size := objectSize(b, dir)
		_, _, best := objectSize(b, other)
		report(b, ours, theirs)
		b.ReportMetric(float64(size)/float64(best), "size-ratio")
		b.ReportMetric(float64(size)/1e6, "MB")
	}
}
