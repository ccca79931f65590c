package main

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"vademecum/vault"
)

// masked stands for what is not shown. It is a plain word of YAML, so that what
// is shown can be read as YAML.
const masked = "(masked)"

// secretWords are in the names of variables and keys whose value is a secret.
var secretWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)key|token|secret|pass|pwd|auth|cred|cookie|session|private|signature`)
})

// commentedSecret is a secret in a comment: a word as above, and what is
// assigned to it.
var commentedSecret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[\w-]*(?:key|token|secret|pass|pwd|auth|cred)[\w-]*["']?\s*[:=]\s*["']?([^\s"'#,}\]]+)`)
})

// saysSecret reports whether value, that name is set to, may be a secret: by
// either's shape. It takes more for one than vault.FindSecrets does, for what is
// masked in vain costs nobody anything.
func saysSecret(name, value string) bool {
	flag, given, ok := strings.Cut(value, "=")
	switch {
	case ok && strings.HasPrefix(flag, "-"):
		return saysSecret(flag, given)
	case value == "" || value == "true" || value == "false":
		return false
	case secretWords().MatchString(name) && !isReference(value):
		return true
	}
	return len(vault.FindSecrets(value)) > 0 || len(vault.FindSecrets(name+"="+strconv.Quote(value))) > 0 || looksDrawn(value)
}

// nameOf is what the argument of a command behind before is named by: that, if
// it is a flag, else name.
func nameOf(name, before string) string {
	if strings.HasPrefix(before, "-") && !strings.Contains(before, "=") {
		return before
	}
	return name
}

// isReference reports whether value says where a secret is.
func isReference(value string) bool {
	kind, rest, _ := strings.Cut(value, ":")
	return kind == "env" && variableName().MatchString(rest) && harmless(rest) ||
		kind == "file" && rest != "" && len(vault.FindSecrets(rest)) == 0 && (strings.ContainsAny(rest, `/\.`) || len(rest) <= shownLength)
}

// looksDrawn reports whether value is long, one word, and of letters and digits
// mixed, as what was drawn at random is.
func looksDrawn(value string) bool {
	if len(value) < 20 || strings.ContainsAny(value, "/\\ .:") {
		return false
	}
	digits := strings.IndexFunc(value, func(r rune) bool { return r >= '0' && r <= '9' }) >= 0
	return digits && strings.IndexFunc(value, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }) >= 0
}

// maskURL is address without its user, its password and what its query says. An
// address that cannot be understood is masked as a whole.
func maskURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || address != "" && u.Host == "" {
		return masked
	}
	before, after, ok := strings.Cut(address, "@")
	if u.User != nil && ok {
		scheme, _, _ := strings.Cut(before, "//")
		address = scheme + "//" + masked + "@" + after[strings.LastIndexByte(authority(after), '@')+1:]
	}
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		address = address[:i+1] + masked
	}
	shown, _ := vault.Redact(address)
	return shown
}

// authority is s up to where the path of an address starts.
func authority(s string) string {
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		return s[:i]
	}
	return s
}

// span is a part of a text, and what to show in its place.
type span struct {
	start, end int
	with       string
}

// replaceSpans is text with each span replaced; one within another is part of
// that, and of those that overlap otherwise the whole is masked.
func replaceSpans(text string, spans []span) string {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	var b strings.Builder
	done := 0
	for i := 0; i < len(spans); i++ {
		s := spans[i]
		for i+1 < len(spans) && spans[i+1].start < s.end {
			if i++; spans[i].end > s.end {
				s.end, s.with = spans[i].end, masked
			}
		}
		b.WriteString(text[done:s.start])
		b.WriteString(s.with)
		done = s.end
	}
	b.WriteString(text[done:])
	return b.String()
}
