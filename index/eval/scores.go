package eval

import (
	"maps"
	"slices"
)

// Scores are the measures of one set.
type Scores struct {
	Set     string `json:"set"`
	Queries int    `json:"queries"`
	Docs    int    `json:"docs"`
	Metrics
	Categories []Category `json:"categories,omitempty"`

	PerQuery map[string]Metrics `json:"-"`
}

// Category is the part of a set's questions that are of one kind.
type Category struct {
	Name    string `json:"name"`
	Queries int    `json:"queries"`
	Metrics
}

// Score measures r against the judgements of the collections of one set. A
// question that r does not have found nothing.
func Score(set string, collections []*Collection, r Run) Scores {
	s := Scores{Set: set, PerQuery: map[string]Metrics{}}
	var all []Metrics
	kinds := map[string][]Metrics{}
	for _, c := range collections {
		s.Docs += len(c.Docs)
		for _, q := range c.Queries {
			m := Measure(r[q.ID], c.Gold[q.ID])
			s.PerQuery[q.ID] = m
			all = append(all, m)
			if kind := q.Category(); kind != "" {
				kinds[kind] = append(kinds[kind], m)
			}
		}
	}
	s.Queries, s.Metrics = len(all), Mean(all)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		s.Categories = append(s.Categories, Category{kind, len(kinds[kind]), Mean(kinds[kind])})
	}
	return s
}

// Total returns the means over all questions of several sets, and how many
// there are.
func Total(sets []Scores) (Metrics, int) {
	var all []Metrics
	for _, s := range sets {
		for range s.Queries {
			all = append(all, s.Metrics)
		}
	}
	return Mean(all), len(all)
}
