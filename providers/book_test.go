package providers

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mem0", "receipts.jsonl")
	b := OpenBook(path)
	for _, e := range []*Entry{
		{ID: "m1", Version: "v1", Refs: []Ref{"r1", "r&2"}},
		{ID: "m2", Version: "v1", Refs: []Ref{"r3"}},
		{ID: "m1", Version: "v2", Refs: []Ref{"r4"}, Stale: []Ref{"r&2"}},
		{ID: "m2", Gone: true},
	} {
		if err := b.write(e); err != nil {
			t.Fatal(err)
		}
	}
	other := OpenBook(path) // another process
	for _, indexed := range []bool{false, true} {
		if indexed {
			other.Index()
		}
		for ref, want := range map[Ref]string{"r4": "m1 v2 true", "r&2": "m1 v2 true", "r1": "  false", "r3": "  false", "": "  false", "m1": "  false"} {
			id, version, ok := other.Lookup(ref)
			if got := fmt.Sprintf("%s %s %v", id, version, ok); got != want {
				t.Errorf("indexed %v: %s is %q, want %q", indexed, ref, got, want)
			}
		}
	}
	for range 2 * fewLooks {
		fresh := OpenBook(path)
		for id, want := range map[string]string{"m1": "v2 true", "m2": " false", "r4": " false"} {
			e, ok := fresh.Of(id)
			if got := fmt.Sprint(e.Version, " ", ok); got != want {
				t.Errorf("%s is %q, want %q", id, got, want)
			}
			if e, ok = other.Of(id); fmt.Sprint(e.Version, " ", ok) != want {
				t.Errorf("%s of a book that was read is %+v", id, e)
			}
		}
	}
	if err := b.write(&Entry{ID: "m3", Version: "v1", Refs: []Ref{"r5"}}); err != nil {
		t.Fatal(err)
	}
	if id, _, _ := other.Lookup("r5"); id != "m3" {
		t.Errorf("what came later is %q", id)
	}
	if err := b.write(&Entry{ID: "m3", Gone: true}); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := other.Lookup("r5"); ok {
		t.Error("what is gone is found")
	}
}

func TestTornBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "receipts.jsonl")
	b := OpenBook(path)
	if err := b.write(&Entry{ID: "m1", Version: "v1", Refs: []Ref{"r1"}}, &Entry{ID: "m2", Version: "v1"}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		b := OpenBook(path)
		if err := b.write(&Entry{ID: "m3", Version: "v1"}); err != nil {
			t.Fatal(err)
		}
		list, err := OpenBook(path).All()
		if err != nil || len(list) == 0 || list[len(list)-1].ID != "m3" {
			t.Fatalf("cut at %d: %v %v", cut, list, err)
		}
	}
	// A line that is damaged costs that line.
	damaged := append([]byte(nil), whole...)
	damaged[30] ^= 1
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := OpenBook(path).All(); err != nil || len(list) != 1 || list[0].ID != "m2" {
		t.Errorf("got %v %v", list, err)
	}
}

func TestBookIsCompacted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "receipts.jsonl")
	b := OpenBook(path)
	for i := range 3 * slackReceipts {
		if err := b.write(&Entry{ID: fmt.Sprint("m", i%5), Version: "v"}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := OpenBook(path).All()
	st, statErr := os.Stat(path)
	if err != nil || statErr != nil || len(list) != 5 || st.Size() > 100*slackReceipts {
		t.Errorf("%d entries, %v %v %v", len(list), st, err, statErr)
	}
}

// BenchmarkBook looks up one ref of 50,000, as a hook's process does.
func BenchmarkBook(b *testing.B) {
	path := filepath.Join(b.TempDir(), "receipts.jsonl")
	book := OpenBook(path)
	var list []*Entry
	for i := range 50_000 {
		list = append(list, &Entry{ID: fmt.Sprintf("01JDZ3M8Q4X0W3K2V7N5T%05d", i), Version: "6f3c2a119f3c2a119f3c2a119f3c2a119f3c2a11", Refs: []Ref{Ref(fmt.Sprintf("b2c6f6e0-0000-4000-8000-%012d", i))}})
	}
	if err := book.write(list...); err != nil {
		b.Fatal(err)
	}
	b.Run("grep", func(b *testing.B) {
		for b.Loop() {
			if _, _, ok := OpenBook(path).Lookup("b2c6f6e0-0000-4000-8000-000000004711"); !ok {
				b.Fatal("not found")
			}
		}
	})
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			if _, ok := OpenBook(path).Of("01JDZ3M8Q4X0W3K2V7N5T04711"); !ok {
				b.Fatal("not found")
			}
		}
	})
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			if list, err := OpenBook(path).All(); len(list) != 50_000 || err != nil {
				b.Fatal(err)
			}
		}
	})
}
