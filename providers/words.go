package providers

import (
	"math"
	"slices"

	"vademecum/index/analysis"
)

// maxWords is how many bytes of a candidate are read for its words: what
// matters of a hit stands at its beginning, and recall does not wait.
const maxWords = 1024

// words scores texts by the words of a question that they have: the one ruler
// that fits candidates of all origins, because each provider's own scores fit
// only its own. It is Okapi BM25 (Robertson and Zaragoza, The Probabilistic
// Relevance Framework, 2009) over the candidates as the collection, with
// the idf that is never negative; k1 and b are those of package index.
func words(question string, texts []string) []float64 {
	a := analysis.New()
	terms := a.Query(question)
	at := make(map[string]int, len(terms))
	for i, t := range terms {
		at[t.Text] = i
	}
	counts, lengths, in := make([][]int, len(texts)), make([]int, len(texts)), make([]int, len(terms))
	total := 0
	for i, text := range texts {
		counts[i] = make([]int, len(terms))
		a.Each([]byte(text[:min(len(text), maxWords)]), func(t analysis.Token) {
			lengths[i]++
			if k, ok := at[string(t.Term)]; ok {
				if counts[i][k]++; counts[i][k] == 1 {
					in[k]++
				}
			}
		})
		total += lengths[i]
	}
	scores := make([]float64, len(texts))
	for k, t := range terms {
		idf := float64(t.Weight) * math.Log(1+(float64(len(texts)-in[k])+0.5)/(float64(in[k])+0.5))
		for i := range texts {
			tf := float64(counts[i][k])
			norm := 0.9 * (1 - 0.4 + 0.4*float64(lengths[i]*len(texts))/float64(max(total, 1)))
			scores[i] += idf * tf * 1.9 / (tf + norm)
		}
	}
	return scores
}

// ranks turns scores, higher is better, into ranks from 1; equal scores have
// equal ranks.
func ranks(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	rank := make([]int, len(scores))
	for place, i := range order {
		rank[i] = place + 1
		if place > 0 && scores[i] == scores[order[place-1]] {
			rank[i] = rank[order[place-1]]
		}
	}
	return rank
}
