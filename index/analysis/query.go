package analysis

// Term is one distinct term of a question.
type Term struct {
	Text string
	Kind Kind
	// Weight scales what the term adds to a score.
	Weight float64
}

// The weights of [Single] and [Edge] terms against 1 for all others. A single
// Han character helps where no pair can: questions of one character, and words
// that share one.
const (
	SingleWeight = 1
	EdgeWeight   = 0.3
	// LanguageWeight is that of the name of a programming language: it says
	// where something is asked for, more than what, and the code that answers
	// does not repeat it.
	LanguageWeight = 0.3
)

// isLanguage reports whether term is the name of a programming language, and
// hardly anything else.
func isLanguage(term string) bool {
	switch term {
	case "py", "js", "ts", "java", "golang", "ruby", "php", "perl", "bash", "kotlin", "c++", "c#":
		return true
	}
	return false
}

// Query returns the distinct terms of a question in the order in which they
// first appear.
func (a *Analyzer) Query(text string) []Term {
	var terms []Term
	seen := map[string]bool{}
	a.Each([]byte(text), func(t Token) {
		if seen[string(t.Term)] {
			return
		}
		term := Term{Text: string(t.Term), Kind: t.Kind, Weight: 1}
		switch t.Kind {
		case Single:
			term.Weight = SingleWeight
		case Edge:
			term.Weight = EdgeWeight
		default:
			if isLanguage(term.Text) {
				term.Weight = LanguageWeight
			}
		}
		seen[term.Text] = true
		terms = append(terms, term)
	})
	return terms
}
