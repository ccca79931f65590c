package index

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vademecum/vault"
)

// One index asked about several sources in turn answers about the one it is
// asked about, whichever it has joined with its generations before.
func TestEachSourceIsSeenAsItIs(t *testing.T) {
	first := texts("deploys run on mondays", "the retry budget is three")
	second := first.with("a.md", "deploys run on fridays", "b.md", "-", "c.md", "mondays are free")
	x := open(t)
	update(t, x, first)
	for range 2 {
		if diff := cmp.Diff([]string{"a.md"}, paths(t, x, first, "mondays")); diff != "" {
			t.Errorf("first source (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"c.md"}, paths(t, x, second, "mondays")); diff != "" {
			t.Errorf("second source (-want +got):\n%s", diff)
		}
		if got := paths(t, x, second, "retry"); len(got) > 0 {
			t.Errorf("second source finds %q, which only the first has", got)
		}
	}
	update(t, x, second)
	if diff := cmp.Diff([]string{"a.md"}, paths(t, x, second, "fridays")); diff != "" {
		t.Errorf("after an update (-want +got):\n%s", diff)
	}
}

// byValue is a source that cannot be compared with another.
type byValue struct {
	*notes
	_ []int
}

func TestSourceThatCannotBeCompared(t *testing.T) {
	src := byValue{notes: texts("deploys run on mondays")}
	x := open(t)
	update(t, x, src)
	for range 2 {
		if got := paths(t, x, src.notes, "mondays"); len(got) != 1 {
			t.Errorf("got %q, want one note", got)
		}
		r, err := x.Search(t.Context(), src, vault.Query{Text: "mondays"})
		if err != nil || len(r.Hits) != 1 {
			t.Errorf("got %d hits and %v, want one", len(r.Hits), err)
		}
	}
}
