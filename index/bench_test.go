package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vademecum/vault"
)

// memories makes n memories of about size bytes whose words have a long tail,
// as real ones have.
func memories(n, size int) *notes {
	r := rand.New(rand.NewPCG(7, 8))
	tail := rand.NewZipf(r, 1.1, 4, 40000)
	syllables := strings.Fields("ka ro mi te sun del por vin tra ges lo pa ne cu di sta be fo ri mo")
	term := func() string {
		k := tail.Uint64()
		var b strings.Builder
		for k++; k > 0; k /= 20 {
			b.WriteString(syllables[k%20])
		}
		return b.String()
	}
	content := map[string]string{}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "---\nid: 01JDZ3M8Q4X0W3K2V7N%07d\ntitle: %s %s %s\ntags: [%s]\nupdated: 2026-01-02T03:04:05Z\n---\n",
			i, term(), term(), term(), term())
		for b.Len() < size {
			b.WriteString(term())
			b.WriteByte(" .\n"[min(2, r.IntN(12))%3*r.IntN(2)])
		}
		fmt.Fprintf(&b, " marker%d\n", i)
		content[fmt.Sprintf("memories/2026/%02d/%s-%s-%06d.md", 1+i%12, term(), term(), i)] = b.String()
	}
	return newNotes(content)
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("%dx1KB", n), func(b *testing.B) {
			src := memories(n, 1000)
			for b.Loop() {
				x := openIn(b, filepath.Join(b.TempDir(), "index"))
				before := cpu()
				if _, err := x.Update(b.Context(), src, nil); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric((cpu() - before).Seconds(), "CPU-s/op")
				b.ReportMetric(float64(folderSize(b, x.dir))/float64(n), "B/note")
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapSys)/(1<<20), "MiB-heap")
		})
	}
}

func folderSize(b *testing.B, dir string) (size int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
	}
	return size
}

var benchQuestions = []struct{ name, text string }{
	{"marker", "marker4711"},
	{"three", "rokami tedel sunka"},
	{"question", "how do we make the ka ro of mi te sun with del por when vin tra"},
}

func BenchmarkSearch(b *testing.B) {
	src := memories(10000, 1000)
	x := openIn(b, filepath.Join(b.TempDir(), "index"))
	if _, err := x.Update(b.Context(), src, nil); err != nil {
		b.Fatal(err)
	}
	changed := map[string]string{}
	for i, p := range src.paths {
		changed[p] = src.content[p]
		if i%100 == 0 {
			changed[p] += "changed\n"
		}
	}
	later := newNotes(changed)
	for _, q := range benchQuestions {
		b.Run("warm/"+q.name, func(b *testing.B) { benchSearch(b, x, src, q.text) })
		b.Run("cold/"+q.name, func(b *testing.B) { benchCold(b, x.dir, src, q.text) })
		b.Run("100changed/"+q.name, func(b *testing.B) { benchCold(b, x.dir, later, q.text) })
	}
}

// benchCold opens the index for each search, as a process for each does. It
// reports processor time, which is steadier than time on a busy host.
func benchCold(b *testing.B, dir string, src Source, text string) {
	before := cpu()
	for b.Loop() {
		cold, err := Open(dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		benchOne(b, cold, src, text)
		cold.Close()
	}
	b.ReportMetric(float64((cpu()-before).Microseconds())/1000/float64(b.N), "CPU-ms/op")
}

func benchSearch(b *testing.B, x *Index, src Source, text string) {
	before := cpu()
	for b.Loop() {
		benchOne(b, x, src, text)
	}
	b.ReportMetric(float64((cpu()-before).Microseconds())/1000/float64(b.N), "CPU-ms/op")
}

func benchOne(b *testing.B, x *Index, src Source, text string) {
	if _, err := x.Search(b.Context(), src, vault.Query{Text: text}); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkUpdateOneNote(b *testing.B) {
	src := memories(10000, 1000)
	x := openIn(b, filepath.Join(b.TempDir(), "index"))
	if _, err := x.Update(b.Context(), src, nil); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		n++
		b.StopTimer()
		src = src.with(fmt.Sprintf("memories/2027/%d.md", n), "one more memory about deploys")
		b.StartTimer()
		if _, err := x.Update(b.Context(), src, nil); err != nil {
			b.Fatal(err)
		}
	}
}
