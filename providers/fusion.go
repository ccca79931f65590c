package providers

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"vademecum/vault"
)

// A candidate's score is reciprocal rank fusion (Cormack, Clarke and Büttcher,
// SIGIR 2009): the sum over all lists that it is in of the list's weight over
// rrfK plus its rank there. Besides the vault and each provider, recency is a
// list of its own; it weighs so little that it decides only between candidates
// of which the others say the same.
const (
	rrfK          = 60
	vaultWeight   = 1.0
	sourceWeight  = 0.7
	foreignShare  = 0.4 / 0.7 // of its source's weight, for what the vault does not know
	wordsWeight   = 1.0
	recencyWeight = 0.05
	// One place in foreignPlaces of the answer is open to a foreign fact that has
	// so much more of the question's words than the memory that stands there. On
	// the dev halves of docs/benchmarks.md, with a quarter of the answers in the
	// vault and the others in three providers, that finds twice to three times what
	// the best of them finds alone and, of what the vault holds, up to 5 answers in
	// 1,000 less; with 1 for foreignLead it is a fifth more, and up to 40 less.
	foreignPlaces = 5
	foreignLead   = 4.0
)

// candidate is one memory, or one foreign fact, that somebody found.
type candidate struct {
	hit   vault.Hit
	score float64
	words float64
}

// fusion collects candidates.
type fusion struct {
	known   []*candidate // by the order in which they were met, the vault's first
	foreign []*candidate
	byKey   map[string]*candidate  // by id or path
	byText  map[textKey]*candidate // by scope and folded text; nil before the first foreign fact
}

func newFusion(local []vault.Hit) *fusion {
	f := &fusion{byKey: map[string]*candidate{}}
	for rank, h := range local { // several may be passages of one memory
		f.enter(h).score += vaultWeight / float64(rrfK+rank+1)
	}
	return f
}

func (f *fusion) enter(h vault.Hit) *candidate {
	c := &candidate{hit: h}
	f.known = append(f.known, c)
	if key := memoryKey(h.ID, h.Path); f.byKey[key] == nil {
		f.byKey[key] = c
	}
	if f.byText != nil {
		f.note(c)
	}
	return c
}

// know returns the candidate of a memory of the vault.
func (f *fusion) know(h vault.Hit) *candidate {
	if c := f.byKey[memoryKey(h.ID, h.Path)]; c != nil {
		return c
	}
	h.Providers = nil // the vault did not find it
	return f.enter(h)
}

func memoryKey(id vault.ID, path string) string { return cmp.Or(string(id), path) }

// meet returns the candidate of a foreign fact: of the memory with the same
// text in the same scope, if there is one.
func (f *fusion) meet(h Hit) (c *candidate, isForeign bool) {
	if f.byText == nil {
		f.byText = map[textKey]*candidate{}
		for _, c := range f.known {
			f.note(c)
		}
	}
	c = &candidate{hit: foreignHit(h)}
	if same := f.note(c); same != c {
		return same, same.hit.Foreign
	}
	f.foreign = append(f.foreign, c)
	return c, true
}

// note remembers c by its text, and returns who had it before, else c.
func (f *fusion) note(c *candidate) *candidate {
	if c.hit.Excerpt {
		return c
	}
	key := textKeyOf(c.hit)
	if same := f.byText[key]; same != nil {
		return same
	}
	f.byText[key] = c
	return c
}

// textKey is the same for texts of a scope that differ in case, width and space
// only.
type textKey struct {
	scope  string // the owner's own has no name
	length int
	hash   uint64 // FNV-1a
}

func textKeyOf(h vault.Hit) textKey {
	key := textKey{scope: h.Scope.Type + ":" + h.Scope.ID, hash: 14695981039346656037}
	if h.Scope.Type == "personal" || h.Scope.Type == "" {
		key.scope = ""
	}
	text := h.Text
	if !ascii(text) {
		text = strings.ToLower(norm.NFKC.String(text))
	}
	gap := false
	for i := range len(text) {
		c := text[i]
		switch {
		case c == ' ' || '\t' <= c && c <= '\r':
			gap = true
			continue
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		if gap && key.length > 0 {
			key.add(' ')
		}
		key.add(c)
		gap = false
	}
	return key
}

func (k *textKey) add(c byte) {
	k.hash = (k.hash ^ uint64(c)) * 1099511628211
	k.length++
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// How many bytes of a foreign fact are shown, and of its first line as its title.
const (
	maxForeign = 4096
	maxTitle   = 100
)

// foreignHit is what the vault does not know, as a hit.
func foreignHit(h Hit) vault.Hit {
	text := strings.ToValidUTF8(h.Text, "�")
	hit := vault.Hit{
		Foreign: true, Ref: string(h.Ref), Text: text, Tags: []string{}, Created: h.Created, Updated: h.Created,
	}
	if len(text) > maxForeign {
		hit.Text, hit.Excerpt = strings.ToValidUTF8(text[:maxForeign], ""), true
	}
	hit.Title, _, _ = strings.Cut(strings.TrimSpace(hit.Text), "\n")
	if len(hit.Title) > maxTitle {
		hit.Title = strings.ToValidUTF8(hit.Title[:maxTitle], "") + "…"
	}
	return hit
}

// add counts that provider found c at rank, from 1, in a list of that weight:
// once, at its best rank.
func (c *candidate) add(provider string, weight float64, rank int) {
	if slices.Contains(c.hit.Providers, provider) {
		return
	}
	c.score += weight / float64(rrfK+rank)
	c.hit.Providers = append(slices.Clip(c.hit.Providers), provider)
}

// hits is the answer, at most limit long: memories of the vault by their
// score, and foreign facts where there is room for them.
func (f *fusion) hits(question string, limit int) []vault.Hit {
	f.addRecency()
	byScore := func(a, b *candidate) int { return cmp.Compare(b.score, a.score) }
	slices.SortStableFunc(f.known, byScore)
	slices.SortStableFunc(f.foreign, byScore)
	known, foreign := f.known[:min(len(f.known), limit)], f.foreign[:min(len(f.foreign), 2*limit)]
	if len(foreign) > 0 {
		addWords(question, slices.Concat(known, foreign))
		slices.SortStableFunc(foreign, byScore)
	}
	sure := limit - limit/foreignPlaces
	var hits []vault.Hit
	for len(hits) < limit && len(known)+len(foreign) > 0 {
		from := &known
		if len(known) == 0 || len(hits) >= sure && len(foreign) > 0 && foreign[0].words > foreignLead*known[0].words {
			from = &foreign
		}
		hits = append(hits, (*from)[0].hit)
		*from = (*from)[1:]
	}
	return hits
}

func (f *fusion) addRecency() {
	all := slices.Concat(f.known, f.foreign)
	when := make([]float64, len(all))
	for i, c := range all {
		if t := c.hit.Updated; !t.IsZero() {
			when[i] = float64(t.Unix())
		}
	}
	for i, rank := range ranks(when) {
		all[i].score += recencyWeight / float64(rrfK+rank)
	}
}

// addWords measures the candidates between which there is something to decide.
func addWords(question string, all []*candidate) {
	texts := make([]string, len(all))
	for i, c := range all {
		texts[i] = c.hit.Text
	}
	scores := words(question, texts)
	for i, rank := range ranks(scores) {
		all[i].words = scores[i]
		if all[i].hit.Foreign {
			all[i].score += wordsWeight / float64(rrfK+rank)
		}
	}
}
