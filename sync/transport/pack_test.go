package transport

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// packOf makes git pack everything in a repository with many versions of one
// file, so that there are chains of deltas.
func packOf(t testing.TB, args ...string) (pack []byte, objects map[plumbing.Hash]bool) {
	t.Helper()
	isolate(t)
	f := newFixture(t)
	dir := f.bare
	var history strings.Builder
	for i := range 12 {
		text := strings.Repeat("a line that stays the same\n", 40) + fmt.Sprint(i, "\n") + strings.Repeat("and another\n", i)
		history.WriteString("commit " + mainRef + "\n" + stamp + fileCommand("a.md", text))
	}
	history.WriteString("tag v1\nfrom " + mainRef + "\ntagger A <a@example.org> 1700000000 +0000\ndata 3\ntag\n")
	if err := fastImport(dir, strings.Replace(history.String(), stamp, stamp+"from "+mainRef+"^0\n", 1)); err != nil {
		t.Fatal(err)
	}
	list := git(t, dir, "rev-list", "--objects", "--all", "--no-object-names")
	objects = map[plumbing.Hash]bool{}
	for id := range strings.FieldsSeq(list) {
		objects[plumbing.NewHash(id)] = true
	}
	cmd := exec.Command("git", append([]string{"pack-objects", "--stdout", "-q"}, args...)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(list+"\n")
	pack, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return pack, objects
}

func index(pack []byte, emit func(plumbing.ObjectType, []byte) error) (*indexer, error) {
	x := &indexer{pack: bytes.NewReader(pack), size: int64(len(pack)), emit: emit}
	_, err := x.run(contextForTests)
	return x, err
}

func TestIndexerReadsWhatGitPacks(t *testing.T) {
	for name, args := range map[string][]string{
		"whole objects": {"--window=0"}, "offset deltas": {"--delta-base-offset"}, "deltas by id": {}, "deep": {"--depth=50", "--window=50"},
	} {
		t.Run(name, func(t *testing.T) {
			pack, want := packOf(t, args...)
			kept := repo.NewMemory() // contents may be kept
			ids := map[plumbing.Hash]plumbing.ObjectType{}
			x, err := index(pack, func(typ plumbing.ObjectType, b []byte) error {
				h, err := kept.WriteObject(typ, b)
				ids[h] = typ
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			emitted := map[plumbing.Hash]bool{}
			for h, typ := range ids {
				_, b, err := kept.ReadObject(h)
				emitted[h] = err == nil && repo.ObjectHash(typ, b) == h
			}
			if len(x.entries) != len(want) || len(emitted) != len(want) {
				t.Errorf("got %d entries and %d contents, want %d", len(x.entries), len(emitted), len(want))
			}
			for i, e := range x.entries {
				if !want[e.hash] || !emitted[e.hash] {
					t.Errorf("object %s is not in the repository", e.hash)
				}
				if i > 0 && bytes.Compare(x.entries[i-1].hash[:], e.hash[:]) >= 0 {
					t.Error("entries are not sorted")
				}
			}
		})
	}
}

func TestIndexerFindsDamage(t *testing.T) {
	pack, _ := packOf(t, "--delta-base-offset")
	for i := 0; i < len(pack); i += 7 {
		bent := bytes.Clone(pack)
		bent[i] ^= 0x10
		if _, err := index(bent, nil); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d bent: got %v, want ErrCorrupt", i, err)
		}
		if _, err := index(pack[:i], nil); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at %d: got %v, want ErrCorrupt", i, err)
		}
	}
	if _, err := index(append(bytes.Clone(pack), 0), nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte too many: got %v", err)
	}
}

// sealed puts the checksum that belongs there at the end of a pack.
func sealed(pack []byte) []byte {
	sum := sha1.Sum(pack)
	return append(bytes.Clone(pack), sum[:]...)
}

func TestIndexerRefusesImpossiblePacks(t *testing.T) {
	head := func(n byte) string { return "PACK\x00\x00\x00\x02\x00\x00\x00" + string(n) }
	for name, body := range map[string]string{
		"count without objects": "PACK\x00\x00\x00\x02\xff\xff\xff\xff" + strings.Repeat("x", 100),
		"unknown version":       "PACK\x00\x00\x00\x09\x00\x00\x00\x01" + strings.Repeat("x", 100),
		"type 5":                head(1) + "\x50" + strings.Repeat("x", 100),
		"forged size":           head(1) + "\xbf\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" + strings.Repeat("x", 100),
		"delta before start":    head(1) + "\x60\x7f" + strings.Repeat("x", 100),
		"delta of itself":       head(1) + "\x60\x00" + strings.Repeat("x", 100),
	} {
		if _, err := index(sealed([]byte(body)), nil); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v, want ErrCorrupt", name, err)
		}
	}
}

func FuzzIndexer(f *testing.F) {
	m := repo.NewMemory()
	var list []plumbing.Hash
	for _, text := range []string{"a", "bb", strings.Repeat("c", 300)} {
		h, err := repo.WriteBlob(m, []byte(text))
		if err != nil {
			f.Fatal(err)
		}
		list = append(list, h)
	}
	var b bytes.Buffer
	if _, err := repo.EncodePack(&b, m, list); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes()[:b.Len()-packTrailer])
	f.Fuzz(func(t *testing.T, body []byte) {
		x, err := index(sealed(body), func(plumbing.ObjectType, []byte) error { return nil })
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("got %v", err)
		}
		if err == nil && x.resolved != len(x.entries) {
			t.Error("not all objects are resolved")
		}
	})
}

func FuzzApplyDelta(f *testing.F) {
	f.Add([]byte("hello world"), []byte{11, 5, 0x90, 5})
	f.Add([]byte("x"), []byte{1, 3, 3, 'a', 'b', 'c'})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		out, err := applyDelta(base, delta)
		if err != nil {
			return
		}
		size, rest, _ := deltaSize(delta)
		want, _, _ := deltaSize(rest)
		if size != len(base) || want != len(out) {
			t.Errorf("sizes %d and %d of a delta for %d and %d bytes", size, want, len(base), len(out))
		}
	})
}
