package merge

import (
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

func TestChangeTimes(t *testing.T) {
	l := newLine(t, files{"a": "0\n", "b": "0\n", "c": "0\n", "d": "0\n"})
	base, start := l.tip, l.tree
	minute := func(h plumbing.Hash) time.Time {
		c, err := repo.ReadCommit(l.s, h)
		if err != nil {
			t.Fatal(err)
		}
		return c.Committer.When
	}
	l.commit(files{"a": "1\n"})
	onA := l.commit(files{"a": "2\n"})
	onB := l.commit(files{"b": "1\n"})
	left := l.tip
	l.tip, l.tree = base, start
	onC := l.commit(files{"c": "1\n"})
	right := l.commit(files{"new": "1\n"})
	for _, sides := range [][2]plumbing.Hash{{left, right}, {right, left}} {
		// Either order of parents.
		r, err := Commits(l.s, left, right)
		if err != nil {
			t.Fatal(err)
		}
		c := &repo.Commit{Tree: r.Tree, Parents: sides[:], Author: repo.Signature{When: noon.Add(time.Hour)}, Committer: repo.Signature{When: noon.Add(time.Hour)}}
		tip, err := repo.WriteCommit(l.s, c)
		if err != nil {
			t.Fatal(err)
		}
		when := ChangeTimes(l.s, base, tip)
		for path, want := range map[string]time.Time{
			"a": minute(onA), "b": minute(onB), "c": minute(onC), "new": minute(right), "d": {}, "none": {},
		} {
			if got := when(path); !got.Equal(want) {
				t.Errorf("%s: got %v, want %v", path, got, want)
			}
		}
	}
	if got := ChangeTimes(l.s, plumbing.ZeroHash, left)("d"); !got.Equal(minute(base)) {
		t.Errorf("from the root: got %v, want %v", got, minute(base))
	}
	if got := ChangeTimes(l.s, base, plumbing.NewHash("1234"))("d"); !got.IsZero() {
		t.Errorf("no such commit: got %v, want the zero time", got)
	}
}
