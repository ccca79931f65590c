package journal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// divide takes a prompt apart into what it asks and what it tells. A question
// is context for its answer; "we deploy on Tuesdays" is worth finding.
func divide(prompt string) (asked, told string) {
	var a, t strings.Builder
	code := false
	for line := range strings.SplitSeq(prompt, "\n") {
		if fenceOf(strings.TrimLeft(line, " ")) != "" {
			code = !code
			t.WriteString(line + "\n")
			continue
		}
		if code {
			t.WriteString(line + "\n")
			continue
		}
		askedHere := false
		for s := range sentences(line) {
			if isQuestion(s) {
				a.WriteString(s)
				askedHere = true
			} else {
				t.WriteString(s)
			}
		}
		if askedHere {
			a.WriteByte('\n')
		}
		t.WriteByte('\n')
	}
	return strings.TrimSpace(a.String()), tidy(t.String())
}

// tidy drops blank lines that follow each other, and a text without a word.
func tidy(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return strings.TrimSpace(text)
}

// sentences divides a line behind its full stops, question and exclamation
// marks; the parts make up the line.
func sentences(line string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from := 0
		for i, r := range line {
			next := i + utf8.RuneLen(r)
			switch r {
			case '。', '？', '！':
			case '.', '?', '!', '؟':
				if next < len(line) && line[next] != ' ' && line[next] != '\t' {
					continue
				}
			default:
				continue
			}
			if !yield(line[from:next]) {
				return
			}
			from = next
		}
		if from < len(line) {
			yield(line[from:])
		}
	}
}

// isQuestion reports whether a sentence asks: by its mark, by the particle
// that ends it (Japanese, Korean, Chinese), or by how it begins where it has
// no mark at all.
func isQuestion(s string) bool {
	s = strings.TrimRight(strings.TrimSpace(s), `"')]*_`)
	if s == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	switch last {
	case '?', '？', '؟':
		return true
	case '.', '!', '！', ':':
		return false
	}
	bare := strings.TrimRight(s, "。")
	for _, end := range [...]string{"か", "吗", "嗎", "呢", "까", "나요", "는지요"} {
		if strings.HasSuffix(bare, end) {
			return true
		}
	}
	lower := strings.ToLower(strings.TrimLeft(s, " \t>*-_\"'("))
	for _, begin := range [...]string{
		"how ", "what ", "what's ", "why ", "who ", "whose ", "which ", "where ", "when do ", "when does ", "when did ", "when is ",
		"can you ", "could you ", "do we ", "do you ", "does ", "did we ", "did you ", "is there ", "are there ", "should we ", "should i ",
		"tell me ", "remind me ", "explain ",
	} {
		if strings.HasPrefix(lower, begin) {
			return true
		}
	}
	return false
}
