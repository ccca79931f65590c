package mcpclient

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"vademecum/providers"
)

// words are the words of a question, each once and in lower case. What is written
// without spaces (CJK) is cut into pairs, which is what can be found in a text
// as it stands.
func words(text string) []string {
	var all []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		runes := []rune(word)
		if len(runes) < 3 || !unicode.In(runes[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			all = append(all, word)
			continue
		}
		for i := range len(runes) - 1 {
			all = append(all, string(runes[i:i+2]))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// longest are the n longest words, which say most: a server that looks for
// substrings finds short ones everywhere.
func longest(words []string, n int) []string {
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return words[:min(n, len(words))]
}

// rank sorts hits by how many of the words they have, rare ones first of all.
func rank(hits []providers.Hit, words []string) {
	texts, scores, in := make([]string, len(hits)), map[providers.Ref]float64{}, map[string]int{}
	for i, h := range hits {
		texts[i] = strings.ToLower(h.Text)
		for _, w := range words {
			if strings.Contains(texts[i], w) {
				in[w]++
			}
		}
	}
	for i, h := range hits {
		for _, w := range words {
			if strings.Contains(texts[i], w) {
				scores[h.Ref] += math.Log(1 + float64(len(hits))/float64(in[w]))
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b providers.Hit) int {
		return cmp.Or(cmp.Compare(scores[b.Ref], scores[a.Ref]), cmp.Compare(a.Ref, b.Ref))
	})
}
