package repo_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"vademecum/vault/repo"
)

func TestPaths(t *testing.T) {
	for _, p := range []string{
		"", ".", "..", "/", "/etc/passwd", "a//b", "a/", "../x", "a/../b", "a/./b", "a\x00b",
		".git", ".git/config", "a/.git/x", ".GIT/config", ".Git", "git~1", "GIT~1/x", ".git ", ".git.", ".git. .", ".git::$INDEX_ALLOCATION",
		".g\u200cit/config", "\u206a.git", ".git\ufeff/x", ".gi\u200dT",
	} {
		if _, found := errors.AsType[*repo.PathError](repo.CheckPath(p)); !found {
			t.Errorf("%q is allowed", p)
		}
	}
	for _, p := range []string{"a", "memories/2026/11/데이터베이스-🔥.md", ".gitignore", ".gitattributes", "a/.vade/vault.yaml", "git", "x.git", "a b", ".github/x", "git~2"} {
		if err := repo.CheckPath(p); err != nil {
			t.Error(err)
		}
		if err := repo.CheckWritePath(p); err != nil {
			t.Error(err)
		}
	}
	for _, p := range []string{"con", "CON.md", "a/aux/b", "nul.txt.md", "com1", "lpt9.x", "COM¹", "a:b", "a?", "a*", "x.", "x /y", "a|b", `a"b`, "a<b", "conin$", "con .md", "a\nb", "a\tb", "\xff.md", `a\b`} {
		if err := repo.CheckPath(p); err != nil && (runtime.GOOS != "windows" || !strings.Contains(p, `\`)) {
			t.Errorf("reading: %v", err)
		}
		if _, found := errors.AsType[*repo.PathError](repo.CheckWritePath(p)); !found {
			t.Errorf("%q may be written", p)
		}
	}
}

func TestWriteFile(t *testing.T) {
	g, dir := initRepo(t)
	w := g.WorkTree()
	ok(t, w.WriteFile("a/b/c.md", []byte("one")))
	equal(t, "content", readFile(t, filepath.Join(dir, "a/b/c.md")), "one")
	for path, want := range map[string]fs.FileMode{"a": 0o700, "a/b": 0o700, "a/b/c.md": 0o600} {
		st, err := w.Stat(path)
		ok(t, err)
		equal(t, path, st.Mode().Perm(), want)
	}
	ok(t, os.Chmod(filepath.Join(dir, "a/b/c.md"), 0o644))
	ok(t, w.WriteFile("a/b/c.md", []byte("two")))
	st, err := w.Stat("a/b/c.md")
	ok(t, err)
	equal(t, "mode is kept", st.Mode().Perm(), fs.FileMode(0o644))
	b, err := w.ReadFile("a/b/c.md")
	ok(t, err)
	equal(t, "read", string(b), "two")
	for _, path := range []string{"a/b", "a/b/c.md/d", "../x", ".git/config"} {
		if err := w.WriteFile(path, nil); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	for _, path := range []string{"none", "none/none", "a/b/c.md/d"} {
		if _, err := w.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("read %s: %v", path, err)
		}
		ok(t, w.Remove(path))
	}
	if _, err := w.ReadFile("a"); err == nil {
		t.Error("read a folder")
	}
	ok(t, w.Remove("a"))
	ok(t, w.WriteFile("a/x.md", nil))
	ok(t, w.Remove("a/b/c.md"))
	names, err := os.ReadDir(filepath.Join(dir, "a"))
	ok(t, err)
	if len(names) != 1 || names[0].Name() != "x.md" {
		t.Errorf("left in a: %v", names)
	}
	ok(t, w.Remove("a/x.md"))
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
	clean(t, dir)
}

func TestWriteFiles(t *testing.T) {
	g, dir := initRepo(t)
	files := map[string][]byte{}
	for i := range 200 {
		files[fmt.Sprintf("m/%02d/%03d.md", i%7, i)] = fmt.Appendf(nil, "file %d", i)
	}
	ok(t, g.WorkTree().WriteFiles(t.Context(), maps.All(files), nil))
	for path, data := range files {
		equal(t, path, readFile(t, filepath.Join(dir, path)), string(data))
	}
}

func TestSymlinksAreRefused(t *testing.T) {
	g, dir := initRepo(t)
	w := g.WorkTree()
	outside := filepath.Join(t.TempDir(), "outside")
	writeFile(t, filepath.Join(outside, "secret.md"), "secret")
	writeFile(t, filepath.Join(dir, "real", "in.md"), "in")
	for link, target := range map[string]string{
		"out": outside, "file.md": filepath.Join(outside, "secret.md"), "inner": "real", "inner.md": "real/in.md", "dangling.md": "nowhere", "git": ".git",
	} {
		ok(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	for _, path := range []string{"out/secret.md", "file.md", "inner/in.md", "inner.md", "dangling.md", "git/config", "out/new/x.md"} {
		if _, err := w.ReadFile(path); !errors.Is(err, repo.ErrSymlink) {
			t.Errorf("read %s: %v", path, err)
		}
		if _, err := w.Stat(path); !errors.Is(err, repo.ErrSymlink) {
			t.Errorf("stat %s: %v", path, err)
		}
		if err := w.WriteFile(path, []byte("x")); !errors.Is(err, repo.ErrSymlink) {
			t.Errorf("write %s: %v", path, err)
		}
		if err := w.Remove(path); !errors.Is(err, repo.ErrSymlink) {
			t.Errorf("remove %s: %v", path, err)
		}
	}
	equal(t, "secret", readFile(t, filepath.Join(outside, "secret.md")), "secret")
	equal(t, "in", readFile(t, filepath.Join(dir, "real", "in.md")), "in")
	ok(t, os.RemoveAll(filepath.Join(dir, "real")))
}

// TestReadFileOnEverySystem: the way through os.Root, which other systems take,
// answers as the short way does.
func TestReadFileOnEverySystem(t *testing.T) {
	g, dir := initRepo(t)
	w := g.WorkTree()
	ok(t, w.WriteFile("a/b.md", []byte(strings.Repeat("x", 5000))))
	ok(t, w.WriteFile("empty.md", nil))
	ok(t, os.Symlink("a", filepath.Join(dir, "link")))
	ok(t, os.Symlink("a/b.md", filepath.Join(dir, "link.md")))
	for _, p := range []string{"a/b.md", "empty.md", "a", "none", "a/none", "a/b.md/c", "link/b.md", "link.md", "link/none", "none/none"} {
		b, err := w.ReadFile(p)
		b2, err2 := repo.ReadThroughRoot(w, p)
		equal(t, p, string(b), string(b2))
		equal(t, p+": error", err == nil, err2 == nil)
		for _, is := range []error{fs.ErrNotExist, repo.ErrSymlink} {
			equal(t, fmt.Sprintf("%s: %v", p, is), errors.Is(err, is), errors.Is(err2, is))
		}
		_, bad := errors.AsType[*repo.PathError](err)
		_, bad2 := errors.AsType[*repo.PathError](err2)
		equal(t, p+": PathError", bad, bad2)
	}
	ok(t, os.Remove(filepath.Join(dir, "link")))
	ok(t, os.Remove(filepath.Join(dir, "link.md")))
}

func BenchmarkReadFile(b *testing.B) {
	g, _ := bigVault(b, 1000)
	for name, read := range map[string]func(string) ([]byte, error){
		"beneath": g.WorkTree().ReadFile,
		"root":    func(p string) ([]byte, error) { return repo.ReadThroughRoot(g.WorkTree(), p) },
	} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				_, err := read(notePath(i % 1000))
				ok(b, err)
			}
		})
	}
}

// TestFoldersPrunedWhileWriting: one removes the last file of a folder while
// another writes into it.
func TestFoldersPrunedWhileWriting(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	other := openRepo(t, dir)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 60 {
			if err := g.WorkTree().WriteFile("d/e/a.md", []byte("a")); err != nil {
				t.Error(err)
			}
			if err := g.WorkTree().Remove("d/e/a.md"); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		for range 60 {
			if err := other.WorkTree().WriteFile("d/e/b.md", []byte("b")); err != nil {
				t.Error(err)
			}
			if err := other.WorkTree().Remove("d/e/b.md"); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	names, err := os.ReadDir(dir)
	ok(t, err)
	left := slices.DeleteFunc(names, func(e os.DirEntry) bool { return e.Name() == ".git" })
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestFailedWritesLeaveNothing: no temporary files, and no file of the batch that failed.
func TestFailedWritesLeaveNothing(t *testing.T) {
	g, dir := initRepo(t)
	writeFile(t, filepath.Join(dir, "file"), "x")
	err := g.WorkTree().WriteFiles(t.Context(), func(yield func(string, []byte) bool) {
		_ = yield("a.md", []byte("a")) && yield("file/below.md", []byte("b")) && yield("c.md", nil)
	}, nil)
	if err == nil {
		t.Error("wrote below a file")
	}
	r := scan(t, g, nil)
	equal(t, "temporary files", len(r.Temps), 0)
	equal(t, "files", len(r.Files), 1)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := g.WorkTree().WriteFiles(ctx, maps.All(map[string][]byte{"x.md": nil}), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ok(t, os.Remove(filepath.Join(dir, "file")))
}

// TestWriteFileIsAtomic: a reader sees the old or the new content.
func TestWriteFileIsAtomic(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	contents := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 50_000)}
	ok(t, g.WorkTree().WriteFile("x.md", []byte(contents[0])))
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		for i := range 100 {
			if err := g.WorkTree().WriteFile("x.md", []byte(contents[i%2])); err != nil {
				t.Error(err)
			}
		}
	})
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		b, err := os.ReadFile(filepath.Join(dir, "x.md"))
		if err != nil || !slices.Contains(contents, string(b)) {
			t.Fatalf("read %d bytes, %v", len(b), err)
		}
	}
	wg.Wait()
	ok(t, g.WorkTree().Remove("x.md"))
}
