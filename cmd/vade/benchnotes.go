package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// writeNotes makes n notes of about size bytes, 500 a folder, always the same.
func writeNotes(dir string, n, size int) error {
	for i := range n {
		folder := filepath.Join(dir, fmt.Sprintf("%02d", i/500))
		if i%500 == 0 {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return err
			}
		}
		name := filepath.Join(folder, fmt.Sprintf("note-%06d.md", i))
		if err := os.WriteFile(name, []byte(note(i, size)), 0o600); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o700)
}

// note is a memory of about size bytes; the same for the same i on every host.
// Seven of ten are English, the others Korean, Japanese and Chinese. Each has
// one word that no other has.
func note(i, size int) string {
	g := newGenerator(i)
	title := strings.TrimRight(g.sentence(3+g.rand.IntN(5)), ".。\n")
	head := fmt.Sprintf("---\ntitle: %q\ntags: [%s, t%d]\ncreated: 2026-01-02T03:04:05Z\nupdated: 2026-01-02T03:04:05Z\n---\n",
		title, g.subjects[g.pick(len(g.subjects))], i%50)
	g.text.WriteString("Ticket " + uniqueWord(i) + ". ")
	return head + g.markdown(size-len(head))
}

// prose is about size bytes of English without front matter; the same for the same i.
func prose(i, size int) string {
	g := newGenerator(i)
	g.lang = english
	return g.markdown(size)
}

// uniqueWord is a word that only note i has, and that no analyzer takes apart.
func uniqueWord(i int) string {
	var b strings.Builder
	b.WriteString("zq")
	list := words().syllables
	for n := i + 1; n > 0; n /= len(list) {
		b.WriteString(list[n%len(list)])
	}
	return b.String()
}

type language int

const (
	english language = iota
	korean
	japanese
	chinese
)

// generator writes the text of one note.
type generator struct {
	rand *rand.Rand
	tail *rand.Zipf // ranks in a vocabulary of 40,000 words
	lang language
	text strings.Builder
	*vocabulary
}

func newGenerator(i int) *generator {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	g := &generator{rand: r, tail: rand.NewZipf(r, 1.1, 4, 40000), vocabulary: words()}
	if l := r.IntN(10); l > 6 {
		g.lang = language(l - 6)
	}
	return g
}

// pick returns a number below n, low ones far more often.
func (g *generator) pick(n int) int { return int(g.tail.Uint64()) % n }

// markdown appends paragraphs, lists, headings and code until there are size
// bytes, and returns them all.
func (g *generator) markdown(size int) string {
	for g.text.Len() < size {
		switch g.rand.IntN(8) {
		case 0:
			g.text.WriteString("\n## " + strings.TrimRight(g.sentence(2+g.rand.IntN(3)), ".。\n") + "\n\n")
		case 1:
			for range 2 + g.rand.IntN(3) {
				g.text.WriteString("- " + g.sentence(3+g.rand.IntN(6)))
			}
		case 2:
			fmt.Fprintf(&g.text, "\n```go\n%s.%s(%s, %d) // %s:%d\n```\n", g.identifier(), g.identifier(), g.identifier(), g.rand.IntN(4000), g.file(), 1+g.rand.IntN(900))
		default:
			for range 1 + g.rand.IntN(4) {
				g.text.WriteString(g.sentence(5 + g.rand.IntN(11)))
			}
			g.text.WriteByte('\n')
		}
	}
	g.text.WriteByte('\n')
	return g.text.String()
}

// sentence is one of n words, with its full stop and a newline.
func (g *generator) sentence(n int) string {
	var b strings.Builder
	for k := range n {
		switch {
		case g.lang != english && g.rand.IntN(12) == 0, g.lang == english:
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(g.englishWord(k == 0))
			if g.lang == korean {
				b.WriteByte(' ')
			}
		case g.lang == korean:
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(g.compound(g.hangul) + g.josa[g.rand.IntN(len(g.josa))])
		case g.lang == japanese:
			b.WriteString(g.japaneseWord() + g.particles[g.rand.IntN(len(g.particles))])
		default:
			b.WriteString(g.compound(g.han))
			if g.rand.IntN(3) == 0 {
				b.WriteString(g.chineseLinks[g.rand.IntN(len(g.chineseLinks))])
			}
		}
	}
	switch g.lang {
	case korean:
		return b.String() + " " + g.koreanEnds[g.rand.IntN(len(g.koreanEnds))] + ".\n"
	case japanese:
		return b.String() + g.japaneseEnds[g.rand.IntN(len(g.japaneseEnds))] + "。\n"
	case chinese:
		return b.String() + "。\n"
	}
	return b.String() + ".\n"
}

