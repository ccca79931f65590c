// Package links finds what a memory refers to. It is apart from vault because
// goldmark, which it parses with, costs every program that links it a third of
// the start-up time that vade may take (docs/decisions/0003).
package links

import (
	"net/url"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Link is a reference from one memory to something else.
type Link struct {
	Target   string // title, id or path of a wiki link; destination of a markdown link
	Fragment string // heading after "#", without it
	Text     string // what is shown
	Line     int    // 1-based line of body
	Wiki     bool   // [[target]]; else [text](target)
}

// Of returns the links of a markdown body in order: [[target]],
// [[target|text]], [[target#heading]], [text](destination) and <URL>. Code is
// not searched, images are no links.
func Of(body string) []Link {
	if !strings.Contains(body, "[[") && !strings.Contains(body, "](") &&
		!strings.Contains(body, "]:") && !strings.Contains(body, "://") {
		return nil
	}
	src := []byte(body)
	var links []Link
	lines := lineCounter{src: body}
	root := linkParser().Parse(text.NewReader(src))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		link, ok := linkOf(n, src)
		if ok {
			link.Line = lines.at(offsetOf(n))
			links = append(links, link)
		}
		return ast.WalkContinue, nil
	})
	return links
}

// linkParser is made at the first call: goldmark's tables cost start-up time.
var linkParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(append(parser.DefaultInlineParsers(), util.Prioritized(wikiParser{}, 150))...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
})

// unescape decodes percent escapes; what cannot be decoded stays as it is.
func unescape(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// linkOf returns what n links to.
func linkOf(n ast.Node, src []byte) (Link, bool) {
	switch n := n.(type) {
	case *wikiLink:
		return n.link, true
	case *ast.Link:
		target, fragment, _ := strings.Cut(string(n.Destination), "#")
		return Link{Target: unescape(target), Fragment: unescape(fragment), Text: shown(n, src)}, true
	case *ast.AutoLink:
		if n.AutoLinkType != ast.AutoLinkURL {
			return Link{}, false
		}
		url := string(n.URL(src))
		target, fragment, _ := strings.Cut(url, "#")
		return Link{Target: target, Fragment: fragment, Text: url}, true
	}
	return Link{}, false
}

// shown returns the text inside n.
func shown(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := c.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(src))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// offsetOf returns where n starts in the source: at its first text, else where
// its block does.
func offsetOf(n ast.Node) int {
	if w, ok := n.(*wikiLink); ok {
		return w.offset
	}
	for c := n.FirstChild(); c != nil; c = c.FirstChild() {
		if t, ok := c.(*ast.Text); ok {
			return t.Segment.Start
		}
	}
	for s := n.PreviousSibling(); s != nil; s = s.PreviousSibling() {
		if t, ok := s.(*ast.Text); ok {
			return t.Segment.Stop
		}
	}
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Type() == ast.TypeBlock && p.Lines().Len() > 0 {
			return p.Lines().At(0).Start
		}
	}
	return 0
}

// lineCounter turns rising offsets into 1-based lines.
type lineCounter struct {
	src    string
	offset int
	line   int
}

func (c *lineCounter) at(offset int) int {
	if offset < c.offset {
		c.offset, c.line = 0, 0
	}
	c.line += strings.Count(c.src[c.offset:offset], "\n")
	c.offset = offset
	return c.line + 1
}

// wikiLink is [[target#heading|text]].
type wikiLink struct {
	ast.BaseInline
	link   Link
	offset int
}

var kindWikiLink = ast.NewNodeKind("WikiLink")

// Kind implements ast.Node.
func (n *wikiLink) Kind() ast.NodeKind { return kindWikiLink }

// Dump implements ast.Node.
func (n *wikiLink) Dump(src []byte, level int) {
	ast.DumpHelper(n, src, level, map[string]string{"Target": n.link.Target}, nil)
}

// wikiParser reads wiki links, and ![[embedded]] ones, before goldmark looks
// for its own.
type wikiParser struct{}

func (wikiParser) Trigger() []byte { return []byte{'[', '!'} }

func (wikiParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	embed := 0
	if line[0] == '!' {
		embed = 1
	}
	inside, ok := strings.CutPrefix(string(line[embed:]), "[[")
	if !ok {
		return nil
	}
	inside, _, ok = strings.Cut(inside, "]]")
	if !ok || strings.ContainsAny(inside, "[]\n\r") {
		return nil
	}
	link := parseWiki(inside)
	if link.Target == "" && link.Fragment == "" {
		return nil
	}
	block.Advance(embed + len("[[") + len(inside) + len("]]"))
	return &wikiLink{link: link, offset: segment.Start}
}

// parseWiki takes apart what stands between the double brackets.
func parseWiki(inside string) Link {
	target, shown, aliased := strings.Cut(strings.ReplaceAll(inside, `\|`, "|"), "|")
	link := Link{Wiki: true}
	link.Target, link.Fragment, _ = strings.Cut(target, "#")
	link.Target, link.Fragment = strings.TrimSpace(link.Target), strings.TrimSpace(link.Fragment)
	if link.Text = strings.TrimSpace(shown); !aliased || link.Text == "" {
		link.Text = strings.TrimSpace(target)
	}
	return link
}
