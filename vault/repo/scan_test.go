package repo_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vademecum/vault/repo"
)

// summary renders what a scan found: "path" unchanged, "path M" modified, "path ?"
// untracked.
func summary(t testing.TB, dir string, r *repo.ScanResult) []string {
	t.Helper()
	var out []string
	for _, f := range r.Files {
		b := readFile(t, filepath.Join(dir, filepath.FromSlash(f.Path)))
		equal(t, "hash of "+f.Path, f.Hash, repo.BlobHash([]byte(b)))
		equal(t, "size of "+f.Path, f.Size, int64(len(b)))
		switch {
		case f.IndexHash.IsZero():
			out = append(out, f.Path+" ?")
		case f.IndexHash != f.Hash:
			out = append(out, f.Path+" M")
		default:
			out = append(out, f.Path)
		}
	}
	for _, m := range r.Missing {
		out = append(out, m.Path+" D")
	}
	for _, u := range r.Unreadable {
		out = append(out, u.Path+" X")
	}
	for _, p := range r.Temps {
		out = append(out, p+" T")
	}
	if !slices.IsSortedFunc(r.Files, func(a, b repo.ScanFile) int { return strings.Compare(a.Path, b.Path) }) {
		t.Error("files are not sorted")
	}
	slices.Sort(out)
	return out
}

func scan(t testing.TB, g *repo.GitDir, filter func(string, bool) bool) *repo.ScanResult {
	t.Helper()
	r, err := g.Scan(t.Context(), repo.ScanOptions{Filter: filter})
	ok(t, err)
	return r
}

func wantScan(t testing.TB, g *repo.GitDir, filter func(string, bool) bool, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, summary(t, g.WorkTree().Path(), scan(t, g, filter))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestScan(t *testing.T) {
	g, dir := initRepo(t)
	wantScan(t, g, nil)
	files := map[string]string{}
	for _, p := range []string{"a.md", "m/1/a.md", "m/1/b.md", "m/1/c.md", "m.md", "m0", "z/x.md"} {
		files[p] = "content of " + p
	}
	commit(t, g, files)
	all := []string{"a.md", "m.md", "m/1/a.md", "m/1/b.md", "m/1/c.md", "m0", "z/x.md"}
	wantScan(t, g, nil, all...)
	git(t, dir, "status")
	wantScan(t, g, nil, all...)

	writeFile(t, filepath.Join(dir, "m/1/b.md"), "changed")
	writeFile(t, filepath.Join(dir, "m/1/bb.md"), "new")
	ok(t, os.Remove(filepath.Join(dir, "m/1/c.md")))
	ok(t, os.RemoveAll(filepath.Join(dir, "z")))
	writeFile(t, filepath.Join(dir, "m/.vade-tmp-abc"), "litter")
	wantScan(t, g, nil, "a.md", "m.md", "m/.vade-tmp-abc T", "m/1/a.md", "m/1/b.md M", "m/1/bb.md ?", "m/1/c.md D", "m0", "z/x.md D")
	filter := func(path string, dir bool) bool { return dir && path != "z" || strings.HasSuffix(path, ".md") && !dir }
	wantScan(t, g, filter, "a.md", "m.md", "m/.vade-tmp-abc T", "m/1/a.md", "m/1/b.md M", "m/1/bb.md ?", "m/1/c.md D")
}

// TestScanSeesEveryTrick: changes that keep the size, and times that were put back.
func TestScanSeesEveryTrick(t *testing.T) {
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "aaaa", "b.md": "bbbb", "c.md": "cccc", "d.md": "dddd", "e.md": "eeee"})
	path := func(name string) string { return filepath.Join(dir, name) }
	at := func(name string) time.Time {
		st, err := os.Stat(path(name))
		ok(t, err)
		return st.ModTime()
	}
	when := at("a.md")
	writeFile(t, path("a.md"), "AAAA") // the same size
	ok(t, os.Chtimes(path("a.md"), when, when))

	ok(t, os.Rename(path("b.md"), path("tmp"))) // swapped, with their own times
	ok(t, os.Rename(path("c.md"), path("b.md")))
	ok(t, os.Rename(path("tmp"), path("c.md")))

	when = at("d.md")
	writeFile(t, path("d2"), "DDDD")
	ok(t, os.Chtimes(path("d2"), when, when)) // touch -r
	ok(t, os.Rename(path("d2"), path("d.md")))
	wantScan(t, g, nil, "a.md M", "b.md M", "c.md M", "d.md M", "e.md")
}

// TestScanRehashesRacyFiles: a file as young as the index is read, whatever its
// times say.
func TestScanRehashesRacyFiles(t *testing.T) {
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "aaaa"})
	ok(t, g.SetConfig("core.trustctime", "false"))
	path := filepath.Join(dir, "a.md")
	st, err := os.Stat(path)
	ok(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	ok(t, err)
	fmt.Fprint(f, "AAAA")
	f.Close()
	for _, index := range []time.Time{st.ModTime(), st.ModTime().Add(-time.Second)} {
		ok(t, os.Chtimes(path, st.ModTime(), st.ModTime()))
		ok(t, os.Chtimes(filepath.Join(dir, ".git", "index"), index, index))
		wantScan(t, g, nil, "a.md M")
	}
}

