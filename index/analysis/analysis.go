// Package analysis turns text of any script into search terms, the same way
// for a memory and for a question about it.
//
// There is one field for all languages, so nothing has to guess which language
// a text is in: every run of letters is treated by its own script.
//
//	Latin, digits   split into parts at underscores, case changes and digits;
//	                English stop words dropped, parts stemmed (Porter2, and a table of
//	                irregular forms and number words); an identifier, path or
//	                version of several parts also as a whole
//	Hangul          particle or ending stripped, then pairs of syllables
//	Han, kana       overlapping pairs, single Han characters, and the first
//	                pair of each Han run again as an [Edge]
//	Thai, Lao,      pairs of clusters (a letter with its marks)
//	Khmer, Myanmar
//	other letters   whole words with their combining marks
//	emoji           one term each
//
// Text is first brought to NFKC (so half-width katakana, full-width Latin and
// decomposed letters agree), lower case, and Latin letters without accents.
// Traditional Chinese characters become simplified ones.
package analysis

import (
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
)

// Version changes whenever the same text may give other terms than before:
// an index of another version is of no use.
const Version = 5

// MaxRunes is the length at which a term is cut.
const MaxRunes = 64

// Kind says where a term comes from.
type Kind uint8

const (
	// Word is a word, or one part of an identifier.
	Word Kind = iota
	// Whole is an identifier, path or version of several parts, joined.
	Whole
	// Pair is two neighbouring characters of a script that does not put
	// spaces between words, or two syllables of a Korean word.
	Pair
	// Single is one Han character.
	Single
	// Edge is the first pair of a run of Han characters: it tells 京都 from
	// the middle of 東京都. It does not count towards the length of a text.
	Edge
)

// Token is one term of a text.
type Token struct {
	// Term is valid until the callback that got it returns.
	Term []byte
	Kind Kind
	// Start and End are the byte range that the term comes from, on rune
	// boundaries of the text as given.
	Start, End int
}

// Analyzer holds the buffers and the stem cache of one worker. It may be used
// by one goroutine at a time.
type Analyzer struct {
	emit func(Token)
	norm normalized
	mem  map[string]string // surface form to term; "" for a stop word
	env  *snowballstem.Env

	low    []byte // lower-case letters of the current compound
	parts  []part
	idents []ident
	runes  []place
	term   []byte
	plain  []byte // a run in simplified characters
}

// New returns an Analyzer.
func New() *Analyzer {
	return &Analyzer{mem: map[string]string{}, env: snowballstem.NewEnv("")}
}

// Each calls fn for every term of text, in the order of the text; the parts of
// an identifier come before the whole. Bytes that are not UTF-8 separate words.
func (a *Analyzer) Each(text []byte, fn func(Token)) {
	a.emit = fn
	a.norm.set(text)
	b := a.norm.bytes
	last := run{end: -1}
	for at := 0; at < len(b); {
		c, size := classAt(b, at)
		next := run{class: c, start: at, end: at + size}
		switch c {
		case latin:
			next.end = a.compound(b, at)
		case dot:
			next.end = a.dotWord(b, at)
		case hangul:
			next.end = a.hangul(b, at, last)
		case han, kana:
			next.end = a.cjk(b, at, last)
		case cluster:
			next.end = a.clusters(b, at)
		case other:
			next.end = a.otherWord(b, at)
		case emoji:
			a.put(b[at:at+size], Word, at, at+size)
		}
		last = next
		at = next.end
	}
	a.emit = nil
}

// run is a stretch of one script in the normalised text.
type run struct {
	class      class
	start, end int
}

// put emits term, which came from [start, end) of the normalised text.
func (a *Analyzer) put(term []byte, kind Kind, start, end int) {
	if len(term) == 0 {
		return
	}
	from, to := a.norm.origin(start, end)
	a.emit(Token{Term: cut(term), Kind: kind, Start: from, End: to})
}

// cut shortens term to MaxRunes.
func cut(term []byte) []byte {
	if len(term) <= MaxRunes {
		return term
	}
	for at, n := 0, 0; at < len(term); n++ {
		if n == MaxRunes {
			return term[:at]
		}
		_, size := utf8.DecodeRune(term[at:])
		at += size
	}
	return term
}
