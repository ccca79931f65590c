package vault

import (
	"path"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{
		"Deploys run through GitHub Actions": "deploys-run-through-github-actions",
		"数据库":                                "数据库",
		"数据表":                                "数据表",
		"数据库-备份":                             "数据库-备份",
		"데이터베이스 연결 오류":                       "데이터베이스-연결-오류",
		"データベース（接続）":                         "データベース-接続",
		"Ünïcödé":                            "ünïcödé",
		"e\u0301t\u00e9":                     "été",
		"हिन्दी भाषा":                        "हिन्दी-भाषा",
		"🔥":                                  "note",
		"🔥 hot 🔥":                            "hot",
		"1️⃣ first":                          "1-first",
		"???":                                "note",
		"":                                   "note",
		"   ":                                "note",
		"\u3164\u115f":                       "note",
		"\ufe0f":                             "note",
		"con":                                "con-note",
		"COM1":                               "com1-note",
		"com10":                              "com10",
		"../../x":                            "x",
		"..":                                 "note",
		"/etc/passwd":                        "etc-passwd",
		`C:\x`:                               "c-x",
		"a\x00b\nc":                          "a-b-c",
		"\xff\xfe":                           "note",
		"don't stop":                         "dont-stop",
		"v1.2.3_rc":                          "v1-2-3-rc",
		"--a--":                              "a",
		"ＡＰＩ":                                "ａｐｉ",
		strings.Repeat("가", 100):             strings.Repeat("가", 36),
		strings.Repeat("ab ", 99):            strings.TrimSuffix(strings.Repeat("ab-", 37), "-"),
		strings.Repeat("x", 300):             strings.Repeat("x", 110),
	} {
		if got := Slug(title); got != want {
			t.Errorf("Slug(%q) = %q, want %q", title, got, want)
		}
	}
}

func TestMemoryPath(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 30, 0, 0, time.FixedZone("", -3600))
	m := Memory{ID: "01JDZ3M8Q4X0W3K2V7N5T9R6BC", Title: "Deploys run", Created: at}
	if got := MemoryPath(m); got != "memories/2026/12/deploys-run-t9r6bc.md" {
		t.Errorf("got %s", got)
	}
	m.Created = time.Time{}
	if got := MemoryPath(m); got != "memories/2024/11/deploys-run-t9r6bc.md" {
		t.Errorf("by the id's time: %s", got)
	}
	seen := map[string]bool{}
	for _, title := range []string{"数据库", "数据表", "🔥", "???", "", "con", strings.Repeat("長い", 150), "../../x"} {
		p := MemoryPath(Memory{ID: NewID(at, nil), Title: title, Created: at})
		if err := CheckPath(p); err != nil || seen[FoldKey(p)] || !IsMemoryPath(p) || PortablePath(p) != p {
			t.Errorf("%q is at %q: %v", title, p, err)
		}
		if n := len(path.Base(p)); n > MaxName {
			t.Errorf("%q has %d bytes", p, n)
		}
		seen[FoldKey(p)] = true
	}
	noID := Memory{Title: "x", Body: "y", Created: at}
	if a, b := MemoryPath(noID), MemoryPath(noID); a != b {
		t.Errorf("%s and %s", a, b)
	}
}

func FuzzSlug(f *testing.F) {
	for _, s := range []string{"Deploy rule", "数据库", "🔥", "con", "../../x", "e\u0301", "नि", "\u1112\u1161\u11ab", strings.Repeat("e\u0301", 200), "İ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, title string) {
		s := Slug(title)
		if s == "" || len(s) > slugMax || !utf8.ValidString(s) || !norm.NFC.IsNormalString(s) {
			t.Fatalf("Slug(%q) = %q", title, s)
		}
		if err := CheckFileName(s + "-t9r6bc.md"); err != nil {
			t.Fatalf("Slug(%q) = %q: %v", title, s, err)
		}
		if again := Slug(s); again != s && !strings.HasSuffix(s, "-note") {
			t.Fatalf("Slug(%q) = %q, and of that %q", title, s, again)
		}
	})
}
