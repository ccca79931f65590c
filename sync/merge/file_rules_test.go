package merge

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// head is front matter with an id.
func head(lines string) string { return "---\nid: " + id1 + "\n" + lines + "---\n" }

func TestFiles(t *testing.T) {
	tests := []struct {
		name, base, a, b, want string
		lost                   []string
	}{
		{
			name: "tags here, a paragraph there",
			base: head("tags: [a]\n") + "one\n",
			a:    head("tags: [a, b]\n") + "one\n",
			b:    head("tags: [a]\n") + "one\n\ntwo\n",
			want: head("tags: [a, b]\n") + "one\n\ntwo\n",
		},
		{
			name: "lists are sets",
			base: head("tags: [a, b, c]\n"),
			a:    head("tags: [a, c, x]\nupdated: 2026-01-02\n"),
			b:    head("tags: [y, a, b]\nupdated: 2026-01-01\n"),
			want: head("tags: [a, x, \"y\"]\nupdated: 2026-01-02\n"),
		},
		{
			name: "a list in two styles",
			base: head("tags: a, b\n"),
			a:    head("tags:\n  - a\n  - b\n  # more\n  - c\nupdated: 2026-01-02\n"),
			b:    head("tags: [a, b, d]\nupdated: 2026-01-01\n"),
			want: head("tags:\n  - a\n  - b\n  # more\n  - c\n  - d\nupdated: 2026-01-02\n"),
		},
		{
			name: "both add a list",
			base: head(""),
			a:    head("tags: [a]\nupdated: 2026-01-02\n"),
			b:    head("tags: [b]\nupdated: 2026-01-01\n"),
			want: head("tags: [a, b]\nupdated: 2026-01-02\n"),
		},
		{
			name: "lists that nobody knows",
			base: head("people: [ann]\n"),
			a:    head("people: [ann, bob]\nupdated: 2026-01-02\n"),
			b:    head("people: [ann, cid]\nupdated: 2026-01-01\n"),
			want: head("people: [ann, bob, cid]\nupdated: 2026-01-02\n"),
		},
		{
			name: "one key, two values: the later updated",
			base: head("title: T\nupdated: 2026-01-01\n") + "x\n",
			a:    head("title: A\nupdated: 2026-01-02\n") + "x\n",
			b:    head("title: B\nupdated: 2026-01-03\n") + "x\n",
			want: head("title: B\nupdated: 2026-01-03\n") + "x\n",
			lost: []string{"title"},
		},
		{
			name: "created the earlier, updated the later, counters the larger",
			base: head("created: 2026-01-05\nupdated: 2026-01-05\nuses: 1\nlast_used: 2026-01-05\n"),
			a:    head("created: 2026-01-04\nupdated: 2026-01-06\nuses: 7\nlast_used: 2026-01-07\n"),
			b:    head("created: 2026-01-03\nupdated: 2026-01-08\nuses: 5\nlast_used: 2026-01-06\n"),
			want: head("created: 2026-01-03\nupdated: 2026-01-08\nuses: 7\nlast_used: 2026-01-07\n"),
		},
		{
			name: "deleted against changed",
			base: head("why: old\nsource: s\n"),
			a:    head("source: s\n"),
			b:    head("why: new\nsource: s\n"),
			want: head("why: new\nsource: s\n"),
		},
		{
			name: "deleted against kept",
			base: head("why: old\nsource: s\n"),
			a:    head("source: s\n"),
			b:    head("why: old\nsource: t\n"),
			want: head("source: t\n"),
		},
		{
			name: "different parts of a mapping",
			base: head("scope: {type: personal, id: todd}\n"),
			a:    head("scope: {type: team, id: todd}\nupdated: 2026-01-02\n"),
			b:    head("scope: {type: personal, id: ann}\nupdated: 2026-01-01\n"),
			want: head("scope: {id: ann, type: team}\nupdated: 2026-01-02\n"),
		},
		{
			name: "different lines of a mapping nobody knows",
			base: head("x:\n  a: 1\n  # why\n  b: 2\n  c: 3\n"),
			a:    head("x:\n  a: 9\n  # why\n  b: 2\n  c: 3\n"),
			b:    head("x:\n  a: 1\n  # why\n  b: 2\n  c: 8\n"),
			want: head("x:\n  a: 9\n  # why\n  b: 2\n  c: 8\n"),
		},
		{
			name: "who made it is no conflict",
			base: head("origin: {user: a}\n"),
			a:    head("origin: {user: b}\nupdated: 2026-01-02\n"),
			b:    head("origin: {user: c}\nupdated: 2026-01-01\n"),
			want: head("origin: {user: b}\nupdated: 2026-01-02\n"),
		},
		{
			name: "comments, order and quotes stay",
			base: head("# first\ntitle: \"T\" # t\nzeta: 1\nalpha: 2\n\n# last\n") + "x\n",
			a:    head("# first\ntitle: \"T\" # t\nzeta: 10\nalpha: 2\n\n# last\n") + "x\n",
			b:    head("# first\ntitle: \"T\" # t, says ann\nzeta: 1\nalpha: 2\n\n# last\nextra: 3 # new\n") + "x\n",
			want: head("# first\ntitle: \"T\" # t, says ann\nzeta: 10\nalpha: 2\n\n# last\nextra: 3 # new\n") + "x\n",
		},
		{
			name: "CRLF everywhere against an edit",
			base: head("tags: [a]\n") + "one\ntwo\n",
			a:    "---\r\nid: " + id1 + "\r\ntags: [a]\r\n---\r\none\r\ntwo\r\n",
			b:    head("tags: [a, b]\n") + "one\ntwo\nthree\n",
			want: "---\r\nid: " + id1 + "\r\ntags: [a, b]\r\n---\r\none\r\ntwo\r\nthree\r\n",
		},
		{
			name: "BOM added against an edit",
			base: head("") + "one\n",
			a:    "\ufeff" + head("") + "one\n",
			b:    head("") + "ONE\n",
			want: "\ufeff" + head("") + "ONE\n",
		},
		{
			name: "fence at the end of the file",
			base: "---\nid: x\n---",
			a:    "---\nid: x\ntitle: T\n---",
			b:    "---\nid: x\n---\n\nbody\n",
			want: "---\nid: x\ntitle: T\n---\n\nbody\n",
		},
		{
			name: "fence at the end of all files",
			base: "---\nid: x\n---",
			a:    "---\nid: x\ntitle: T\n---",
			b:    "---\nid: x\nwhy: W\n---",
			want: "---\nid: x\ntitle: T\nwhy: W\n---",
		},
		{
			name: "a rule in the body",
			base: head("") + "a\n\n---\n\nb\n",
			a:    head("") + "A\n\n---\n\nb\n",
			b:    head("") + "a\n\n---\n\nB\n",
			want: head("") + "A\n\n---\n\nB\n",
		},
		{
			name: "front matter added against an edit",
			base: "one\n",
			a:    "---\ntags: [a]\n---\none\n",
			b:    "one\n\ntwo\n",
			want: "---\ntags: [a]\n---\none\n\ntwo\n",
		},
		{
			name: "TOML by lines",
			base: "+++\nt = 1\nu = 1\n+++\nx\n",
			a:    "+++\nt = 2\nu = 1\n+++\nx\n",
			b:    "+++\nt = 1\nu = 1\n+++\nx\ny\n",
			want: "+++\nt = 2\nu = 1\n+++\nx\ny\n",
		},
		{
			name: "odd values",
			base: head("title: yes\nd: fix #12 first\nn: 123\ne: null\n") + "x\n",
			a:    head("title: yes\nd: fix #12 first\nn: 124\ne: null\n") + "x\n",
			b:    head("title: no\nd: \"fix #12: first\"\nn: 123\ne: null\n") + "x\n",
			want: head("title: no\nd: \"fix #12: first\"\nn: 124\ne: null\n") + "x\n",
		},
		{
			name: "anchors",
			base: head("a: &x [p]\nb: *x\n") + "x\n",
			a:    head("a: &x [p]\nb: *x\nc: 1\n") + "x\n",
			b:    head("d: 1\na: &x [p]\nb: *x\n") + "x\n",
			want: head("d: 1\na: &x [p]\nb: *x\nc: 1\n") + "x\n",
		},
		{
			name: "markers that a human wrote are text",
			base: "one\n",
			a:    "one\n<<<<<<< mine\n",
			b:    "zero\none\n",
			want: "zero\none\n<<<<<<< mine\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, sides := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
				r := Files([]byte(tt.base), Side{Data: []byte(sides[0])}, Side{Data: []byte(sides[1])})
				if diff := cmp.Diff(tt.want, string(r.Data)); diff != "" {
					t.Errorf("want - got +:\n%s", diff)
				}
				if !slices.Equal(r.Lost, tt.lost) {
					t.Errorf("got lost %q, want %q", r.Lost, tt.lost)
				}
			}
		})
	}
}

