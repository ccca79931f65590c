package repo_test

import (
	"bytes"
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

// sizes are the vaults that benchmarks run on, in files.
var sizes = []int{1_000, 10_000, 50_000}

// notePath is where the i-th note of a vault lies: 400 to a month.
func notePath(i int) string {
	return fmt.Sprintf("memories/%d/%02d/some-readable-title-of-a-memory-%06d.md", 2020+i/4800, 1+i/400%12, i)
}

func note(rnd *rand.Rand, i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nid: %026d\ntitle: Note %d\n---\n", i, i)
	for b.Len() < 1024 {
		fmt.Fprintf(&b, "%s ", words[rnd.IntN(len(words))])
	}
	return b.String() + "\n"
}

var words = strings.Fields(`deploy production run through actions never from laptop database backup every night
	restore checked weekly team decision convention because release branch review merge test index search memory
	vault commit push fetch host editor save conflict resolve title tag scope workspace session agent`)

// bigVault makes a vault of n notes in one commit, with an index that is settled:
// older files, none of them racy.
func bigVault(tb testing.TB, n int) (*repo.GitDir, string) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "vault")
	g, err := repo.Init(dir)
	ok(tb, err)
	tb.Cleanup(func() { g.Close() })
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	edits := make([]repo.Edit, n)
	old := time.Now().Add(-time.Hour)
	for i := range n {
		text := note(rnd, i)
		path := filepath.Join(dir, filepath.FromSlash(notePath(i)))
		if i%400 == 0 {
			ok(tb, os.MkdirAll(filepath.Dir(path), 0o700))
		}
		ok(tb, os.WriteFile(path, []byte(text), 0o600))
		ok(tb, os.Chtimes(path, old, old))
		h, err := repo.WriteBlob(g, []byte(text))
		ok(tb, err)
		edits[i] = repo.Edit{Path: notePath(i), Hash: h}
	}
	tree, err := repo.EditTree(g, plumbing.ZeroHash, edits)
	ok(tb, err)
	h, err := repo.WriteCommit(g, &repo.Commit{Tree: tree, Author: sign(0), Committer: sign(0), Message: "import\n"})
	ok(tb, err)
	ok(tb, g.CompareAndSet(repo.Main, plumbing.ZeroHash, h, "import"))
	git(tb, dir, "read-tree", "HEAD")
	git(tb, dir, "update-index", "--refresh", "-q")
	git(tb, dir, "status", "--porcelain")
	return g, dir
}

// BenchmarkCommit is one changed file: written, committed, spliced, all durable,
// against git add and git commit of one file in the same vault.
func BenchmarkCommit(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g, dir := bigVault(b, n)
			rnd := rand.New(rand.NewPCG(3, 4))
			g.Close()
			ours := cpuOf(func() {
				for i := 0; b.Loop(); i++ {
					g := openRepo(b, dir)
					commit2(b, g, notePath(rnd.IntN(n)), note(rnd, i))
				}
			}) / time.Duration(b.N)
			const runs = 5
			theirs := cpuOf(func() {
				for i := range runs {
					path := notePath(rnd.IntN(n))
					writeFile(b, filepath.Join(dir, path), note(rnd, 1000+i))
					git(b, dir, "add", path)
					git(b, dir, "commit", "-qm", "x")
				}
			}) / runs
			report(b, ours, theirs)
		})
	}
}

// commit2 commits one file that is there already.
func commit2(tb testing.TB, g *repo.GitDir, path, text string) {
	branch, head, err := g.Head()
	ok(tb, err)
	ok(tb, g.WorkTree().WriteFile(path, []byte(text)))
	h, changes := buildCommit(tb, g, head, 1, map[string]string{path: text})
	ok(tb, g.CompareAndSet(branch, head, h, "bench"))
	ok(tb, g.Splice(tb.Context(), changes))
}

// BenchmarkScan is the freshness check, against git status.
func BenchmarkScan(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			_, dir := bigVault(b, n)
			ours := cpuOf(func() {
				for b.Loop() {
					g := openRepo(b, dir)
					r, err := g.Scan(b.Context(), repo.ScanOptions{})
					ok(b, err)
					equal(b, "files", len(r.Files), n)
					g.Close()
				}
			}) / time.Duration(b.N)
			const runs = 5
			theirs := cpuOf(func() {
				for range runs {
					git(b, dir, "status", "--porcelain")
				}
			}) / runs
			report(b, ours, theirs)
		})
	}
}

