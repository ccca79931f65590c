package vault

import (
	"cmp"
	"slices"
	"strings"
)

// Secret is one place of a text that has the shape of a credential.
type Secret struct {
	Kind       string // "aws-key", "github-token", "private-key", "password", …
	Start, End int    // bytes text[Start:End]
	Line       int    // 1-based line of Start
}

// FindSecrets returns the secrets in text, in order, not overlapping: tokens
// of known services, JSON web tokens, private keys, passwords in URLs and
// headers, values assigned to names like "password", and base64 of these.
// Commit ids, digests, UUIDs and what documentation shows in place of a secret
// are none. The time it takes grows with the length of text only.
func FindSecrets(text string) []Secret {
	found := findPlain(text)
	found = findEncoded(text, found)
	return settle(text, found)
}

// findPlain looks for everything but encoded secrets. What it finds first
// names the kind where two claim the same place.
func findPlain(text string) []Secret {
	found := findPrivateKeys(text, nil)
	var assigned []Secret
	for word := range words(text) {
		if word.mayBeToken(text) {
			found = findTokens(text, word.start, found)
		}
		if word.end > 0 {
			assigned = findAuth(text, word, assigned)
			assigned = findAssigned(text, word, assigned)
		}
	}
	found = append(found, assigned...)
	return findURLPasswords(text, found)
}

// word is a run of letters, digits, "-" and "_", without the dashes before it.
// end is 0 for a place inside of one at which a token may start.
type word struct{ start, end int }

// mayBeToken reports whether w is as long as what a token has on its first
// line: most words are not, and looking for all prefixes is the dear part.
func (w word) mayBeToken(text string) bool {
	if w.end == 0 || w.end-w.start >= 8 {
		return true
	}
	switch text[w.start:w.end] {
	case "SG", "ya29", "https":
		return true
	}
	return false
}

// words yields the words of text, and the places in them behind an underscore,
// a backslash or percent escape, or a terminal colour.
func words(text string) func(yield func(word) bool) {
	return func(yield func(word) bool) {
		for i := 0; i < len(text); i++ {
			if !alnumWord(text[i]) {
				continue
			}
			w := word{start: i}
			for i < len(text) && alnumDash(text[i]) {
				i++
			}
			w.end = i
			if !yield(w) {
				return
			}
			if !startsInside(text, w, yield) {
				return
			}
		}
	}
}

// startsInside yields the places inside w.
func startsInside(text string, w word, yield func(word) bool) bool {
	escape := 0 // bytes of w that belong to one
	if w.start > 0 {
		switch before := text[w.start-1]; {
		case before == '\\' && strings.IndexByte("nrt", text[w.start]) >= 0:
			escape = 1
		case before == '%' && w.end-w.start > 2 && isHex(text[w.start]) && isHex(text[w.start+1]):
			escape = 2
		case before == '[' || before == ';': // ESC [ 1 ; 31 m
			escape = spanOf(text[w.start:w.end], func(c byte) bool { return '0' <= c && c <= '9' }) + 1
		}
	}
	for at := w.start + 1; at < w.end; at++ {
		if (text[at-1] == '_' || at == w.start+escape) && !yield(word{start: at}) {
			return false
		}
	}
	return true
}

// settle sorts found, joins what overlaps under the kind that was found first,
// and fills in the lines.
func settle(text string, found []Secret) []Secret {
	slices.SortStableFunc(found, func(a, b Secret) int { return cmp.Compare(a.Start, b.Start) })
	out := found[:0]
	line, from := 1, 0
	for _, s := range found {
		if n := len(out); n > 0 && s.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		line += strings.Count(text[from:s.Start], "\n")
		from = s.Start
		s.Line = line
		out = append(out, s)
	}
	return out
}

// Redact returns text with every secret replaced by [redacted:KIND], and how
// many were. Redacting twice changes nothing more.
func Redact(text string) (string, int) {
	total := 0
	// What is left of a cut secret can look like one; it never takes many turns.
	for range 4 {
		found := FindSecrets(text)
		if len(found) == 0 {
			break
		}
		total += len(found)
		text = redactOnce(text, found)
	}
	return text, total
}

func redactOnce(text string, found []Secret) string {
	var b strings.Builder
	b.Grow(len(text))
	from := 0
	for _, s := range found {
		b.WriteString(text[from:s.Start])
		b.WriteString("[redacted:" + s.Kind + "]")
		from = s.End
	}
	b.WriteString(text[from:])
	return b.String()
}

// isSample reports whether a token is what documentation shows instead of one.
func isSample(token string) bool {
	if strings.Trim(token, "xX*._-#…0") == "" {
		return true
	}
	lower := strings.ToLower(token)
	for _, word := range [...]string{"example", "your-", "your_", "placeholder", "redacted", "xxxxx", "changeme", "dummy", "insert-", "insert_"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
