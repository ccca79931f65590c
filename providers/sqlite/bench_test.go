package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"vademecum/providers"
)

// prose is about size bytes of words that are as unevenly frequent as those of
// a language (Zipf), the same for the same seed.
func prose(seed uint64, size int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	z := rand.NewZipf(r, 1.07, 2, 50_000)
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "w%d ", z.Uint64())
	}
	return b.String()
}

func BenchmarkPut(b *testing.B) {
	for name, size := range map[string]int{"1KiB": 1 << 10, "128KiB": 128 << 10, "2MiB": 2 << 20} {
		b.Run(name, func(b *testing.B) {
			p, text := begun(b), prose(1, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				put(b, p, note(fmt.Sprint(i), text))
			}
		})
	}
	b.Run("batch of 10 x 1KiB", func(b *testing.B) {
		p := begun(b)
		b.ReportAllocs()
		for i := 0; b.Loop(); i += 10 {
			var items []providers.Item
			for j := range 10 {
				items = append(items, note(fmt.Sprint(i+j), prose(uint64(j), 1<<10)))
			}
			put(b, p, items...)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	for _, set := range []struct {
		name        string
		items, size int
	}{{"100000 short", 100_000, 120}, {"10000 of 32KiB", 10_000, 32 << 10}} {
		b.Run(set.name, func(b *testing.B) {
			p := begun(b)
			for i := 0; i < set.items; i += 250 {
				var items []providers.Item
				for j := range 250 {
					items = append(items, note(fmt.Sprint(i+j), prose(uint64(i+j), set.size)))
				}
				put(b, p, items...)
			}
			for name, q := range map[string]string{
				"rare word": "w20000", "common word": "w3",
				"question": "w0 w1 w30 w0 w500 w2 w4000 w7 w900 w20000 w1500",
			} {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := p.Search(context.Background(), providers.Query{Text: q, Limit: 10}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}