// An edit by an editor leaves updated as it is: then the time of the change
// counts; and an undo sets updated back.
func TestWinner(t *testing.T) {
	version := func(updated, text string) []byte { return []byte(head("updated: "+updated+"\n") + text) }
	base := version("2026-01-01T10:00:00Z", "0\n")
	day := func(h int) func() time.Time {
		return func() time.Time { return time.Date(2026, 1, 1, h, 0, 0, 0, time.UTC) }
	}
	tests := []struct {
		name   string
		a, b   Side
		winner int
	}{
		{"later updated", Side{Data: version("2026-01-01T12:00:00Z", "a\n"), Changed: day(20)}, Side{Data: version("2026-01-01T13:00:00Z", "b\n"), Changed: day(13)}, 1},
		{"an editor, later", Side{Data: version("2026-01-01T10:00:00Z", "a\n"), Changed: day(14)}, Side{Data: version("2026-01-01T13:00:00Z", "b\n"), Changed: day(13)}, 0},
		{"an editor, earlier", Side{Data: version("2026-01-01T10:00:00Z", "a\n"), Changed: day(12)}, Side{Data: version("2026-01-01T13:00:00Z", "b\n"), Changed: day(13)}, 1},
		{"two editors", Side{Data: version("2026-01-01T10:00:00Z", "a\n"), Changed: day(12)}, Side{Data: version("2026-01-01T10:00:00Z", "b\n"), Changed: day(11)}, 0},
		{"an undo, later", Side{Data: version("2025-01-01T10:00:00Z", "a\n"), Changed: day(15)}, Side{Data: version("2026-01-01T13:00:00Z", "b\n"), Changed: day(13)}, 0},
		{"equal updated", Side{Data: version("2026-01-01T12:00:00Z", "a\n"), Changed: day(12)}, Side{Data: version("2026-01-01T12:00:00Z", "b\n"), Changed: day(13)}, 1},
	}
	for _, tt := range tests {
		r := Files(base, tt.a, tt.b)
		back := Files(base, tt.b, tt.a)
		if r.Winner != tt.winner || back.Winner == tt.winner || len(r.Lost) == 0 {
			t.Errorf("%s: got %d, swapped %d, lost %q", tt.name, r.Winner, back.Winner, r.Lost)
		}
	}
}

// Without a common version what only one side has is kept, and a difference
// is a conflict, not twice the text.
func TestFilesWithoutBase(t *testing.T) {
	long := mem(id1, 2, "one\n\ntwo\n\nthree")
	short := mem(id1, 1, "one\n\nthree")
	if r := Files(nil, Side{Data: []byte(long)}, Side{Data: []byte(short)}); string(r.Data) != long || len(r.Lost) > 0 {
		t.Errorf("got %q, lost %q", r.Data, r.Lost)
	}
	other := mem(id1, 1, "one\n\nTWO\n\nthree")
	if r := Files(nil, Side{Data: []byte(other)}, Side{Data: []byte(long)}); string(r.Data) != long || !slices.Equal(r.Lost, []string{"body"}) {
		t.Errorf("got %q, lost %q", r.Data, r.Lost)
	}
}