// report prints CPU times of one operation, and their ratio.
func report(b *testing.B, ours, theirs time.Duration) {
	b.ReportMetric(float64(ours.Microseconds())/1000, "cpu-ms/op")
	b.ReportMetric(float64(theirs.Microseconds())/1000, "git-cpu-ms/op")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
}

// BenchmarkImport is 10,000 new files in one commit, everything durable, against
// git add and git commit of the same. The vault's size is compared after git gc.
func BenchmarkImport(b *testing.B) {
	const n = 10_000
	rnd := rand.New(rand.NewPCG(1, 1))
	texts := make([]string, n)
	for i := range texts {
		texts[i] = note(rnd, i)
	}
	for range b.N {
		dir, other := filepath.Join(b.TempDir(), "vault"), filepath.Join(b.TempDir(), "other")
		start := time.Now()
		ours := cpuOf(func() {
			g, err := repo.Init(dir)
			ok(b, err)
			defer g.Close()
			var edits []repo.Edit
			var changes []repo.IndexChange
			ok(b, g.WorkTree().WriteFiles(b.Context(), func(yield func(string, []byte) bool) {
				for i, text := range texts {
					h, err := repo.WriteBlob(g, []byte(text))
					ok(b, err)
					edits = append(edits, repo.Edit{Path: notePath(i), Hash: h})
					changes = append(changes, repo.IndexChange{Path: notePath(i), Hash: h})
					if !yield(notePath(i), []byte(text)) {
						return
					}
				}
			}, nil))
			tree, err := repo.EditTree(g, plumbing.ZeroHash, edits)
			ok(b, err)
			h, err := repo.WriteCommit(g, &repo.Commit{Tree: tree, Author: sign(0), Committer: sign(0), Message: "import\n"})
			ok(b, err)
			ok(b, g.CompareAndSet(repo.Main, plumbing.ZeroHash, h, "import"))
			ok(b, g.Splice(b.Context(), changes))
		})
		b.ReportMetric(time.Since(start).Seconds(), "wall-s/op")
		b.ReportMetric(peakMB(), "peak-MB")
		clean(b, dir)
		git(b, b.TempDir(), "init", "-q", other)
		git(b, other, "config", "gc.auto", "0")
		theirs := cpuOf(func() {
			for i, text := range texts {
				writeFile(b, filepath.Join(other, notePath(i)), text)
			}
			git(b, other, "add", "-A")
			git(b, other, "commit", "-qm", "import")
		})
		report(b, ours, theirs)
		_, _, size := objectSize(b, dir)
		git(b, other, "gc", "-q")
		_, _, best := objectSize(b, other)
		b.ReportMetric(float64(size)/float64(best), "size-ratio")
	}
}

// BenchmarkTransfer packs a whole vault of 10,000 notes and 1,000 commits for a
// first push, and takes such a pack in, against git pack-objects and index-pack.
func BenchmarkTransfer(b *testing.B) {
	for range b.N {
		g, dir := bigVault(b, 10_000)
		_, head, err := g.Head()
		ok(b, err)
		rnd := rand.New(rand.NewPCG(2, 2))
		for i := range 1000 {
			next, _ := buildCommit(b, g, head, i, map[string]string{notePath(rnd.IntN(10_000)): note(rnd, i)})
			head = next
		}
		_, old, err := g.Head()
		ok(b, err)
		ok(b, g.CompareAndSet(repo.Main, old, head, "built"))
		git(b, dir, "gc", "-q")
		var pack bytes.Buffer
		ours := cpuOf(func() {
			list, err := repo.NewObjects(g, []plumbing.Hash{head}, nil)
			ok(b, err)
			_, err = repo.EncodePack(&pack, g, list)
			ok(b, err)
		})
		theirs := cpuOf(func() { gitRaw(b, dir, head.String(), "pack-objects", "--revs", "--stdout", "-q") })
		b.ReportMetric(float64(ours.Milliseconds()), "send-cpu-ms")
		b.ReportMetric(float64(ours)/float64(theirs), "send-ratio")
		b.ReportMetric(float64(pack.Len())/1e6, "MB")
		other, dir2 := initRepo(b)
		ours = cpuOf(func() {
			w, err := other.PackfileWriter()
			ok(b, err)
			_, err = w.Write(pack.Bytes())
			ok(b, err)
			ok(b, w.Close())
		})
		theirs = cpuOf(func() { gitRaw(b, dir2, pack.String(), "index-pack", "--stdin") })
		b.ReportMetric(float64(ours.Milliseconds()), "receive-cpu-ms")
		b.ReportMetric(float64(ours)/float64(theirs), "receive-ratio")
	}
}
