package vault

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// keys are the paths and versions of s.
func keys(s *Snapshot) map[string]string {
	m := map[string]string{}
	for i := range s.Len() {
		path, blob := s.Key(i)
		m[path] = blob.String()
	}
	return m
}

func TestRecentIsTheLastLook(t *testing.T) {
	v, err := Open(Options{Dir: t.TempDir(), Identity: "todd"})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	put := func(text string) Receipt {
		r, err := v.Put(t.Context(), Draft{Memory: Memory{Body: text}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, two := put("one is here"), put("two is here")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(v.WorkDir(), filepath.FromSlash(path)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look := func() *Snapshot {
		t.Helper()
		s, err := v.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.NoteLook()
		return s
	}
	recent := func(age time.Duration) map[string]string {
		t.Helper()
		s, err := v.Recent(t.Context(), age)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Len() {
			if _, err := s.Meta(i); err != nil {
				t.Error(err)
			}
		}
		return keys(s)
	}

	s := look()
	v.writeCatalogOf(s)
	s = look() // now the catalog has both
	write("memories/three.md", "three is here")
	write(two.Path, "two was edited")
	if err := os.Remove(filepath.Join(v.WorkDir(), filepath.FromSlash(one.Path))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keys(s), recent(time.Hour)); diff != "" {
		t.Errorf("a recent look is not what it was (-want +got):\n%s", diff)
	}
	edited := look()
	if edited.Len() != 2 {
		t.Fatalf("%d entries", edited.Len())
	}
	if v.recent(time.Hour) == nil {
		t.Fatal("the look was not noted")
	}
	if diff := cmp.Diff(keys(edited), recent(time.Hour)); diff != "" {
		t.Errorf("differences from the catalog are lost (-want +got):\n%s", diff)
	}
	write("memories/four.md", "four is here")
	if got := recent(0); len(got) != 3 {
		t.Errorf("an old look is trusted: %v", got)
	}
	put("five is here")
	if v.recent(time.Hour) != nil {
		t.Error("a look from before a commit is trusted")
	}
	look()
	if err := v.DropCatalog(); err != nil {
		t.Fatal(err)
	}
	if v.recent(time.Hour) != nil {
		t.Error("a look beside another catalog is trusted")
	}
	if got := recent(time.Hour); len(got) != 4 {
		t.Errorf("%d memories", len(got))
	}
}
