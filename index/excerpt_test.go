package index

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"vademecum/vault"
)

func TestShortMemoriesAreShownWhole(t *testing.T) {
	src := newNotes(map[string]string{"a.md": "---\ntitle: T\n---\n\n\n  indented first\nsecond deploy line\n\n"})
	h := ask(t, open(t), src, vault.Query{Text: "deploy"}).Hits[0]
	if h.Text != "  indented first\nsecond deploy line" || h.Excerpt || h.Line != 6 {
		t.Errorf("text %q, excerpt %v, line %d", h.Text, h.Excerpt, h.Line)
	}
}

func TestExcerptShowsTheAnswerWithItsLine(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\ntitle: Long\n---\n")
	for i := range 300 {
		fmt.Fprintf(&b, "Line %d says nothing of interest about anything.\n", i)
		if i == 211 {
			b.WriteString("The retry budget is four attempts, then it stops.\n")
		}
	}
	src := newNotes(map[string]string{"a.md": b.String()})
	for _, question := range []string{"retry budget", "what is the retry budget?"} {
		h := ask(t, open(t), src, vault.Query{Text: question}).Hits[0]
		if !strings.Contains(h.Text, "four attempts") || !h.Excerpt || len(h.Text) > wholeText {
			t.Errorf("%q: excerpt %v of %d bytes: %q", question, h.Excerpt, len(h.Text), h.Text)
		}
		checkLine(t, src.content["a.md"], h)
	}
}

// checkLine proves that h.Text starts on h.Line of the file.
func checkLine(t *testing.T, content string, h vault.Hit) {
	t.Helper()
	lines := strings.Split(content, "\n")
	first, _, _ := strings.Cut(h.Text, "\n")
	if h.Line < 1 || h.Line > len(lines) || !strings.Contains(lines[h.Line-1], strings.TrimSpace(first)) {
		t.Errorf("line %d does not have %q", h.Line, first)
	}
	if !strings.Contains(content, h.Text) {
		t.Errorf("the file does not have %q", h.Text)
	}
}

func TestUniqueTermInTheLastLineOfAHugeNote(t *testing.T) {
	var b strings.Builder
	for i := range 90000 {
		fmt.Fprintf(&b, "line %d of a very long log that goes on and on\n", i)
	}
	b.WriteString("the culprit was a gasket")
	src := newNotes(map[string]string{"log.md": b.String(), "other.md": "nothing"})
	for _, indexed := range []bool{false, true} {
		x := open(t)
		if indexed {
			update(t, x, src)
		}
		h := ask(t, x, src, vault.Query{Text: "gasket"}).Hits[0]
		if !strings.HasSuffix(h.Text, "the culprit was a gasket") {
			t.Errorf("indexed %v: excerpt %q", indexed, h.Text)
		}
		checkLine(t, src.content["log.md"], h)
	}
}

func TestStackTraceAsQuery(t *testing.T) {
	var b strings.Builder
	b.WriteString("panic: runtime error: invalid memory address\n")
	for i := 0; b.Len() < 300<<10; i++ {
		fmt.Fprintf(&b, "goroutine %d [running]:\nmain.(*Server%d).handle%d(0xc000%x)\n\t/src/app/server_%d.go:%d +0x%x\n", i, i%90, i, i*31, i%50, i, i)
	}
	src := memories(500, 500).with("fix.md", "panic: runtime error: invalid memory address in handle17 comes from a nil map")
	x := open(t)
	update(t, x, src)
	start := time.Now()
	got := paths(t, x, src, b.String())
	if len(got) == 0 || got[0] != "fix.md" {
		t.Errorf("finds %v, want fix.md first", got)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestBudgetHoldsAndRunesStayWhole(t *testing.T) {
	src := newNotes(map[string]string{
		"en.md":    header(strings.Repeat("Deploys run through Actions. Never from a laptop. ", 60), "title: English"),
		"zh.md":    header(strings.Repeat("部署只通过流水线进行，deploy 不要在笔记本上做。", 60), "title: 中文"),
		"short.md": "deploy on fridays",
		"mix.md":   "deploy 🔥🔥🔥 " + strings.Repeat("데이터베이스 연결 ", 80),
	})
	x := open(t)
	for budget := 10; budget < 1200; budget += 7 {
		r := ask(t, x, src, vault.Query{Text: "deploy 部署", Budget: budget})
		total := 0
		for _, h := range r.Hits {
			total += Tokens(h.Title) + Tokens(h.Text)
			if !utf8.ValidString(h.Text) || strings.ContainsRune(h.Text, utf8.RuneError) {
				t.Errorf("budget %d: %s is cut inside a rune: %q", budget, h.Path, h.Text)
			}
			if _, body, _ := strings.Cut(src.content[h.Path], "---\n"); !h.Excerpt && !strings.Contains(body, h.Text) && h.Text != strings.TrimSpace(src.content[h.Path]) {
				t.Errorf("budget %d: %s is cut and does not say so", budget, h.Path)
			}
		}
		if total > budget {
			t.Errorf("budget %d: %d tokens", budget, total)
		}
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abcd": 1, "abcde": 2, "部署": 2, "배포는": 3, "データ": 3, "привет": 3, "🔥": 1, "docker 配置": 4} {
		if got := Tokens(text); got != want {
			t.Errorf("Tokens(%q) = %d, want %d", text, got, want)
		}
	}
}

func FuzzShow(f *testing.F) {
	f.Add([]byte("---\ntitle: x\n---\nbody deploy\n"), 4, 10, 300, 100)
	f.Add([]byte("部署只通过流水线进行\n\n\xff\xfe 部署"), 0, 3, 9, 20)
	f.Fuzz(func(t *testing.T, raw []byte, body, start, end, size int) {
		if body < 0 || start < 0 || end < 0 || size < 1 || size > 2000 {
			t.Skip()
		}
		e := newExcerpter(queryTerms("deploy 部署 x"))
		p := e.show(raw, min(body, len(raw)), span{start, end}, size)
		if !utf8.ValidString(p.text) {
			t.Errorf("not UTF-8: %q", p.text)
		}
		if utf8.Valid(raw) && strings.ContainsRune(p.text, utf8.RuneError) && !strings.ContainsRune(string(raw), utf8.RuneError) && body == 0 {
			t.Errorf("cut inside a rune: %q", p.text)
		}
		if p.part && len(p.text) > size+utf8.UTFMax && utf8.Valid(raw) {
			t.Errorf("%d bytes, want at most %d", len(p.text), size)
		}
	})
}
