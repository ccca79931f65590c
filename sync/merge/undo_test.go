package merge

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// line is a row of commits.
type line struct {
	t    *testing.T
	s    *repo.Memory
	tip  plumbing.Hash
	tree files
	time time.Time
}

func newLine(t *testing.T, start files) *line {
	l := &line{t: t, s: repo.NewMemory(), time: noon, tree: files{}}
	l.commit(start)
	return l
}

// commit makes changes and returns the commit.
func (l *line) commit(changes files) plumbing.Hash {
	l.t.Helper()
	l.tree = l.tree.with(changes)
	l.time = l.time.Add(time.Minute)
	sig := repo.Signature{Name: "a", Email: "a@b", When: l.time}
	c := &repo.Commit{Tree: l.tree.write(l.t, l.s), Author: sig, Committer: sig, Message: "c\n"}
	if !l.tip.IsZero() {
		c.Parents = []plumbing.Hash{l.tip}
	}
	h, err := repo.WriteCommit(l.s, c)
	if err != nil {
		l.t.Fatal(err)
	}
	l.tip = h
	return h
}

func (l *line) undo(commits ...plumbing.Hash) (files, Result) {
	l.t.Helper()
	r, err := RevertAll(l.s, l.tip, commits)
	if err != nil {
		l.t.Fatal(err)
	}
	return readFiles(l.t, l.s, r.Tree), r
}

func TestRevert(t *testing.T) {
	grave := vault.TombstonePath(id1)
	start := files{"m.md": mem(id1, 0, "one\n\ntwo\n\nthree"), "kept.md": "kept\n"}
	one := mem(id1, 1, "ONE\n\ntwo\n\nthree")
	three := mem(id1, 2, "one\n\ntwo\n\nTHREE")
	both := mem(id1, 2, "ONE\n\ntwo\n\nTHREE")
	tests := []struct {
		name             string
		undone, later    files
		want             files // changes to start
		conflicts, moved []string
	}{
		{name: "last edit: the exact bytes", undone: files{"m.md": one}, want: nil},
		{name: "edit, another file later", undone: files{"m.md": one}, later: files{"x.md": "x\n"}, want: files{"x.md": "x\n"}},
		{name: "edit, edited elsewhere later", undone: files{"m.md": one}, later: files{"m.md": both}, want: files{"m.md": three}},
		{
			name: "edit, the same place edited later", undone: files{"m.md": one}, later: files{"m.md": mem(id1, 5, "EINS\n\ntwo\n\nthree")},
			want: files{"m.md": mem(id1, 5, "EINS\n\ntwo\n\nthree")}, conflicts: []string{"m.md"},
		},
		{name: "edit, deleted later", undone: files{"m.md": one}, later: files{"m.md": ""}, want: files{"m.md": ""}, conflicts: []string{"m.md"}},
		{name: "edit, renamed later", undone: files{"m.md": one}, later: files{"m.md": "", "n.md": one}, want: files{"m.md": "", "n.md": start["m.md"]}},
		{name: "add", undone: files{"n.md": mem(id2, 0, "n")}, want: nil},
		{name: "add, looked at later", undone: files{"n.md": mem(id2, 0, "n")}, later: files{"n.md": mem(id2, 9, "n")}, want: nil},
		{
			name: "add, edited later", undone: files{"n.md": mem(id2, 0, "n")}, later: files{"n.md": mem(id2, 1, "n, edited")},
			want: files{"n.md": mem(id2, 1, "n, edited")}, conflicts: []string{"n.md"},
		},
		{name: "add, deleted later", undone: files{"n.md": mem(id2, 0, "n")}, later: files{"n.md": ""}, want: nil},
		{name: "forget", undone: files{"m.md": "", grave: tomb(id1, 9, "x")}, want: nil},
		{name: "forget, remembered later", undone: files{"m.md": "", grave: tomb(id1, 9, "x")}, later: files{grave: "", "m.md": one}, want: files{"m.md": one}, conflicts: []string{"m.md"}},
		{name: "delete", undone: files{"kept.md": ""}, later: files{"m.md": one}, want: files{"m.md": one}},
		{name: "rename", undone: files{"m.md": "", "n.md": start["m.md"]}, want: nil},
		{name: "rename, edited later", undone: files{"m.md": "", "n.md": start["m.md"]}, later: files{"n.md": one}, want: files{"m.md": one}},
		{
			name: "delete, the path is taken", undone: files{"m.md": ""}, later: files{"m.md": mem(id2, 0, "new")},
			want: files{"m.md": mem(id2, 0, "new"), "m-t9r601.md": start["m.md"]}, moved: []string{"m-t9r601.md"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLine(t, start)
			undone := l.commit(tt.undone)
			if tt.later != nil {
				l.commit(tt.later)
			}
			got, r := l.undo(undone)
			if diff := cmp.Diff(start.with(tt.want), got); diff != "" {
				t.Errorf("want - got +:\n%s", diff)
			}
			var kept []string
			for _, c := range r.Conflicts {
				if kept = append(kept, c.Path); c.Kind != KindKeptLaterEdit || c.Parked != "" {
					t.Errorf("got conflict %v", c)
				}
			}
			if !slices.Equal(kept, tt.conflicts) || !slices.Equal(r.Renamed, tt.moved) {
				t.Errorf("got kept %q, renamed %q, want %q, %q", kept, r.Renamed, tt.conflicts, tt.moved)
			}
			if len(got.paths("conflicts/")) > 0 {
				t.Errorf("got parked %q", got.paths("conflicts/"))
			}
		})
	}
}

