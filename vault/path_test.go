package vault

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheckPath(t *testing.T) {
	for _, p := range []string{
		"memories/2026/11/a.md", "a", "notes/.hidden/x.md", "数据库/备份.md", "a b/c d.md", "100%.md", "100%25.md", "a%2fb.md", "git.md", ".gitignore",
		".github/x.md", "a..b/c", "…/x", "ab:c.md", "git~2",
	} {
		if err := CheckPath(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, p := range []string{
		"", "/", "/etc/passwd", "../x", "a/../../x", "a/..", "..", ".", "./a", "a//b", "a/", "a/./b", `a\b`, `..\x`, `C:\x`, "C:/x", "c:x", "a:b.md",
		"..%2f..%2fetc/passwd", "%2e%2e/x", "%2fetc", "a%00b", "..%5cx", "%2egit/config",
		".git", ".git/config", "a/.git/config", ".GIT/config", ".git./x", ".git /x", "git~1/x", "GIT~1/config", ".git::$INDEX_ALLOCATION/x", ".gi\u200ct/x", "\u200d.git/x",
		"a\x00b", "a\nb", "a\x7fb", "\xff", "a\u0085b", strings.Repeat("a/", 2049) + "a",
	} {
		if err := CheckPath(p); !errors.Is(err, ErrName) {
			t.Errorf("%.40q: %v, want ErrName", p, err)
		}
	}
}

func TestCheckFileName(t *testing.T) {
	for _, name := range []string{"session-state.md", "a", "상태.txt", "a b.txt", "x.tar.gz", "A-B_c.1", strings.Repeat("a", 120), "com10", "console"} {
		if err := CheckFileName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", "a/b", ".hidden", ".", "..", "con", "CON.txt", "nul.tar.gz", "lpt1", "com¹.md", "a.", "a ", " a", "a:b", "a?", "a*", `a"b`, "a<b", "a|b", "e\u0301",
		strings.Repeat("a", 121), "a\x00", "\xff", "..%2fx", `a\b`, "git~1", "a\u202eb",
	} {
		if err := CheckFileName(name); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v, want ErrName", name, err)
		}
	}
}

func TestPortablePath(t *testing.T) {
	long := strings.Repeat("é", 100)
	for p, want := range map[string]string{
		"Meeting 10:30?.md":  "Meeting 10-30-.md",
		`Work\2026\Plan.md`:  "Work/2026/Plan.md",
		"/abs/./../x.md":     "abs/x.md",
		".obsidian/a.md":     "obsidian/a.md",
		"con.md":             "con-note.md",
		"aux/NUL.tar.gz":     "aux-note/NUL-note.tar.gz",
		"trailing. /dot..md": "trailing/dot..md",
		"e\u0301.md":         "é.md",
		long + ".md":         strings.Repeat("é", 58) + ".md",
		"":                   "note",
		"../..":              "note",
		"???":                "---",
		".git/config":        "git/config",
		"GIT~1/x":            "git-note/x",
		"a\u00a0b.md":        "a b.md",
		"数据库/备份.MD":          "数据库/备份.MD",
		"x" + strings.Repeat("y", 200) + ".verylongextension": "x" + strings.Repeat("y", 119),
	} {
		if got := PortablePath(p); got != want {
			t.Errorf("PortablePath(%q) = %q, want %q", p, got, want)
		}
	}
}

func FuzzPortablePath(f *testing.F) {
	for _, p := range []string{"a/b.md", ".git/x", "con.md", `a\b`, "e\u0301", "..", "a:b", "a . / .b", "git~1"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		got := PortablePath(p)
		if err := CheckPath(got); err != nil {
			t.Fatalf("PortablePath(%q): %v", p, err)
		}
		for c := range strings.SplitSeq(got, "/") {
			if err := CheckFileName(c); err != nil {
				t.Fatalf("PortablePath(%q) = %q: %v", p, got, err)
			}
		}
		if again := PortablePath(got); again != got {
			t.Fatalf("PortablePath(%q) = %q, and of that %q", p, got, again)
		}
		if FoldKey(got) != FoldKey(strings.ToUpper(got)) && utf8.ValidString(p) && isASCII(got) {
			t.Fatalf("FoldKey tells %q from its upper case", got)
		}
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

func TestFoldKey(t *testing.T) {
	same := [][]string{
		{"Notes/A.md", "notes/a.md", "NOTES/A.MD"},
		{"é.md", "e\u0301.md", "É.md", "E\u0301.md"},
		{"straße", "STRASSE", "strasse", "STRAẞE"},
		{"σς", "ΣΣ", "σσ"},
		{"k", "K", "\u212a"},
		{"ａ", "Ａ"},
	}
	for i, group := range same {
		for _, p := range group {
			if FoldKey(p) != FoldKey(group[0]) {
				t.Errorf("%q and %q differ: %q, %q", p, group[0], FoldKey(p), FoldKey(group[0]))
			}
			if j := (i + 1) % len(same); FoldKey(p) == FoldKey(same[j][0]) {
				t.Errorf("%q and %q are one", p, same[j][0])
			}
		}
	}
}

func TestPathKinds(t *testing.T) {
	tests := []struct {
		p                                     string
		memory, capture, conflict, text, tomb bool
	}{
		{p: "memories/2026/11/a.md", memory: true},
		{p: "README.md", memory: true},
		{p: "a/b/c.MarkDown", memory: true},
		{p: "sessions/2026/11/30-codex-0f3a.md", memory: true, capture: true},
		{p: "conflicts/a.1234.md", memory: true, conflict: true},
		{p: "files/session-state.md", text: true},
		{p: "Files/x.md", text: true},
		{p: "files/a/b.md"},
		{p: "files"},
		{p: "forgotten/01JDZ3M8Q4X0W3K2V7N5T9R6BC.yaml", tomb: true},
		{p: "forgotten/a/b.yaml"},
		{p: ".vade/vault.yaml"},
		{p: ".obsidian/x.md"},
		{p: "a/.trash/x.md"},
		{p: ".x.md"},
		{p: "a/node_modules/b/README.md"},
		{p: ".git/x.md"},
		{p: "git~1/x.md"},
		{p: "a.txt"},
		{p: "md"},
		{p: "a.md.bak"},
	}
	for _, tt := range tests {
		if IsMemoryPath(tt.p) != tt.memory || IsCapture(tt.p) != tt.capture || IsConflict(tt.p) != tt.conflict ||
			IsText(tt.p) != tt.text || IsTombstone(tt.p) != tt.tomb {
			t.Errorf("%s: memory %v, capture %v, conflict %v, text %v, tombstone %v",
				tt.p, IsMemoryPath(tt.p), IsCapture(tt.p), IsConflict(tt.p), IsText(tt.p), IsTombstone(tt.p))
		}
	}
}
