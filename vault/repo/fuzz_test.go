package repo

import (
	"bytes"
	"crypto/sha1"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// indexBytes is a small index of version 2 with a TREE extension.
func indexBytes() []byte {
	b := []byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x02")
	b = appendIndexEntry(b, "a.md", BlobHash([]byte("a")), modeRegular, fileStat{size: 1})
	b = appendIndexEntry(b, "m/b.md", BlobHash([]byte("b")), modeRegular, fileStat{size: 1})
	b = append(b, "TREE\x00\x00\x00\x0d\x00-1 1\nm\x00-1 0\n"...)
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

func FuzzIndex(f *testing.F) {
	f.Add(indexBytes())
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01"))
	dir := f.TempDir()
	g, err := Init(dir)
	if err != nil {
		f.Fatal(err)
	}
	defer g.Close()
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := parseIndex(b, false)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if _, err := g.writeSpliced(&out, x, []IndexChange{{Path: "m/c.md", Hash: BlobHash(nil)}, {Path: "a.md"}}); err != nil {
			return
		}
		y, err := parseIndex(out.Bytes(), true)
		if err != nil {
			t.Fatalf("what we wrote is broken: %v", err)
		}
		for e, err := range y.entries() {
			if err != nil {
				t.Fatalf("what we wrote is broken: %v", err)
			}
			if e.name == "a.md" {
				t.Fatal("a removed entry is there")
			}
		}
	})
}

func FuzzCommit(f *testing.F) {
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n" +
		"author A <a@b> 1700000000 +0130\ncommitter B <> 1 -0000\ngpgsig -----BEGIN\n x\n -----END\nencoding latin1\n\nsubject\n\nKey: value\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseCommit(b)
		if err != nil {
			return
		}
		c.Subject()
		c.Trailer("key")
		d, err := parseCommit(c.encode())
		if err != nil {
			t.Fatalf("%q: what we wrote is broken: %v", c.encode(), err)
		}
		if again := d.encode(); !bytes.Equal(again, c.encode()) {
			t.Fatalf("not stable: %q and %q", c.encode(), again)
		}
	})
}

func FuzzTree(f *testing.F) {
	f.Add(appendEntry(appendEntry(nil, TreeEntry{Name: "a", Mode: 0o100644}), TreeEntry{Name: "b", Mode: 0o40000}), []byte("100644 a\x0012345678901234567890"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		s := NewMemory()
		ha, _ := s.WriteObject(plumbing.TreeObject, a)
		hb, _ := s.WriteObject(plumbing.TreeObject, b)
		for _, err := range Diff(s, ha, hb) {
			if err != nil {
				return
			}
		}
		entries, err := ReadTree(s, ha)
		if err != nil {
			return
		}
		var again []byte
		for _, e := range entries {
			again = appendEntry(again, e)
		}
		if len(again) > len(a) { // modes may have lost leading zeros
			t.Fatalf("%q became %q", a, again)
		}
	})
}

func FuzzConfig(f *testing.F) {
	f.Add("[core]\n\tx = 1 # y\n[remote \"a\"]\nurl = b\n", "core.x", "value")
	f.Add("[a]b=c\\\n d\n[a \"B\"] e", "a.B.e", " ;")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		c, err := parseConfig(text)
		if err != nil {
			return
		}
		edited, err := c.set(key, value)
		if err != nil {
			return
		}
		d, err := parseConfig(edited)
		if err != nil {
			t.Fatalf("%q is broken after set: %q: %v", text, edited, err)
		}
		if got, ok := d.get(key); !ok || got != value {
			t.Fatalf("%q: set %s to %q, got %q from %q", text, key, value, got, edited)
		}
		same(t, c, d, key)
		unset, err := d.unset(key)
		if err != nil {
			t.Fatal(err)
		}
		e, err := parseConfig(unset)
		if err != nil {
			t.Fatalf("%q is broken after unset: %q: %v", edited, unset, err)
		}
		if v, ok := e.get(key); ok {
			t.Fatalf("%q: %s is still %q", unset, key, v)
		}
		same(t, c, e, key)
	})
}

