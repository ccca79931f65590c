package analysis

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func terms(text string) string {
	var list []string
	New().Each([]byte(text), func(t Token) { list = append(list, string(t.Term)) })
	return strings.Join(list, " ")
}

func TestTerms(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// English.
		{"Production deploys run through GitHub Actions; never from a laptop", "prod deploy run through git hub github action never laptop"},
		{"how do we deploy production?", "deploy prod"},
		{"What's the user's name? Don't ask.", "user name ask"},
		{"configuration config Configs", "config config config"},
		{"naïve Café Ångström Straße", "naiv cafe angstrom strass"},
		{"cafe\u0301", "cafe"},
		{"", ""},
		{"?!… — (*) ~ ^ \\ '", ""},
		// Identifiers, paths, versions.
		{"parseHTTPHeader2", "pars http header 2 parsehttpheader2"},
		{"foo_bar fooBar foo-bar FooBAR", "foo bar foobar foo bar foobar foo bar foobar foo bar foobar"},
		{"APIs and IDs of URLs", "api id url"},
		{"__init__ _x_", "init x"},
		{"a/b.go:42", "b go 42 abgo42"},
		{"v1.0.21 1.0.21 1021", "v 1 v1 0 21 1.0.21 1 0 21 1.0.21 1021"},
		{"std::vec::Vec", "std vec vec stdvecvec"},
		{`C:\Users\x`, "c user x usersx"},
		{"me@example.com", "exampl com meexamplecom"},
		{"TODO: fix", "todo fix"},
		{"01JDZ3M8Q4X0W3K2V7N5T9R6BC", "01jdz3m8q4x0w3k2v7n5t9r6bc"},
		{"C++ C# F# g++ .NET .env x.env", "c c++ c c# f f# g g++ .net net .env env x env xenv"},
		{"C++17", "c c++ 17"},
		{"~/.config ...foo", ".config config foo"},
		{"title: \"unbalanced +x -y --help", "titl unbalanc x y help"},
		// Width and case.
		{"ＡＰＩ　ＡＢＣ１２", "api abc 12 abc12"},
		{"ﾃﾞｰﾀ", "デー ータ"},
		// Korean.
		{"우리는 배포를 GitHub Actions로만 한다", "우리 배포 git hub github action 한다"},
		{"배포는 어떻게 하지?", "배포 어떻 떻게 하지"},
		{"데이터베이스에서 집에서 물을 물", "데이 이터 터베 베이 이스 집 물 물"},
		{"\u1103\u1166\u110b\u1175\u1110\u1165", "데이 이터"},
		// Japanese and Chinese.
		{"データ", "デー ータ"},
		{"東京都の天気", "东 东京 ^东京 京 京都 都 都の の天 天 天気 ^天気 気"},
		{"京都", "京 京都 ^京都 都"},
		{"盘", "盘"},
		{"磁盘C盘空间", "磁 磁盘 ^磁盘 盘 c 盘 盘空 ^盘空 空 空间 间 c盘"},
		{"𠮟責した", "𠮟 𠮟责 ^𠮟责 责 责し した"},
		{"重跑gen-itgc后", "重 重跑 ^重跑 跑 gen itgc genitgc 后"},
		{"の ノ", "ノ"},
		// Others.
		{"Привет, Мир", "привет мир"},
		{"हिन्दी भाषा", "हिन्दी भाषा"},
		{"ภาษาไทย", "ภา าษ ษา าไ ไท ทย"},
		{"שלום عليكم", "שלום عليكم"},
		{"🔥 ❤️ hot", "🔥 ❤ hot"},
		{"bad\xff\xfebytes", "bad byte"},
	} {
		if got := terms(c.text); got != c.want {
			t.Errorf("terms(%q)\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// Questions must share a term with the memory that answers them.
func TestQuestionsMeetAnswers(t *testing.T) {
	for _, c := range []struct{ question, answer string }{
		{"how do we deploy production?", "Production deploys run through GitHub Actions; never from a laptop"},
		{"배포는 어떻게 하지?", "우리는 배포를 GitHub Actions로만 한다"},
		{"デプロイの方法は？", "デプロイは必ず GitHub Actions から行う"},
		{"怎么部署？", "我们只通过 GitHub Actions 部署"},
		{"盘", "磁盘C盘空间不足，API配置见wiki"},
		{"C盘", "磁盘C盘空间不足，API配置见wiki"},
		{"配置", "磁盘C盘空间不足，API配置见wiki"},
		{"API配置", "磁盘C盘空间不足，API配置见wiki"},
		{"docker 配置", "磁盘C盘空间不足，API配置见wiki"},
		{"京都", "東京都の天気"},
		{"データ", "データベース接続"},
		{"ﾃﾞｰﾀ", "データベース接続"},
		{"데이터", "데이터베이스 연결 오류"},
		{"gen-itgc", "重跑gen-itgc后失败"},
		{"𠮟", "𠮟責した"},
		{"ＡＰＩ", "磁盘C盘空间不足，API配置见wiki"},
		{"Cafe", "le café"},
	} {
		have := map[string]bool{}
		for _, term := range New().Query(c.answer) {
			have[term.Text] = true
		}
		found := 0
		for _, term := range New().Query(c.question) {
			if have[term.Text] {
				found++
			}
		}
		if found == 0 {
			t.Errorf("question %q shares no term with %q", c.question, c.answer)
		}
	}
}

func TestOffsetsPointAtTheSource(t *testing.T) {
	for _, c := range []struct{ text, term, want string }{
		{"see ﾃﾞｰﾀ now", "デー", "ﾃﾞｰ"},
		{"see ﾃﾞｰﾀ now", "now", "now"},
		{"ＡＰＩ key", "api", "ＡＰＩ"},
		{"a cafe\u0301 b", "cafe", "cafe\u0301"},
		{"parseHTTPHeader", "http", "HTTP"},
		{"parseHTTPHeader", "header", "Header"},
		{"배포는", "배포", "배포"},
		{"use .env", ".env", ".env"},
	} {
		var got []string
		New().Each([]byte(c.text), func(tok Token) {
			if string(tok.Term) == c.term {
				got = append(got, c.text[tok.Start:tok.End])
			}
		})
		if diff := cmp.Diff([]string{c.want}, got); diff != "" {
			t.Errorf("place of %q in %q (-want +got):\n%s", c.term, c.text, diff)
		}
	}
}

func TestLongTokensAreCut(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("x", 1000), strings.Repeat("é", 1000), strings.Repeat("Я", 1000), strings.Repeat("aB3", 1000),
	} {
		New().Each([]byte(text), func(tok Token) {
			if n := utf8.RuneCount(tok.Term); n > MaxRunes {
				t.Errorf("term of %.8s… has %d runes, want at most %d", text, n, MaxRunes)
			}
		})
	}
}

func FuzzEach(f *testing.F) {
	for _, s := range []string{
		"", "how do we deploy?", "ﾃﾞｰﾀ C盘 v1.0.21 a/b.go:42", "배포는 Actions로만", "cafe\u0301\u0301\u0301", "\xff\xc3(", "ﬁ…№ＡＢ",
		"naïve\u2019s don't", "C++ C# .env ..x", "A\u0300B\u0300__aB3", "ภาษา\u0e31\u0e31", "\u1103\u1166", "İSTANBUL", "\u0300x", "𠮟🔥\ufe0f",
	} {
		f.Add([]byte(s))
	}
	reused := New()
	f.Fuzz(func(t *testing.T, text []byte) {
		var first, second []string
		New().Each(text, func(tok Token) {
			first = append(first, string(tok.Term))
			checkToken(t, text, tok)
		})
		reused.Each(text, func(tok Token) { second = append(second, string(tok.Term)) })
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("a used analyzer gives other terms (-new +used):\n%s", diff)
		}
	})
}

func checkToken(t *testing.T, text []byte, tok Token) {
	t.Helper()
	if tok.Start < 0 || tok.End > len(text) || tok.Start >= tok.End {
		t.Fatalf("term %q: range [%d, %d) of %d bytes", tok.Term, tok.Start, tok.End, len(text))
	}
	for _, at := range []int{tok.Start, tok.End} {
		if at < len(text) && !utf8.RuneStart(text[at]) && utf8.Valid(text) {
			t.Errorf("term %q: offset %d is inside a rune of %q", tok.Term, at, text)
		}
	}
	if !utf8.Valid(tok.Term) {
		t.Errorf("term %q is not UTF-8", tok.Term)
	}
	if n := utf8.RuneCount(tok.Term); n == 0 || n > MaxRunes+4 {
		t.Errorf("term %q has %d runes", tok.Term, n)
	}
}

func BenchmarkEach(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"english", "Production deploys run through GitHub Actions; never from a laptop. The release manager approves. "},
		{"korean", "우리는 배포를 GitHub Actions로만 한다. 데이터베이스 연결 오류가 나면 설정을 확인한다. "},
		{"japanese", "デプロイは必ず GitHub Actions から行う。データベース接続の設定を確認してください。"},
		{"code", "func (s *Store) CompareAndSet(name string, old, new plumbing.Hash) error // vault/repo/store.go:42 "},
		{"fullwidth", "ＡＰＩ　ﾃﾞｰﾀ…「設定」を確認。"},
	} {
		text := []byte(strings.Repeat(c.text, 20))
		a := New()
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				a.Each(text, func(Token) {})
			}
		})
	}
}

