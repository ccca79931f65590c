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

// findPlain looks for everything but encoded secrets. The order of the
// finders is their rank where two claim the same place.
func findPlain(text string) []Secret {
	var found []Secret
	found = findPrivateKeys(text, found)
	found = findTokens(text, found)
	found = findJWTs(text, found)
	found = findURLPasswords(text, found)
	found = findAuthHeaders(text, found)
	return findAssigned(text, found)
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