// same fails unless a and b have the same variables but for key.
func same(t *testing.T, a, b *gitConfig, key string) {
	t.Helper()
	section, name, _ := configKey(key)
	list := func(c *gitConfig) string {
		var out []string
		for _, s := range c.sections {
			for _, v := range s.vars {
				if s.name != section || v.name != name {
					out = append(out, s.name+"\x00"+v.name+"\x00"+v.value)
				}
			}
		}
		return strings.Join(out, "\x01")
	}
	if list(a) != list(b) {
		t.Fatalf("other variables changed: %q became %q", a.text, b.text)
	}
}

func FuzzDelta(f *testing.F) {
	long := bytes.Repeat([]byte("some line of text\n"), 50)
	f.Add(long, append(bytes.Clone(long[100:]), long[:200]...))
	f.Fuzz(func(t *testing.T, base, target []byte) {
		got, err := applyDelta(base, makeDelta(base, target))
		if err != nil || !bytes.Equal(got, target) {
			t.Fatalf("%q to %q: got %q, %v", base, target, got, err)
		}
		applyDelta(base, target) // must not panic
	})
}

func FuzzPack(f *testing.F) {
	var pack bytes.Buffer
	s := NewMemory()
	h, _ := WriteBlob(s, []byte("hello"))
	if _, err := EncodePack(&pack, s, []plumbing.Hash{h}); err != nil {
		f.Fatal(err)
	}
	f.Add(pack.Bytes())
	path := filepath.Join(f.TempDir(), "pack")
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 20 { // else nothing gets past the checksum
			sum := sha1.Sum(b[:len(b)-20])
			copy(b[len(b)-20:], sum[:])
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		x := packIndexer{f: file, inf: newInflater()}
		if x.run() != nil {
			return
		}
		if err := writePackIndex(io.Discard, x.entries, x.sum); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzPackIndex(f *testing.F) {
	var idx bytes.Buffer
	if err := writePackIndex(&idx, []packEntry{{hash: BlobHash(nil), offset: 12}, {hash: BlobHash([]byte("x")), offset: 1 << 40}}, plumbing.ZeroHash); err != nil {
		f.Fatal(err)
	}
	f.Add(idx.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := openPackIndex(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		x.find(BlobHash(nil))
		x.all()
	})
}

func FuzzRefs(f *testing.F) {
	f.Add([]byte("# pack-refs with: peeled\n4b825dc642cb6eb9a060e54bf8d69288fbee4904 refs/heads/a\n^4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"), "refs/heads/a")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		parseRef(b)
		if CheckRefName(name) != nil {
			return
		}
		if !packedRefs(b).without(name).find(name).IsZero() {
			t.Fatalf("%q is still in %q", name, packedRefs(b).without(name))
		}
	})
}

func TestSignatures(t *testing.T) {
	for _, c := range []struct {
		in   Signature
		want string
	}{
		{Signature{"A", "a@b", time.Unix(5, 0).UTC()}, "A <a@b> 5 +0000"},
		{Signature{" .A<b>\nc,", "x>y", time.Unix(5, 0).In(time.FixedZone("", -5400))}, "Abc <xy> 5 -0130"},
		{Signature{"", "", time.Unix(-5, 0).UTC()}, "unknown <> 0 +0000"},
	} {
		if got := c.in.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	for in, want := range map[string]Signature{
		"A B <a@b> 1700000000 +0130":   {"A B", "a@b", time.Unix(1700000000, 0)},
		"no email at all":              {Name: "no email at all"},
		"A <a> b> 12 +0000":            {"A", "a> b", time.Unix(12, 0)},
		"A <a@b>":                      {Name: "A", Email: "a@b"},
		"A <a@b> 99999999999999999999": {Name: "A", Email: "a@b"},
		"A <a@b> 7 nonsense":           {"A", "a@b", time.Unix(7, 0)},
	} {
		got := parseSignature(in)
		if got.Name != want.Name || got.Email != want.Email || !got.When.Equal(want.When) {
			t.Errorf("%q: got %+v", in, got)
		}
	}
}
