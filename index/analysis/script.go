package analysis

import (
	"unicode"
	"unicode/utf8"
)

// class is how a character takes part in terms.
type class uint8

const (
	none  class = iota // separates words
	latin              // Latin letters and digits
	dot                // a full stop that starts a word such as .env
	hangul
	han
	kana    // hiragana and katakana
	cluster // scripts without spaces and without single-character words
	other   // every other alphabet
	emoji
)

// classAt classifies the character of b at at and returns its size in bytes.
func classAt(b []byte, at int) (class, int) {
	c := b[at]
	if c < utf8.RuneSelf {
		switch {
		case isAlnum(c):
			return latin, 1
		case c == '.' && startsDotWord(b, at):
			return dot, 1
		}
		return none, 1
	}
	r, size := utf8.DecodeRune(b[at:])
	return classOf(r), size
}

func isAlnum(c byte) bool { return isLetter(c) || isDigit(c) }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func isLetter(c byte) bool { return isLower(c) || isUpper(c) }

// startsDotWord reports whether the full stop at at begins a name such as .env.
func startsDotWord(b []byte, at int) bool {
	if at+1 >= len(b) || !isLetter(b[at+1]) {
		return false
	}
	return at == 0 || b[at-1] != '.' && !isAlnum(b[at-1]) && b[at-1] < utf8.RuneSelf
}

// classOf classifies a character outside ASCII. The common blocks come first;
// the Unicode tables decide the rest.
func classOf(r rune) class {
	switch {
	case r < 0x80, r == utf8.RuneError:
		return none
	case 0xC0 <= r && r <= 0x2AF && r != 0xD7 && r != 0xF7:
		return latin
	case 0x4E00 <= r && r <= 0x9FFF, 0x3400 <= r && r <= 0x4DBF, 0xF900 <= r && r <= 0xFAFF,
		0x20000 <= r && r <= 0x3FFFF, r == 0x3005, r == 0x3007:
		return han
	case 0xAC00 <= r && r <= 0xD7A3, 0x1100 <= r && r <= 0x11FF, 0x3131 <= r && r <= 0x318E:
		return hangul
	case 0x3041 <= r && r <= 0x309F, 0x30A1 <= r && r <= 0x30FF && r != 0x30FB, 0x31F0 <= r && r <= 0x31FF:
		return kana
	case 0x0E00 <= r && r <= 0x0EFF, 0x1000 <= r && r <= 0x109F, 0x1780 <= r && r <= 0x17FF:
		if unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
			return cluster
		}
		return none
	case 0x2190 <= r && r <= 0x2BFF, 0x1F000 <= r && r <= 0x1FAFF:
		if unicode.Is(unicode.So, r) {
			return emoji
		}
		return none
	case unicode.Is(unicode.Latin, r):
		return latin
	case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r):
		return other
	}
	return none
}

// isMark reports whether the character at at belongs to the one before it, and its size.
func isMark(b []byte, at int) (bool, int) {
	if at >= len(b) || b[at] < utf8.RuneSelf {
		return false, 0
	}
	r, size := utf8.DecodeRune(b[at:])
	return unicode.IsMark(r), size
}
