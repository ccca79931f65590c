package journal

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"vademecum/vault"
)

// Bounds of a section, in bytes: what is longer is cut in its middle.
const (
	maxAsked   = 600
	maxTold    = 4 << 10
	maxAnswer  = 12 << 10
	maxSummary = 4 << 10
	maxInput   = 160
	maxOutcome = 300
	maxTools   = 40
	maxTerse   = 80 // in characters
)

// Kinds of text keys; see vault.TextKey.
const (
	promptText = "q"
	answerText = "a"
)

// section is an episode as text:
//
//	## 2026-11-30 16:01 UTC
//
//	> How do we deploy production?
//
//	Deploys run on Tuesdays.            what the person told, rather than asked
//
//	Production deploys run through …    what the agent answered
//
//	- Bash `make deploy`: failed: exit status 2
//
// What was asked is a quotation: it is there so that the answer is understood,
// and readers and the index can tell it from what is known. Only the first time
// that it is asked, and when the answer is of a few words, it is plain text.
type section struct {
	prompts   []string
	answers   []string
	summaries []string // of compactions and subagents
	tools     []*ToolUse
	failed    []bool
}

func newSection(e *Episode) *section {
	s := &section{}
	for _, r := range e.Records {
		ev := r.Event
		text := strings.TrimSpace(ev.Text)
		switch ev.Kind {
		case Prompt:
			s.prompts = appendText(s.prompts, text)
		case Answer, TurnEnd:
			s.answers = appendText(s.answers, text)
		case Compaction, SubagentEnd:
			s.summaries = appendText(s.summaries, text)
		case Tool, ToolFailure:
			if ev.Tool != nil && !ours(ev.Tool) {
				s.tools = append(s.tools, ev.Tool)
				s.failed = append(s.failed, ev.Kind == ToolFailure || ev.Tool.Error != "")
			}
		}
	}
	return s
}

// appendText adds text unless one of list holds it; what it holds itself goes.
func appendText(list []string, text string) []string {
	if text == "" || slices.ContainsFunc(list, func(have string) bool { return strings.Contains(have, text) }) {
		return list
	}
	list = slices.DeleteFunc(list, func(have string) bool { return strings.Contains(text, have) })
	return append(list, text)
}

