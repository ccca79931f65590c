package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vademecum/vault"
)

// BenchmarkRouter is what the router adds to the vault's own search, whose
// answer is there at once: ten providers that answer at once, half of what they
// find being ours.
func BenchmarkRouter(b *testing.B) {
	text := strings.Repeat("The retry budget of the billing service is three attempts within a minute, then it waits. ", 12)
	s := &shelf{has: map[string]vault.Hit{}}
	for i := range 5 {
		s.found = append(s.found, ours(fmt.Sprint("own", i), fmt.Sprint(i, text)))
	}
	r := &Router{Gates: OpenGates(b.TempDir(), time.Now)}
	for p := range 10 {
		var hits []Hit
		for i := range 10 {
			h := Hit{Ref: Ref(fmt.Sprint(p, i)), Text: fmt.Sprint(p, i, text)}
			if i%2 == 0 {
				h.ID = fmt.Sprint("m", p, i)
				s.has[h.ID] = ours(h.ID, h.Text)
			}
			hits = append(hits, h)
		}
		r.Sources = append(r.Sources, Source{Provider: &source{name: fmt.Sprint("p", p), hits: hits}})
	}
	for _, n := range []int{0, 1, 10} {
		router := &Router{Gates: r.Gates, Sources: r.Sources[:n]}
		b.Run(fmt.Sprint("providers=", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := router.Recall(b.Context(), Query{Text: "how often is a failed billing request retried?", Limit: 5}, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBudget is how long a recall takes of ten providers of which half never
// answer, without breakers: the metric is its 99th percentile over the time of a
// source.
func BenchmarkBudget(b *testing.B) {
	s := &shelf{found: []vault.Hit{ours("own", "the tide is high")}}
	r := &Router{}
	for p := range 10 {
		wait := time.Duration(p) * 10 * time.Millisecond
		if p%2 == 0 {
			wait = time.Hour
		}
		r.Sources = append(r.Sources, Source{Provider: &source{name: fmt.Sprint("p", p), wait: wait, hits: foreign("tide tables")}})
	}
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if a, err := r.Recall(b.Context(), Query{Text: "tide", Limit: 5}, s); err != nil || len(a.Hits) != 2 || !a.Partial {
			b.Fatal(a, err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100])/float64(SourceTimeout), "p99/budget")
}
