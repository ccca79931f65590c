package index

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// judge is where goldmark finds blocks.
func judge(src []byte) []block {
	var found []block
	root := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...)).Parse(text.NewReader(src))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		if !entering || n.Lines() == nil || n.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		first := n.Lines().At(0)
		b := block{at: lineStart(src, first.Start)}
		switch n := n.(type) {
		case *ast.Heading:
			b.level = n.Level
			b.title = strings.TrimSpace(string(first.Value(src)))
		case *ast.FencedCodeBlock: // its lines do not hold the fence
			b.at = lineStart(src, max(lineStart(src, first.Start)-1, 0))
		}
		found = append(found, b)
		return ast.WalkContinue, nil
	})
	return found
}

// starts drops the titles of what is no heading.
func starts(blocks []block) []block {
	var out []block
	for _, b := range blocks {
		if b.level == 0 {
			b.title = ""
		}
		out = append(out, b)
	}
	return out
}

func sameBlocks(t *testing.T, src string) bool {
	t.Helper()
	diff := cmp.Diff(judge([]byte(src)), starts(blocksOf([]byte(src))), cmp.AllowUnexported(block{}))
	if diff != "" {
		t.Errorf("%q (-goldmark +ours):\n%s", src, diff)
	}
	return diff == ""
}

func TestBlocks(t *testing.T) {
	for _, src := range []string{
		"", "\n", "text", "# A\n\ntext\nmore\n\n## B ##\ntext", "A\n===\nb\n---\n", "a\nb\n---\nc", "#\n\n#no\n", "####### seven",
		"- a\n- b\n\n  more\n- c\n  - d\n    e\n", "1. a\n2. b\n", "text\n2. no item\n", "text\n1. item\n", "- \n  a\n", "-\n\n  a\n",
		"> a\nlazy\n> b\n\nc", "> - a\n>   b\n> c\n", "> # H\n> text\n", "```\ncode\n# no\n```\ntext", "~~~ go\n\n~~~\n", "```\n```\n", "```\nopen",
		"    code\n\n    more\ntext", "text\n    no code\n", "\tcode\n", "- a\n\n\tb\n", "<div>\n# no\n\n# yes\n", "<!-- a\n\nb -->\ntext\n",
		"<script>\n\n</script>\ntext", "text\n<b>\nmore", "<b>\nmore\n\nx", "* * *\n- - -\n", "a\r\n===\r\nb\r\n", "<", "</", "<!", "- a\n# H\n", "+ a\n\n\n  b\n",
		"[a]: b\n\nc", "| a |\n|---|\n| b |\n", "1) a\n10) b\n   c", "- ```\n  code\n  ```\n- b\n", ">     code\n", "-    a\n\n     b\n", "-     code\n",
	} {
		sameBlocks(t, src)
	}
}

// TestBlocksLikeGoldmark makes documents of everything that starts a block. Tabs
// are not among it: goldmark counts some of them otherwise than CommonMark says.
func TestBlocksLikeGoldmark(t *testing.T) {
	pieces := []string{
		"# A", "## B ##", "===", "---", "***", "- ", "-", "* ", "1. ", "2) ", "10. ", "> ", ">", "    ", "  ", " ", "```", "~~~", "````", "word",
		"two words", "<div>", "</div>", "<b>", "<!-- ", " -->", "<pre>", "</pre>", "[a]: b", "|", "\n", "\n", "\n", "\n\n", "\n\n", "\\", "`", "*", "_", "é", "数据",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	wrong := 0
	for range 20000 {
		var doc strings.Builder
		for range 1 + rng.IntN(14) {
			doc.WriteString(pieces[rng.IntN(len(pieces))])
		}
		if !sameBlocks(t, doc.String()) {
			if wrong++; wrong > 12 {
				t.FailNow()
			}
		}
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add([]byte("# A\n- b\n  > c\n```\nd"))
	f.Fuzz(func(t *testing.T, src []byte) {
		last := -1
		for _, b := range blocksOf(src) {
			if b.at < last || b.at >= len(src) || b.at > 0 && src[b.at-1] != '\n' {
				t.Fatalf("%q: a block at %d after one at %d", src, b.at, last)
			}
			last = b.at
		}
	})
}

func BenchmarkBlocks(b *testing.B) {
	src := bytes.Repeat([]byte("# Head\n\nSome text in\ntwo lines.\n\n- an item\n- another\n\n```\ncode\n```\n\n"), 1000)
	for name, read := range map[string]func([]byte) []block{"goldmark": judge, "ours": blocksOf} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if len(read(src)) < 1000 {
					b.Fatal(fmt.Sprint("too few in ", len(src)))
				}
			}
		})
	}
}