// englishWord is a function word, a word of the trade, an identifier, or one
// of a long tail of made-up words.
func (g *generator) englishWord(first bool) string {
	var w string
	switch g.rand.IntN(20) {
	case 0:
		return g.identifier()
	case 1, 2, 3, 4, 5, 6, 7, 8:
		w = g.functionWords[g.pick(len(g.functionWords))]
	case 9, 10, 11, 12:
		w = g.subjects[g.pick(len(g.subjects))]
	default:
		w = madeUp(int(g.tail.Uint64()))
	}
	if first {
		return strings.ToUpper(w[:1]) + w[1:]
	}
	return w
}

// madeUp is the word of a rank: the more frequent, the shorter.
func madeUp(rank int) string {
	var b strings.Builder
	list := words().syllables
	for n := rank + len(list); n > 0; n /= len(list) {
		b.WriteString(list[n%len(list)])
	}
	return b.String()
}

func (g *generator) identifier() string {
	a, b := g.subjects[g.pick(len(g.subjects))], madeUp(int(g.tail.Uint64()))
	switch g.rand.IntN(3) {
	case 0:
		return a + "_" + b
	case 1:
		return a + strings.ToUpper(b[:1]) + b[1:]
	}
	return strings.ToUpper(a[:1]) + a[1:] + strings.ToUpper(b[:1]) + b[1:]
}

func (g *generator) file() string {
	return g.subjects[g.pick(len(g.subjects))] + "/" + madeUp(int(g.tail.Uint64())) + ".go"
}

// compound is a word of two or three of the characters of alphabet.
func (g *generator) compound(alphabet []rune) string {
	rank := int(g.tail.Uint64())
	w := []rune{alphabet[rank%len(alphabet)], alphabet[(rank*7+rank/len(alphabet))%len(alphabet)]}
	if rank%3 == 0 {
		w = append(w, alphabet[(rank*13+5)%len(alphabet)])
	}
	return string(w)
}

func (g *generator) japaneseWord() string {
	if g.rand.IntN(3) == 0 {
		return g.compound(g.katakana) + "ー" + g.compound(g.katakana)
	}
	return g.compound(g.han)
}

// vocabulary is what generated notes are made of.
type vocabulary struct {
	syllables, functionWords, subjects                      []string
	josa, koreanEnds, particles, japaneseEnds, chineseLinks []string
	han, katakana, hangul                                   []rune
}

var words = sync.OnceValue(func() *vocabulary {
	return &vocabulary{
		syllables: strings.Fields("ka ro mi te sun del por vin tra ges lo pa ne cu di sta be fo ri mo"),
		functionWords: strings.Fields(`the of and to in is that it for on with as was be this are not by from we you at or
			have an they which when will can if has but all there what their more so would about up out them some into then
			only other time new could these two may first any now such like our over even most me after also made well must
			before how`),
		subjects: strings.Fields(`deploy server config test build error branch cache token retry index merge release user
			production database query request timeout log backup restore secret commit review queue worker schema migration
			staging budget limit rollback monitor alert latency cluster container image registry pipeline hook agent session
			memory vault search ranking provider webhook certificate proxy gateway tenant billing invoice export import
			parser encoder decoder buffer socket thread mutex lock lease heartbeat snapshot replica shard partition topic`),
		josa:         strings.Fields("은 는 이 가 을 를 에 에서 으로 의 와 과 도 만 까지 부터"),
		koreanEnds:   strings.Fields("한다 합니다 했다 된다 됩니다 있다 없다 아니다 해야한다"),
		particles:    strings.Fields("は が を に で と の も へ から まで"),
		japaneseEnds: strings.Fields("する します した できる ある ない です でした"),
		chineseLinks: strings.Fields("的 和 在 是 了 把 被 对 从 与"),
		han: []rune("的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经" +
			"数据库配置服务器部署备份恢复查询索引缓存日志错误测试环境开发版本分支合并请求响应超时重试限制密钥令牌权限用户会话内存磁盘空间网络连接队列任务" +
			"設計変更確認実行環境認証接続削除追加更新管理画面機能仕様問題解決方法手順"),
		katakana: []rune("アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワンガギグゲゴザジズゼゾダデドバビブベボパピプペポ"),
		hangul:   []rune("가나다라마바사아자차카타파하거너더러머버서어저처커터퍼허고노도로모보소오조초코토포호구누두루무부수우주추배포설정서버데이터검색기억토큰연결오류시험환경저장복구권한사용자세션"),
	}
})
