package index

import "unicode"

// Tokens estimates how many tokens a language model makes of s: one for four
// bytes of ASCII, one for each Han character, kana or Hangul syllable, one for
// two letters of other scripts.
func Tokens(s string) int {
	quarters := 0
	for _, r := range s {
		switch {
		case r < 0x80:
			quarters++
		case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r > 0xFFFF:
			quarters += 4
		default:
			quarters += 2
		}
	}
	return (quarters + 3) / 4
}

// hitOverhead is what a hit takes besides its title and text.
const hitOverhead = 8

// minCut is the least number of tokens that a text is cut to; below that, it
// says too little.
const minCut = 24
