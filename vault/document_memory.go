package vault

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// titleRunes bounds a title that was taken from the first line of a body.
const titleRunes = 80

// Memory returns what the document says. Path and Version are left to the
// caller. Of a broken header it holds what single lines still say.
func (d *Document) Memory() Memory {
	m := Memory{Tier: LTM, Body: d.body, Broken: d.Broken()}
	for _, list := range [...][]entry{d.head.merged, d.head.entries, d.loose} {
		for i := range list {
			m.setField(list[i].key, &list[i].val)
		}
	}
	if m.Title == "" {
		m.Title = strings.Clone(bodyTitle(d.body))
	}
	return m
}

// setField takes one key of the front matter.
func (m *Memory) setField(key string, n *node) {
	switch key {
	case "id":
		m.ID, _ = ParseID(n.scalar())
	case "title":
		m.Title = oneLine(n.scalar())
	case "type":
		m.Type = Type(lowerWord(n))
	case "tier":
		if t := Tier(lowerWord(n)); t != "" {
			m.Tier = t
		}
	case "tags":
		m.Tags = unique(n.strings())
	case "aliases":
		m.Aliases = unique(n.strings())
	case "created":
		m.Created, _ = ParseTime(n.scalar())
	case "updated":
		m.Updated, _ = ParseTime(n.scalar())
	case "expires":
		m.Expires, _ = ParseTime(n.scalar())
	case "origin":
		m.Origin = origin(n)
	case "scope":
		m.Scope = scope(n)
	case "workspace":
		m.Workspace = n.scalar()
	case "supersedes":
		m.Supersedes = unique(n.strings())
	case "superseded_by":
		m.SupersededBy = n.scalar()
	case "merged_ids":
		m.MergedIDs = ids(n.strings())
	case "conflict_of":
		m.ConflictOf = n.scalar()
	case "source":
		m.Source = n.scalar()
	case "why":
		m.Why = n.scalar()
	case "trust":
		m.Trust = n.scalar()
	}
}

func lowerWord(n *node) string { return strings.ToLower(strings.TrimSpace(n.scalar())) }

// oneLine joins the lines of a title.
func oneLine(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return strings.TrimSpace(s)
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == ' ' }), " ")
}

// unique drops repeated items, in place.
func unique(items []string) []string {
	out := items[:0]
	for _, s := range items {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func ids(items []string) []ID {
	var out []ID
	for _, s := range items {
		if id, err := ParseID(s); err == nil {
			out = append(out, id)
		}
	}
	return out
}

func origin(n *node) Origin {
	var o Origin
	if n.kind != mapNode {
		return o
	}
	for i := 0; i < len(n.items); i += 2 {
		switch val := n.items[i+1].scalar(); n.items[i].text {
		case "user":
			o.User = val
		case "agent":
			o.Agent = val
		case "host":
			o.Host = val
		case "session":
			o.Session = val
		case "turn":
			o.Turn, _ = strconv.Atoi(val)
		}
	}
	return o
}

func scope(n *node) Scope {
	if n.kind == scalarNode {
		return Scope{Type: n.scalar()}
	}
	var s Scope
	if v := n.field("type"); v != nil {
		s.Type = v.scalar()
	}
	if v := n.field("id"); v != nil {
		s.ID = v.scalar()
	}
	return s
}

// bodyTitle returns the first heading outside code, else the first line with
// a letter or digit, cut at 80 characters.
func bodyTitle(body string) string {
	var scan titleScan
	for line := range strings.Lines(body) {
		if title := scan.line(line); title != "" {
			return cutTitle(title)
		}
	}
	if scan.first == "" {
		return cutTitle(strings.TrimSpace(firstLine(strings.TrimSpace(body))))
	}
	return cutTitle(scan.first)
}

// titleScan looks for a title line by line.
type titleScan struct {
	first string // the first line with a letter or digit
	fence string // of the code block that we are in
	para  string // the line above, when it is a paragraph of one line
	text  bool   // the line above has text
}

// line returns the heading that text completes; "" when it completes none.
func (t *titleScan) line(line string) string {
	text := strings.TrimSpace(line)
	indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
	above, aboveText := t.para, t.text
	t.para, t.text = "", text != ""
	switch {
	case t.fence != "":
		if strings.HasPrefix(text, t.fence) && strings.Trim(text, t.fence[:1]) == "" {
			t.fence = ""
		}
		return ""
	case !indented && (strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")):
		t.fence = text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
		return ""
	case !indented && isATX(text):
		return strings.TrimSpace(strings.Trim(text, "#"))
	case !indented && above != "" && isSetext(text):
		return above
	}
	if t.first == "" && strings.ContainsFunc(text, isWordRune) {
		t.first = text
	}
	if !aboveText && !indented && text != "" && !strings.ContainsAny(text[:1], "-*+>|<=") {
		t.para = text
	}
	return ""
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isATX(text string) bool {
	rest := strings.TrimLeft(text, "#")
	level := len(text) - len(rest)
	return level >= 1 && level <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// isSetext reports whether text underlines the line above it.
func isSetext(text string) bool {
	return len(text) >= 2 && (strings.Trim(text, "=") == "" || strings.Trim(text, "-") == "")
}

func firstLine(s string) string { return s[:lineLen(s)] }

func cutTitle(s string) string {
	s = oneLine(s)
	if utf8.RuneCountInString(s) <= titleRunes {
		return s
	}
	n := 0
	for i := range s {
		if n++; n > titleRunes {
			return strings.TrimSpace(s[:charBoundary(s, i)])
		}
	}
	return s
}
