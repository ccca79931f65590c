package merge

import (
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

func TestCommitIsTheSameEverywhere(t *testing.T) {
	l := newLine(t, files{"m.md": mem(id1, 0, "one\n\ntwo")})
	base, tree := l.tip, l.tree
	a := l.commit(files{"m.md": mem(id1, 1, "ONE\n\ntwo")})
	l.tip, l.tree = base, tree
	l.time = l.time.In(time.FixedZone("", 3600))
	b := l.commit(files{"m.md": mem(id1, 2, "one\n\nTWO"), "n.md": "n\n"})

	var commits []plumbing.Hash
	for _, sides := range [][2]plumbing.Hash{{a, b}, {b, a}} {
		r, err := Commits(l.s, sides[0], sides[1])
		if err != nil {
			t.Fatal(err)
		}
		h, err := Commit(l.s, sides[0], sides[1], r)
		if err != nil {
			t.Fatal(err)
		}
		commits = append(commits, h)
	}
	if commits[0] != commits[1] {
		t.Errorf("got %v and %v", commits[0], commits[1])
	}
	c, err := repo.ReadCommit(l.s, commits[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Parents) != 2 || c.Parents[0].String() > c.Parents[1].String() {
		t.Errorf("got parents %v", c.Parents)
	}
	if c.Trailer("Vade-Op") != "merge" || c.Author.Name != "vade" || c.Committer.Email != "vade@localhost" {
		t.Errorf("got %+v", c)
	}
	if !c.Committer.When.Equal(l.time) || c.Committer.When.Location().String() != "UTC" {
		t.Errorf("got time %v, want the later parent's, %v, in UTC", c.Committer.When, l.time)
	}
}

// Where updated does not tell who is later, the commits do.
func TestCommitTimeDecides(t *testing.T) {
	l := newLine(t, files{"m.md": "one\n", "x.md": "x\n"})
	base, tree := l.tip, l.tree
	later := l.time.Add(time.Hour)
	l.commit(files{"m.md": "edited first\n"})
	l.time = later.Add(time.Hour)
	a := l.commit(files{"x.md": "the tip of this side is the latest commit of all\n"})
	l.tip, l.tree, l.time = base, tree, later
	b := l.commit(files{"m.md": "edited last\n"})
	r, err := Commits(l.s, a, b)
	if err != nil {
		t.Fatal(err)
	}
	got := readFiles(t, l.s, r.Tree)
	if got["m.md"] != "edited last\n" || len(got.paths("conflicts/")) != 1 {
		t.Errorf("got %q", got)
	}
}

func TestCommitsUnrelated(t *testing.T) {
	l := newLine(t, files{"a.md": mem(id1, 0, "a")})
	a := l.tip
	l.tip, l.tree = plumbing.ZeroHash, files{}
	b := l.commit(files{"b.md": mem(id2, 0, "b")})
	r, err := Commits(l.s, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if got := readFiles(t, l.s, r.Tree); len(got) != 2 {
		t.Errorf("got %q", got)
	}
}
