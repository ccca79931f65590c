package providertest

import (
	"fmt"
	"strings"
	"testing"

	"vademecum/providers"
)

// Bench measures a provider that newProvider makes for each part: puts of 128
// KiB and 2 MiB where they are allowed, batches of ten, and questions of one
// word and whole ones over a thousand short items.
func Bench(b *testing.B, newProvider func(b *testing.B) providers.Provider) {
	open := func(b *testing.B) providers.Provider {
		p := newProvider(b)
		b.Cleanup(func() { _ = providers.Close(p) })
		b.ReportAllocs()
		return p
	}
	for _, size := range []int{1 << 10, 128 << 10, 2 << 20} {
		b.Run(fmt.Sprintf("put/%dKiB", size>>10), func(b *testing.B) { benchPut(b, open(b), size) })
	}
	b.Run("batch/10", func(b *testing.B) { benchBatch(b, open(b)) })
	for name, question := range map[string]string{"word": "harbour", "question": "when does the harbour of the north open in winter?"} {
		b.Run("search/"+name, func(b *testing.B) { benchSearch(b, open(b), question) })
	}
}

func benchPut(b *testing.B, p providers.Provider, size int) {
	if m := providers.PropertiesOf(p).MaxItemBytes; m > 0 && size > m {
		b.Skipf("it takes %d bytes at most", m)
	}
	text := strings.Repeat("The harbour opens at seven. ", size/28+1)[:size]
	b.SetBytes(int64(size))
	for i := 0; b.Loop(); i++ {
		if _, err := p.Put(b.Context(), Item(i, text)); err != nil {
			b.Fatal(err)
		}
	}
}

func benchBatch(b *testing.B, p providers.Provider) {
	for n := 0; b.Loop(); n++ {
		var items []providers.Item
		for i := range 10 {
			items = append(items, Item(10*n+i, fmt.Sprint("The harbour opens at seven, note ", i)))
		}
		for _, r := range providers.PutAll(b.Context(), p, items) {
			if r.Err != nil {
				b.Fatal(r.Err)
			}
		}
	}
}

func benchSearch(b *testing.B, p providers.Provider, question string) {
	var items []providers.Item
	for i := range 1000 {
		items = append(items, Item(i, fmt.Sprintf("The harbour number %d opens at %d in winter and closes with the tide", i, i%24)))
	}
	for _, r := range providers.PutAll(b.Context(), p, items) {
		if r.Err != nil {
			b.Fatal(r.Err)
		}
	}
	for b.Loop() {
		if _, err := p.Search(b.Context(), providers.Query{Text: question, Limit: 5}); err != nil {
			b.Fatal(err)
		}
	}
}