func TestScanSkipsAndReports(t *testing.T) {
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "a", "l/x.md": "x", "l/y.md": "y", "ln.md": "n", "u/v.md": "v", "u/w/z.md": "z", "uu.md": "u"})
	ok(t, os.RemoveAll(filepath.Join(dir, "l")))
	ok(t, os.Symlink(t.TempDir(), filepath.Join(dir, "l")))
	ok(t, os.Remove(filepath.Join(dir, "ln.md")))
	ok(t, os.Symlink("a.md", filepath.Join(dir, "ln.md")))
	ok(t, os.Symlink("a.md", filepath.Join(dir, "untracked-link.md")))
	git(t, dir, "init", "-q", "nested")
	writeFile(t, filepath.Join(dir, "nested", "n.md"), "n")
	writeFile(t, filepath.Join(dir, "node_modules", "pkg", "README.md"), "n")
	want := []string{"a.md", "l/x.md X", "l/y.md X", "ln.md X", "u/v.md", "u/w/z.md", "uu.md"}
	wantScan(t, g, nil, want...)
	for _, u := range scan(t, g, nil).Unreadable {
		if !errors.Is(u.Err, repo.ErrSymlink) {
			t.Errorf("%s: %v", u.Path, u.Err)
		}
	}
	ok(t, os.RemoveAll(filepath.Join(dir, "nested")))
}

func TestScanOfUnreadableFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders have no such mode")
	}
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "a", "u/v.md": "v", "u/w/z.md": "z", "u.md": "u", "ux/y.md": "y"})
	writeFile(t, filepath.Join(dir, "ux", "secret.md"), "untracked and unreadable")
	ok(t, os.Chmod(filepath.Join(dir, "u"), 0))
	ok(t, os.Chmod(filepath.Join(dir, "ux", "secret.md"), 0))
	defer os.Chmod(filepath.Join(dir, "u"), 0o700)
	var r *repo.ScanResult
	asNobody(t, dir, func() { r = scan(t, g, nil) })
	var got []string
	for _, u := range r.Unreadable {
		got = append(got, u.Path)
		if !errors.Is(u.Err, fs.ErrPermission) {
			t.Errorf("%s: %v", u.Path, u.Err)
		}
	}
	if diff := cmp.Diff([]string{"u", "u/v.md", "u/w/z.md", "ux/secret.md"}, got); diff != "" {
		t.Errorf("unreadable: -want +got\n%s", diff)
	}
	if len(r.Missing) > 0 || len(r.Files) != 3 {
		t.Errorf("got %+v", r)
	}
}

// TestScanAgainstGit compares with git status after random changes.
func TestScanAgainstGit(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	name := func() string {
		parts := []string{"a", "a.b", "a-b", "b", "c", "a0"}
		var p strings.Builder
		p.WriteString(parts[rnd.IntN(len(parts))])
		for range rnd.IntN(3) {
			p.WriteString("/" + parts[rnd.IntN(len(parts))])
		}
		return p.String() + ".md"
	}
	for range 12 {
		files := map[string]string{}
		for range 10 {
			files[name()] = fmt.Sprint(rnd.IntN(4))
		}
		commit(t, g, files)
		clean(t, dir)
		for range 8 {
			p := filepath.Join(dir, name())
			switch rnd.IntN(3) {
			case 0:
				os.Remove(p)
			case 1:
				writeFile(t, p, fmt.Sprint(rnd.IntN(4)))
			default:
				if b, err := os.ReadFile(p); err == nil {
					writeFile(t, p, string(b))
				}
			}
		}
		var want []string
		for line := range strings.Lines(git(t, dir, "status", "--porcelain", "-uall", "--no-renames") + "\n") {
			line = strings.TrimRight(line, "\n")
			if line == "" {
				continue
			}
			want = append(want, line[3:]+" "+strings.Trim(line[:2], " ")[:1])
		}
		slices.Sort(want)
		got := slices.DeleteFunc(summary(t, dir, scan(t, g, nil)), func(s string) bool { return strings.HasSuffix(s, ".md") })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-git status +scan\n%s", diff)
		}
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-q", "--allow-empty", "-m", "by hand")
	}
}

func TestScanRefusesSplitIndex(t *testing.T) {
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"a.md": "a"})
	git(t, dir, "update-index", "--split-index")
	_, err := g.Scan(t.Context(), repo.ScanOptions{})
	if _, found := errors.AsType[*repo.UnsupportedError](err); !found {
		t.Errorf("got %v", err)
	}
}
