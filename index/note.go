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
	raw   []byte
	body  int    // where the text starts; 0 when the front matter is not understood
	title string // from the front matter, else the file's name
	head  string // tags and aliases: they go with every chunk
	extra string // other values that people search for: they go with the first chunk
	ids   []string
}

// readNote takes a file apart. Nothing of a file without sound front matter is
// left out: all of it is text.
func readNote(name string, raw []byte) noteText {
	n := noteText{raw: raw}
	d := vault.ParseDocument(raw)
	if d.HasHeader() && d.Broken() == nil && bytes.HasSuffix(raw, []byte(d.Body())) {
		n.body = len(raw) - len(d.Body())
		n.title = d.String("title")
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
	ids    map[string]int // term to its place in words and counts
	words  []string
	counts []int // of the chunk that is being read
	used   []int // places with a count
	length int
}

// maxVocabulary bounds the terms that a noteAnalyzer keeps strings for.
const maxVocabulary = 1 << 18

func newNoteAnalyzer() *noteAnalyzer {
	return &noteAnalyzer{terms: analysis.New(), ids: map[string]int{}}
}

// analyse returns the terms of the file name with content raw. It depends on
// nothing else.
func (a *noteAnalyzer) analyse(name string, raw []byte) *analysedNote {
	n := readNote(name, raw)
	if len(a.words) > maxVocabulary {
		a.ids, a.words, a.counts = map[string]int{}, nil, nil
	}
	out := &analysedNote{}
	for _, id := range n.ids {
		out.keys = append(out.keys, idTail(id))
	}
	body := raw[n.body:]
	chunks := split(body)
	repeated := startsWith(body, n.title)
	for i, c := range chunks {
		if !(repeated && i == 0) && !strings.Contains(c.path, n.title) {
			a.add(n.title)
		}
		a.add(n.head)
		a.add(c.path)
		if i == 0 {
			a.add(n.extra)
		}
		a.addBytes(body[c.start:c.end])
		out.chunks = append(out.chunks, a.take(n.body+c.start, n.body+c.end))
	}
	if len(chunks) > 1 {
		if !repeated {
			a.add(n.title)
		}
		a.add(n.head)
		a.add(n.extra)
		for _, c := range chunks {
			a.addBytes(body[c.start:c.end])
		}
		out.whole = a.take(n.body, len(raw))
	}
	return out
}

// startsWith reports whether body begins with title, be it as a heading:
// counting it again would only blur.
func startsWith(body []byte, title string) bool {
	title = strings.TrimRight(strings.TrimSpace(title), "….")
	return title != "" && bytes.HasPrefix(bytes.TrimLeft(body, "# \t\r\n"), []byte(title))
}

func (a *noteAnalyzer) add(text string) { a.addBytes([]byte(text)) }

func (a *noteAnalyzer) addBytes(text []byte) { a.terms.Each(text, a.count) }

func (a *noteAnalyzer) count(t analysis.Token) {
	at, ok := a.ids[string(t.Term)]
	if !ok {
		at = len(a.words)
		word := string(t.Term)
		a.ids[word] = at
		a.words = append(a.words, word)
		a.counts = append(a.counts, 0)
	}
	if a.counts[at] == 0 {
		a.used = append(a.used, at)
	}
	a.counts[at]++
	if t.Kind != analysis.Edge {
		a.length++
	}
}

// take returns what was counted since the last take.
func (a *noteAnalyzer) take(start, end int) analysedChunk {
	c := analysedChunk{start: start, end: end, length: a.length, terms: make([]termCount, len(a.used))}
	for i, at := range a.used {
		c.terms[i] = termCount{a.words[at], a.counts[at]}
		a.counts[at] = 0
	}
	a.used, a.length = a.used[:0], 0
	return c
}
