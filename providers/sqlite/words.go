package sqlite

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxTerms is how many different words of a question are looked for: who pastes
// a page as a question means its beginning.
const maxTerms = 64

// pairs is text for FTS5's unicode61 tokenizer: composed, and with each run of
// a script that puts no spaces between words cut into overlapping pairs of
// characters, the last character once more alone. A question is cut the same
// way, so that 数据库 is found by 数据, 据库 and the whole; one character is
// found as the beginning of a pair or as the last of its run. SQLite's own
// trigram tokenizer finds nothing shorter than three characters, which in
// Chinese, Japanese and Korean is most words.
func pairs(text string) string {
	text = norm.NFKC.String(text)
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	eachRun(text, func(run string, dense bool) {
		if !dense {
			b.WriteString(run)
			return
		}
		b.WriteByte(' ')
		last := 0
		for at, r := range run {
			if at > 0 {
				b.WriteString(run[last : at+len(string(r))])
				b.WriteByte(' ')
			}
			last = at
		}
		b.WriteString(run[last:])
		b.WriteByte(' ')
	})
	return b.String()
}

// question is the words of text as queries of FTS5, each quoted.
func question(text string) []string {
	var terms []string
	seen := map[string]bool{}
	add := func(term string) {
		if !seen[term] && len(terms) < maxTerms {
			seen[term] = true
			terms = append(terms, term)
		}
	}
	eachRun(norm.NFKC.String(text), func(run string, dense bool) {
		if !dense {
			for word := range strings.FieldsFuncSeq(run, func(r rune) bool { return !inWord(r) }) {
				add(`"` + word + `"`)
			}
			return
		}
		runes := []rune(run)
		for i := range max(len(runes)-1, 0) {
			add(`"` + string(runes[i:i+2]) + `"`)
		}
		if len(runes) == 1 {
			add(`"` + run + `" *`)
		}
	})
	return terms
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// eachRun calls fn with the runs of text that are dense or not, in turn.
func eachRun(text string, fn func(run string, dense bool)) {
	start, was := 0, false
	for at, r := range text {
		if is := dense(r, was); is != was {
			if at > start {
				fn(text[start:at], was)
			}
			start, was = at, is
		}
	}
	if start < len(text) {
		fn(text[start:], was)
	}
}

// dense reports whether r is of a script whose words are not apart (or, in
// Korean, grow endings); a mark is of the script that it follows.
func dense(r rune, before bool) bool {
	switch {
	case r < 0x0e00:
		return false
	case unicode.IsMark(r), r == 'ー', r == '々':
		return before
	}
	return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.IsLetter(r)
}
