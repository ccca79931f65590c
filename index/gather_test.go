package index

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vademecum/vault"
)

// How many of the candidates get an entry at first changes no answer: not when
// filters drop most of them, nor with many sessions, ties or passages.
func TestAnswersDoNotDependOnHowManyCandidatesAreKept(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	content := randomVault(r, 150)
	for i := range 40 {
		content[fmt.Sprintf("sessions/2026/%02d.md", i)] = content[fmt.Sprintf("memories/%03d-x.md", i)]
		content[fmt.Sprintf("memories/tie-%02d.md", i)] = "deploy the vault " + word(r)
	}
	content["memories/only.md"] = header("deploy once, "+content["memories/001-x.md"], "tags: [only]")
	src := newNotes(content)
	x := open(t)
	update(t, x, src)
	for _, q := range append(questions, "deploy", "vault deploy", "deploy memories/tie-07.md") {
		for _, c := range []vault.Query{
			{},
			{Limit: 40},
			{Tags: []string{"only"}},
			{Tags: []string{"none"}},
			{Passages: 10, Limit: 15},
			{Strict: true, Budget: 400},
		} {
			c.Text, c.Explain = q, true
			x.certain = 1 << 20
			want := ask(t, x, src, c)
			for _, x.certain = range []int{1, 2, 5} {
				got := ask(t, x, src, c)
				got.Stats, want.Stats = Stats{}, Stats{}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%+v with %d certain (-all +got):\n%s", c, x.certain, diff)
				}
			}
		}
	}
}
