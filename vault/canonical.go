package vault

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Canonical returns the text by which two memories are told to say the same:
// the body in NFC, with LF line ends, no trailing space on any line and no
// blank lines around; the title, treated alike, when the body is blank.
func Canonical(title, body string) string {
	if text := canonicalText(body); text != "" {
		return text
	}
	return canonicalText(title)
}

func canonicalText(s string) string {
	s = strings.TrimPrefix(norm.NFC.String(s), bom)
	if !strings.ContainsRune(s, '\r') && !strings.ContainsAny(s, "\n") {
		return strings.TrimRightFunc(s, unicode.IsSpace)
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	var b strings.Builder
	b.Grow(len(s))
	blank := 0 // blank lines seen since the last line with text
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if line == "" {
			blank++
			continue
		}
		if b.Len() > 0 {
			for range blank {
				b.WriteByte('\n')
			}
			b.WriteByte('\n')
		}
		blank = 0
		b.WriteString(line)
	}
	return b.String()
}