// Each pair is two characters of the same size in the range of the table, and
// no simplified one is itself changed: folding twice is folding once.
func TestVariantsAreSound(t *testing.T) {
	pairs := []rune(variantPairs)
	if len(pairs)%2 != 0 {
		t.Fatal("a character stands alone")
	}
	table := simplified()
	for i := 0; i < len(pairs); i += 2 {
		from, to := pairs[i], pairs[i+1]
		if from < firstVariant || from > lastVariant || to < firstVariant || to > lastVariant {
			t.Errorf("%c %c is outside the table", from, to)
			continue
		}
		if table[from-firstVariant] != uint16(to) && from != to {
			t.Errorf("%c stands for two characters", from)
		}
		if table[to-firstVariant] != 0 {
			t.Errorf("%c becomes %c, which becomes another", from, to)
		}
	}
}

func TestFormsOfOneWordAreOneTerm(t *testing.T) {
	for _, same := range []string{
		"go goes going went gone", "child children", "write writes wrote written", "three 3", "bought buying buys",
		"matrix matrices", "better best good",
	} {
		want := ""
		for w := range strings.FieldsSeq(same) {
			terms := New().Query(w)
			if len(terms) != 1 || want != "" && terms[0].Text != want {
				t.Errorf("%s gives %v, want the one term %q", w, terms, want)
				continue
			}
			want = terms[0].Text
		}
	}
}

func TestNamesOfLanguagesWeighLess(t *testing.T) {
	for _, term := range New().Query("sort a list in Python") {
		want := 1.0
		if term.Text == "py" {
			want = LanguageWeight
		}
		if term.Weight != want {
			t.Errorf("%s weighs %v, want %v", term.Text, term.Weight, want)
		}
	}
}
