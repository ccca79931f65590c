package merge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// files is a tree: content by path.
type files map[string]string

func (f files) write(t testing.TB, s repo.Store) plumbing.Hash {
	t.Helper()
	var edits []repo.Edit
	for p, content := range f {
		h, err := repo.WriteBlob(s, []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		edits = append(edits, repo.Edit{Path: p, Hash: h})
	}
	tree, err := repo.EditTree(s, plumbing.ZeroHash, edits)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// with returns f with other files, or without those that are "".
func (f files) with(changes files) files {
	out := maps.Clone(f)
	for p, content := range changes {
		if out[p] = content; content == "" {
			delete(out, p)
		}
	}
	return out
}

func readFiles(t testing.TB, s repo.Store, tree plumbing.Hash) files {
	t.Helper()
	out := files{}
	for f, err := range repo.Files(s, tree, "") {
		if err != nil {
			t.Fatal(err)
		}
		data, err := repo.ReadBlob(s, f.Hash)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Path] = string(data)
	}
	return out
}

// paths returns the paths of f below prefix.
func (f files) paths(prefix string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f)), func(p string) bool { return !strings.HasPrefix(p, prefix) })
}

const (
	id1 = "01JDZ3M8Q4X0W3K2V7N5T9R601"
	id2 = "01JDZ3M8Q4X0W3K2V7N5T9R602"
	id3 = "01JDZ3M8Q4X0W3K2V7N5T9R603"
)

// mem is a memory of id, last updated at the given minute of an hour.
func mem(id string, minute int, body string, lines ...string) string {
	return fmt.Sprintf("---\nid: %s\ntitle: T%s\n%screated: 2026-11-30T10:00:00Z\nupdated: 2026-11-30T10:%02d:00Z\n---\n%s\n",
		id, id[len(id)-2:], strings.Join(append(lines, ""), "\n"), minute, body)
}

func tomb(id string, minute int, body string) string {
	return string(vault.Tombstone{
		ID: vault.ID(id), Path: "m.md", When: time.Date(2026, 11, 30, 10, minute, 0, 0, time.UTC),
		By: vault.Origin{User: "todd", Host: "laptop"}, Digest: vault.NewDigest(nil, "", body),
	}.Bytes())
}

// mergeFiles merges, and checks what holds of every merge.
func mergeFiles(t *testing.T, base, a, b files) (files, Result) {
	t.Helper()
	s := repo.NewMemory()
	var baseTree plumbing.Hash
	if base != nil {
		baseTree = base.write(t, s)
	}
	at, bt := a.write(t, s), b.write(t, s)
	r, err := Trees(s, baseTree, at, bt, Options{})
	if err != nil {
		t.Fatal(err)
	}
	back, err := Trees(s, baseTree, bt, at, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Errorf("not symmetric:\n%s", diff)
	}
	got := readFiles(t, s, r.Tree)
	for p, content := range got {
		if strings.Contains(content, "<<<<<<<") {
			t.Errorf("%s has a conflict marker", p)
		}
		if vault.IsMemoryPath(p) && vault.ParseDocument([]byte(content)).Broken() != nil {
			t.Errorf("%s is broken: %q", p, content)
		}
	}
	return got, r
}

func TestTrees(t *testing.T) {
	base := files{"m.md": mem(id1, 0, "one\n\ntwo\n\nthree"), "other.md": mem(id2, 0, "kept"), "sub/x.txt": "x\n"}
	edited := mem(id1, 1, "ONE\n\ntwo\n\nthree")
	editedBelow := mem(id1, 2, "one\n\ntwo\n\nTHREE")
	editedBoth := mem(id1, 2, "ONE\n\ntwo\n\nTHREE")
	tests := []struct {
		name string
		a, b files // changes
		want files // changes
	}{
		{"only one side", files{"m.md": edited}, nil, files{"m.md": edited}},
		{"both edit, apart", files{"m.md": edited}, files{"m.md": editedBelow}, files{"m.md": editedBoth}},
		{"both add", files{"n.md": mem(id3, 0, "n")}, files{"y.md": "y\n"}, files{"n.md": mem(id3, 0, "n"), "y.md": "y\n"}},
		{"both delete", files{"m.md": ""}, files{"m.md": ""}, files{"m.md": ""}},
		{"delete", files{"m.md": ""}, nil, files{"m.md": ""}},
		{"delete against edit", files{"m.md": ""}, files{"m.md": edited}, files{"m.md": edited}},
		{"delete against bookkeeping", files{"m.md": ""}, files{"m.md": mem(id1, 9, "one\n\ntwo\n\nthree")}, files{"m.md": ""}},
		{"rename against edit", files{"m.md": "", "n/m2.md": base["m.md"]}, files{"m.md": edited}, files{"m.md": "", "n/m2.md": edited}},
		{"rename and edit against edit", files{"m.md": "", "m2.md": edited}, files{"m.md": editedBelow}, files{"m.md": "", "m2.md": editedBoth}},
		{"rename against delete", files{"m.md": "", "m2.md": base["m.md"]}, files{"m.md": ""}, files{"m.md": ""}},
		{"both rename, the winner's name", files{"m.md": "", "a.md": edited}, files{"m.md": "", "b.md": editedBelow}, files{"m.md": "", "b.md": editedBoth}},
		{"rename of a file without id", files{"sub/x.txt": "", "y.txt": "x\n"}, files{"sub/x.txt": "x\ny\n"}, files{"sub/x.txt": "", "y.txt": "x\ny\n"}},
		{
			"two files change names, one is edited",
			files{"m.md": base["other.md"], "other.md": base["m.md"]},
			files{"m.md": edited},
			files{"m.md": base["other.md"], "other.md": edited},
		},
		{"a human's copy", files{"copy.md": base["m.md"]}, files{"m.md": edited}, files{"copy.md": base["m.md"], "m.md": edited}},
		{"folder of another name", files{"sub/x.txt": "", "dir/x.txt": "x\n"}, files{"sub/z.txt": "z\n"}, files{"sub/x.txt": "", "dir/x.txt": "x\n", "sub/z.txt": "z\n"}},
		{"lines of .gitignore", files{".gitignore": "*~\n"}, files{".gitignore": "*.swp\n"}, files{".gitignore": "*.swp\n*~\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, r := mergeFiles(t, base, base.with(tt.a), base.with(tt.b))
			if diff := cmp.Diff(base.with(tt.want), got); diff != "" {
				t.Errorf("want - got +:\n%s", diff)
			}
			if len(r.Conflicts) > 0 {
				t.Errorf("got conflicts %v", r.Conflicts)
			}
		})
	}
}
