package index

import (
	"cmp"
	"slices"
	"sync"

	"vademecum/index/analysis"
)

const (
	// maxQuery is how much of a question is read, in bytes: a pasted log is
	// often longer, and says nothing new after that.
	maxQuery = 512 << 10
	// maxDistinct is how many different terms of it are looked up.
	maxDistinct = 4096
	// maxTerms is how many terms of a question are scored: the rarest.
	maxTerms = 128
)

// queryTerm is one term of a question, with what the vault says about it.
type queryTerm struct {
	analysis.Term
	chunks, notes     int     // how many have it
	chunkIDF, noteIDF float64 // times the term's weight
	common            bool    // in so many chunks that it only re-scores what others found
	covers            float64 // what it adds to coverage
	lists             []termLists
}

// termLists is one term's postings in one part.
type termLists struct{ solo, chunk, note postingList }

// usedAnalyzers are those of searches that have ended: they know the stems of
// words that will come again.
var usedAnalyzers sync.Pool // of *analysis.Analyzer

func analyzer() *analysis.Analyzer {
	if a, ok := usedAnalyzers.Get().(*analysis.Analyzer); ok {
		return a
	}
	return analysis.New()
}

// queryTerms returns the distinct terms of text.
func queryTerms(text string) []queryTerm {
	if len(text) > maxQuery {
		text = text[:runeStart([]byte(text), maxQuery)]
	}
	a := analyzer()
	defer usedAnalyzers.Put(a)
	var terms []queryTerm
	for _, t := range a.Query(text) {
		if len(terms) == maxDistinct {
			break
		}
		terms = append(terms, queryTerm{Term: t})
	}
	return terms
}

// coverage returns what t adds to the coverage of a chunk that has it.
func coverage(t analysis.Term) float64 {
	if t.Kind == analysis.Edge {
		return 0
	}
	return t.Weight
}

// count fills in how many live chunks and notes of parts have t, and keeps the lists.
func (t *queryTerm) count(parts []*part) error {
	t.chunks, t.notes = 0, 0
	t.lists = make([]termLists, len(parts))
	for i, p := range parts {
		var l termLists
		var err error
		if l.solo, err = p.postings.list(soloField, t.Text); err != nil {
			return err
		}
		if l.chunk, err = p.postings.list(chunkField, t.Text); err != nil {
			return err
		}
		if l.note, err = p.postings.list(noteField, t.Text); err != nil {
			return err
		}
		solo := l.solo.count()
		t.chunks += solo + l.chunk.count()
		t.notes += solo + l.note.count()
		t.lists[i] = l
	}
	return nil
}

// rarest returns those of terms that occur, at most maxTerms of them, in the
// order of the question.
func rarest(terms []queryTerm) []queryTerm {
	terms = slices.DeleteFunc(terms, func(t queryTerm) bool { return t.chunks == 0 })
	if len(terms) <= maxTerms {
		return terms
	}
	order := make([]int, len(terms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(terms[i].chunks, terms[j].chunks) })
	keep := order[:maxTerms]
	slices.Sort(keep)
	out := make([]queryTerm, maxTerms)
	for i, k := range keep {
		out[i] = terms[k]
	}
	return out
}
