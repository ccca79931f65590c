package vault

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// quoting is how a scalar stands in the file.
type quoting byte

const (
	plainStyle  quoting = 0
	singleStyle quoting = '\''
	doubleStyle quoting = '"'
)

// quote renders s so that YAML reads exactly s again, as a string: in the
// wanted style where that can hold it. s must be valid UTF-8.
func quote(s string, style quoting, inFlow bool) string {
	switch {
	case style == plainStyle && plainSafe(s, inFlow):
		return s
	case !printable(s):
		return doubleQuote(s)
	case style == singleStyle,
		style == plainStyle && strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'"):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return doubleQuote(s)
}

// plainSafe reports whether s can stand without quotes, for every YAML reader
// that we know of, and still be a string.
func plainSafe(s string, inFlow bool) bool {
	switch {
	case s == "" || s[0] == ' ' || s[len(s)-1] == ' ' || s[len(s)-1] == ':',
		!plainStart(s), strings.HasPrefix(s, "..."), strings.HasPrefix(s, "<<"), s[0] == '=',
		strings.Contains(s, " #"), !printable(s), meansMore(s):
		return false
	}
	for i := range len(s) {
		if s[i] == ':' && (i+1 == len(s) || !colonInside(s[i+1], inFlow)) {
			return false
		}
	}
	return !inFlow || !strings.ContainsAny(s, ",[]{}?")
}

// printable reports whether s has only characters that stand for themselves.
func printable(s string) bool {
	for _, r := range s {
		if !plainRune(r) {
			return false
		}
	}
	return true
}

// meansMore reports whether some YAML reader, 1.1 or 1.2, takes the plain
// scalar s for null, a bool, a number or a time.
func meansMore(s string) bool {
	if isNullWord(s) {
		return true
	}
	if len(s) <= len("false") {
		switch strings.ToLower(s) {
		case "y", "n", "yes", "no", "on", "off", "true", "false":
			return true
		}
	}
	return strings.IndexByte("0123456789+-.", s[0]) >= 0 && (numberLike(s) || timeLike(s))
}

func numberLike(s string) bool {
	plain := strings.ReplaceAll(s, "_", "")
	if strings.Trim(plain, "0123456789:.+-") == "" { // also base 60: 12:30:45
		return true
	}
	_, err := strconv.ParseInt(plain, 0, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return true
	}
	_, err = strconv.ParseFloat(strings.TrimSuffix(plain, "."), 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return true
	}
	rest := strings.ToLower(strings.TrimLeft(plain, "+-"))
	return strings.HasPrefix(rest, "0b") || strings.HasPrefix(rest, "0o") || strings.HasPrefix(rest, "0x") ||
		rest == ".inf" || rest == ".nan"
}

// timeLike reports whether s is a date or starts with one and could be a time.
func timeLike(s string) bool {
	return len(s) >= len("2006-1-2") && s[4] == '-' && strings.Trim(s[:4], "0123456789") == "" &&
		strings.Trim(s[5:], "0123456789-:.+TtZz ") == ""
}

// doubleQuote renders s in double quotes with YAML's escapes.
func doubleQuote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case plainRune(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// renderKey renders a key.
func renderKey(key string) string {
	sc := scanner{s: key + ":"}
	if k, ok := sc.key(); ok && k == key {
		return key
	}
	if plainSafe(key, true) && utf8.RuneCountInString(key) <= 128 {
		return key
	}
	return doubleQuote(key)
}

// literalBlock renders s as the lines below "key: |", or false where a literal
// block cannot hold it.
func literalBlock(s, indent, eol string) (string, bool) {
	if s == "" || s[0] == ' ' || s[0] == '\n' || !printable(strings.ReplaceAll(s, "\n", "")) {
		return "", false
	}
	text := strings.TrimRight(s, "\n")
	chomp := "-"
	switch len(s) - len(text) {
	case 0:
	case 1:
		chomp = ""
	default:
		return "", false
	}
	var b strings.Builder
	b.WriteString("|" + chomp + eol)
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			b.WriteString(indent + line)
		}
		b.WriteString(eol)
	}
	return b.String(), true
}
