package vault

import (
	"strings"
	"unicode"
)

// Harmless returns text as it may be quoted to a model: valid UTF-8, "\n" as
// the only line end, without the characters in which a text could hide
// something from a person that a model reads (control characters, turned
// directions, invisible tags), and without a tag that could close our frame or
// one that a client puts around it: its < becomes ‹. Tags of code stay as they are.
func Harmless(text string) string {
	return defuse(strings.Map(visible, lineEnds.Replace(strings.ToValidUTF8(text, "\uFFFD"))))
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n", "\v", "\n", "\f", "\n")

func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case unicode.IsControl(r),
		r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r == 0x200B, r == 0x200E, r == 0x200F, r == 0xFEFF,
		r >= 0xFFF9 && r <= 0xFFFB, r >= 0xE0000 && r <= 0xE0FFF:
		return -1
	}
	return r
}

func defuse(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		rest := strings.TrimLeft(text[i+1:], " \t\n/")
		if FramingTag(TagName(rest)) {
			b.WriteString("‹")
		} else {
			b.WriteByte('<')
		}
		text = text[i+1:]
	}
}

// FrameTag is the name of the tag that what we tell a model of memories stands in.
const FrameTag = "vade-memory"

// TagName returns the tag name that s starts with, in lower case, "" for none.
func TagName(s string) string {
	for i := range len(s) {
		c := s[i]
		if low := c | 0x20; (low < 'a' || low > 'z') && strings.IndexByte("0123456789-_:", c) < 0 {
			return strings.ToLower(s[:i])
		}
	}
	return strings.ToLower(s)
}

// FramingTag reports whether a tag of that name (see TagName) frames something
// for a model: all such names have a connector in them, or are one of a few.
func FramingTag(name string) bool {
	switch name {
	case "system", "user", "assistant", "human", "instructions", "context", "private", "tool", "function":
		return true
	}
	return strings.ContainsAny(name, "-_:")
}
