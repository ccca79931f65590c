package vault

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// headerSeeds are headers for the fuzzers: the odd ones and their like.
func headerSeeds() []string {
	seeds := []string{
		"a: [b, {c: d, e: [f]}, 'g', \"h\\n\"] # x\n",
		"a: {b: c, d: 'e', f: [g]}\nh:\n  i: j\n  k: \"l\"\n",
		"a:\n- b\n- 'c' # d\n# e\nf: g # h\n",
		"a:\n  # b\n  - c\n\n  - d\n\n\ne: f\n",
		"a: b\n  c\n", "a: -b\n", "a: b:c\n", "a: b :c\n", "a: ~\n", "a: <<\n", "<<: {a: b}\n", "a: [b c, d:e]\n",
		"a: #b\n", "a:  # b\n", "a: b# c\n", "a: 'b\n", "a: \"b\\q\"\n", "- a\n", "a\n", "a: [b,]\n", "a: [,b]\n",
		"a: =\n", "a: \\b\n", "a: (b)\n", "a: [(b)]\n", "a: [b]c\n", "a: 'b'c\n", "a: 1\n b: 2\n", "a:\n b: 2\n  c: 3\n",
	}
	for _, f := range oddFiles {
		d := ParseDocument([]byte(f.file))
		seeds = append(seeds, d.head.text)
	}
	return seeds
}

// FuzzScannerAgreesWithYAML: what the line scanner reads, the YAML library
// reads too, with the same values on the same lines.
func FuzzScannerAgreesWithYAML(f *testing.F) {
	for _, s := range headerSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkScanner(t, text) })
}

// checkScanner reports whether the scanner reads text at all.
func checkScanner(t *testing.T, text string) bool {
	t.Helper()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n" // a header is whole lines
	}
	got, ok := scanHeader(text)
	if !ok {
		return false
	}
	want := parseYAML(text)
	if want.broken != nil {
		t.Fatalf("%q: scanned as %+v, but: %v", text, got, want.broken)
	}
	if len(got) != len(want.entries) {
		t.Fatalf("%q: %d keys, want %d", text, len(got), len(want.entries))
	}
	for i, g := range got {
		w := want.entries[i]
		if g.key != w.key || !g.val.same(&w.val) {
			t.Errorf("%q: %s = %#v, want %s = %#v", text, g.key, g.val.value(), w.key, w.val.value())
		}
		if g.lead != w.lead || g.start != w.start || g.end != w.end {
			t.Errorf("%q: %s at %d, %d to %d, want %d, %d to %d", text, g.key, g.lead, g.start, g.end, w.lead, w.start, w.end)
		}
	}
	return true
}

