package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"vademecum/index/analysis"
	"vademecum/vault"
)

// oracle scores src for question in the plainest way: everything in maps, no
// postings, no generations.
func oracle(src *notes, question string) map[string]float64 {
	type unit struct {
		counts map[string]int
		length int
	}
	count := func(c analysedChunk) unit {
		u := unit{map[string]int{}, c.length}
		for _, t := range c.terms {
			u.counts[t.term] = t.n
		}
		return u
	}
	chunksOf, wholeOf := map[string][]unit{}, map[string]unit{}
	var chunks, wholes []unit
	a := newNoteAnalyzer()
	for _, p := range src.paths {
		n := a.analyse(p, []byte(src.content[p]), nil)
		for _, c := range n.chunks {
			chunksOf[p] = append(chunksOf[p], count(c))
		}
		wholeOf[p] = chunksOf[p][0]
		if len(n.chunks) > 1 {
			wholeOf[p] = count(n.whole)
		}
		chunks = append(chunks, chunksOf[p]...)
		wholes = append(wholes, wholeOf[p])
	}
	bm25 := func(units []unit, u unit, t analysis.Term, b float64) float64 {
		df, total := 0.0, 0.0
		for _, v := range units {
			total += float64(v.length)
			if v.counts[t.Text] > 0 {
				df++
			}
		}
		n, tf := float64(len(units)), float64(u.counts[t.Text])
		idf := math.Log(1 + (n-df+.5)/(df+.5))
		return t.Weight * idf * tf * 1.9 / (tf + .9*(1-b+b*float64(u.length)/(total/n)))
	}
	all := 0.0
	var terms []analysis.Term
	for _, t := range analysis.New().Query(question) {
		if slices.ContainsFunc(chunks, func(u unit) bool { return u.counts[t.Text] > 0 }) {
			terms = append(terms, t)
			all += coverage(t)
		}
	}
	scores := map[string]float64{}
	for _, p := range src.paths {
		note := 0.0
		for _, t := range terms {
			note += bm25(wholes, wholeOf[p], t, .75)
		}
		list := chunksOf[p]
		for i, u := range list {
			own, covered, context := 0.0, 0.0, 0.0
			for _, t := range terms {
				if u.counts[t.Text] > 0 {
					own += bm25(chunks, u, t, .4)
					covered += coverage(t)
					continue
				}
				borrowed := 0.0
				for _, step := range []int{-1, 1} {
					for k := 1; k <= 3 && i+k*step >= 0 && i+k*step < len(list); k++ {
						if v := list[i+k*step]; v.counts[t.Text] > 0 {
							borrowed = max(borrowed, (.5-float64(k)/10)*bm25(chunks, v, t, .4))
							break
						}
					}
				}
				context += borrowed
			}
			if own == 0 {
				continue
			}
			if len(list) > 1 {
				own *= math.Pow(covered/all, .3)
			}
			scores[p] = max(scores[p], own+.75*note+context)
		}
	}
	return scores
}

func TestScoresAreWhatTheFormulaSays(t *testing.T) {
	src := newNotes(randomVault(rand.New(rand.NewPCG(1, 2)), 120))
	x := open(t)
	update(t, x, src)
	for _, question := range questions {
		want := oracle(src, question)
		got := ask(t, x, src, vault.Query{Text: question, Limit: 1000})
		top := 0.0
		for _, s := range want {
			top = max(top, s)
		}
		for _, h := range got.Hits {
			if h.Score < namedBonus && math.Abs(h.Score-want[h.Path]) > 1e-4 {
				t.Errorf("%q: score of %s is %v, want %v", question, h.Path, h.Score, want[h.Path])
			}
		}
		for p, s := range want {
			if s > keepShare*top*1.0001 && !slices.Contains(hitPaths(got), p) {
				t.Errorf("%q: %s with score %v of %v is missing", question, p, s, top)
			}
		}
	}
}

var questions = []string{
	"how do we deploy production?", "데이터베이스 설정", "デプロイの方法は？", "部署 配置", "fooBar v1.0.21", "vault merge branch remember recall session",
	"retry", "京都", "the who", "HTTPServer gen-itgc C++ .env a/b.go:42", "memories/003-x.md",
}

