package hooks

import (
	"hash/maphash"
	"strings"
)

const (
	// longPrompt is the size from which on a prompt is more than a question:
	// somebody pasted something.
	longPrompt = 4 << 10
	// questionEnd is how much of each end of a long prompt is taken for the
	// question itself.
	questionEnd = 1 << 10
	// condensed bounds what is made of a long prompt, in bytes.
	condensed = 32 << 10
)

// questions are what is searched for on behalf of a prompt: the prompt, or of a
// long one its two ends, where people ask, and then what is different in it.
func questions(prompt string) []string {
	if len(prompt) <= longPrompt {
		return []string{prompt}
	}
	first, _ := head(prompt, questionEnd)
	return []string{first + "\n" + tail(prompt, questionEnd), condense(prompt)}
}

// tail returns the last bytes of text, at most limit, from a line's start if
// one is near.
func tail(text string, limit int) string {
	from := max(0, len(text)-limit)
	for from < len(text) && text[from]&0xC0 == 0x80 {
		from++
	}
	if i := strings.IndexByte(text[from:min(len(text), from+200)], '\n'); from > 0 && i >= 0 {
		from += i + 1
	}
	return text[from:]
}

// condense keeps each line of a pasted text that differs in more than numbers
// from those before: all of them if they fit, else those at both ends and
// those that ask or tell of trouble.
func condense(text string) string {
	lines := distinct(text)
	size := 0
	for _, l := range lines {
		size += len(l) + 1
	}
	if size <= condensed {
		return strings.Join(lines, "\n")
	}
	var first, last, middle []string
	at, end := 0, len(lines)
	for room := condensed / 4; at < end && room >= len(lines[at]); at++ {
		first = append(first, lines[at])
		room -= len(lines[at]) + 1
	}
	for room := condensed / 4; end > at && room >= len(lines[end-1]); end-- {
		last = append([]string{lines[end-1]}, last...)
		room -= len(lines[end-1]) + 1
	}
	room := condensed / 2
	for _, telling := range []func(string) bool{asks, troubled} {
		for _, l := range lines[at:end] {
			if room >= len(l) && telling(l) {
				middle = append(middle, l)
				room -= len(l) + 1
			}
		}
	}
	return strings.Join(append(append(first, middle...), last...), "\n")
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// distinct returns the lines of text, long ones cut, that differ from all
// before in a word without digits.
func distinct(text string) []string {
	const longest = 600
	var seed maphash.Hash
	seen := map[uint64]bool{}
	var lines []string
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimSpace(l)
		for l != "" {
			var part string
			part, l = cutAt(l, longest)
			seed.Reset()
			for word := range strings.FieldsFuncSeq(part, func(r rune) bool { return r < 0x80 && !alphanumeric(byte(r)) }) {
				if !strings.ContainsAny(word, "0123456789") { // a number, an id, an address
					_, _ = seed.WriteString(word)
					_ = seed.WriteByte(' ')
				}
			}
			if sum := seed.Sum64(); !seen[sum] {
				seen[sum] = true
				lines = append(lines, part)
			}
		}
	}
	return lines
}

// cutAt splits text behind at most limit bytes.
func cutAt(text string, limit int) (start, rest string) {
	start, _ = head(text, limit)
	if start == "" {
		return text, ""
	}
	return start, text[len(start):]
}

// asks reports whether a line is a question: somebody wrote it between what
// they pasted.
func asks(line string) bool { return strings.HasSuffix(line, "?") || strings.HasSuffix(line, "？") }

// troubled reports whether a line of a log tells of trouble.
func troubled(line string) bool {
	if asks(line) {
		return false // was taken already
	}
	line = strings.ToLower(line)
	for _, word := range [...]string{"error", "err_", "fail", "fatal", "panic", "exception", "denied", "refused", "timeout", "cannot"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}
