package links

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	tests := []struct {
		name, body string
		want       []Link
	}{
		{"none", "plain [text] and [ ] and a[0][1]\n", nil},
		{"wiki", "See [[Deploy rule]].\n", []Link{{Target: "Deploy rule", Text: "Deploy rule", Line: 1, Wiki: true}}},
		{"wiki with text, twice", "\n[[01JDZ3M8|the rule]] and\n[[ b ]]\n", []Link{
			{Target: "01JDZ3M8", Text: "the rule", Line: 2, Wiki: true}, {Target: "b", Text: "b", Line: 3, Wiki: true},
		}},
		{"wiki with heading", "- [[a#Why not|x]]\n- [[#Here]]\n", []Link{
			{Target: "a", Fragment: "Why not", Text: "x", Line: 1, Wiki: true}, {Fragment: "Here", Text: "#Here", Line: 2, Wiki: true},
		}},
		{"embedded", "![[chart]]\n", []Link{{Target: "chart", Text: "chart", Line: 1, Wiki: true}}},
		{"in a table", "| a |\n|---|\n| [[x\\|y]] |\n", []Link{{Target: "x", Text: "y", Line: 3, Wiki: true}}},
		{"markdown", "# T\n\nSee [the *rule*](deploy%20rule.md#why \"t\") and <https://x.y/z>.\n", []Link{
			{Target: "deploy rule.md", Fragment: "why", Text: "the rule", Line: 3}, {Target: "https://x.y/z", Text: "https://x.y/z", Line: 3},
		}},
		{"reference", "[one]\n\n[one]: a.md\n", []Link{{Target: "a.md", Text: "one", Line: 1}}},
		{"images are none", "![alt](a.png)\n", nil},
		{"code is not searched", "`[[a]]` and\n\n    [[b]]\n\n```\n[[c]] [d](e)\n```\n<!-- [[f]] -->\n", nil},
		{"unfinished", "[[a\nb]] [[ ]] [[]] [[c\n", nil},
		{"brackets inside", "[[a[b]]] [x [[y]]](z)\n", []Link{{Target: "z", Text: "x ", Line: 1}, {Target: "y", Text: "y", Line: 1, Wiki: true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Of(tt.body)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzOf(f *testing.F) {
	f.Add("[[a|b]] [c](d#e) ![[f]] <http://g>")
	f.Fuzz(func(t *testing.T, body string) {
		for _, l := range Of(body) {
			if l.Line < 1 {
				t.Fatalf("%q: %+v", body, l)
			}
		}
	})
}
