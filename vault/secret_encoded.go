package vault

import (
	"encoding/base64"
	"strings"
)

// minEncoded is the length of base64 from which on it is decoded and looked into.
const minEncoded = 24

// findEncoded appends runs of base64 that decode to text which holds a secret.
func findEncoded(text string, found []Secret) []Secret {
	var raw []byte
	for i := 0; i < len(text); {
		if !base64URLByte(text[i]) {
			i++
			continue
		}
		if i > 0 && text[i-1] == '\\' && (text[i] == 'n' || text[i] == 'r' || text[i] == 't') {
			i++ // an escaped line end, as JSON has it
			continue
		}
		end, clean := encodedRun(text, i)
		if len(clean) >= minEncoded {
			raw = decodeBase64(raw, clean)
			if kind, ok := holdsSecret(raw); ok {
				found = append(found, Secret{Kind: "encoded-" + kind, Start: i, End: end})
			}
		}
		i = max(end, i+1)
	}
	return found
}

func base64URLByte(c byte) bool { return base64Byte(c) || c == '-' || c == '_' }

// encodedRun returns the run of base64 that starts at i, with its padding, and
// its characters without line breaks: long lines go on in the next.
func encodedRun(text string, i int) (end int, clean string) {
	n := spanOf(text[i:], base64URLByte)
	if end = i + n; n < 40 {
		return end + padding(text[end:]), text[i:end]
	}
	var b strings.Builder
	b.WriteString(text[i:end])
	for last := n; last >= 40; {
		next := end + breakLen(text[end:])
		if next == end {
			break
		}
		last = spanOf(text[next:], base64URLByte)
		if last == 0 {
			break
		}
		b.WriteString(text[next : next+last])
		end = next + last
	}
	return end + padding(text[end:]), b.String()
}

// padding returns how many of the two signs at most that end base64 s starts with.
func padding(s string) int {
	return spanOf(s[:min(len(s), 2)], func(c byte) bool { return c == '=' })
}

// decodeBase64 decodes s, of either alphabet and whatever its padding, into
// buf's memory.
func decodeBase64(buf []byte, s string) []byte {
	if len(s)%4 == 1 {
		s = s[:len(s)-1]
	}
	enc := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		enc = base64.RawURLEncoding
	}
	if n := enc.DecodedLen(len(s)); cap(buf) < n {
		buf = make([]byte, n)
	}
	n, _ := enc.Decode(buf[:cap(buf)], []byte(s))
	return buf[:n]
}

// holdsSecret reports whether raw is text with a secret in it.
func holdsSecret(raw []byte) (kind string, ok bool) {
	if len(raw) < 12 {
		return "", false
	}
	for i, c := range raw {
		if (c < ' ' && c != '\n' && c != '\r' && c != '\t') || c >= 0x7f {
			if i < 12 { // binary, nearly always
				return "", false
			}
			raw = raw[:i]
			break
		}
	}
	if found := findPlain(string(raw)); len(found) > 0 {
		return found[0].Kind, true
	}
	return "", false
}
