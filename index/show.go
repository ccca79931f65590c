package index

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"vademecum/vault"
)

// show makes hits of the candidates, inside the token budget if there is one.
func (s *searching) show(kept []*candidate, sc *scorer) {
	e := newExcerpter(sc.terms)
	defer usedAnalyzers.Put(e.terms)
	left := s.q.Budget
	for _, c := range kept {
		h := s.hit(c)
		raw, err := s.src.Read(c.source)
		if err != nil {
			s.unreadable(h.Path)
		}
		whole := readNote(h.Path, raw).body
		body := whole
		anchor := c.part.span(c.doc)
		shown := raw
		if s.q.Passages > 1 { // the others of the note are hits of their own
			body, shown = max(body, min(anchor.start, len(raw))), raw[:min(anchor.end, len(raw))]
		}
		p := e.show(shown, body, anchor, wholeText)
		if s.q.Budget > 0 {
			left -= Tokens(h.Title) + hitOverhead
			p = e.fit(shown, body, anchor, p, left)
			if left < 0 || p.text == "" && len(raw) > 0 {
				return
			}
			left -= Tokens(p.text)
		}
		h.Text, h.Line, h.Excerpt = p.text, p.line, p.part || len(shown) < len(raw) || body > whole
		h.Passage = vault.Passage{Start: anchor.start, End: anchor.end}
		if s.q.Explain {
			h.Explain = sc.explain(c)
		}
		s.result.Hits = append(s.result.Hits, h)
	}
}

// fit cuts p down to at most tokens; to nothing when that is too few to say anything.
func (e *excerpter) fit(raw []byte, body int, anchor span, p passage, tokens int) passage {
	for size := len(p.text); Tokens(p.text) > tokens; {
		if tokens < minCut {
			return passage{}
		}
		size = min(size*tokens/Tokens(p.text), size*9/10)
		p = e.show(raw, body, anchor, size)
	}
	return p
}

func (s *searching) unreadable(path string) {
	if !slices.Contains(s.result.Unreadable, path) {
		s.result.Unreadable = append(s.result.Unreadable, path)
	}
}

// hit returns c without its text.
func (s *searching) hit(c *candidate) vault.Hit {
	m := c.meta
	path, blob := s.src.Key(c.source)
	h := vault.Hit{
		ID: m.ID, Title: m.Title, Path: path, Version: vault.Version(blob.String()),
		Score: math.Round(c.score()*1e4) / 1e4, Tier: m.Tier, Type: m.Type, Tags: append([]string{}, m.Tags...),
		Workspace: m.Workspace, Created: m.Created, Updated: m.Updated, Origin: m.Origin, Scope: m.Scope,
		Providers: []string{"vault"}, ConflictOf: m.ConflictOf,
	}
	if c.above != "" {
		h.SupersededBy = &c.above
	}
	return h
}

// explain prints the sum that c's score is.
func (sc *scorer) explain(c *candidate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.4f", c.score())
	if c.named != "" {
		fmt.Fprintf(&b, ": %s (+%g)", c.named, namedBonus)
	}
	if c.raised != "" {
		fmt.Fprintf(&b, "; put before %s, which it replaces", c.raised)
	}
	if c.part.scores == nil || c.part.scores[c.doc].chunk == 0 {
		return b.String()
	}
	first := c.part.firstDoc(c.note)
	chunk, note, context := c.part.chunkScore(c.doc, first)
	fmt.Fprintf(&b, "\n  passage %.4f = (%s)", chunk, sc.sum(c.part, c.doc, false))
	if !c.part.solo(c.doc) {
		fmt.Fprintf(&b, " × %.4f for having %.2f of %.2f", sc.coverageShare(c.part.scores[c.doc].covered), c.part.scores[c.doc].covered, sc.all)
	}
	fmt.Fprintf(&b, "\n  note %.4f = %g × (%s)", note, noteShare, sc.sum(c.part, first, true))
	if context > 0 {
		fmt.Fprintf(&b, "\n  context %.4f", context)
	}
	if sum := chunk + note + context; c.text < sum {
		fmt.Fprintf(&b, "\n  × %.4f as a captured session", c.text/sum)
	}
	return b.String()
}

// sum prints what each term added to doc.
func (sc *scorer) sum(p *scoredPart, doc int, note bool) string {
	var list []string
	for _, a := range p.added {
		if a.doc == doc && a.note == note {
			list = append(list, fmt.Sprintf("%s %.4f×%d", sc.terms[a.term].Text, a.score, a.n))
		}
	}
	return strings.Join(list, " + ")
}

// whyNone says why there are no hits.
func (s *searching) whyNone(dropped map[string]int, asked []queryTerm, f *found) string {
	switch {
	case s.src.Len() == 0:
		return "there are no memories yet"
	case strings.TrimSpace(s.q.Text) == "":
		return "the question is empty"
	case len(dropped) > 0:
		return reason(dropped)
	case s.q.Budget > 0 && f != nil && len(f.heap) > 0:
		return fmt.Sprintf("no hit fits into %d tokens", s.q.Budget)
	case len(asked) == 0:
		return "the question has only stop words or punctuation, and no memory has exactly that"
	}
	return "no memory has any word of the question"
}
