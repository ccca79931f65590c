package eval

import "math"

// Metrics are the measures of one question, or their means over several. Each
// is between 0 and 1.
type Metrics struct {
	Recall1  float64 `json:"recall@1"`
	Recall5  float64 `json:"recall@5"`
	Recall10 float64 `json:"recall@10"`
	MRR      float64 `json:"mrr@10"`
	NDCG     float64 `json:"ndcg@10"`
}

// Names are the measures in the order of [Metrics.Values].
var Names = [...]string{"R@1", "R@5", "R@10", "MRR@10", "nDCG@10"}

// Values are the measures in the order of [Names].
func (m Metrics) Values() [len(Names)]float64 {
	return [...]float64{m.Recall1, m.Recall5, m.Recall10, m.MRR, m.NDCG}
}

// Measure compares a ranking with the judgements of its question. Recall@k is
// the share of the relevant documents that are among the first k; MRR@10 is one
// over the rank of the first relevant one (Voorhees, TREC-8, 1999); nDCG@10
// sums relevance over the logarithm of the rank and divides by the best
// possible sum (Järvelin and Kekäläinen, TOIS 2002, as trec_eval computes it).
func Measure(found []Found, gold map[string]int) Metrics {
	var m Metrics
	if len(gold) == 0 {
		return m
	}
	dcg := 0.0
	for i, f := range found[:min(len(found), 10)] {
		relevance := gold[f.ID]
		if relevance == 0 {
			continue
		}
		if i == 0 {
			m.Recall1++
		}
		if i < 5 {
			m.Recall5++
		}
		m.Recall10++
		if m.MRR == 0 {
			m.MRR = 1 / float64(i+1)
		}
		dcg += float64(relevance) / math.Log2(float64(i+2))
	}
	n := float64(len(gold))
	m.Recall1, m.Recall5, m.Recall10 = m.Recall1/n, m.Recall5/n, m.Recall10/n
	m.NDCG = dcg / idealGain(gold)
	return m
}

// idealGain is the discounted gain of the best possible ranking.
func idealGain(gold map[string]int) float64 {
	counts := map[int]int{}
	top := 0
	for _, relevance := range gold {
		counts[relevance]++
		top = max(top, relevance)
	}
	sum, rank := 0.0, 0
	for relevance := top; relevance > 0; relevance-- {
		for range counts[relevance] {
			if rank++; rank > 10 {
				return sum
			}
			sum += float64(relevance) / math.Log2(float64(rank+1))
		}
	}
	return sum
}

// Mean returns the mean of list; zero when it is empty.
func Mean(list []Metrics) Metrics {
	var m Metrics
	for _, x := range list {
		m.Recall1 += x.Recall1
		m.Recall5 += x.Recall5
		m.Recall10 += x.Recall10
		m.MRR += x.MRR
		m.NDCG += x.NDCG
	}
	n := float64(max(len(list), 1))
	return Metrics{m.Recall1 / n, m.Recall5 / n, m.Recall10 / n, m.MRR / n, m.NDCG / n}
}
