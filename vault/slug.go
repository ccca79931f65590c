package vault

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxName is how many bytes one component of a path may have.
const MaxName = 120

// memoriesDir holds the memories that vade itself names.
const memoriesDir = "memories"

// slugMax leaves room for "-", the id's suffix and ".md" in a file name.
const slugMax = MaxName - len("-") - suffixLen - len(".md")

// Slug returns title as the readable part of a file name: NFC, lower case,
// letters and digits of any script, single dashes between them, at most 110
// bytes, cut at a word where there is one; "note" when nothing is left.
// It is a portable name by itself, also on Windows.
func Slug(title string) string {
	s := cutSlug(slugRunes(norm.NFC.String(title)), slugMax)
	switch {
	case s == "":
		return "note"
	case reservedName(s):
		return s + "-note"
	}
	return s
}

// MemoryPath returns where a new memory lives:
// memories/YYYY/MM/<slug>-<last 6 of the id>.md, by the UTC month of its
// creation (of its id when that is unknown). Two memories with one title meet
// only if their ids end alike; the caller checks.
func MemoryPath(m Memory) string {
	id, created := m.ID, m.Created.UTC()
	if id == "" {
		id = DerivedID(m.Created, []byte(m.Title+"\x00"+m.Body))
	}
	if created.IsZero() {
		created = id.Time()
	}
	return fmt.Sprintf("%s/%04d/%02d/%s-%s.md",
		memoriesDir, created.Year(), created.Month(), Slug(m.Title), id.Suffix())
}

// slugRunes keeps letters, digits and the marks that belong to them, and puts
// one dash for every run of anything else.
func slugRunes(s string) string {
	var b strings.Builder
	b.Grow(min(len(s), 4*slugMax))
	gap := false    // a dash is due before the next letter
	inWord := false // the last rune of s was kept, so a mark may follow
	for _, r := range s {
		if b.Len() >= 2*slugMax {
			break
		}
		switch {
		case unicode.IsLetter(r) && !invisible(r), unicode.IsDigit(r), unicode.Is(unicode.Nl, r):
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap, inWord = false, true
			b.WriteRune(unicode.ToLower(r))
		case unicode.In(r, unicode.Mn, unicode.Mc) && !unicode.Is(unicode.Variation_Selector, r):
			if inWord {
				b.WriteRune(r)
			}
		case inWord && (r == '\'' || r == '’' || unicode.In(r, unicode.Cf, unicode.Variation_Selector)):
			// don't → dont; joiners and selectors vanish
		default:
			gap, inWord = true, false
		}
	}
	return norm.NFC.String(b.String())
}

// invisible letters: the Hangul fillers.
func invisible(r rune) bool {
	switch r {
	case '\u115F', '\u1160', '\u3164', '\uFFA0':
		return true
	}
	return false
}

// cutSlug cuts s to at most limit bytes: at a dash in its last third, else
// between two characters (never between a letter and its marks).
func cutSlug(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := charBoundary(s, limit)
	if i := strings.LastIndexByte(s[:min(cut+1, len(s))], '-'); i >= limit*2/3 {
		cut = i
	}
	return strings.TrimRight(s[:cut], "-")
}

// charBoundary returns the largest n ≤ limit at which s can be cut without
// splitting a rune or parting a letter from its marks or jamo.
func charBoundary(s string, limit int) int {
	if len(s) <= limit {
		return len(s)
	}
	for n := limit; n > 0; n-- {
		if !utf8.RuneStart(s[n]) {
			continue
		}
		r, _ := utf8.DecodeRuneInString(s[n:])
		prev, _ := utf8.DecodeLastRuneInString(s[:n])
		if !extends(r) && prev != '\u200d' {
			return n
		}
	}
	// One letter with more marks than fit: part them, but keep runes whole.
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// extends reports whether r belongs to the character before it.
func extends(r rune) bool {
	return unicode.Is(unicode.M, r) || r == '\u200d' || r == '\u200c' ||
		(r >= 0x1160 && r <= 0x11FF) || // conjoining jamo: vowels and finals
		(r >= 0x1F3FB && r <= 0x1F3FF) // skin tones
}
