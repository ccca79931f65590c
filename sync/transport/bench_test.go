//go:build unix

package transport

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// A bench is a remote with a big vault and a local clone of it.
type bench struct {
	b     *testing.B
	f     *fixture
	vault string // work tree
	url   string
}

// bigTemplate makes, once per size, a bare repository with that many memories
// of 1 KB, imported in one commit and packed as git packs, and a clone of it.
func bigTemplate(b *testing.B, files int) string {
	b.Helper()
	root, err := templates()
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(root, fmt.Sprint(files))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	bare := filepath.Join(dir, "remote.git")
	if err := os.CopyFS(bare, os.DirFS(filepath.Join(root, "empty"))); err != nil {
		b.Fatal(err)
	}
	if err := importNotes(bare, files); err != nil {
		b.Fatal(err)
	}
	git(b, bare, "gc", "-q")
	git(b, bare, "clone", "-q", "--no-checkout", "--no-hardlinks", bare, filepath.Join(dir, "vault"))
	return dir
}

func importNotes(bare string, files int) error {
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir = bare
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w := bufio.NewWriter(in)
	fmt.Fprintf(w, "commit %s\n%s", mainRef, stamp)
	for i := range files {
		name := fmt.Sprintf("memories/%d/%02d/note-%06d.md", 2000+i/1200%40, i/100%12+1, i)
		fmt.Fprint(w, fileCommand(name, fmt.Sprintf("---\nid: %026d\ntitle: note %d\n---\n%s", i, i, words(i, 1000))))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	in.Close()
	return cmd.Wait()
}

// words is text of about n bytes that compresses like prose.
func words(seed, n int) string {
	var s strings.Builder
	x := uint32(seed)
	for s.Len() < n {
		x = x*1664525 + 1013904223
		fmt.Fprintf(&s, "w%d ", x>>20)
	}
	return s.String() + "\n"
}

func newBench(b *testing.B, files int, overHTTP bool) *bench {
	b.Helper()
	isolate(b)
	dir := b.TempDir()
	if err := os.CopyFS(dir, os.DirFS(bigTemplate(b, files))); err != nil {
		b.Fatal(err)
	}
	f := &fixture{t: b, bare: filepath.Join(dir, "remote.git")}
	x := &bench{b: b, f: f, vault: filepath.Join(dir, "vault"), url: f.bare}
	if overHTTP {
		x.url = serveGit(b, f).URL + "/remote.git"
	}
	return x
}

func (x *bench) store() *repo.GitDir {
	x.b.Helper()
	g, err := repo.Open(x.vault)
	if err != nil {
		x.b.Fatal(err)
	}
	return g
}

// cpu is what this process and its children have used.
func cpu() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			panic(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// A meter adds up CPU time, over operations done in two ways.
type meter struct{ ours, gits time.Duration }

func (m *meter) report(b *testing.B) {
	n := float64(b.N)
	b.ReportMetric(float64(m.ours.Microseconds())/1000/n, "cpu-ms/op")
	b.ReportMetric(float64(m.gits.Microseconds())/1000/n, "git-cpu-ms/op")
	b.ReportMetric(float64(m.ours)/float64(m.gits), "ratio")
	b.ReportMetric(0, "ns/op")
}

func timed(sum *time.Duration, f func()) {
	start := cpu()
	f()
	*sum += cpu() - start
}

// eachSize runs a benchmark on two sizes and two ways.
func eachSize(b *testing.B, run func(b *testing.B, x *bench)) {
	for _, files := range []int{10_000, 50_000} {
		for _, way := range []string{"path", "http"} {
			b.Run(fmt.Sprintf("%dk/%s", files/1000, way), func(b *testing.B) { run(b, newBench(b, files, way == "http")) })
		}
	}
}

// round lists, and fetches main when it is new.
func (x *bench) round(s repo.Store, have plumbing.Hash) {
	r, err := Open(x.url, Options{})
	if err != nil {
		x.b.Fatal(err)
	}
	defer r.Close()
	refs, _, err := r.Refs(x.b.Context())
	if err == nil {
		_, err = r.Fetch(x.b.Context(), s, []plumbing.Hash{refs[mainRef]}, []plumbing.Hash{have})
	}
	if err != nil {
		x.b.Fatal(err)
	}
}

func BenchmarkFetchNothing(b *testing.B) {
	eachSize(b, func(b *testing.B, x *bench) {
		var m meter
		tip := x.f.head()
		for b.Loop() {
			timed(&m.ours, func() {
				g := x.store()
				x.round(g, tip)
				g.Close()
			})
			timed(&m.gits, func() { git(b, x.vault, "fetch", "-q", x.url, "main") })
		}
		m.report(b)
	})
}

func BenchmarkFetchOne(b *testing.B) {
	eachSize(b, func(b *testing.B, x *bench) {
		var m meter
		tip := x.f.head()
		next := func() {
			git(b, x.vault, "update-ref", mainRef, tip.String())
			tip = x.f.commit(fmt.Sprintf("memories/2001/01/new-%s.md", tip), words(1, 1000))
		}
		for b.Loop() {
			have := tip
			next()
			timed(&m.ours, func() {
				g := x.store()
				x.round(g, have)
				g.Close()
			})
			next()
			timed(&m.gits, func() { git(b, x.vault, "fetch", "-q", x.url, "main") })
		}
		m.report(b)
	})
}

func BenchmarkPushOne(b *testing.B) {
	eachSize(b, func(b *testing.B, x *bench) {
		var m meter
		tip := x.f.head()
		next := func() plumbing.Hash {
			g := x.store()
			defer g.Close()
			return commitTo(b, g, tip, fmt.Sprintf("memories/2001/01/new-%s.md", tip), words(1, 1000))
		}
		for b.Loop() {
			ours := next()
			timed(&m.ours, func() {
				g := x.store()
				r, err := Open(x.url, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := r.Push(b.Context(), g, []Update{{Ref: mainRef, Old: tip, New: ours}}, nil); err != nil {
					b.Fatal(err)
				}
				r.Close()
				g.Close()
			})
			tip = ours
			theirs := next()
			timed(&m.gits, func() { git(b, x.vault, "push", "-q", x.url, theirs.String()+":"+mainRef) })
			tip = theirs
		}
		m.report(b)
	})
}

func BenchmarkPushAll(b *testing.B) {
	for _, way := range []string{"path", "http"} {
		b.Run("10k/"+way, func(b *testing.B) {
			x := newBench(b, 10_000, way == "http")
			var m meter
			tip := x.f.head()
			empty := func() {
				git(b, x.f.bare, "update-ref", "-d", mainRef)
				git(b, x.f.bare, "prune", "--expire=now")
				removePacks(b, x.f.bare)
			}
			for b.Loop() {
				empty()
				timed(&m.ours, func() {
					g := x.store()
					r, err := Open(x.url, Options{})
					if err != nil {
						b.Fatal(err)
					}
					if err := r.Push(b.Context(), g, []Update{{Ref: mainRef, New: tip}}, nil); err != nil {
						b.Fatal(err)
					}
					r.Close()
					g.Close()
				})
				empty()
				timed(&m.gits, func() { git(b, x.vault, "push", "-q", x.url, tip.String()+":"+mainRef) })
			}
			m.report(b)
		})
	}
}

func removePacks(b *testing.B, bare string) {
	packs, err := filepath.Glob(filepath.Join(bare, "objects", "pack", "*"))
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range packs {
		os.Remove(p)
	}
}

func BenchmarkClone(b *testing.B) {
	eachSize(b, func(b *testing.B, x *bench) {
		var m meter
		peak := uint64(0)
		for b.Loop() {
			dir := filepath.Join(b.TempDir(), "clone")
			timed(&m.ours, func() {
				g, err := repo.Init(dir)
				if err != nil {
					b.Fatal(err)
				}
				x.round(g, plumbing.ZeroHash)
				g.Close()
			})
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			peak = max(peak, mem.Sys)
			other := filepath.Join(b.TempDir(), "other")
			git(b, b.TempDir(), "init", "-q", other)
			timed(&m.gits, func() { git(b, other, "fetch", "-q", x.url, "main") })
		}
		m.report(b)
		b.ReportMetric(float64(peak)/(1<<20), "sys-MiB")
	})
}
