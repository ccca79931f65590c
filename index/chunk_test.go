package index

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func checkTiles(t *testing.T, body []byte, chunks []chunk) {
	t.Helper()
	at := 0
	for i, c := range chunks {
		if c.start != at || c.end < c.start || i > 0 && c.start == c.end {
			t.Fatalf("chunk %d is [%d, %d), want it to start at %d", i, c.start, c.end, at)
		}
		if c.start < len(body) && !utf8.RuneStart(body[c.start]) && utf8.Valid(body) {
			t.Errorf("chunk %d starts inside a rune", i)
		}
		if size := c.end - c.start; size > maxChunk+minChunk {
			t.Errorf("chunk %d has %d bytes", i, size)
		}
		at = c.end
	}
	if at != len(body) {
		t.Errorf("chunks end at %d of %d", at, len(body))
	}
}

func TestChunksFollowTheStructure(t *testing.T) {
	para := strings.Repeat("word ", 100)
	body := "# Handbook\n\n" + para + "\n\n## Deploys\n\n" + para + "\n\n### Rollback\n\n" + para +
		"\n\n## Secrets\n\n- one " + para + "\n- two " + para + "\n\n```\n" + para + "\n```\n"
	chunks := split([]byte(body))
	checkTiles(t, []byte(body), chunks)
	var got []string
	for _, c := range chunks {
		text := strings.Join(strings.Fields(body[c.start:c.end]), " ")
		got = append(got, fmt.Sprintf("%s | %.12s", c.path, text))
	}
	want := []string{
		" | # Handbook w",
		"Handbook | ## Deploys w",
		"Handbook › Deploys | ### Rollback",
		"Handbook | ## Secrets -",
		"Handbook › Secrets | - two word w",
		"Handbook › Secrets | ``` word wor",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("chunks (-want +got):\n%s", diff)
	}
}

func TestSmallNotesAreOneChunk(t *testing.T) {
	for _, body := range []string{"", "x", "# a\n\nb\n\n# c\n\nd\n"} {
		if chunks := split([]byte(body)); len(chunks) != 1 || chunks[0].end != len(body) {
			t.Errorf("%q: %+v", body, chunks)
		}
	}
}

// Input that makes parsers slow stays cheap.
func TestHostileMarkdown(t *testing.T) {
	for name, body := range map[string]string{
		"quotes":     strings.Repeat("> ", 200<<10),
		"deep lines": strings.Repeat(strings.Repeat("> ", 500)+"x\n", 300),
		"lists":      strings.Repeat(strings.Repeat(" ", 200)+"- x\n", 2000),
		"nested":     nested(400),
		"brackets":   strings.Repeat("[", 1<<20),
		"backticks":  strings.Repeat("```\n", 200<<10),
		"one line":   strings.Repeat("x", 5<<20),
		"no spaces":  strings.Repeat("部", 1<<20),
		"newlines":   strings.Repeat("\n", 2<<20),
		"headings":   strings.Repeat("# a\n", 200<<10),
	} {
		start := time.Now()
		checkTiles(t, []byte(body), split([]byte(body)))
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s: took %v", name, d)
		} else if d > time.Second {
			t.Logf("%s: took %v", name, d)
		}
	}
}

func nested(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat("  ", i) + "- x\n")
	}
	return b.String()
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("# a\n\nb"), 100)
	f.Add([]byte("- 部署\n```\nx"), 400)
	f.Add([]byte("> \xff. 。"), 1000)
	f.Fuzz(func(t *testing.T, part []byte, times int) {
		if times < 1 || times > 2000 || len(part)*times > 1<<20 {
			t.Skip()
		}
		body := []byte(strings.Repeat(string(part), times))
		checkTiles(t, body, split(body))
	})
}
