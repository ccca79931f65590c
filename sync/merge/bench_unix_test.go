//go:build unix

package merge

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"

	"vademecum/vault/repo"
)

// BenchmarkMerge merges 200 with 200 commits, 50 files changed by both, in a
// vault of 10,000, and reports the CPU of git merge-tree on the same commits.
func BenchmarkMerge(b *testing.B) {
	b.Run("apart", func(b *testing.B) { benchMerge(b, false) })
	// Every file in conflict, and only history says who was later.
	b.Run("overlapping", func(b *testing.B) { benchMerge(b, true) })
}

func benchMerge(b *testing.B, overlap bool) {
	dir := filepath.Join(b.TempDir(), "vault")
	x, y := bigHistory(b, dir, 10_000, 200, 50, overlap)
	var ours, gits time.Duration
	var r Result
	for b.Loop() {
		ours += cpuOf(func() { r = mergeIn(b, dir, x, y) })
		gits += cpuOf(func() {
			cmd := exec.CommandContext(b.Context(), "git", "-C", dir, "merge-tree", "--write-tree", "--no-messages", x.String(), y.String())
			if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() > 1 {
				b.Fatalf("git merge-tree: %v\n%s", err, out)
			}
		})
	}
	if len(r.Merged) != 50 {
		b.Fatalf("merged %d files, want 50", len(r.Merged))
	}
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(gits.Microseconds())/float64(b.N), "git-cpu-µs/op")
	b.ReportMetric(float64(ours)/float64(gits), "ratio")
}

// mergeIn merges as a process would that does nothing else.
func mergeIn(b *testing.B, dir string, x, y plumbing.Hash) Result {
	g, err := repo.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	r, err := Commits(g, x, y)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := Commit(g, x, y, r); err != nil {
		b.Fatal(err)
	}
	return r
}

// bigHistory returns the tips of two lines of commits, whose first commits
// change the same files, at one place or apart.
func bigHistory(b *testing.B, dir string, size, commits, common int, overlap bool) (x, y plumbing.Hash) {
	g, err := repo.Init(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	at := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	edits := make([]repo.Edit, size)
	for i := range edits {
		edits[i] = repo.Edit{Path: benchPath(i), Hash: benchBlob(b, g, i, 0, "", false)}
	}
	tree, err := repo.EditTree(g, plumbing.ZeroHash, edits)
	if err != nil {
		b.Fatal(err)
	}
	write := func(tree, parent plumbing.Hash) plumbing.Hash {
		at = at.Add(time.Second)
		sig := repo.Signature{Name: "a", Email: "a@b", When: at}
		c := &repo.Commit{Tree: tree, Author: sig, Committer: sig, Message: "c\n"}
		if !parent.IsZero() {
			c.Parents = []plumbing.Hash{parent}
		}
		h, err := repo.WriteCommit(g, c)
		if err != nil {
			b.Fatal(err)
		}
		return h
	}
	base := write(tree, plumbing.ZeroHash)
	if err := g.CompareAndSet(repo.Main, plumbing.ZeroHash, base, "base"); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.CommandContext(b.Context(), "git", "-C", dir, "repack", "-adq").CombinedOutput(); err != nil {
		b.Fatalf("git repack: %v\n%s", err, out)
	}
	var tips [2]plumbing.Hash
	for side := range tips {
		now, tip := tree, base
		for n := range commits {
			i := n * 7 // 200 files of each side; the first ones are changed by both
			if n >= common {
				i = 1 + n*13 + side*6000
			}
			edit := repo.Edit{Path: benchPath(i % size), Hash: benchBlob(b, g, i%size, n+1, fmt.Sprint("side ", side), overlap)}
			if now, err = repo.EditTree(g, now, []repo.Edit{edit}); err != nil {
				b.Fatal(err)
			}
			tip = write(now, tip)
		}
		tips[side] = tip
	}
	if err := g.Flush(); err != nil {
		b.Fatal(err)
	}
	return tips[0], tips[1]
}

func benchPath(i int) string {
	return fmt.Sprintf("memories/%d/%02d/some-readable-title-of-a-memory-%06d.md", 2020+i/4800, 1+i/400%12, i)
}

// benchBlob writes note i; an edit adds a tag, and a word at one of its ends.
func benchBlob(b *testing.B, g *repo.GitDir, i, edit int, mark string, overlap bool) plumbing.Hash {
	rng := rand.New(rand.NewPCG(9, uint64(i)))
	var body []string
	for range 12 {
		body = append(body, sentence(rng, 20)+"\n", "\n")
	}
	tags, updated := "a", 0
	if edit > 0 {
		tags, updated = "a, "+mark, edit
		at := 0
		if strings.HasSuffix(mark, "1") && !overlap {
			at = len(body) - 2
		}
		body[at] = mark + " " + body[at]
	}
	text := fmt.Sprintf("---\nid: 01JDZ3M8Q4X0W3K2V7N5%06d\ntitle: Note %d\ntags: [%s]\ncreated: 2026-11-30T10:00:00Z\nupdated: 2026-11-30T11:%02d:%02dZ\n---\n%s",
		i, i, tags, updated/60, updated%60, strings.Join(body, ""))
	h, err := repo.WriteBlob(g, []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// cpuOf is the CPU time of f, in this process and in its children.
func cpuOf(f func()) time.Duration {
	before := cpu()
	f()
	return cpu() - before
}

func cpu() time.Duration {
	var d time.Duration
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			d += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return d
}