// ours reports whether a tool is one of this program's: what it answered is in
// the vault already and must not come back as something new.
func ours(t *ToolUse) bool {
	for word := range strings.FieldsFuncSeq(t.Name, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '/' }) {
		if strings.EqualFold(word, "vade") || strings.EqualFold(word, "vademecum") {
			return true
		}
	}
	return slices.Contains(strings.FieldsFunc(t.Input, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;&|(){}:,", r) }), "vade")
}

// texts are the keys of what was asked and answered.
func (s *section) texts() []string {
	var keys []string
	for _, p := range s.prompts {
		keys = append(keys, vault.TextKey(promptText, p))
	}
	for _, a := range s.answers {
		keys = append(keys, vault.TextKey(answerText, a))
	}
	return keys
}

// said names a turn by its first question and its last answer.
func (s *section) said() string {
	return vault.TextKey(promptText, s.prompts[0]) + vault.TextKey(answerText, s.answers[len(s.answers)-1])
}

// render writes the section, without the texts that are known; "" when it
// would hold nothing but questions.
func (s *section) render(start time.Time, known func(key string) bool) string {
	var asked, told, rest []string
	news := true // nobody asked this before
	for _, p := range s.prompts {
		if known(vault.TextKey(promptText, p)) {
			asked = append(asked, p)
			news = false
			continue
		}
		a, t := divide(p)
		asked, told = appendText(asked, a), appendText(told, t)
	}
	for _, t := range told {
		rest = append(rest, tame(cutMiddle(t, maxTold)))
	}
	for _, a := range s.answers {
		if !known(vault.TextKey(answerText, a)) {
			rest = append(rest, tame(cutMiddle(a, maxAnswer)))
		}
	}
	for _, t := range s.summaries {
		rest = append(rest, "Summary: "+tame(cutMiddle(t, maxSummary)))
	}
	if len(rest) == 0 && (len(s.answers) > 0 || len(s.prompts) > 0) && !slices.Contains(s.failed, true) {
		return "" // asked before, answered before
	}
	if list := s.toolList(); list != "" {
		rest = append(rest, list)
	}
	if len(rest) == 0 {
		return ""
	}
	parts := []string{"## " + start.UTC().Format("2006-01-02 15:04") + " UTC"}
	if len(asked) > 0 {
		question := cutMiddle(strings.Join(asked, "\n\n"), maxAsked)
		if news && s.terse() {
			parts = append(parts, tame(question))
		} else {
			parts = append(parts, quoted(question))
		}
	}
	return strings.Join(append(parts, rest...), "\n\n")
}

// terse reports whether what was answered is too short to be found without
// its question: "It is 5433."
func (s *section) terse() bool {
	n := 0
	for _, a := range s.answers {
		n += utf8.RuneCountInString(a)
	}
	return n > 0 && n <= maxTerse
}

// quoted makes every line of text a quotation.
func quoted(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.TrimRight("> "+line, " \r\t"))
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// toolList tells what was done and how it ended, each thing once.
func (s *section) toolList() string {
	var list []string
	for i, t := range s.tools {
		line := "- " + oneLine(t.Name, 60)
		if in := toolInput(t.Input); in != "" {
			line += " `" + strings.ReplaceAll(in, "`", "'") + "`"
		}
		if s.failed[i] {
			line += ": failed"
			if why := oneLine(firstOf(t.Error, t.Output), maxOutcome); why != "" {
				line += ": " + why
			}
		} else {
			line += ": ok"
		}
		if !slices.Contains(list, line) {
			list = append(list, line)
		}
	}
	if n := len(list) - maxTools; n > 0 {
		list = append(list[:maxTools], fmt.Sprintf("- and %d more", n))
	}
	return strings.Join(list, "\n")
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// oneLine is text on one line of at most n bytes.
func oneLine(text string, n int) string {
	line := strings.Join(strings.Fields(text[:min(len(text), 8*n)]), " ")
	if len(line) > n {
		line = cutAt(line, n) + "…"
	}
	return strings.ToValidUTF8(line, "")
}

// cutMiddle keeps the first two thirds and the last third of n bytes of text.
func cutMiddle(text string, n int) string {
	if len(text) <= n {
		return text
	}
	head := cutAt(text, n*2/3)
	at := len(text) - n/3
	for at < len(text) && text[at]&0xc0 == 0x80 {
		at++
	}
	return fmt.Sprintf("%s\n\n[… %d bytes left out …]\n\n%s", head, at-len(head), text[at:])
}

// tame keeps text from breaking out of its section: headings go two levels
// down, a code block that was left open is closed, and what would begin a block
// of HTML that may go on past the section is none.
func tame(text string) string {
	var b strings.Builder
	fence := "" // of the code block that is open
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		trimmed := strings.TrimLeft(line, " ")
		if mark := fenceOf(trimmed); mark != "" && len(line)-len(trimmed) < 4 {
			switch {
			case fence == "":
				fence = mark
			case mark[0] == fence[0] && len(mark) >= len(fence) && strings.TrimSpace(trimmed) == mark:
				fence = ""
			}
		} else if fence == "" {
			line = tameLine(line, trimmed)
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	b.WriteString(fence)
	return strings.TrimRight(b.String(), "\n")
}

// longHTML begin blocks of HTML that blank lines do not end (CommonMark 0.31,
// kinds 1 to 5).
var longHTML = [...]string{"<!", "<?", "<script", "<pre", "<style", "<textarea"}

// tameLine is line, which is trimmed without its indent and in no code block.
func tameLine(line, trimmed string) string {
	if n := headingLevel(trimmed); n > 0 {
		return strings.Repeat("#", min(n+2, 6)) + trimmed[n:]
	}
	for _, begin := range longHTML {
		if len(trimmed) >= len(begin) && strings.EqualFold(trimmed[:len(begin)], begin) {
			return line[:len(line)-len(trimmed)] + `\` + trimmed
		}
	}
	return line
}

// fenceOf returns the backticks or tildes that open or close a code block.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n > 6 || n < len(line) && line[n] != ' ' && line[n] != '\t' {
		return 0
	}
	return n
}
