// Package repotest is the suite that every [repo.Store] runs.
package repotest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"vademecum/vault/repo"
)

// Run checks that the stores which open returns, each new and empty, keep the
// contract of [repo.Store].
func Run(t *testing.T, open func(t *testing.T) repo.Store) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, repo.Store)
	}{
		{"Objects", objects},
		{"ObjectsOfGoGit", encodedObjects},
		{"LargeAndMany", largeAndMany},
		{"MissingObject", missingObject},
		{"IterateObjects", iterateObjects},
		{"RefLife", refLife},
		{"RefMoved", refMoved},
		{"RefNames", refNames},
		{"RefToNothing", refToNothing},
		{"RefFolders", refFolders},
		{"CommitAndRead", commitAndRead},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

// Commit writes a commit with these files on top of parents and returns it.
func Commit(t testing.TB, s repo.Store, files map[string]string, parents ...plumbing.Hash) plumbing.Hash {
	t.Helper()
	var edits []repo.Edit
	for path, content := range files {
		h, err := repo.WriteBlob(s, []byte(content))
		ok(t, err)
		edits = append(edits, repo.Edit{Path: path, Hash: h})
	}
	tree, err := repo.EditTree(s, plumbing.ZeroHash, edits)
	ok(t, err)
	who := repo.Signature{Name: "Test", Email: "test@example.com", When: time.Unix(1_700_000_000, 0).UTC()}
	h, err := repo.WriteCommit(s, &repo.Commit{Tree: tree, Parents: parents, Author: who, Committer: who, Message: "test\n"})
	ok(t, err)
	return h
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func objects(t *testing.T, s repo.Store) {
	for _, c := range []struct {
		t       plumbing.ObjectType
		content string
		want    string // by git hash-object
	}{
		{plumbing.BlobObject, "", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
		{plumbing.BlobObject, "hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"},
		{plumbing.TreeObject, "", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
	} {
		for range 2 { // again is no error
			h, err := repo.WriteObject(s, c.t, []byte(c.content))
			ok(t, err)
			if h.String() != c.want {
				t.Errorf("write %s %q: got %s, want %s", c.t, c.content, h, c.want)
			}
			readBack(t, s, h, c.t, c.content)
			ok(t, s.Flush())
			readBack(t, s, h, c.t, c.content)
		}
	}
}

func readBack(t *testing.T, s repo.Store, h plumbing.Hash, want plumbing.ObjectType, content string) {
	t.Helper()
	kind, b, err := repo.ReadObject(s, h)
	ok(t, err)
	if kind != want || string(b) != content {
		t.Errorf("read %s: got %s %q, want %s %q", h, kind, b, want, content)
	}
	if err := s.HasEncodedObject(h); err != nil {
		t.Errorf("has %s: %v", h, err)
	}
	n, err := s.EncodedObjectSize(h)
	if err != nil || n != int64(len(content)) {
		t.Errorf("size of %s: got %d, %v, want %d", h, n, err, len(content))
	}
}

func encodedObjects(t *testing.T, s repo.Store) {
	o := s.NewEncodedObject()
	o.SetType(plumbing.BlobObject)
	w, err := o.Writer()
	ok(t, err)
	io.WriteString(w, "through go-git")
	ok(t, w.Close())
	h, err := s.SetEncodedObject(o)
	ok(t, err)
	if want := repo.BlobHash([]byte("through go-git")); h != want {
		t.Fatalf("set: got %s, want %s", h, want)
	}
	for _, kind := range []plumbing.ObjectType{plumbing.BlobObject, plumbing.AnyObject} {
		got, err := s.EncodedObject(kind, h)
		ok(t, err)
		r, err := got.Reader()
		ok(t, err)
		b, err := io.ReadAll(r)
		ok(t, err)
		if string(b) != "through go-git" || got.Type() != plumbing.BlobObject || got.Hash() != h {
			t.Errorf("get: got %s %s %q", got.Type(), got.Hash(), b)
		}
	}
	if _, err := s.EncodedObject(plumbing.TreeObject, h); err != plumbing.ErrObjectNotFound {
		t.Errorf("get a blob as a tree: got %v, want %v itself", err, plumbing.ErrObjectNotFound)
	}
}

func largeAndMany(t *testing.T, s repo.Store) {
	big := bytes.Repeat([]byte("0123456789abcde\n"), 1<<17) // 2 MiB
	h, err := repo.WriteBlob(s, big)
	ok(t, err)
	want := map[plumbing.Hash]string{h: string(big)}
	for i := range 300 {
		content := fmt.Sprintf("object %d", i)
		h, err := repo.WriteBlob(s, []byte(content))
		ok(t, err)
		want[h] = content
	}
	for range 2 {
		for h, content := range want {
			b, err := repo.ReadBlob(s, h)
			ok(t, err)
			if string(b) != content {
				t.Fatalf("read %s: got %d other bytes", h, len(b))
			}
		}
		ok(t, s.Flush())
	}
}

func missingObject(t *testing.T, s repo.Store) {
	h := plumbing.NewHash("1234567890123456789012345678901234567890")
	for _, h := range []plumbing.Hash{h, plumbing.ZeroHash} {
		if _, err := s.EncodedObject(plumbing.AnyObject, h); err != plumbing.ErrObjectNotFound {
			t.Errorf("get %s: got %v, want %v itself", h, err, plumbing.ErrObjectNotFound)
		}
		if err := s.HasEncodedObject(h); err != plumbing.ErrObjectNotFound {
			t.Errorf("has %s: got %v", h, err)
		}
		if _, err := s.EncodedObjectSize(h); err != plumbing.ErrObjectNotFound {
			t.Errorf("size of %s: got %v", h, err)
		}
		if _, err := repo.ReadBlob(s, h); !errors.Is(err, repo.ErrObjectNotFound) {
			t.Errorf("read %s: got %v", h, err)
		}
	}
}

func iterateObjects(t *testing.T, s repo.Store) {
	c := Commit(t, s, map[string]string{"a.md": "a", "b/c.md": "c"})
	collect := func(kind plumbing.ObjectType) []plumbing.Hash {
		it, err := s.IterEncodedObjects(kind)
		ok(t, err)
		var hs []plumbing.Hash
		ok(t, storer.ForEachIterator(it, func(o plumbing.EncodedObject) error {
			hs = append(hs, o.Hash())
			return nil
		}))
		return hs
	}
	for range 2 {
		if got := collect(plumbing.CommitObject); !slices.Equal(got, []plumbing.Hash{c}) {
			t.Errorf("commits: got %v, want %s", got, c)
		}
		if got := len(collect(plumbing.AnyObject)); got != 5 {
			t.Errorf("objects: got %d, want 5", got)
		}
		ok(t, s.Flush())
	}
}

const branch = "refs/heads/topic/one"

func refLife(t *testing.T, s repo.Store) {
	a := Commit(t, s, map[string]string{"a.md": "1"})
	b := Commit(t, s, map[string]string{"a.md": "2"}, a)
	if _, err := s.Ref(branch); !errors.Is(err, repo.ErrRefNotFound) {
		t.Fatalf("ref before it is made: %v", err)
	}
	ok(t, s.CompareAndSet(branch, plumbing.ZeroHash, a, "made"))
	ok(t, s.CompareAndSet(branch, a, b, "moved"))
	ok(t, s.CompareAndSet(branch, b, b, "the same"))
	if h, err := s.Ref(branch); err != nil || h != b {
		t.Fatalf("ref: got %s, %v, want %s", h, err, b)
	}
	ok(t, s.CompareAndSet("refs/vade/rescue/x", plumbing.ZeroHash, a, "another"))
	refs, err := s.Refs("refs/heads/")
	ok(t, err)
	if len(refs) != 1 || refs[branch] != b {
		t.Errorf("refs: got %v", refs)
	}
	for prefix, want := range map[string]int{"": 2, "refs/": 2, "refs/vade/": 1, "refs/heads/topic": 1, "refs/heads/top": 1, "refs/heads/x": 0} {
		if refs, err := s.Refs(prefix); err != nil || len(refs) != want {
			t.Errorf("refs %q: got %v, %v, want %d", prefix, refs, err, want)
		}
	}
	ok(t, s.CompareAndSet(branch, b, plumbing.ZeroHash, "gone"))
	if _, err := s.Ref(branch); !errors.Is(err, repo.ErrRefNotFound) {
		t.Errorf("ref after it is gone: %v", err)
	}
	ok(t, s.CompareAndSet(branch, plumbing.ZeroHash, a, "made again"))
}

func refMoved(t *testing.T, s repo.Store) {
	a := Commit(t, s, map[string]string{"a.md": "1"})
	b := Commit(t, s, map[string]string{"a.md": "2"}, a)
	moved := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, repo.ErrRefMoved) {
			t.Errorf("%s: got %v, want %v", what, err, repo.ErrRefMoved)
		}
	}
	moved("move what is not there", s.CompareAndSet(branch, a, b, ""))
	moved("remove what is not there", s.CompareAndSet(branch, a, plumbing.ZeroHash, ""))
	if _, err := s.Ref(branch); !errors.Is(err, repo.ErrRefNotFound) {
		t.Fatalf("failed moves left a ref: %v", err)
	}
	ok(t, s.CompareAndSet(branch, plumbing.ZeroHash, a, ""))
	moved("make what is there", s.CompareAndSet(branch, plumbing.ZeroHash, b, ""))
	moved("move from elsewhere", s.CompareAndSet(branch, b, a, ""))
	moved("remove from elsewhere", s.CompareAndSet(branch, b, plumbing.ZeroHash, ""))
	if h, err := s.Ref(branch); err != nil || h != a {
		t.Errorf("failed moves changed the ref: %s, %v", h, err)
	}
}

func refNames(t *testing.T, s repo.Store) {
	a := Commit(t, s, map[string]string{"a.md": "1"})
	for _, name := range []string{
		"", "main", "refs", "refs/heads/", "refs/heads/../../config", "refs/heads/a..b", "refs/heads/.a",
		"refs/heads/a.lock", "refs/heads/a b", "refs/heads/a\nb", "refs/heads/a~1", "/refs/heads/a", "refs//a",
		"refs/heads/a\\b", "refs/heads/a.", "refs/heads/@{1}", "refs/heads/a.lock/b",
	} {
		if err := s.CompareAndSet(name, plumbing.ZeroHash, a, ""); err == nil {
			t.Errorf("ref %q was made", name)
		}
	}
	ok(t, s.CompareAndSet("refs/heads/데이터베이스", plumbing.ZeroHash, a, ""))
}

func refToNothing(t *testing.T, s repo.Store) {
	h := plumbing.NewHash("1234567890123456789012345678901234567890")
	if err := s.CompareAndSet(branch, plumbing.ZeroHash, h, ""); !errors.Is(err, repo.ErrObjectNotFound) {
		t.Errorf("ref to a missing object: got %v", err)
	}
}

func refFolders(t *testing.T, s repo.Store) {
	a := Commit(t, s, map[string]string{"a.md": "1"})
	ok(t, s.CompareAndSet("refs/heads/x/y", plumbing.ZeroHash, a, ""))
	for _, name := range []string{"refs/heads/x", "refs/heads/x/y/z"} {
		if err := s.CompareAndSet(name, plumbing.ZeroHash, a, ""); !errors.Is(err, repo.ErrPathClash) {
			t.Errorf("ref %s beside refs/heads/x/y: got %v", name, err)
		}
	}
	ok(t, s.CompareAndSet("refs/heads/x/y", a, plumbing.ZeroHash, ""))
	ok(t, s.CompareAndSet("refs/heads/x", plumbing.ZeroHash, a, ""))
}

func commitAndRead(t *testing.T, s repo.Store) {
	h := Commit(t, s, map[string]string{"a.md": "1", "memories/2026/11/x.md": "2"})
	ok(t, s.CompareAndSet(repo.Main, plumbing.ZeroHash, h, "commit"))
	c, err := repo.ReadCommit(s, h)
	ok(t, err)
	e, err := repo.Lookup(s, c.Tree, "memories/2026/11/x.md")
	ok(t, err)
	b, err := repo.ReadBlob(s, e.Hash)
	ok(t, err)
	if string(b) != "2" {
		t.Errorf("got %q, want 2", b)
	}
}
