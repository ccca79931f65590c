package vault

import "strings"

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "

	// maxPEM bounds how far apart the two lines of one key may be, in bytes;
	// a 16384-bit RSA key has 13 KB.
	maxPEM = 32 << 10
	// minPEM is how much base64 makes a key out of a mention of one.
	minPEM = 16
)

// findPrivateKeys appends PEM and PGP private keys, also those of which the
// first or the last line was cut off, and with line ends escaped.
func findPrivateKeys(text string, found []Secret) []Secret {
	done := 0
	for at := range occurrences(text, pemBegin) {
		start := at + pemLabel(text[at+len(pemBegin):])
		if at < done || start == at {
			continue
		}
		start += len(pemBegin)
		if end := privateKeyEnd(text, start); end > 0 {
			found = append(found, Secret{Kind: "private-key", Start: at, End: end})
			done = end
		}
	}
	for at := range occurrences(text, pemEnd) {
		label := pemLabel(text[at+len(pemEnd):])
		if at < done || label == 0 || inside(found, at) {
			continue
		}
		if start := keyLinesBefore(text, at); start >= 0 {
			found = append(found, Secret{Kind: "private-key", Start: start, End: at + len(pemEnd) + label})
			done = at
		}
	}
	return found
}

func inside(found []Secret, at int) bool {
	for i := range found {
		if found[i].Start <= at && at < found[i].End {
			return true
		}
	}
	return false
}

// pemLabel returns the length of "RSA PRIVATE KEY-----" and its like at the
// start of s; 0 when it is something else.
func pemLabel(s string) int {
	i := strings.Index(s[:min(len(s), 64)], "-----")
	if i < 0 || !strings.Contains(s[:i], "PRIVATE KEY") {
		return 0
	}
	return i + len("-----")
}

// privateKeyEnd returns where the key ends whose first line ends at start: at
// its last line, else behind the lines that look like more of it; 0 when there
// are none.
func privateKeyEnd(text string, start int) int {
	window, _, _ := strings.Cut(text[start:min(len(text), start+maxPEM)], pemBegin)
	body := keyBody(window)
	if i := strings.Index(window, pemEnd); i >= 0 {
		label := pemLabel(window[i+len(pemEnd):])
		if label > 0 && (body >= i || countBase64(window[:i]) >= minPEM) {
			return start + i + len(pemEnd) + label
		}
	}
	if countBase64(window[:body]) < minPEM {
		return 0
	}
	return start + body
}

// keyBody returns how much of s looks like the inside of a key: lines of
// base64 and armor headers, real line ends or escaped ones.
func keyBody(s string) int {
	end := 0
	for i := 0; i < len(s); {
		line, n := keyLine(s[i:])
		switch {
		case line == "":
		case spanOf(line, pemByte) == len(line), armorHeader(line):
			end = i + len(line)
		default:
			return end
		}
		if n == 0 {
			return end
		}
		i += n
	}
	return end
}

// keyLine returns the first line of s without the quotes and marks that other
// formats put around it, and the length of it with its line end.
func keyLine(s string) (line string, n int) {
	i := strings.IndexAny(s, "\n\\\"")
	if i < 0 {
		return strings.TrimRight(s, " \r\t"), len(s)
	}
	end := i
	n = i + 1
	if s[i] == '\\' && i+1 < len(s) {
		n++
	}
	return strings.TrimRight(s[:end], " \r\t,+"), n
}

func pemByte(c byte) bool { return base64Byte(c) || strings.IndexByte("= \t>|", c) >= 0 }

func armorHeader(line string) bool {
	name, _, ok := strings.Cut(strings.TrimLeft(line, " \t>|"), ": ")
	switch name {
	case "Proc-Type", "DEK-Info", "Version", "Comment", "Hash", "Charset":
		return ok
	}
	return false
}

func countBase64(s string) int {
	n := 0
	for i := range len(s) {
		if base64Byte(s[i]) {
			n++
		}
	}
	return n
}

// keyLinesBefore returns where the lines of base64 that end at at start; -1
// when they are too few for a key.
func keyLinesBefore(text string, at int) int {
	start, count := -1, 0
	for end := at; end > 0 && at-end < maxPEM; {
		trimmed := trimBreak(text[:end])
		if len(trimmed) == end {
			break
		}
		body := strings.TrimRight(trimmed, "=")
		n := len(body)
		for n > 0 && base64Byte(body[n-1]) {
			n--
		}
		if n == len(body) || count > 0 && len(body)-n < 40 {
			break // nothing, or no whole line of a key
		}
		count += len(body) - n
		start = n
		end = len(strings.TrimRight(text[:n], " \t>|"))
	}
	if count < 40 {
		return -1
	}
	return start
}

// trimBreak returns s without the line break, real or escaped, at its end.
func trimBreak(s string) string {
	line := strings.TrimRight(s, " \t>|")
	if cut, ok := strings.CutSuffix(line, `\n`); ok {
		return strings.TrimSuffix(cut, `\r`)
	}
	if cut, ok := strings.CutSuffix(line, "\n"); ok {
		return strings.TrimSuffix(cut, "\r")
	}
	return s
}
