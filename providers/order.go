package providers

import (
	"cmp"
	"math"
	"slices"
)

// ordered is hits best first, without those that are not relevant enough, at
// most limit: by score where the provider's scores say something, else as they
// came. Scores of different providers are never compared, and one that scores
// everything alike has said nothing.
func (s *Source) ordered(hits []Hit, limit int) []Hit {
	kind := PropertiesOf(s.Provider).Score
	hits = slices.Clone(hits)
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(kind.distance(a), kind.distance(b)) })
	if kind == Similarity && s.MinRelevance > 0 {
		hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.Score != nil && *h.Score < s.MinRelevance })
	}
	return hits[:min(len(hits), max(limit, 1))]
}

// distance is how far h is from the best, by its score; the same for all where
// scores say nothing.
func (k ScoreKind) distance(h Hit) float64 {
	scored := h.Score != nil && !math.IsNaN(*h.Score)
	switch {
	case k != Similarity && k != Distance:
		return 0
	case !scored:
		return math.Inf(1)
	case k == Similarity:
		return -*h.Score
	}
	return *h.Score
}