// An undo can be undone.
func TestRevertTwice(t *testing.T) {
	l := newLine(t, files{"m.md": mem(id1, 0, "one"), "k.md": mem(id2, 0, "kept")})
	before := l.tree
	edit := l.commit(files{"m.md": mem(id1, 1, "two"), "k.md": "", "n.md": mem(id3, 0, "new")})
	after := l.tree
	undone, _ := l.undo(edit)
	if diff := cmp.Diff(before, undone); diff != "" {
		t.Fatal(diff)
	}
	undo := l.commit(files{"m.md": before["m.md"], "k.md": before["k.md"], "n.md": ""})
	redone, _ := l.undo(undo)
	if diff := cmp.Diff(after, redone); diff != "" {
		t.Error(diff)
	}
}

// A session's commits go, what others did between them stays.
func TestRevertSession(t *testing.T) {
	l := newLine(t, files{"m.md": mem(id1, 0, "one\n\ntwo\n\nthree")})
	first := l.commit(files{"m.md": mem(id1, 1, "ONE\n\ntwo\n\nthree"), "n.md": mem(id2, 1, "session")})
	l.commit(files{"m.md": mem(id1, 2, "ONE\n\ntwo\n\nTHREE"), "o.md": "other\n"})
	second := l.commit(files{"m.md": mem(id1, 3, "ONE\n\nTWO\n\nTHREE"), "n.md": mem(id2, 2, "session, more")})
	got, r := l.undo(second, first)
	want := files{"m.md": mem(id1, 2, "one\n\ntwo\n\nTHREE"), "o.md": "other\n"}
	if diff := cmp.Diff(want, got); diff != "" || len(r.Conflicts) > 0 {
		t.Errorf("conflicts %v, want - got +:\n%s", r.Conflicts, diff)
	}
}

func TestRevertRootAndMerge(t *testing.T) {
	config := string(vault.Config{Format: 1, VaultID: id1, Identity: "todd", DigestKey: make([]byte, 32)}.Bytes())
	l := newLine(t, files{vault.ConfigPath: config, ".gitattributes": "*.md -text\n", "m.md": mem(id1, 0, "m")})
	root := l.tip
	l.commit(files{"n.md": "n\n"})
	got, _ := l.undo(root)
	if diff := cmp.Diff(files{vault.ConfigPath: config, ".gitattributes": "*.md -text\n", "n.md": "n\n"}, got); diff != "" {
		t.Errorf("want - got +:\n%s", diff)
	}
	m, err := Commit(l.s, root, l.tip, Result{Tree: l.tree.write(t, l.s)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Revert(l.s, l.tip, m); !errors.Is(err, ErrMergeCommit) {
		t.Errorf("got %v, want ErrMergeCommit", err)
	}
}