// trickyStrings are what YAML reads as something else when it has no quotes.
var trickyStrings = []string{
	"", " ", "a", "a b", " a", "a ", "\t", "a\tb", "#", "a #b", "a#b", "a: b", "a:b", "a:", ":", ": a", "-", "- a", "-a", "--", "---", "...",
	"?", "? a", "a?", "[a]", "{a}", "a, b", "a]", "&a", "*a", "!a", "|", ">", "'", "''", "it's", "\"", `"a"`, "%a", "@a", "`a`", `\`, `a\b`,
	"yes", "No", "on", "OFF", "y", "N", "true", "False", "null", "Null", "~", "nul", "<<", "=", "123", "1_000", "0x1F", "0o17", "017", "0b1",
	"1.5", ".5", "5.", "1e3", "-1", "+1", "+.inf", ".nan", "Infinity", "NaN", "inf", "12:30", "12:30:45", "2026-01-02", "2026-1-2", "2026-01-02T03:04:05Z",
	"2026-01-02 03:04", "2026-99-99", "01JDZ3M8Q4X0W3K2V7N5T9R6BC", "12345678901234567890123456", "1E9", "a\nb", "a\n", "\na", "a\r\nb", "\u0085", "\u2028",
	"\ufeff", "\ufeffa", "\x00", "\x7f", "\u009f", "\ufffe", "数据库", "🔥", "ＡＰＩ: x", "é", "e\u0301", "\u00a0", "\u00a0a", "http://x/y#z", "C:\\x", "1 2", "3 pigs", "0", "00", "-0",
	"a - b", "a -b", "key: [x", "{{ x }}", "<b>", "$HOME", "(a)", "a;b", "^", "_", "/", "./x", "~x", "+x", "0x", "0b2", "1__2", "_1", "1_", "e3", "1e", ".", "..", "1.2.3", "v1.2",
}

func TestQuoteReadsBackTheSame(t *testing.T) {
	for _, s := range trickyStrings {
		checkQuote(t, s)
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range trickyStrings {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if utf8.ValidString(s) {
			checkQuote(t, s)
		}
	})
}

// checkQuote has the YAML library read s in every style and place.
func checkQuote(t *testing.T, s string) {
	t.Helper()
	for _, style := range []quoting{plainStyle, singleStyle, doubleStyle} {
		block, flow := quote(s, style, false), quote(s, style, true)
		text := "a: " + block + " # c\nb: [" + flow + ", " + flow + "]\nc: {d: " + flow + "}\ne:\n  - " + block + "\n"
		var got struct {
			A string
			B []string
			C map[string]any
			E []any
		}
		if err := yaml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%q renders as\n%s%v", s, text, err)
		}
		if got.A != s || !slices.Equal(got.B, []string{s, s}) || got.C["d"] != any(s) || got.E[0] != any(s) {
			t.Fatalf("%q renders as\n%sand reads as %q", s, text, got)
		}
		if strings.ContainsAny(block+flow, "\r\n") {
			t.Fatalf("%q renders on several lines: %q", s, block)
		}
	}
}

func TestQuoteOnlyWhereNeeded(t *testing.T) {
	for s, want := range map[string]string{
		"Deploys run through GitHub Actions only": "Deploys run through GitHub Actions only",
		"github.com/acme/shop":                    "github.com/acme/shop",
		"01JDZ3M8Q4X0W3K2V7N5T9R6BC":              "01JDZ3M8Q4X0W3K2V7N5T9R6BC",
		"数据库 备份":                                  "数据库 备份",
		"it's C# (v1.2), really":                  "it's C# (v1.2), really",
		"3 pigs":                                  "3 pigs",
		"0f3a":                                    "0f3a",
		"fix: colons":                             `"fix: colons"`,
		`say "x: y"`:                              `'say "x: y"'`,
		`C:\new: x`:                               `'C:\new: x'`,
		"yes":                                     `"yes"`,
		"12e3":                                    `"12e3"`,
		"2026-01-02":                              `"2026-01-02"`,
		"two\nlines":                              `"two\nlines"`,
		"#1":                                      `"#1"`,
		"":                                        `""`,
	} {
		if got := quote(s, plainStyle, false); got != want {
			t.Errorf("quote(%q) = %s, want %s", s, got, want)
		}
	}
}

// FuzzDocumentEdit: whatever the file, an edit either does what it says,
// leaving every other key and the body alone, or changes nothing.
func FuzzDocumentEdit(f *testing.F) {
	for _, file := range oddFiles {
		for i, s := range []string{"x", "new: title", "a, b", "yes"} {
			f.Add([]byte(file.file), s, uint8(i))
		}
	}
	keys := []string{"tags", "title", "zz", "origin", "desc"}
	f.Fuzz(func(t *testing.T, raw []byte, s string, op uint8) {
		checkEditRoundTrip(t, raw, keys[int(op/8)%len(keys)], s, op%8)
	})
}

func checkEditRoundTrip(t *testing.T, raw []byte, key, s string, op uint8) {
	t.Helper()
	d := ParseDocument(raw)
	if got := d.Bytes(); string(got) != string(raw) {
		t.Fatalf("parsing changed %q to %q", raw, got)
	}
	if !utf8.ValidString(s) {
		return
	}
	before := ParseDocument(raw)
	err := fuzzEdit(d, key, s, op)
	out := d.Bytes()
	if err != nil {
		if string(out) != string(raw) {
			t.Fatalf("edit failed (%v) but changed\n%q to\n%q", err, raw, out)
		}
		return
	}
	after := ParseDocument(out)
	checkEdited(t, before, after, key, s, op)
	if got := string(after.Bytes()); got != string(out) || after.Body() != d.Body() {
		t.Fatalf("%q after the edit reads back as %q with body %q, want %q", out, got, after.Body(), d.Body())
	}
	if err := fuzzEdit(after, key, s, op); err != nil || string(after.Bytes()) != string(out) {
		t.Fatalf("the same edit again (%v) changed\n%q to\n%q", err, out, after.Bytes())
	}
}

func fuzzEdit(d *Document, key, s string, op uint8) error {
	switch op {
	case 0:
		return d.AddToList(key, s)
	case 1:
		return d.Set(key, s)
	case 2:
		return d.RemoveFromList(key, s)
	case 3:
		return d.Delete(key)
	case 4:
		return d.Set(key, strings.Split(s, " "))
	case 5:
		return d.Set(key, Origin{User: s, Agent: "codex", Turn: 3})
	case 6:
		return d.SetRawBody(s)
	}
	return d.Set(key, time.Date(2026, 11, 30, 16, 1, 0, 0, time.UTC))
}

func checkEdited(t *testing.T, before, after *Document, key, s string, op uint8) {
	t.Helper()
	if op != 6 && after.Body() != before.Body() {
		t.Fatalf("body changed from %q to %q", before.Body(), after.Body())
	}
	if op == 6 {
		if after.Body() != s {
			t.Fatalf("body is %q, want %q", after.Body(), s)
		}
		return
	}
	if after.Broken() != nil {
		t.Fatalf("the edit broke the header: %v\n%q", after.Broken(), after.Bytes())
	}
	item := strings.TrimSpace(s)
	switch op {
	case 0:
		if item != "" && !slices.Contains(after.Strings(key), item) {
			t.Fatalf("%s is %q, wants %q", key, after.Strings(key), item)
		}
	case 1:
		if got := after.String(key); got != s {
			t.Fatalf("%s is %q, want %q", key, got, s)
		}
	case 2:
		if item != "" && slices.Contains(after.Strings(key), item) {
			t.Fatalf("%s is still %q", key, after.Strings(key))
		}
	case 3:
		if after.head.find(key) != nil {
			t.Fatalf("%s is still there", key)
		}
	}
	follows := strings.Contains(before.head.text, "&") // aliases of the key follow it
	for _, k := range before.Keys() {
		was, _ := before.Value(k)
		is, ok := after.Value(k)
		if k != key && (!ok || !follows && !cmp.Equal(was, is, cmp.Comparer(sameFloat))) {
			t.Fatalf("%s changed from %v to %v", k, was, is)
		}
	}
}

// sameFloat lets not-a-number be itself.
func sameFloat(a, b float64) bool { return a == b || a != a && b != b }
