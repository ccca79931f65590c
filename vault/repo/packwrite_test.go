package repo_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

func receive(t testing.TB, g *repo.GitDir, pack string) error {
	t.Helper()
	w, err := g.PackfileWriter()
	ok(t, err)
	_, err = io.Copy(w, iotest{strings.NewReader(pack)})
	ok(t, err)
	return w.Close()
}

// iotest hands out a few bytes at a time, as a network does.
type iotest struct{ r io.Reader }

func (r iotest) Read(b []byte) (int, error) { return r.r.Read(b[:min(len(b), 1013)]) }

func TestReceivePacks(t *testing.T) {
	t.Parallel()
	src, dir := packedHistory(t, growingFolder(t, 120))
	_, head, err := src.Head()
	ok(t, err)
	git(t, dir, "repack", "-adfq", "--depth=60") // so that there are deltas at all
	for _, args := range [][]string{{"--delta-base-offset"}, {}, {"--window=0"}, {"--depth=200", "--window=50"}} {
		pack := gitRaw(t, dir, head.String(), append([]string{"pack-objects", "--revs", "--stdout", "-q", "--no-reuse-delta"}, args...)...)
		g, other := initRepo(t)
		ok(t, receive(t, g, pack))
		ok(t, g.CompareAndSet(repo.Main, plumbing.ZeroHash, head, "fetched"))
		git(t, other, "reset", "-q", "--hard")
		clean(t, other)
		equal(t, "packs", len(packFiles(t, other)), 2)
		git(t, other, "verify-pack", packFiles(t, other)[0])
	}
}

func packFiles(t testing.TB, dir string) []string {
	t.Helper()
	names, err := os.ReadDir(filepath.Join(dir, ".git", "objects", "pack"))
	ok(t, err)
	var out []string
	for _, e := range names {
		out = append(out, filepath.Join(dir, ".git", "objects", "pack", e.Name()))
	}
	return out
}

func TestReceivedPacksAreChecked(t *testing.T) {
	t.Parallel()
	src, dir := packedHistory(t, growingFolder(t, 30))
	_, head, err := src.Head()
	ok(t, err)
	git(t, dir, "repack", "-adfq")
	sound := gitRaw(t, dir, head.String(), "pack-objects", "--revs", "--stdout", "-q")
	thin := gitRaw(t, dir, head.String()+"\n^"+git(t, dir, "rev-parse", "HEAD~2"), "pack-objects", "--revs", "--stdout", "-q", "--thin")
	g, other := initRepo(t)
	for what, pack := range map[string]string{
		"cut":      sound[:len(sound)-30],
		"flipped":  sound[:200] + string(sound[200]^1) + sound[201:],
		"more":     sound + "x",
		"no pack":  strings.Repeat("nothing of a pack ", 10),
		"count":    sound[:11] + string(sound[11]+1) + sound[12:],
		"version":  "PACK\x00\x00\x00\x07" + sound[8:],
		"thin":     thin,
		"few":      "PACK",
		"checksum": sound[:len(sound)-1] + string(sound[len(sound)-1]^1),
	} {
		if err := receive(t, g, pack); err == nil {
			t.Errorf("%s: was taken", what)
		}
		if left := packFiles(t, other); len(left) > 0 {
			t.Fatalf("%s: left %v", what, left)
		}
	}
	ok(t, receive(t, g, ""))
	ok(t, receive(t, g, "PACK\x00\x00\x00\x02\x00\x00\x00\x00\x02\x9d\x08\x82\x3b\xd8\xa8\xea\xb5\x10\xad\x6a\xc7\x5c\x82\x3c\xfd\x3e\xd3\x1e"))
	equal(t, "files of empty packs", len(packFiles(t, other)), 0)
	ok(t, receive(t, g, sound))
	ok(t, receive(t, g, sound)) // again
	equal(t, "files", len(packFiles(t, other)), 2)
}

// TestOrphanPack: a pack without an index, from an interrupted fetch, is not there.
func TestOrphanPack(t *testing.T) {
	t.Parallel()
	src, dir := packedHistory(t, growingFolder(t, 20))
	_, head, err := src.Head()
	ok(t, err)
	git(t, dir, "gc", "-q")
	ok(t, os.WriteFile(filepath.Join(dir, ".git", "objects", "pack", "pack-"+strings.Repeat("0", 40)+".pack"), []byte("PACK"), 0o600))
	ok(t, os.WriteFile(filepath.Join(dir, ".git", "objects", "pack", "tmp_pack_x"), nil, 0o600))
	g := openRepo(t, dir)
	_, err = repo.ReadCommit(g, head)
	ok(t, err)
	ok(t, os.WriteFile(filepath.Join(dir, ".git", "objects", "pack", "pack-"+strings.Repeat("0", 40)+".idx"), []byte("broken"), 0o600))
	g = openRepo(t, dir)
	warned := false
	g.Warn = func(string) { warned = true }
	_, err = repo.ReadCommit(g, head)
	ok(t, err)
	equal(t, "warned of the broken index", warned, true)
	for _, f := range packFiles(t, dir) {
		if strings.Contains(f, "0000000") || strings.Contains(f, "tmp_") {
			ok(t, os.Remove(f))
		}
	}
}

func TestAlternates(t *testing.T) {
	g, dir := initRepo(t)
	a := commit(t, g, map[string]string{"a.md": "a"})
	shared := filepath.Join(t.TempDir(), "shared")
	git(t, dir, "clone", "-q", "--shared", dir, shared)
	s := openRepo(t, shared)
	_, err := repo.ReadCommit(s, a)
	ok(t, err)
	commit(t, s, map[string]string{"b.md": "b"})
	clean(t, shared)
	_, err = s.PackLoose(t.Context(), repo.PackOptions{Loose: -1})
	ok(t, err)
	fsck(t, shared)
}
