package journal

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recordsOf reads "prompt:one turn-end:two" as records a second apart; a word
// "tool:x@3" is of the agent's turn 3.
func recordsOf(script string) []Record {
	var list []Record
	for i, word := range strings.Fields(script) {
		word, turn, _ := strings.Cut(word, "@")
		kind, text, _ := strings.Cut(word, ":")
		e := event(i, Kind(kind), text)
		e.Turn = turn
		if e.Kind == Tool {
			e.Tool = &ToolUse{Name: text}
		}
		list = append(list, Record{ID: fmt.Sprintf("%02d", i), Event: e})
	}
	return list
}

func TestTurns(t *testing.T) {
	for _, tt := range []struct{ name, events, want string }{
		{"one turn", "session-start prompt:a tool:b turn-end:c", "start,prompt,tool,end!"},
		{"two turns", "prompt:a turn-end:b prompt:c turn-end:d", "prompt,end! prompt,end!"},
		{"no end told", "prompt:a answer:b prompt:c answer:d", "prompt,answer prompt,answer"},
		{"late answer", "prompt:a turn-end:b answer:c prompt:d", "prompt,end,answer! prompt"},
		{"by the agent's ids", "prompt:a@1 prompt:b@2 turn-end:c@1 turn-end:d@2", "prompt,end! prompt,end!"},
		{"a second prompt in the turn", "prompt:a@1 tool:x@1 prompt:b@1 turn-end:c@1", "prompt,tool,prompt,end!"},
		{"late, and its turn is gone", "answer:x@1 prompt:a@2 turn-end:b@2", "answer prompt,end!"},
		{"session ends in the turn", "prompt:a session-end:exit", "prompt,session-end!"},
		{"session end names no turn", "prompt:a@1 answer:b@1 session-end:exit", "prompt,answer,session-end!"},
		{"resumed", "prompt:a session-start:resume prompt:b", "prompt start,prompt"},
		{"compacted in the middle", "prompt:a session-start:compact answer:b turn-end:c", "prompt,start,answer,end!"},
		{"nothing but a start", "session-start", "start"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := recordsOf(tt.events)
			for range 3 {
				rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				if diff := cmp.Diff(tt.want, turnsText(turns(list))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func turnsText(list []*turn) string {
	var words []string
	for _, t := range list {
		var kinds []string
		for _, r := range t.records {
			kinds = append(kinds, strings.NewReplacer("session-start", "start", "turn-end", "end").Replace(string(r.Event.Kind)))
		}
		word := strings.Join(kinds, ",")
		if t.closed {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestSealing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := Open(t.TempDir()+"/journal", Options{})
		var got []string
		drain := func() string {
			got = nil
			_, err := j.Drain(t.Context(), DrainOptions{}, receiverFunc(func(list []*Episode) error {
				for _, e := range list {
					got = append(got, e.Session+" "+e.Sealed)
				}
				return nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(got, ", ")
		}
		say := func(session string, kind Kind) {
			e := Event{Kind: kind, Agent: "claude", Session: session, Cwd: "/shop", Text: "x"}
			if err := j.Append(e); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() { say("a", Prompt) }, ""},
			{func() { say("a", Prompt) }, "a next turn"},
			{func() { time.Sleep(9 * time.Minute) }, ""},
			{func() { time.Sleep(time.Minute) }, "a quiet"},
			{func() { say("a", Prompt); say("a", TurnEnd) }, "a ended"},
			{func() { say("a", Prompt); say("b", SessionStart) }, "a next start"},
			{func() { time.Sleep(time.Hour) }, ""}, // b has only started
		} {
			step.do()
			if s := drain(); s != step.want {
				t.Errorf("got %q, want %q", s, step.want)
			}
		}
		if s, err := j.Status(); err != nil || s.Open != 0 {
			t.Errorf("status %+v %v", s, err)
		}
	})
}

func TestDivide(t *testing.T) {
	for _, tt := range []struct{ prompt, asked, told string }{
		{"How do we deploy?", "How do we deploy?", ""},
		{"how do we deploy production", "how do we deploy production", ""},
		{"We deploy on Tuesdays. Why is that?", "Why is that?", "We deploy on Tuesdays."},
		{"Decision: use port 5433.", "", "Decision: use port 5433."},
		{"When you deploy, run the migrations first.", "", "When you deploy, run the migrations first."},
		{"배포는 어떻게 합니까", "배포는 어떻게 합니까", ""},
		{"デプロイはどうしますか。火曜日です。", "デプロイはどうしますか。", "火曜日です。"},
		{"数据库在哪里？端口是5433。", "数据库在哪里？", "端口是5433。"},
		{"Fix it:\n```go\nx := a ? b\n```", "", "Fix it:\n```go\nx := a ? b\n```"},
		{"see example.com/?q=1 for v1.2.3", "", "see example.com/?q=1 for v1.2.3"},
		{"?!", "", ""},
	} {
		asked, told := divide(tt.prompt)
		if asked != tt.asked || told != tt.told {
			t.Errorf("%q:\ngot  %q | %q\nwant %q | %q", tt.prompt, asked, told, tt.asked, tt.told)
		}
	}
}

func TestSectionStaysInBounds(t *testing.T) {
	huge := strings.Repeat("word한 ", 200_000)
	s := &section{prompts: []string{huge + "?", huge}, answers: []string{"## a\n~~~\n# in code\n" + huge}}
	for range 100 {
		s.tools = append(s.tools, &ToolUse{Name: fmt.Sprint("T", len(s.tools)), Input: huge, Error: huge})
		s.failed = append(s.failed, true)
	}
	got := s.render(noon, func(string) bool { return false })
	if len(got) > 64<<10 {
		t.Errorf("%d bytes", len(got))
	}
	if n := strings.Count(got, "\n## "); n != 0 {
		t.Errorf("%d headings of its level inside of it", n)
	}
	if !strings.Contains(got, "\n# in code\n") || strings.Count(got, "~~~") != 2 {
		t.Errorf("the code block is not kept and closed:\n%.400s", got)
	}
}

func TestOurOwnAnswersAreNoNews(t *testing.T) {
	for _, tt := range []struct {
		tool ToolUse
		ours bool
	}{
		{ToolUse{Name: "mcp__vade__recall"}, true},
		{ToolUse{Name: "vade-recall"}, true},
		{ToolUse{Name: "Bash", Input: `{"command":"vade recall deploy"}`}, true},
		{ToolUse{Name: "Bash", Input: `{"command":"go build ./cmd/vade"}`}, false},
		{ToolUse{Name: "invader"}, false},
	} {
		if got := ours(&tt.tool); got != tt.ours {
			t.Errorf("%v: got %t", tt.tool, got)
		}
	}
}
