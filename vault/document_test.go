package vault

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lineDiff returns the lines that went ("-") and came ("+"), line ends shown
// where they are not a plain newline.
func lineDiff(before, after string) string {
	a, b := splitLines(before), splitLines(after)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA--
		endB--
	}
	var out strings.Builder
	show := func(sign string, lines []string) {
		for _, l := range lines {
			text, ok := strings.CutSuffix(l, "\n")
			text = strings.ReplaceAll(text, "\r", `\r`)
			if !ok {
				text += `\0`
			}
			out.WriteString(sign + text + "\n")
		}
	}
	show("-", a[start:endA])
	show("+", b[start:endB])
	return out.String()
}

func splitLines(s string) []string {
	var out []string
	for l := range strings.Lines(s) {
		out = append(out, l)
	}
	return out
}

// broken stands for an edit that is refused and changes nothing.
const broken = "ErrBroken"

// oddFiles are files as people and other tools write them, and the lines that
// three edits may change: add the tag "x", set the title to "New: title", set
// the body to "fresh\n".
var oddFiles = []struct {
	name              string
	file              string
	tag, title, body  string
	wantTitle         string
	wantTags          []string
	wantBody          string
	wantBrokenMention string
}{
	{
		name:      "as vade writes it",
		file:      "---\nid: 01JDZ3M8Q4X0W3K2V7N5T9R6BC\ntitle: Old\ntags: [a, b]\n---\nbody\n",
		tag:       "-tags: [a, b]\n+tags: [a, b, x]\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a", "b"}, wantBody: "body\n",
	},
	{
		name:      "CRLF",
		file:      "---\r\ntitle: Old\r\ntags: [a]\r\n---\r\nbody\r\nmore\r\n",
		tag:       "-tags: [a]\\r\n+tags: [a, x]\\r\n",
		title:     "-title: Old\\r\n+title: \"New: title\"\\r\n",
		body:      "-body\\r\n-more\\r\n+fresh\\r\n",
		wantTitle: "Old", wantTags: []string{"a"}, wantBody: "body\r\nmore\r\n",
	},
	{
		name:      "BOM and CRLF, key missing",
		file:      "\ufeff---\r\ntitle: Old\r\n---\r\nbody\r\n",
		tag:       "+tags: [x]\\r\n",
		title:     "-title: Old\\r\n+title: \"New: title\"\\r\n",
		body:      "-body\\r\n+fresh\\r\n",
		wantTitle: "Old", wantBody: "body\r\n",
	},
	{
		name:      "no final newline",
		file:      "---\ntitle: Old\n---\nbody",
		tag:       "+tags: [x]\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\\0\n+fresh\n",
		wantTitle: "Old", wantBody: "body",
	},
	{
		name:      "fence at the end of the file",
		file:      "---\ntitle: Old\n---",
		tag:       "+tags: [x]\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "----\\0\n+---\n+fresh\n",
		wantTitle: "Old",
	},
	{
		name:      "fence of dots, trailing spaces",
		file:      "---  \ntitle: Old\n...\t\nbody\n",
		tag:       "+tags: [x]\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantBody: "body\n",
	},
	{
		name:      "rule in the body",
		file:      "---\ntitle: Old\n---\nabove\n\n---\n\nbelow\n",
		tag:       "+tags: [x]\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-above\n-\n----\n-\n-below\n+fresh\n",
		wantTitle: "Old", wantBody: "above\n\n---\n\nbelow\n",
	},
	{
		name:      "four dashes are no fence",
		file:      "----\ntitle: Old\n----\nbody\n",
		tag:       "+---\n+tags: [x]\n+---\n",
		title:     "+---\n+title: \"New: title\"\n+---\n",
		body:      "-----\n-title: Old\n-----\n-body\n+fresh\n",
		wantTitle: "title: Old", wantBody: "----\ntitle: Old\n----\nbody\n",
	},
	{
		name:      "four dashes inside",
		file:      "---\ntitle: Old\n---\nbody\n----\nmore\n",
		tag:       "+tags: [x]\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n-----\n-more\n+fresh\n",
		wantTitle: "Old", wantBody: "body\n----\nmore\n",
	},
	{
		name:      "indented fence is text of a block scalar",
		file:      "---\ntitle: Old\ndesc: |\n  one\n  ---\n  two\n---\nbody\n",
		tag:       "+tags: [x]\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantBody: "body\n",
	},
	{
		name:      "indented opening fence is text",
		file:      " ---\ntitle: Old\n---\nbody\n",
		tag:       "+---\n+tags: [x]\n+---\n",
		title:     "+---\n+title: \"New: title\"\n+---\n",
		body:      "- ---\n-title: Old\n----\n-body\n+fresh\n",
		wantTitle: "title: Old", wantBody: " ---\ntitle: Old\n---\nbody\n",
	},
	{
		name:      "TOML",
		file:      "+++\ntitle = \"Old\"\ntags = [\"a\", 'b']\n+++\nbody\n",
		tag:       broken,
		title:     broken,
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a", "b"}, wantBody: "body\n", wantBrokenMention: "TOML",
	},
	{
		name:      "comments and order",
		file:      "---\n# about this file\n\ntags: [a] # keep me\n# the name\ntitle:   Old   # and me\nzz: 1\n# last\n---\nbody\n",
		tag:       "-tags: [a] # keep me\n+tags: [a, x] # keep me\n",
		title:     "-title:   Old   # and me\n+title:   \"New: title\"   # and me\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a"}, wantBody: "body\n",
	},
	{
		name:      "anchors and aliases",
		file:      "---\nbase: &b one\ntitle: &t Old\ntags: &l [*b, a]\naliases: *l\nalso: *t\n---\nbody\n",
		tag:       "-tags: &l [*b, a]\n+tags: &l [*b, a, x]\n",
		title:     "-title: &t Old\n+title: &t \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"one", "a"}, wantBody: "body\n",
	},
	{
		name:      "alias as a list",
		file:      "---\nbase: &b [one]\ntitle: Old\ntags: *b # shared\n---\nbody\n",
		tag:       "-tags: *b # shared\n+tags: [one, x] # shared\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"one"}, wantBody: "body\n",
	},
	{
		name:      "colon in a bare title",
		file:      "---\nid: 01JDZ3M8Q4X0W3K2V7N5T9R6BC\ntitle: Deploy: never by hand\ntags:\n  - a\n---\nbody\n",
		tag:       broken,
		title:     broken,
		body:      "-body\n+fresh\n",
		wantTitle: "Deploy: never by hand", wantTags: []string{"a"}, wantBody: "body\n",
		wantBrokenMention: "line 3",
	},
	{
		name:      "hash in a value",
		file:      "---\ndescription: fix #12 first\nurl: http://x/y#z\ntitle: C# and F#\n---\nbody\n",
		tag:       "+tags: [x]\n",
		title:     "-title: C# and F#\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "C# and F#", wantBody: "body\n",
	},
	{
		name:      "tags with commas, no brackets",
		file:      "---\ntags: a, b # c\ntitle: 'Old'\n---\nbody\n",
		tag:       "-tags: a, b # c\n+tags: a, b, x # c\n",
		title:     "-title: 'Old'\n+title: 'New: title'\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a", "b"}, wantBody: "body\n",
	},
	{
		name:      "one bare tag",
		file:      "---\ntags: a\ntitle: \"Old\"\n---\nbody\n",
		tag:       "-tags: a\n+tags: [a, x]\n",
		title:     "-title: \"Old\"\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a"}, wantBody: "body\n",
	},
	{
		name:      "block list",
		file:      "---\ntags:\n  - a # one\n  # two\n  - b\n\ntitle: Old\n---\nbody\n",
		tag:       "+  - x\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a", "b"}, wantBody: "body\n",
	},
	{
		name:      "block list at the margin",
		file:      "---\ntitle: Old\ntags:\n-   a\n-   b\n---\nbody\n",
		tag:       "+-   x\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a", "b"}, wantBody: "body\n",
	},
	{
		name:      "brackets over several lines",
		file:      "---\ntitle: Old\ntags: [\n  a, # one\n  b\n]\n---\nbody\n",
		tag:       "-  b\n+  b,\n+  x\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a", "b"}, wantBody: "body\n",
	},
	{
		name:      "brackets over several lines, trailing comma",
		file:      "---\ntitle: Old\ntags: [\n  a,\n  b, # two\n]\n---\nbody\n",
		tag:       "+  x,\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a", "b"}, wantBody: "body\n",
	},
	{
		name:      "bare date, number, yes, null",
		file:      "---\ndate: 2026-01-02\ntitle: 123\ntags: [yes, 7, 2026-01-02]\nwhy: null\n---\nbody\n",
		tag:       "-tags: [yes, 7, 2026-01-02]\n+tags: [yes, 7, 2026-01-02, x]\n",
		title:     "-title: 123\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "123", wantTags: []string{"yes", "7", "2026-01-02"}, wantBody: "body\n",
	},
	{
		name:      "title yes",
		file:      "---\ntitle: yes\ntags:\n---\nbody\n",
		tag:       "-tags:\n+tags: [x]\n",
		title:     "-title: yes\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "yes", wantBody: "body\n",
	},
	{
		name:      "title null",
		file:      "---\ntitle: null\ntags: [] # none yet\n---\n# Heading\n",
		tag:       "-tags: [] # none yet\n+tags: [x] # none yet\n",
		title:     "-title: null\n+title: \"New: title\"\n",
		body:      "-# Heading\n+fresh\n",
		wantTitle: "Heading", wantBody: "# Heading\n",
	},
	{
		name:      "the same key twice",
		file:      "---\ntitle: One\ntags: [a]\ntitle: Two\n---\nbody\n",
		tag:       broken,
		title:     broken,
		body:      "-body\n+fresh\n",
		wantTitle: "body", wantTags: []string{"a"}, wantBody: "body\n", wantBrokenMention: "line 4",
	},
	{
		name:      "tabs",
		file:      "---\ntitle:\tOld\t# tab\ntags:\n\t- a\n---\nbody\n",
		tag:       broken,
		title:     broken,
		body:      "-body\n+fresh\n",
		wantTitle: "Old # tab", wantBody: "body\n", wantBrokenMention: "line 4",
	},
	{
		name:      "tab behind a colon",
		file:      "---\ntitle:\tOld\t# tab\ntags: [a,\tb]\n---\nbody\n",
		tag:       "-tags: [a,\tb]\n+tags: [a,\tb, x]\n",
		title:     "-title:\tOld\t# tab\n+title:\t\"New: title\"\t# tab\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a", "b"}, wantBody: "body\n",
	},
	{
		name:      "unknown nested maps",
		file:      "---\ntitle: Old\nextra:\n  deep:\n    - {k: v, w: [1, 2]}\n    # note\n    -\n      a: b\n  text: >-\n    folded\n    text\ntags: [a]\n---\nbody\n",
		tag:       "-tags: [a]\n+tags: [a, x]\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a"}, wantBody: "body\n",
	},
	{
		name:      "list of things the scanner cannot read",
		file:      "---\ntitle: Old\ntags:\n  - a\n  - |\n    b\n---\nbody\n",
		tag:       "+  - x\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a", "b"}, wantBody: "body\n",
	},
	{
		name:      "emoji and CJK keys",
		file:      "---\n🔥: hot\n제목: 값\ntitle: 数据库: 备份\n---\n本文\n",
		tag:       broken,
		title:     broken,
		body:      "-本文\n+fresh\n",
		wantTitle: "数据库: 备份", wantBody: "本文\n", wantBrokenMention: "line 4",
	},
	{
		name:      "emoji key",
		file:      "---\n🔥: hot\ntitle: Old\n---\nbody\n",
		tag:       "+tags: [x]\n",
		title:     "-title: Old\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantBody: "body\n",
	},
	{
		name:      "title over several lines",
		file:      "---\ntitle: >\n  Old\n  thing\ntags: [a]\n---\nbody\n",
		tag:       "-tags: [a]\n+tags: [a, x]\n",
		title:     "-title: >\n-  Old\n-  thing\n+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old thing", wantTags: []string{"a"}, wantBody: "body\n",
	},
	{
		name:      "keys indented",
		file:      "---\n  title: Old\n  zz: 1\n---\nbody\n",
		tag:       "+  tags: [x]\n",
		title:     "-  title: Old\n+  title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantBody: "body\n",
	},
	{
		name:      "quoted keys",
		file:      "---\n\"title\": Old\n'tags': [a]\n---\nbody\n",
		tag:       "-'tags': [a]\n+'tags': [a, x]\n",
		title:     "-\"title\": Old\n+\"title\": \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a"}, wantBody: "body\n",
	},
	{
		name:      "merge key",
		file:      "---\nbase: &b {title: Old}\n<<: *b\n---\nbody\n",
		tag:       "+tags: [x]\n",
		title:     "+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantBody: "body\n",
	},
	{
		name:      "no front matter",
		file:      "# Heading\n\nbody\n",
		tag:       "+---\n+tags: [x]\n+---\n",
		title:     "+---\n+title: \"New: title\"\n+---\n",
		body:      "-# Heading\n-\n-body\n+fresh\n",
		wantTitle: "Heading", wantBody: "# Heading\n\nbody\n",
	},
	{
		name:      "no front matter, CRLF and BOM",
		file:      "\ufeffbody\r\nmore\r\n",
		tag:       "-\ufeffbody\\r\n+\ufeff---\\r\n+tags: [x]\\r\n+---\\r\n+body\\r\n",
		title:     "-\ufeffbody\\r\n+\ufeff---\\r\n+title: \"New: title\"\\r\n+---\\r\n+body\\r\n",
		body:      "-\ufeffbody\\r\n-more\\r\n+\ufefffresh\\r\n",
		wantTitle: "body", wantBody: "body\r\nmore\r\n",
	},
	{
		name:  "empty file",
		file:  "",
		tag:   "+---\n+tags: [x]\n+---\n",
		title: "+---\n+title: \"New: title\"\n+---\n",
		body:  "+fresh\n",
	},
	{
		name:      "empty header",
		file:      "---\n---\nbody\n",
		tag:       "+tags: [x]\n",
		title:     "+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "body", wantBody: "body\n",
	},
	{
		name:      "header of comments",
		file:      "---\n# nothing yet\n---\nbody\n",
		tag:       "+tags: [x]\n",
		title:     "+title: \"New: title\"\n",
		body:      "-body\n+fresh\n",
		wantTitle: "body", wantBody: "body\n",
	},
	{
		name:      "broken YAML",
		file:      "---\ntitle: \"Old\ntags: [a\n---\nbody\n",
		tag:       broken,
		title:     broken,
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantBody: "body\n", wantBrokenMention: "line ",
	},
	{
		name:      "no closing fence",
		file:      "---\ntitle: Old\n\nbody\n",
		tag:       broken,
		title:     broken,
		body:      broken,
		wantTitle: "Old", wantBody: "---\ntitle: Old\n\nbody\n", wantBrokenMention: "line 1",
	},
	{
		name:      "prose between two rules",
		file:      "---\nSome text: with a colon: inside\nand more of it\n---\nrest\n",
		tag:       broken,
		title:     broken,
		body:      broken,
		wantTitle: "Some text: with a colon: inside",
		wantBody:  "---\nSome text: with a colon: inside\nand more of it\n---\nrest\n", wantBrokenMention: "line ",
	},
	{
		name:      "a list between two rules",
		file:      "---\n- one\n- two\n---\nrest\n",
		tag:       broken,
		title:     broken,
		body:      broken,
		wantTitle: "- one", wantBody: "---\n- one\n- two\n---\nrest\n", wantBrokenMention: "line 2",
	},
	{
		name:      "all keys in braces",
		file:      "---\n{title: Old, tags: [a]}\n---\nbody\n",
		tag:       broken,
		title:     broken,
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantTags: []string{"a"}, wantBody: "body\n",
	},
	{
		name:      "a second YAML document",
		file:      "---\ntitle: Old\n--- again\ntags: [a]\n---\nbody\n",
		tag:       broken,
		title:     broken,
		body:      "-body\n+fresh\n",
		wantTitle: "body", wantTags: []string{"a"}, wantBody: "body\n", wantBrokenMention: "line 3",
	},
	{
		name:      "unknown alias",
		file:      "---\ntitle: Old\ntags: *nowhere\n---\nbody\n",
		tag:       broken,
		title:     broken,
		body:      "-body\n+fresh\n",
		wantTitle: "Old", wantBody: "body\n", wantBrokenMention: "nowhere",
	},
}

