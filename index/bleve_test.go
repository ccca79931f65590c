package index

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/blevesearch/bleve/v2"
	bleveanalysis "github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/registry"
	"github.com/google/go-cmp/cmp"

	"vademecum/index/analysis"
)

// terms hands our analyzer to bleve, which analyses in several goroutines.
type terms struct{}

func (terms) Tokenize(text []byte) bleveanalysis.TokenStream {
	var out bleveanalysis.TokenStream
	analysis.New().Each(text, func(tok analysis.Token) {
		out = append(out, &bleveanalysis.Token{Term: slices.Clone(tok.Term), Start: tok.Start, End: tok.End, Position: len(out) + 1})
	})
	return out
}

// registerTerms makes our analyzer known to bleve, whose registry is global.
var registerTerms = sync.OnceValue(func() error {
	return registry.RegisterTokenizer("vade", func(map[string]any, *registry.Cache) (bleveanalysis.Tokenizer, error) {
		return terms{}, nil
	})
})

// bleve itself, given the same terms, finds the same notes in what it stores
// its own way: a second opinion on segments, merges and dead notes.
func TestBleveFindsTheSameNotes(t *testing.T) {
	src := newNotes(randomVault(rand.New(rand.NewPCG(11, 12)), 100))
	x := open(t)
	update(t, x, earlier(rand.New(rand.NewPCG(13, 14)), src))
	update(t, x, src)
	oracle := bleveIndex(t, src)
	snap := x.acquire()
	defer snap.release()
	v := look(src, snap)
	asked := map[string]bool{}
	for _, q := range append(questions, words...) {
		for _, term := range analysis.New().Query(q) {
			if asked[term.Text] {
				continue
			}
			asked[term.Text] = true
			want := bleveHas(t, oracle, term.Text)
			if diff := cmp.Diff(want, partsHave(t, v.parts, src, term.Text)); diff != "" {
				t.Errorf("notes with %q (-bleve +ours):\n%s", term.Text, diff)
			}
		}
	}
}

func bleveIndex(t *testing.T, src *notes) bleve.Index {
	t.Helper()
	must(t, registerTerms())
	mapping := bleve.NewIndexMapping()
	must(t, mapping.AddCustomAnalyzer("vade", map[string]any{"type": custom.Name, "tokenizer": "vade"}))
	mapping.DefaultAnalyzer = "vade"
	index, err := bleve.NewMemOnly(mapping)
	must(t, err)
	t.Cleanup(func() { index.Close() })
	batch := index.NewBatch()
	for _, p := range src.paths {
		n := readNote(p, []byte(src.content[p]))
		text := n.title + "\n" + n.head + "\n" + n.extra + "\n" + src.content[p][n.body:]
		must(t, batch.Index(p, map[string]any{"text": text}))
	}
	must(t, index.Batch(batch))
	return index
}

func bleveHas(t *testing.T, index bleve.Index, term string) []string {
	t.Helper()
	q := bleve.NewTermQuery(term)
	q.SetField("text")
	r, err := index.Search(bleve.NewSearchRequestOptions(q, 1000, 0, false))
	must(t, err)
	var list []string
	for _, h := range r.Hits {
		list = append(list, h.ID)
	}
	slices.Sort(list)
	return list
}

func partsHave(t *testing.T, parts []*part, src *notes, term string) []string {
	t.Helper()
	var list []string
	for _, p := range parts {
		for _, field := range []string{soloField, noteField} {
			l, err := p.postings.list(field, term)
			must(t, err)
			must(t, l.each(func(x posting) { list = append(list, src.paths[p.source[p.noteOf(x.doc)]]) }))
		}
	}
	slices.Sort(list)
	return list
}
