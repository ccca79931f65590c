package journal

import (
	"bytes"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// FuzzRecords: whatever a segment holds, whole records are found and nothing
// else is; reading them back from their lines gives the same.
func FuzzRecords(f *testing.F) {
	event, _ := marshal(Event{Kind: Answer, Agent: "a", Session: "s", Text: "x\ny"})
	line := encodeRecord(0, "01JDZ3M8Q4X0W3K2V7N5T9R6BC", event)
	f.Add([]byte(nil), []byte(nil))
	f.Add([]byte("\n"), []byte(`{"sum":"00000000",`))
	f.Add(line, line[:20])
	f.Add([]byte(`{"sum":"xxxxxxxx","at":1}`+"\n"), bytes.Repeat([]byte("\n"), 3))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		data := bytes.Clone(before)
		if len(data) > 0 && data[len(data)-1] != '\n' {
			data = append(data, '\n')
		}
		data = append(append(data, line...), after...)
		records, broken := parseRecords(data, true)
		found := false
		for _, r := range records {
			found = found || bytes.Equal(r.line, line[:len(line)-1])
		}
		if !found {
			t.Fatalf("the record is not found; broken: %v", broken)
		}
		again, none := parseRecords(lines(records), false)
		if len(again) != len(records) || len(none) > 0 {
			t.Errorf("%d records of %d read back, %d broken", len(again), len(records), len(none))
		}
		_, _ = parseEpisode(data)
		_ = OpenLog[Delivery]("", "delivery").parse(data)
	})
}

// FuzzSection: no text breaks out of its section.
func FuzzSection(f *testing.F) {
	f.Add("How?", "## heading\n```\n# code", `{"command":"x"}`)
	f.Add("```", "~~~~\n```\n~~~~\n## x", "")
	f.Fuzz(func(t *testing.T, prompt, answer, input string) {
		s := &section{prompts: []string{prompt}, answers: []string{answer}, tools: []*ToolUse{{Name: "T", Input: input}}, failed: []bool{false}}
		got := s.render(noon, func(string) bool { return false })
		if len(got) > 32<<10 {
			t.Errorf("%d bytes", len(got))
		}
		doc := []byte(got + "\n\n## the next section\n")
		last := goldmark.New().Parser().Parse(text.NewReader(doc)).LastChild()
		if h, ok := last.(*ast.Heading); !ok || h.Level != 2 || !bytes.Contains(h.Lines().Value(doc), []byte("the next")) {
			t.Errorf("the next section is no heading behind:\n%s", got)
		}
		asked, told := divide(prompt)
		if len(asked)+len(told) > len(prompt)+len(prompt) {
			t.Errorf("%d bytes became %d", len(prompt), len(asked)+len(told))
		}
	})
}
