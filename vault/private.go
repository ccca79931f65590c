package vault

import "strings"

// StripPrivate removes <private>…</private> with what is inside, in any case,
// nested, and with the brackets escaped as JSON or HTML does; from a tag that
// is never closed on everything goes. It reports how many spans it removed.
func StripPrivate(text string) (string, int) {
	lower := lowerASCII(text)
	if !strings.Contains(lower, "private") {
		return text, 0
	}
	var b strings.Builder
	spans, depth, from := 0, 0, 0
	for at := range occurrences(lower, "private") {
		start, end, closing, ok := privateTag(lower, at)
		if !ok || start < from {
			continue
		}
		switch {
		case closing && depth == 0:
			b.WriteString(text[from:start]) // what it closes was cut off before
		case closing:
			depth--
		case depth == 0:
			b.WriteString(text[from:start])
			spans++
			depth++
		default:
			depth++
		}
		from = end
	}
	if depth == 0 {
		b.WriteString(text[from:])
	}
	return b.String(), spans
}

// privateTag returns the tag whose name stands at at.
func privateTag(lower string, at int) (start, end int, closing, ok bool) {
	before := strings.TrimRight(lower[max(0, at-16):at], " \t")
	trimmed := strings.TrimRight(strings.TrimSuffix(before, "/"), " \t")
	closing = strings.HasSuffix(before, "/")
	trimmed = strings.TrimSuffix(trimmed, `\`) // JSON may write <\/
	for _, open := range [...]string{"<", "&lt;", `\u003c`} {
		if rest, found := strings.CutSuffix(trimmed, open); found {
			start, ok = max(0, at-16)+len(rest), true
		}
	}
	rest := lower[at+len("private"):]
	if !ok || rest != "" && alnumDash(rest[0]) {
		return 0, 0, false, false
	}
	shut := -1
	for _, s := range [...]string{">", "&gt;", `\u003e`} {
		i := strings.Index(rest[:min(len(rest), 256)], s)
		if i >= 0 && (shut < 0 || i+len(s) < shut) {
			shut = i + len(s)
		}
	}
	if shut < 0 {
		shut = len(rest) // cut off inside the tag
		ok = strings.TrimSpace(rest) == ""
	}
	return start, at + len("private") + shut, closing, ok
}

// lowerASCII is strings.ToLower that keeps every offset.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
