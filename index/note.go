package index

import (
	"bytes"
	"path"
	"strings"

	"vademecum/index/analysis"
	"vademecum/vault"
)

// analysedNote is what the index knows of one file: the terms of its chunks
// and, when there are several, of the note as one.
type analysedNote struct {
	chunks []analysedChunk
	whole  analysedChunk // unset when there is one chunk, which then is the note
	keys   []string      // the tails of its ids, see idTail
}

// analysedChunk is the distinct terms of a chunk.
type analysedChunk struct {
	start, end int // bytes of the file
	length     int // terms, each as often as it occurs
	terms      []termCount
}

type termCount struct {
	term string
	n    int
}

// size estimates the memory that n takes, in bytes.
func (n *analysedNote) size() int {
	terms := len(n.whole.terms)
	for _, c := range n.chunks {
		terms += len(c.terms) + 2
	}
	return 200 + 24*terms
}

// noteText is a file taken apart for analysis.
type noteText struct {
	raw    []byte
	body   int    // where the text starts; 0 when the front matter is not understood
	title  string // from the front matter, else the file's name
	head   string // tags and aliases: they go with every chunk
	extra  string // other values that people search for: they go with the first chunk
	ids    []string
	titled bool // in the front matter
}

// firstLine is the first line of a text that says something, if more follows: it
// stands for the title of a note that has none, and counts once more for it.
func firstLine(body []byte) []byte {
	line, rest, _ := bytes.Cut(bytes.TrimSpace(body), []byte("\n"))
	if len(rest) == 0 {
		return nil
	}
	return line
}

// readNote takes a file apart. Nothing of a file without sound front matter is
// left out: all of it is text.
func readNote(name string, raw []byte) noteText {
	n := noteText{raw: raw}
	d := vault.ParseDocument(raw)
	if d.HasHeader() && d.Broken() == nil && bytes.HasSuffix(raw, []byte(d.Body())) {
		n.body = len(raw) - len(d.Body())
		n.title = d.String("title")
		n.titled = n.title != ""
		n.head = strings.Join(append(d.Strings("tags"), d.Strings("aliases")...), "\n")
		n.extra = d.String("why") + "\n" + d.String("source") + "\n" + d.String("description") + "\n" + d.String("summary")
		if id := d.String("id"); id != "" {
			n.ids = append([]string{id}, d.Strings("merged_ids")...)
		}
	}
	if n.title == "" {
		base := path.Base(name)
		n.title = strings.TrimSuffix(base, path.Ext(base))
	}
	return n
}

// idTail is what an id is looked up by: its last six characters, in lower case.
func idTail(id string) string {
	return strings.ToLower(id[max(0, len(id)-tailLen):])
}

const tailLen = 6

// noteAnalyzer analyses notes. It belongs to one worker.
type noteAnalyzer struct {
	terms  *analysis.Analyzer
	ids    map[string]int // term to its place in words
	words  []string
	chunk  tally // of the chunk that is being read
	whole  tally // of the note that is being read
	shared bool  // what is read now counts for both
	once   bool  // what is read now counts only where the chunk does not have it yet
}

// tally counts terms, by their place in noteAnalyzer.words.
type tally struct {
	counts []int
	used   []int // places with a count
	length int
}

func (t *tally) add(at int, kind analysis.Kind) {
	if at >= len(t.counts) {
		t.counts = append(t.counts, make([]int, at+1-len(t.counts)+1024)...)
	}
	if t.counts[at] == 0 {
		t.used = append(t.used, at)
	}
	t.counts[at]++
	if kind != analysis.Edge {
		t.length++
	}
}

func (t *tally) has(at int) bool { return at < len(t.counts) && t.counts[at] > 0 }

// maxVocabulary bounds the terms that a noteAnalyzer keeps strings for.
const maxVocabulary = 1 << 18

func newNoteAnalyzer() *noteAnalyzer {
	return &noteAnalyzer{terms: analysis.New(), ids: map[string]int{}}
}

// analyse returns the terms of the file name with content raw, whose passages
// start at cuts or where its markdown says. It depends on nothing else.
func (a *noteAnalyzer) analyse(name string, raw []byte, cuts []int) *analysedNote {
	n := readNote(name, raw)
	if len(a.words) > maxVocabulary {
		*a = *newNoteAnalyzer()
	}
	out := &analysedNote{}
	for _, id := range n.ids {
		out.keys = append(out.keys, idTail(id))
	}
	body := raw[n.body:]
	chunks := split(body)
	if cuts != nil {
		chunks = splitAt(body, cuts, n.body)
	}
	several := len(chunks) > 1
	for i, c := range chunks {
		a.shared = several
		if inSessions(name) {
			a.addAnswers(body[c.start:c.end])
		} else {
			a.add(body[c.start:c.end])
		}
		a.shared = several && i == 0
		if i == 0 {
			a.add([]byte(n.extra))
			if !n.titled && !inSessions(name) {
				a.add(firstLine(body))
			}
		}
		// What the text around a chunk says of it: once is enough, or a chunk
		// that repeats its title would beat the one that answers.
		a.once = true
		a.add([]byte(n.title))
		a.add([]byte(n.head))
		a.shared = false
		a.add([]byte(c.path))
		a.once = false
		out.chunks = append(out.chunks, a.take(&a.chunk, n.body+c.start, n.body+c.end))
	}
	if several {
		out.whole = a.take(&a.whole, n.body, len(raw))
	}
	return out
}

// addAnswers counts the terms of a captured turn: what it quotes was asked, and
// is there so that the answer is understood.
func (a *noteAnalyzer) addAnswers(text []byte) {
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte(">")) {
			a.add(line)
		}
	}
}

// add counts the terms of text.
func (a *noteAnalyzer) add(text []byte) { a.terms.Each(text, a.count) }

func (a *noteAnalyzer) count(t analysis.Token) {
	at, ok := a.ids[string(t.Term)]
	if !ok {
		at = len(a.words)
		word := string(t.Term)
		a.ids[word] = at
		a.words = append(a.words, word)
	}
	if !a.once || !a.chunk.has(at) {
		a.chunk.add(at, t.Kind)
	}
	if a.shared && (!a.once || !a.whole.has(at)) {
		a.whole.add(at, t.Kind)
	}
}

// take returns what t has counted since the last take.
func (a *noteAnalyzer) take(t *tally, start, end int) analysedChunk {
	c := analysedChunk{start: start, end: end, length: t.length, terms: make([]termCount, len(t.used))}
	for i, at := range t.used {
		c.terms[i] = termCount{a.words[at], t.counts[at]}
		t.counts[at] = 0
	}
	t.used, t.length = t.used[:0], 0
	return c
}
