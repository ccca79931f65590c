package providers

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"vademecum/vault"
)

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		name  string
		text  string
		limit int
		turns bool
		want  []string
	}{
		{"no bound", "a b c", 0, false, []string{"a b c"}},
		{"it fits", "a b c", 5, false, []string{"a b c"}},
		{"at a heading", "one two\n\nthree\n# four\nfive", 20, false, []string{"one two\n\nthree\n", "# four\nfive"}},
		{"at a blank line", "one two\n\nthree four", 14, false, []string{"one two\n\n", "three four"}},
		{"at a line", "one two\nthree four", 14, false, []string{"one two\n", "three four"}},
		{"at a word", "one two three", 9, false, []string{"one two ", "three"}},
		{"nowhere good", "abcdefgh", 3, false, []string{"abc", "def", "gh"}},
		{"runes stay whole", "дддд", 5, false, []string{"дд", "дд"}},
		{"a rune that does not fit", "数据", 2, false, []string{"数", "据"}},
		{"turns", "# s\n\n## 1\n\na\n\n## 2\n\nb", 0, true, []string{"# s\n\n", "## 1\n\na\n\n", "## 2\n\nb"}},
		{"turns from the start", "## 1\na\n## 2\nb", 0, true, []string{"## 1\na\n", "## 2\nb"}},
		{"a long turn", "## 1\naaaa bbbb\n## 2\nb", 10, true, []string{"## 1\naaaa ", "bbbb\n", "## 2\nb"}},
	} {
		if diff := cmp.Diff(tc.want, Split(tc.text, tc.limit, tc.turns)); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("## a\n\nb c\n\n## d", 7, true)
	f.Add("数据库备份", 4, false)
	f.Add("\xff\xfe\x80\x80\x80\x80\x80", 3, false)
	f.Fuzz(func(t *testing.T, text string, limit int, turns bool) {
		limit = min(max(limit, 0), 1<<16)
		parts := Split(text, limit, turns)
		if got := strings.Join(parts, ""); got != text {
			t.Fatalf("joined %q, want %q", got, text)
		}
		for _, p := range parts {
			if limit >= utf8.UTFMax && len(p) > limit {
				t.Errorf("%d bytes, of %d", len(p), limit)
			}
			if utf8.ValidString(text) && !utf8.ValidString(p) {
				t.Errorf("cut a rune: %q", p)
			}
			if p == "" && text != "" {
				t.Errorf("an empty part of %q", text)
			}
		}
	})
}

type turnful struct{ Provider }

func (turnful) PreserveTurnBoundaries() bool { return true }

func TestItems(t *testing.T) {
	m := &vault.Memory{ID: "01JDZ3M8Q4X0W3K2V7N5T9R6BC", Version: "v1", Path: "memories/a.md", Title: "Tide\x00", Body: "# Tide\r\n\xffrises\n"}
	got := items(nil, Properties{}, "V", m)
	if len(got) != 1 || got[0].Text != "# Tide\r\n�rises" || got[0].Key() != "01JDZ3M8Q4X0W3K2V7N5T9R6BC@v1" || got[0].Parts != 1 {
		t.Errorf("got %+v", got)
	}
	m.ID, m.Body = "", "falls and rises"
	got = items(nil, Properties{MaxItemBytes: 12}, "V", m)
	if len(got) != 2 || got[0].Text != "Tide\n\nfalls " || got[1].Key() != "V:memories/a.md@v1#1" {
		t.Errorf("got %+v", got)
	}
	if got := items(nil, Properties{}, "V", &vault.Memory{Body: " \n"}); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
	m.Body = "# s\n\n## 1\n\n## 2\n"
	for path, want := range map[string]int{"sessions/2026/11/30-codex-0f3a.md": 3, "memories/a.md": 1} {
		if m.Path = path; len(items(turnful{}, Properties{}, "V", m)) != want {
			t.Errorf("%s is not %d parts", path, want)
		}
	}
}
