package hooks

import (
	"path"
	"strings"

	"vademecum/index/analysis"
	"vademecum/vault"
)

// A search always has a best hit, and most prompts are about nothing that was
// ever remembered. Whether a hit is worth a model's attention is decided on
// the words that it shares with what the person wrote.

const (
	// weakWeight is what a word counts that any sentence may have.
	weakWeight = 0.2
	// maxSegments bounds how many sentences of a prompt are looked at.
	maxSegments = 400
	// namedScore is from what score on the prompt named the memory.
	namedScore = 100
	// rareHits is how many hits may have a word that stands for itself, and
	// rareShare what it counts for.
	rareHits  = 2
	rareShare = 0.25
)

// question judges hits by the sentences of a prompt.
type question struct {
	analyzer *analysis.Analyzer
	weak     map[string]bool
	segments []segment
	long     bool // somebody pasted something
}

// segment is a sentence or a line, by its terms.
type segment struct {
	terms  []analysis.Term
	weight float64
	strong int
	pasted bool // neither at the start nor at the end of a long prompt
}

// newQuestion reads the texts that questions made of a prompt.
func newQuestion(texts []string) *question {
	q := &question{analyzer: analysis.New(), weak: map[string]bool{}, long: len(texts) > 1}
	for _, t := range q.analyzer.Query(weakWords) {
		q.weak[t.Text] = true
	}
	for i, text := range texts {
		if len(text) <= 2*questionEnd {
			q.add(text, i > 0)
		}
		for s := range sentences(text) {
			q.add(s, i > 0)
		}
	}
	return q
}

func (q *question) add(text string, pasted bool) {
	if len(q.segments) == maxSegments {
		return
	}
	s := segment{terms: q.analyzer.Query(text), pasted: pasted}
	for i := range s.terms {
		t := &s.terms[i]
		if q.isWeak(t.Text) {
			t.Weight = weakWeight
		} else if t.Kind != analysis.Single && t.Kind != analysis.Edge {
			s.strong++
		}
		s.weight += t.Weight
	}
	if s.strong > 0 {
		q.segments = append(q.segments, s)
	}
}

// isWeak reports whether any sentence may have term: a number, or one of
// weakWords.
func (q *question) isWeak(term string) bool {
	return q.weak[term] || strings.Trim(term, "0123456789-/:._") == ""
}

// sentences yields the sentences of text: lines, and what ends in . ? ! or
// their like with a space behind.
func sentences(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for l := range strings.SplitSeq(text, "\n") {
			for l != "" {
				end := len(l)
				for _, stop := range [...]string{". ", "? ", "! ", "; ", "。", "？", "！"} {
					if i := strings.Index(l, stop); i >= 0 {
						end = min(end, i+len(stop))
					}
				}
				if s := strings.TrimSpace(l[:end]); s != "" && !yield(s) {
					return
				}
				l = l[end:]
			}
		}
	}
}

// shares returns for each of hits how much of what the prompt asks it has, from
// 0 to 1: the best of the prompt's sentences counts.
func (q *question) shares(hits []vault.Hit) []float64 {
	have, in := make([]map[string]bool, len(hits)), map[string]int{}
	for i, h := range hits {
		have[i] = q.terms(h)
		for t := range have[i] {
			in[t]++
		}
	}
	shares := make([]float64, len(hits))
	for i, h := range hits {
		if h.Score >= namedScore {
			shares[i] = 1
			continue
		}
		for _, s := range q.segments {
			shares[i] = max(shares[i], q.share(s, have[i], in))
		}
	}
	return shares
}

func (q *question) terms(h vault.Hit) map[string]bool {
	have := map[string]bool{}
	text := strings.Join([]string{h.Title, h.Text, strings.Join(h.Tags, " "), string(h.Type), path.Base(h.Path)}, "\n")
	q.analyzer.Each([]byte(text), func(t analysis.Token) { have[string(t.Term)] = true })
	return have
}

// share returns how much of s a hit with these terms has. A single word in
// common is not enough where the sentence has more than two, unless few hits
// have it: then it is worth telling when little is asked for.
func (q *question) share(s segment, have map[string]bool, in map[string]int) float64 {
	covered, strong, whole, rare := 0.0, 0, false, false
	for _, t := range s.terms {
		if !have[t.Text] {
			continue
		}
		covered += t.Weight
		if q.isWeak(t.Text) || t.Kind == analysis.Single || t.Kind == analysis.Edge {
			continue
		}
		strong++
		whole = whole || t.Kind == analysis.Whole && len(t.Text) >= 6
		rare = rare || t.Kind != analysis.Pair && len(t.Text) >= 4 && in[t.Text] <= rareHits
	}
	switch {
	case whole:
		return 1
	case strong >= 3, strong == 2 && !s.pasted, strong == 1 && s.strong <= 2 && !s.pasted:
		return covered / s.weight
	case strong == 1 && rare && !q.long:
		return rareShare
	}
	return 0
}

// weakWords may be in any sentence about work on a program, and tell nothing
// of what it is about.
const weakWords = `able about above actually add added after again all almost already also always another any anything are
around ask away back bad be because been before begin behind being best better between big bit both bring build but
call came can cannot case cause change check choose class clean clear close code come command complete consider contain continue
correct could course create current currently data day decide default define did different directly do does doing done double down
each early easy edit either else end enough ensure even ever every everything exactly example exist expect explain explore
fact far feature few file fill find fine finish first fix folder follow following found free full function further
gave general get give given go goes going gone good got great had hand handle happen happening hard has have help here high hope how
idea implement important improve include inside instead issue item just keep kind knew know known
large last later leave left less let like likely line list little long look lot low made main make many may maybe mean
method might mind minute missing moment more most move much must name near need never new next nice no not note nothing now number
okay old once one only open option order other our out over own part pass path perhaps place plan please point possible pretty
problem produce project provide put question quick quickly quite rather read ready real really reason recent refactor related
remember remove repo repository result return review right run running said same saw say second see seem seen send set several shall
should show side similar simple simply since single slow small so some something soon sort stand start state stay step still stop
such suggest suppose supposed sure take talk task tell test thank thanks that then there these they thing think this though thought
three through time today together told tomorrow too took top total toward try trying turn two type understand until up update upon
us use used useful user using usual usually value very version via want was way we week well went were what when where whether which
while who whole why will wish with within without word work working world would write writing wrong year yes yesterday yet you your`
