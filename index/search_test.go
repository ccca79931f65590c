package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vademecum/vault"
)

func TestQuestionsFindTheirAnswers(t *testing.T) {
	src := newNotes(map[string]string{
		"en.md":   "Production deploys run through GitHub Actions; never from a laptop",
		"ko.md":   "우리는 배포를 GitHub Actions로만 한다",
		"ja.md":   "デプロイは必ず GitHub Actions から行う",
		"zh.md":   "我们只通过 GitHub Actions 部署",
		"disk.md": "磁盘C盘空间不足，API配置见wiki",
		"tok.md":  "東京都の天気",
		"kyo.md":  "京都の寺と庭を歩く",
		"jdb.md":  "データベース接続",
		"kdb.md":  "데이터베이스 연결 오류",
		"run.md":  "重跑gen-itgc后失败",
		"sup.md":  "𠮟責した",
		"go.md":   "see a/b.go:42 for the v1.0.21 parser in parseHTTPHeader",
		"cpp.md":  "C++ builds need clang",
		"c.md":    "C builds need gcc",
		"env.md":  "never commit .env files",
		"todo.md": "TODO: fix foo_bar and foo-bar",
		"fire.md": "🔥 hot path",
		"thai.md": "ภาษาไทยไม่มีช่องว่าง",
		"ru.md":   "Развёртывание через GitHub",
		"who.md":  "We saw The Who live; how to get tickets: ???",
	})
	for _, indexed := range []bool{false, true} {
		x := open(t)
		if indexed {
			update(t, x, src)
		}
		for question, want := range map[string]string{
			"how do we deploy production?": "en.md",
			"배포는 어떻게 하지?":                  "ko.md",
			"デプロイの方法は？":                    "ja.md",
			"怎么部署？":                        "zh.md",
			"盘":                            "disk.md",
			"C盘":                           "disk.md",
			"配置":                           "disk.md",
			"API配置":                        "disk.md",
			"docker 配置":                    "disk.md",
			"京都":                           "kyo.md",
			"東京都":                          "tok.md",
			"データ":                          "jdb.md",
			"ﾃﾞｰﾀ":                         "jdb.md",
			"데이터":                          "kdb.md",
			"重跑gen-itgc后":                  "run.md",
			"重跑後失敗":                        "run.md",
			"磁盤空間":                         "disk.md",
			"我們怎麼部署":                       "zh.md",
			"东京都":                          "tok.md",
			"ｖ１．０．２１":                      "go.md",
			"gen-itgc":                     "run.md",
			"𠮟":                            "sup.md",
			"ＡＰＩ":                          "disk.md",
			"v1.0.21":                      "go.md",
			"1.0.21":                       "go.md",
			"a/b.go:42":                    "go.md",
			"http header":                  "go.md",
			"C++":                          "cpp.md",
			".env":                         "env.md",
			"TODO: fix":                    "todo.md",
			"foo_bar":                      "todo.md",
			"fooBar":                       "todo.md",
			"\"unbalanced parser":          "go.md",
			"+clang -x":                    "cpp.md",
			"🔥":                            "fire.md",
			"ภาษา":                         "thai.md",
			"развёртывание":                "ru.md",
			"the who":                      "who.md",
			"how to":                       "who.md",
			"???":                          "who.md",
			"en.md":                        "en.md",
			"kdb":                          "kdb.md",
		} {
			if got := paths(t, x, src, question); len(got) == 0 || got[0] != want {
				t.Errorf("indexed %v: %q finds %v, want %s first", indexed, question, got, want)
			}
		}
	}
}

func TestOddQueriesAreNoErrors(t *testing.T) {
	src := texts("a note about deploys", "another")
	x := open(t)
	update(t, x, src)
	for _, q := range []string{
		"", " ", "~", "*", "^", "(", `\`, "--help", "title:", "+x -y", "AND", "a AND (b OR", "\x00", "\xff\xfe", "deploys\x00",
		"日", "\u200b", "e\u0301", "\U0010ffff",
	} {
		ask(t, x, src, vault.Query{Text: q})
	}
	if got := paths(t, x, src, "deploys\xff"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("got %v", got)
	}
}

// Any question at all gets an answer, and the same one from the index and from memory.
func FuzzSearch(f *testing.F) {
	for _, q := range append(questions, "a AND (b OR \"c", "\xff\x00", "^京都", "k8s 배포 C++ .env", "../../etc/passwd", "the of and") {
		f.Add(q, 300, true)
	}
	content := randomVault(rand.New(rand.NewPCG(15, 16)), 40)
	src := newNotes(content)
	dir := f.TempDir()
	x := openIn(f, dir)
	update(f, x, src)
	f.Fuzz(func(t *testing.T, text string, budget int, strict bool) {
		q := vault.Query{Text: text, Budget: max(budget, 0), Strict: strict, Explain: true, Now: date(1)}
		indexed := ask(t, x, src, q)
		memory := ask(t, open(t), src, q)
		indexed.Stats, memory.Stats = Stats{}, Stats{}
		if diff := cmp.Diff(memory, indexed); diff != "" {
			t.Errorf("%q: answers differ (-memory +indexed):\n%s", text, diff)
		}
	})
}

// A question without a search term must not read a large vault.
func TestStopWordsAloneReadNotManyNotes(t *testing.T) {
	content := map[string]string{"memories/2026/12/band.md": "The Who played here"}
	for i := range maxLiteral + 500 {
		content[fmt.Sprintf("memories/2020/%04d.md", i)] = "nothing"
		content[fmt.Sprintf("sessions/2026/%04d.md", i)] = "nothing"
	}
	src := newNotes(content)
	x := open(t)
	update(t, x, src)
	src.reads = 0
	r, err := x.Search(t.Context(), src, vault.Query{Text: "the who"})
	if err != nil {
		t.Fatal(err)
	}
	if got := hitPaths(r); len(got) != 1 || got[0] != "memories/2026/12/band.md" {
		t.Errorf("hits %v, want the band", got)
	}
	if src.reads > maxLiteral+10 || len(r.Warnings) != 1 {
		t.Errorf("%d notes read, warnings %q; want at most %d and to be told", src.reads, r.Warnings, maxLiteral)
	}
}