// Whatever was indexed when, in however many generations, and whatever is only
// in memory: the answer is the same to the last byte.
func TestRankingDoesNotDependOnBatching(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	content := randomVault(r, 110)
	for i, p := range []string{"memories/copy-a.md", "memories/copy-b.md", "sessions/s.md", "conflicts/c.md"} {
		content[p] = content[fmt.Sprintf("memories/%03d-x.md", i/2)]
	}
	final := newNotes(content)
	want := answers(t, open(t), final)
	for round := range 6 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			x := open(t)
			for range 1 + r.IntN(12) {
				update(t, x, earlier(r, final))
				if r.IntN(6) == 0 {
					if _, err := x.Rebuild(t.Context(), earlier(r, final), nil); err != nil {
						t.Fatal(err)
					}
				}
			}
			if diff := gocmp.Diff(want, answers(t, x, final)); diff != "" {
				t.Errorf("answers differ (-all in memory +indexed in pieces):\n%s", diff)
			}
			st := x.Stale(final)
			update(t, x, final)
			if diff := gocmp.Diff(want, answers(t, x, final)); diff != "" {
				t.Errorf("answers differ after the last update of %+v:\n%s", st, diff)
			}
			checkSound(t, x, final)
		})
	}
}

// earlier is final with some notes missing, some with other content, and some
// that will be gone.
func earlier(r *rand.Rand, final *notes) *notes {
	var changes []string
	for _, p := range final.paths {
		switch r.IntN(6) {
		case 0, 1:
			changes = append(changes, p, "-")
		case 2:
			changes = append(changes, p, final.content[final.paths[r.IntN(len(final.paths))]])
		}
	}
	for i := range r.IntN(20) {
		changes = append(changes, fmt.Sprintf("memories/gone-%d.md", i), "deploy "+word(r))
	}
	return final.with(changes...)
}

func answers(t *testing.T, x *Index, src *notes) map[string]Result {
	t.Helper()
	out := map[string]Result{}
	for _, q := range questions {
		r := ask(t, x, src, vault.Query{Text: q, Limit: 20, Explain: true})
		r.Stats = Stats{}
		out[q] = r
		r = ask(t, x, src, vault.Query{Text: q, Limit: 20, Strict: true, Budget: 500})
		r.Stats = Stats{}
		out[q+" strict"] = r
	}
	return out
}

func checkSound(t *testing.T, x *Index, src Source) {
	t.Helper()
	r, err := x.Check(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || len(r.Missing) > 0 {
		t.Errorf("index is not what the source has: %+v", r)
	}
}

func TestMathIsThatOfTheLibraryToTwelveDigits(t *testing.T) {
	for x := 1e-6; x < 1e7; x *= 1.37 {
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
			t.Errorf("ln(%v) = %v, want %v", x, got, want)
		}
	}
	for x := 0.001; x <= 1; x += 0.001 {
		if got, want := pow(x, .3), math.Pow(x, .3); math.Abs(got-want) > 1e-12 {
			t.Errorf("pow(%v, .3) = %v, want %v", x, got, want)
		}
	}
	if got := pow(1, .3); got != 1 {
		t.Errorf("pow(1, .3) = %v", got)
	}
}

// The bits themselves, for hosts of other kinds to agree with.
func TestMathIsTheSameOnEveryHost(t *testing.T) {
	var b strings.Builder
	for _, x := range []float64{0.1, 0.5, 1.5, 3, 7.25, 1000.5} {
		fmt.Fprintf(&b, "%016x ", math.Float64bits(ln(x)))
	}
	for _, x := range []float64{0.1, 1.0 / 3, 0.5, 0.9} {
		fmt.Fprintf(&b, "%016x ", math.Float64bits(pow(x, coverageExponent)))
	}
	fmt.Fprintf(&b, "%016x", math.Float64bits(bm25(idf(1234, 7), 3, lengthNorm(41, 57.25, 0.6))))
	const want = "c0026bb1bbb55515 bfe62e42fefa39ef 3fd9f323ecbf984c 3ff193ea7aad030a 3fffb22e98a1c24e 401ba20da39bd28c " +
		"3fe009b9cf334253 3fe703e0260b76c7 3fe9fdf8bcce533d 3fef011d8cfc7493 401f0f193f01c416"
	if got := b.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHeapPopsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var h entryHeap
	for i := range 500 {
		h = append(h, entry{source: int32(i), text: float64(r.IntN(20))})
	}
	want := slices.Clone(h)
	slices.SortFunc(want, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.text, a.text), cmp.Compare(a.source, b.source))
	})
	r.Shuffle(len(h), func(i, j int) { h[i], h[j] = h[j], h[i] })
	h.init()
	for i, w := range want {
		if got := h.pop(); got != w {
			t.Fatalf("pop %d: got %+v, want %+v", i, got, w)
		}
	}
}