func TestOddFrontMatter(t *testing.T) {
	for _, tt := range oddFiles {
		t.Run(tt.name, func(t *testing.T) {
			d := ParseDocument([]byte(tt.file))
			if got := string(d.Bytes()); got != tt.file {
				t.Fatalf("parsing changed the file:\n%s", lineDiff(tt.file, got))
			}
			m := d.Memory()
			if m.Title != tt.wantTitle {
				t.Errorf("title %q, want %q", m.Title, tt.wantTitle)
			}
			if diff := cmp.Diff(tt.wantTags, m.Tags); diff != "" {
				t.Errorf("tags (-want +got):\n%s", diff)
			}
			if m.Body != tt.wantBody {
				t.Errorf("body %q, want %q", m.Body, tt.wantBody)
			}
			if tt.wantBrokenMention == "" && m.Broken != nil {
				t.Errorf("broken: %v", m.Broken)
			}
			if tt.wantBrokenMention != "" &&
				(!errors.Is(m.Broken, ErrBroken) || !strings.Contains(m.Broken.Error(), tt.wantBrokenMention)) {
				t.Errorf("broken: %v, want mention of %q", m.Broken, tt.wantBrokenMention)
			}
			checkEdit(t, "tag", tt.file, tt.tag, func(d *Document) error { return d.AddToList("tags", "x") })
			checkEdit(t, "title", tt.file, tt.title, func(d *Document) error { return d.Set("title", "New: title") })
			checkEdit(t, "body", tt.file, tt.body, func(d *Document) error { return d.SetBody("fresh\n") })
		})
	}
}

// checkEdit edits the file and compares the lines that differ with want.
func checkEdit(t *testing.T, name, file, want string, edit func(*Document) error) {
	t.Helper()
	d := ParseDocument([]byte(file))
	err := edit(d)
	got := lineDiff(file, string(d.Bytes()))
	if want == broken {
		if !errors.Is(err, ErrBroken) || got != "" {
			t.Errorf("%s: error %v, want ErrBroken and no change:\n%s", name, err, got)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: lines changed (-want +got):\n%s", name, diff)
	}
}
