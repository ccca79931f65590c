package index

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault"
)

// notes is a Source in memory: content by path.
type notes struct {
	paths      []string
	content    map[string]string
	blobs      []plumbing.Hash
	unreadable map[string]bool
	metas      int // calls of Meta
	reads      int
}

func newNotes(content map[string]string) *notes {
	n := &notes{content: content, unreadable: map[string]bool{}}
	n.paths = slices.Sorted(maps.Keys(content))
	for _, p := range n.paths {
		n.blobs = append(n.blobs, blobID([]byte(content[p])))
	}
	return n
}

// with returns n with some notes replaced, added, or, with content "-", removed.
func (n *notes) with(changes ...string) *notes {
	content := maps.Clone(n.content)
	for i := 0; i < len(changes); i += 2 {
		if changes[i+1] == "-" {
			delete(content, changes[i])
		} else {
			content[changes[i]] = changes[i+1]
		}
	}
	return newNotes(content)
}

func (n *notes) Len() int                          { return len(n.paths) }
func (n *notes) Key(i int) (string, plumbing.Hash) { return n.paths[i], n.blobs[i] }

func (n *notes) Meta(i int) (*vault.Memory, error) {
	n.metas++
	m := vault.ParseDocument([]byte(n.content[n.paths[i]])).Memory()
	m.Path = n.paths[i]
	return &m, nil
}

func (n *notes) Read(i int) ([]byte, error) {
	n.reads++
	if n.unreadable[n.paths[i]] {
		return nil, errors.New("permission denied")
	}
	return []byte(n.content[n.paths[i]]), nil
}

// texts makes a source of bare texts, at a.md, b.md, and so on.
func texts(list ...string) *notes {
	content := map[string]string{}
	for i, text := range list {
		content[fmt.Sprintf("%c.md", 'a'+i)] = text
	}
	return newNotes(content)
}

// header renders a memory with the given front matter lines.
func header(body string, lines ...string) string {
	return "---\n" + strings.Join(lines, "\n") + "\n---\n" + body
}

func open(t testing.TB) *Index {
	t.Helper()
	return openIn(t, t.TempDir())
}

func openIn(t testing.TB, dir string) *Index {
	t.Helper()
	x, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func update(t testing.TB, x *Index, src Source) UpdateStats {
	t.Helper()
	st, err := x.Update(t.Context(), src, nil)
	if err != nil {
		t.Fatalf("Update: %v", err)
	}
	return st
}

func ask(t testing.TB, x *Index, src Source, q vault.Query) Result {
	t.Helper()
	r, err := x.Search(t.Context(), src, q)
	if err != nil {
		t.Fatalf("Search(%.80q): %v", q.Text, err)
	}
	for _, w := range r.Warnings {
		t.Errorf("Search(%.80q) warns: %s", q.Text, w)
	}
	if (len(r.Hits) == 0) != (r.Reason != "") {
		t.Errorf("Search(%.80q): %d hits and reason %q", q.Text, len(r.Hits), r.Reason)
	}
	return r
}

// paths asks and returns the paths of the hits.
func paths(t testing.TB, x *Index, src Source, text string) []string {
	t.Helper()
	return hitPaths(ask(t, x, src, vault.Query{Text: text}))
}

func hitPaths(r Result) []string {
	var list []string
	for _, h := range r.Hits {
		list = append(list, h.Path)
	}
	return list
}

// words is a vocabulary with a long tail, in several scripts.
var words = strings.Fields(`deploy production server database config token retry budget cache index vault merge branch
	remember recall session agent hook provider secret rotate backup restore laptop actions release schedule parse
	fooBar snake_case_name v1.0.21 a/b.go:42 C++ .env HTTPServer gen-itgc 배포는 데이터베이스 설정을 확인한다 연결
	デプロイ データベース 設定 京都 東京都 方法 部署 配置 磁盘空间 天气 the of and how`)

// randomVault makes n notes of random words, some long, some with front matter.
func randomVault(r *rand.Rand, n int) map[string]string {
	content := map[string]string{}
	for i := range n {
		var b strings.Builder
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, "---\ntitle: %s %s\ntags: [%s]\nupdated: 2026-01-%02dT00:00:00Z\n---\n",
				word(r), word(r), word(r), 1+r.IntN(28))
		}
		size := 5 + r.IntN(40)
		if r.IntN(5) == 0 {
			size = 600
		}
		for k := range size {
			b.WriteString(word(r))
			switch {
			case k%97 == 96:
				fmt.Fprintf(&b, "\n\n## %s %s\n\n", word(r), word(r))
			case k%31 == 30:
				b.WriteString(".\n\n")
			default:
				b.WriteByte(' ')
			}
		}
		content[fmt.Sprintf("memories/%03d-%s.md", i, "x")] = b.String()
	}
	return content
}

// word prefers the front of the list, as languages do.
func word(r *rand.Rand) string {
	return words[int(float64(len(words))*r.Float64()*r.Float64())]
}
