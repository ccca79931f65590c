package eval

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Difference is how one measure of two runs differs over the same questions.
type Difference struct {
	Metric string  `json:"metric"`
	A      float64 `json:"a"` // mean
	B      float64 `json:"b"`
	Delta  float64 `json:"delta"` // B - A
	Wins   int     `json:"wins"`  // questions where B is better
	Losses int     `json:"losses"`
	// P is how likely a difference at least this large is when the two runs
	// are equally good.
	P float64 `json:"p"`
}

// rounds is how often the labels are dealt anew: enough to tell .05 from .045.
const rounds = 10000

// Compare tests each measure by Fisher's paired randomisation (Smucker, Allan
// and Carterette, A Comparison of Statistical Significance Tests for
// Information Retrieval Evaluation, CIKM 2007): for every question a coin decides which run
// is called A. P is two-sided, and the same for the same runs.
func Compare(a, b Scores) []Difference {
	ids := slices.Sorted(maps.Keys(a.PerQuery))
	am, bm := a.Values(), b.Values()
	var list []Difference
	for k, name := range Names {
		d := Difference{Metric: name, A: am[k], B: bm[k], Delta: bm[k] - am[k]}
		var deltas []float64
		for _, id := range ids {
			delta := b.PerQuery[id].Values()[k] - a.PerQuery[id].Values()[k]
			switch {
			case delta > 0:
				d.Wins++
			case delta < 0:
				d.Losses++
			default:
				continue // stays 0 whoever is called what
			}
			deltas = append(deltas, delta)
		}
		d.P = randomisation(deltas)
		list = append(list, d)
	}
	return list
}

// randomisation returns how often a sum of deltas with random signs is at
// least as far from zero as theirs.
func randomisation(deltas []float64) float64 {
	r := rand.New(rand.NewPCG(2007, 623))
	observed := 0.0
	for _, d := range deltas {
		observed += d
	}
	observed = math.Abs(observed) - 1e-9
	extreme := 1
	for range rounds {
		sum := 0.0
		var bits uint64
		for i, d := range deltas {
			if i%64 == 0 {
				bits = r.Uint64()
			}
			if bits&1 == 0 {
				sum += d
			} else {
				sum -= d
			}
			bits >>= 1
		}
		if math.Abs(sum) >= observed {
			extreme++
		}
	}
	return float64(extreme) / float64(rounds+1)
}
