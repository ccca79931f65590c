package repo_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"

	"vademecum/vault/repo"
)

func listing(t testing.TB, s repo.Store, root plumbing.Hash, prefix string) []string {
	t.Helper()
	var out []string
	for f, err := range repo.Files(s, root, prefix) {
		ok(t, err)
		out = append(out, f.Path)
	}
	return out
}

// TestEditTree: random edits give the same tree as building it anew, and git finds
// it sound.
func TestEditTree(t *testing.T) {
	g, dir := initRepo(t)
	rnd := rand.New(rand.NewPCG(3, 3))
	names := []string{"a", "a.b", "a-b", "a0", "b", "ab"}
	path := func() string {
		var p strings.Builder
		p.WriteString(names[rnd.IntN(len(names))])
		for range rnd.IntN(3) {
			p.WriteString("/" + names[rnd.IntN(len(names))])
		}
		return p.String()
	}
	files := map[string]plumbing.Hash{}
	var root plumbing.Hash
	clashes := 0
	for range 400 {
		var edits []repo.Edit
		next := maps.Clone(files)
		for range 1 + rnd.IntN(4) {
			e := repo.Edit{Path: path()}
			if rnd.IntN(3) > 0 {
				h, err := repo.WriteBlob(g, fmt.Append(nil, rnd.IntN(5)))
				ok(t, err)
				e.Hash = h
			}
			edits = append(edits, e)
		}
		for _, e := range edits { // the last edit of a path counts
			delete(next, e.Path)
			if !e.Hash.IsZero() {
				next[e.Path] = e.Hash
			}
		}
		got, err := repo.EditTree(g, root, edits)
		if hasClash(next) {
			if !errors.Is(err, repo.ErrPathClash) {
				t.Fatalf("%v on %v: got %v, want a clash", edits, files, err)
			}
			clashes++
			continue
		}
		ok(t, err)
		var all []repo.Edit
		for p, h := range next {
			all = append(all, repo.Edit{Path: p, Hash: h})
		}
		want, err := repo.EditTree(g, plumbing.ZeroHash, all)
		ok(t, err)
		if got != want {
			t.Fatalf("edits %v on %v: got %v", edits, files, listing(t, g, got, ""))
		}
		sorted := slices.Sorted(maps.Keys(next))
		if diff := cmp.Diff(sorted, listing(t, g, got, ""), cmp.Transformer("", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
			t.Fatal(diff)
		}
		root, files = got, next
	}
	if clashes == 0 {
		t.Error("no clash was tried")
	}
	ok(t, g.Flush())
	equal(t, "git lists", git(t, dir, "ls-tree", "-r", "--name-only", root.String()), join(listing(t, g, root, "")))
}

func join(lines []string) string {
	var out strings.Builder
	for i, l := range lines {
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(l)
	}
	return out.String()
}

func hasClash(files map[string]plumbing.Hash) bool {
	for p := range files {
		for i := range p {
			if p[i] == '/' {
				if _, ok := files[p[:i]]; ok {
					return true
				}
			}
		}
	}
	return false
}

func TestEditTreeWritesOnlyTheWayToTheEdit(t *testing.T) {
	m := &counting{Memory: repo.NewMemory()}
	var edits []repo.Edit
	blob := repo.BlobHash([]byte("x"))
	for i := range 12 {
		edits = append(edits, repo.Edit{Path: fmt.Sprintf("m/%02d/a.md", i), Hash: blob})
	}
	root, err := repo.EditTree(m, plumbing.ZeroHash, edits)
	ok(t, err)
	m.reads = 0
	next, err := repo.EditTree(m, root, []repo.Edit{{Path: "m/03/b.md", Hash: blob, Mode: filemode.Executable}})
	ok(t, err)
	equal(t, "trees read", m.reads, 3)
	e, err := repo.Lookup(m, next, "m/03/b.md")
	ok(t, err)
	equal(t, "mode", e.Mode, filemode.Executable)
	kept, err := repo.EditTree(m, next, []repo.Edit{{Path: "m/03/b.md", Hash: repo.BlobHash([]byte("y"))}})
	ok(t, err)
	e, err = repo.Lookup(m, kept, "m/03/b.md")
	ok(t, err)
	equal(t, "mode that is kept", e.Mode, filemode.Executable)
	empty, err := repo.EditTree(m, root, func() (gone []repo.Edit) {
		for _, e := range edits {
			gone = append(gone, repo.Edit{Path: e.Path})
		}
		return gone
	}())
	ok(t, err)
	equal(t, "empty tree", empty.String(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
	for _, p := range []string{"", "/a", "a//b", "../x", ".git/config", "a/.GIT", "a\x00b"} {
		if _, err := repo.EditTree(m, root, []repo.Edit{{Path: p, Hash: blob}}); err == nil {
			t.Errorf("%q was put into a tree", p)
		}
	}
}

func TestLookupAndFiles(t *testing.T) {
	m := repo.NewMemory()
	h := repo.BlobHash(nil)
	root, err := repo.EditTree(m, plumbing.ZeroHash, []repo.Edit{{Path: "a/b/c.md", Hash: h}, {Path: "a/d.md", Hash: h}, {Path: "e.md", Hash: h}})
	ok(t, err)
	for prefix, want := range map[string][]string{
		"": {"a/b/c.md", "a/d.md", "e.md"}, "a": {"a/b/c.md", "a/d.md"}, "a/b": {"a/b/c.md"}, "e.md": {"e.md"}, "none": nil, "e.md/x": nil,
	} {
		if diff := cmp.Diff(want, listing(t, m, root, prefix)); diff != "" {
			t.Errorf("%q: %s", prefix, diff)
		}
	}
	for _, p := range []string{"none", "a/none", "e.md/x", "a/b/c.md/d"} {
		if _, err := repo.Lookup(m, root, p); !errors.Is(err, repo.ErrPathNotFound) {
			t.Errorf("%s: %v", p, err)
		}
	}
	e, err := repo.Lookup(m, root, "")
	ok(t, err)
	equal(t, "root", e.Hash, root)
}

func TestTrailers(t *testing.T) {
	msg := repo.FormatMessage("subject\nwith a break", "body\n\nFake: trailer in the body\n",
		repo.Trailer{Key: "Vade-Op", Value: "remember"}, repo.Trailer{Key: "Vade-None"}, repo.Trailer{Key: "Vade-Agent", Value: "a\nVade-Op: forged"})
	want := "subject with a break\n\nbody\n\nFake: trailer in the body\n\nVade-Op: remember\nVade-Agent: a Vade-Op: forged\n"
	equal(t, "message", msg, want)
	c := &repo.Commit{Message: msg}
	equal(t, "subject", c.Subject(), "subject with a break")
	equal(t, "op", c.Trailer("vade-op"), "remember")
	equal(t, "agent", c.Trailer("Vade-Agent"), "a Vade-Op: forged")
	equal(t, "none", c.Trailer("Fake"), "")
	equal(t, "no trailers", (&repo.Commit{Message: "Vade-Op: subject only"}).Trailer("Vade-Op"), "")
	equal(t, "mixed paragraph", (&repo.Commit{Message: "s\n\nVade-Op: x\nprose"}).Trailer("Vade-Op"), "")
	equal(t, "continued", (&repo.Commit{Message: "s\n\nKey: a\n  b\n"}).Trailer("Key"), "a b")
	equal(t, "only a subject", repo.FormatMessage("s", ""), "s\n")
}

// TestCommitsOfHumans: signed, encoded and old-fashioned ones are read.
func TestCommitsOfHumans(t *testing.T) {
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "a"})
	git(t, dir, "config", "i18n.commitEncoding", "ISO-8859-1")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "with an encoding")
	raw := git(t, dir, "cat-file", "commit", "HEAD") + "\n"
	signed := gitIn(t, dir, raw[:len(raw)-len("\nwith an encoding\n")]+"gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\nsigned\n", "hash-object", "-t", "commit", "-w", "--stdin")
	c, err := repo.ReadCommit(g, plumbing.NewHash(signed))
	ok(t, err)
	equal(t, "message", c.Message, "signed\n")
	equal(t, "author", c.Author.Name+c.Author.Email, "Humanhuman@example.com")
	equal(t, "parents", len(c.Parents), 1)
}
