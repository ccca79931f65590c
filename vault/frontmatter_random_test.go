package vault

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// soup makes headers of the pieces that front matter is made of, put together
// in ways that nobody would.
type soup struct{ *rand.Rand }

func (r soup) pick(choices ...string) string { return choices[r.IntN(len(choices))] }

func (r soup) scalar() string {
	return r.pick("a", "b c", "a b ", "1", "yes", "~", "null", "2026-01-02", "'q'", "'it''s'", `"d"`, `"d\n"`, `"\q"`, "a: b", "a:b", "a #c", "a#c",
		"#c", "", "*x", "&x a", "!!str 1", "|", ">-", "|+", "[a, b]", "[a,b,]", "[ 'a' , \"b\" ]", "[]", "[a, [b]]", "[a: b]", "[a", "{a: b}", "{a: b, c: [d]}",
		"{}", "{a}", "{a: b", "- a", "-", "-a", "?", "? a", ": a", "http://x/y", "数据库", "@a", "`a`", "%a", "a\tb", "a, b", "[a?]", "[-]", "[- a]", "{a:b}",
		"'a' b", "\"a\" # c", "'a'#c", "[a]#c", "[a] # c", "<<", "=", "...", "---", "a...", "\\", "a'b", "a\"b", "[*x, b]", "[&y a, *y]", "[a #c\n]", "[\n  a,\n  b\n]", "a\n  b")
}

func (r soup) key() string {
	return r.pick("title", "tags", "a", "b", "id", "x-y", "x_1", "'q'", `"q"`, "<<", "🔥", "a b", "1", "yes", "&k a", "? a", "- a", "", "#a", "-a", "a ", "k.l")
}

func (r soup) header() string {
	var b strings.Builder
	for range r.IntN(6) {
		indent := r.pick("", "", "", "", "", " ", "  ", "    ", "\t")
		eol := r.pick("\n", "\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n# c\n", "\n  # c\n", "\n # c\n\n")
		switch r.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "%s- %s%s", indent, r.scalar(), eol)
		case 1:
			fmt.Fprintf(&b, "%s:%s%s- %s%s%s- %s%s", r.key(), eol, indent, r.scalar(), eol, indent, r.scalar(), eol)
		case 2:
			fmt.Fprintf(&b, "%s:%s%sk: %s%s%sl: %s%s", r.key(), eol, indent, r.scalar(), eol, indent, r.scalar(), eol)
		case 3:
			fmt.Fprintf(&b, "%s%s", indent, r.pick("#c\n", "# c\n", "\n", "text\n", "  text\n", "]\n", "[a]\n", "'\n"))
		default:
			fmt.Fprintf(&b, "%s%s:%s%s%s", indent, r.key(), r.pick(" ", " ", " ", "  ", "", "\t"), r.scalar(), eol)
		}
	}
	return b.String()
}

// rounds is small here; the fuzzers go on for as long as they are let.
const rounds = 20_000

func TestScannerAgreesWithYAMLOnSoup(t *testing.T) {
	r := soup{rand.New(rand.NewPCG(1, 2))}
	scanned := 0
	for range rounds {
		if text := r.header(); checkScanner(t, text) {
			scanned++
		}
		if t.Failed() {
			return
		}
	}
	if scanned < rounds/10 {
		t.Errorf("only %d of %d headers were scanned", scanned, rounds)
	}
}

func TestEditsOnSoup(t *testing.T) {
	r := soup{rand.New(rand.NewPCG(3, 4))}
	for range rounds / 4 {
		file := r.pick("", "\ufeff") + "---\n" + r.header() + "---\n" + r.pick("", "body", "body\n", "body\r\n")
		s := r.pick("x", "a", "b", "New: title", "a, b", "", " ", "yes", "数据库", "two\nlines", "#c", "'q'", "[a]", "*x", "c")
		key := r.pick("tags", "title", "a", "b", "zz", "q", "id")
		checkEditRoundTrip(t, []byte(file), key, s, uint8(r.IntN(8)))
		if t.Failed() {
			return
		}
	}
}
