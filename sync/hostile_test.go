package sync_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"vademecum/sync"
	"vademecum/vault"
)

// pair is two hosts on one remote, in step.
func pair(t *testing.T) (a, b *host) {
	t.Helper()
	remote := bareRemote(t)
	a, b = newHost(t, "A", 1), newHost(t, "B", 2)
	a.remember("Seed", "the seed")
	if _, err := sync.SetRemote(t.Context(), a.vault(), remote); err != nil {
		t.Fatal(err)
	}
	a.sync()
	b.clone(remote)
	return a, b
}

func (h *host) write(path, text string) {
	h.t.Helper()
	file := filepath.Join(h.dir(), filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// pull moves h to where other is, which is ahead, and adopts nothing before.
func (h *host) pull(other *host) []vault.Unwritten {
	h.t.Helper()
	git(h.t, h.dir(), "fetch", "-q", "origin", "main")
	left, err := h.vault().Advance(h.t.Context(), h.main(), other.main(), "pull")
	if err != nil {
		h.t.Fatal(err)
	}
	return left
}

func (h *host) main() plumbing.Hash { return plumbing.NewHash(git(h.t, h.dir(), "rev-parse", "main")) }

func (h *host) remove(path string) {
	h.t.Helper()
	if err := os.RemoveAll(filepath.Join(h.dir(), path)); err != nil {
		h.t.Fatal(err)
	}
}

// bodies are the texts of all memories that the host recalls from, by path.
func (h *host) bodies() map[string]string {
	h.t.Helper()
	s, err := h.vault().Snapshot(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	texts := map[string]string{}
	for i := range s.Len() {
		path, _ := s.Key(i)
		m, err := s.Memory(i)
		if err != nil {
			h.t.Fatal(err)
		}
		texts[path] = m.Body
	}
	return texts
}

func (h *host) wantText(text string) {
	h.t.Helper()
	for _, body := range h.bodies() {
		if strings.Contains(body, text) {
			return
		}
	}
	h.t.Errorf("%s lost %q; it has %q", h.name, text, h.bodies())
}

// settle syncs until nothing is left to do and checks that both hosts and git
// agree.
func settle(t *testing.T, hosts ...*host) {
	t.Helper()
	for range 3 {
		for _, h := range hosts {
			h.sync()
		}
	}
	for _, h := range hosts {
		if r := h.sync(); !r.Nothing() || len(r.Left) > 0 {
			t.Errorf("%s is not quiet: %+v", h.name, r)
		}
		if one, two := hosts[0].main(), h.main(); one != two {
			t.Errorf("%s is at %s, %s at %s", hosts[0].name, one, h.name, two)
		}
	}
	check(t, hosts...)
}

func TestOddNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems refuse some of these names")
	}
	names := []string{
		"con.md", "nul.md", "COM1.md", "aux/x.md", "a:b.md", "what?.md", "a*b.md", "trail .md", "dir./x.md",
		"tab\there.md", "nl\nname.md", "bad\xff.md", `back\slash.md`, "-dash.md", "e\u0301.md", strings.Repeat("x", 250) + ".md",
	}
	a, b := pair(t)
	for i, name := range names {
		a.write(name, "text of "+name+"\n")
		if i%2 == 0 {
			git(t, a.dir(), "add", "-A")
			git(t, a.dir(), "commit", "-qm", "human")
		}
		a.remember("More", "after "+name)
		if r := a.sync(); len(r.Left) > 0 {
			t.Errorf("%q is left alone: %v", name, r.Left)
		}
		if a.bodies()[name] == "" {
			t.Errorf("%q is not recalled", name)
		}
		tag := vault.Edit{AddTags: []string{"odd"}}
		if name != "bad\xff.md" && !strings.ContainsAny(name, "\\\t\n") { // which no REF can name
			if _, err := a.vault().Edit(t.Context(), vault.Ref(name), tag); err != nil {
				t.Errorf("edit %q: %v", name, err)
			}
		}
		b.sync()
		if b.bodies()[name] == "" {
			t.Errorf("%q did not come over", name)
		}
	}
	settle(t, a, b)
	for _, name := range names {
		b.remove(name)
	}
	settle(t, b, a)
	if n := len(a.bodies()); n != len(names)+1 {
		t.Errorf("%d memories are left", n)
	}
}

// TestFileAgainstFolder: one name is a file on one host and a folder on the other.
func TestFileAgainstFolder(t *testing.T) {
	tests := map[string]func(t *testing.T, a, b *host){
		"both committed": func(_ *testing.T, a, b *host) {
			a.write("thing.md", "the file\n")
			b.write("thing.md/inner.md", "the inner\n")
		},
		"a folder becomes a file": func(_ *testing.T, a, b *host) {
			a.write("thing.md/inner.md", "old inner\n")
			a.sync()
			b.sync()
			b.remove("thing.md")
			b.write("thing.md", "the file\nthe inner\n")
		},
		"a file becomes a folder": func(_ *testing.T, a, b *host) {
			a.write("thing.md", "old file\n")
			a.sync()
			b.sync()
			b.remove("thing.md")
			b.write("thing.md/inner.md", "the file\nthe inner\n")
			a.sync()
		},
		"an empty folder is in the way": func(t *testing.T, a, b *host) {
			a.write("thing.md", "the file\nthe inner\n")
			a.sync()
			if err := os.MkdirAll(filepath.Join(b.dir(), "thing.md", "deeper"), 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"a fresh folder is in the way": func(t *testing.T, a, b *host) {
			a.write("thing.md", "the file\n")
			a.sync()
			b.write("thing.md/inner.md", "the inner\n")
			if left := b.pull(a); len(left) != 1 || left[0].Path != "thing.md" {
				t.Errorf("unwritten: %v", left)
			}
			b.remember("Meanwhile", "written meanwhile")
			b.wantText("the file")
			b.wantText("the inner")
		},
		"a fresh file is in the way": func(t *testing.T, a, b *host) {
			a.write("thing.md/inner.md", "the inner\n")
			a.sync()
			b.write("thing.md", "the file\n")
			if left := b.pull(a); len(left) != 1 || left[0].Path != "thing.md/inner.md" {
				t.Errorf("unwritten: %v", left)
			}
			b.remember("Meanwhile", "written meanwhile")
			b.wantText("the file")
			b.wantText("the inner")
		},
		"a link is in the way": func(t *testing.T, a, b *host) {
			a.write("thing.md", "the file\nthe inner\n")
			a.sync()
			link := filepath.Join(b.dir(), "thing.md")
			if err := os.Symlink("nowhere", link); err != nil {
				t.Skip(err)
			}
			for range 2 {
				b.sync()
				b.wantText("the file")
			}
			b.remember("Meanwhile", "written meanwhile")
			a.write("thing.md", "the file\nthe inner\nlonger\n")
			a.sync()
			b.sync()
			b.wantText("longer")
			if to, err := os.Readlink(link); err != nil || to != "nowhere" {
				t.Errorf("the link is %q, %v", to, err)
			}
			b.remove("thing.md")
		},
		"killed before the folder was in the way": func(t *testing.T, a, b *host) {
			a.write("thing.md", "the file\n")
			a.sync()
			git(t, b.dir(), "fetch", "-q", "origin", "main")
			marker := filepath.Join(b.dir(), ".git", "vade", "advance")
			if err := os.MkdirAll(filepath.Dir(marker), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(marker, fmt.Appendf(nil, "%s %s sync: pull\n", b.main(), a.main()), 0o600); err != nil {
				t.Fatal(err)
			}
			b.write("thing.md/inner.md", "the inner\n")
			b.remember("Meanwhile", "written meanwhile")
			b.wantText("the file")
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			prepare(t, a, b)
			settle(t, a, b)
			for _, h := range []*host{a, b} {
				h.wantText("the file")
				h.wantText("the inner")
			}
		})
	}
}

// TestStagedFolderIsNoStagedFile: git's index has a folder where the remote's new
// file goes, which is nobody's staged work.
func TestStagedFolderIsNoStagedFile(t *testing.T) {
	a, b := pair(t)
	a.write("thing.md/inner.md", "the inner\n")
	settle(t, a, b)
	a.remove("thing.md")
	a.write("thing.md", "the file\n")
	a.sync()
	if r := b.sync(); len(r.Left) > 0 {
		t.Errorf("left: %v", r.Left)
	}
	settle(t, a, b)
	b.wantText("the file")
}

// TestFreshFileAgainstPulled: a file that nobody committed yet lies where the
// remote brings another one.
func TestFreshFileAgainstPulled(t *testing.T) {
	const header = "---\nid: 01M8NQFKYG1R7HD9JQN5AQJBAK\ntitle: Note\n---\n"
	tests := map[string]struct {
		path, ours, theirs string
		then               func(t *testing.T, b *host)
	}{
		"two memories":        {path: "Note.md", ours: "our words\n", theirs: "their words\n"},
		"one memory":          {path: "Note.md", ours: header + "our words\n", theirs: header + "their words\n"},
		"memories with ids":   {path: "Note.md", ours: header + "our words\n", theirs: strings.Replace(header, "01M8", "01M7", 1) + "their words\n"},
		"texts":               {path: "files/a.txt", ours: "our words\n", theirs: "their words\n"},
		"a list of patterns":  {path: ".gitignore", ours: "# our words\n", theirs: "# their words\n"},
		"a text appended to":  {path: "files/a.txt", ours: "our words\n", theirs: "their words\n", then: appendMore},
		"a memory and a edit": {path: "Note.md", ours: "our words\n", theirs: "their words\n", then: editMore},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			if old, err := os.ReadFile(filepath.Join(a.dir(), tt.path)); err == nil {
				tt.ours, tt.theirs = string(old)+tt.ours, string(old)+tt.theirs
			}
			a.write(tt.path, tt.theirs)
			a.sync()
			b.write(tt.path, tt.ours)
			b.pull(a)
			more := ""
			if tt.then != nil {
				tt.then(t, b)
				more = "more words"
			}
			settle(t, b, a)
			for _, h := range []*host{a, b} {
				for _, words := range []string{"our words", "their words", more} {
					if !strings.Contains(h.text(), words) {
						t.Errorf("%s lost %q:\n%s", h.name, words, h.text())
					}
				}
			}
		})
	}
}

func appendMore(t *testing.T, b *host) {
	r, err := b.vault().AppendFile(t.Context(), "a.txt", []byte("more words\n"), vault.Precondition{})
	if err != nil || len(r.Warnings) == 0 {
		t.Errorf("append: %+v, %v", r, err)
	}
	b.remember("Meanwhile", "written meanwhile")
}

func editMore(t *testing.T, b *host) {
	body := "our words\nmore words\n"
	r, err := b.vault().Edit(t.Context(), "Note.md", vault.Edit{Body: &body})
	if err != nil || len(r.Warnings) == 0 {
		t.Errorf("edit: %+v, %v", r, err)
	}
	b.remember("Meanwhile", "written meanwhile")
}

// TestBuriedCopyInTheWay: the old copy of a forgotten memory lies where the remote
// brings another file. It stays buried and hides nothing.
func TestBuriedCopyInTheWay(t *testing.T) {
	a, b := pair(t)
	seed := b.memories()[0]
	data, err := os.ReadFile(filepath.Join(b.dir(), seed))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.vault().Forget(t.Context(), vault.Ref(seed), ""); err != nil {
		t.Fatal(err)
	}
	settle(t, b, a)
	b.write("copies/c4.md", string(data))
	a.write("copies/c4.md", "their words\n")
	a.sync()
	if r := b.sync(); len(r.Left) != 1 {
		t.Errorf("left: %v", r.Left)
	}
	for range 2 {
		r := b.sync()
		if len(r.Left) != 1 || !strings.HasPrefix(r.Left[0].Path, "copies/c4-") {
			t.Errorf("left: %v", r.Left)
		}
	}
	a.sync()
	for _, h := range []*host{a, b} {
		if got := h.bodies(); len(got) != 1 || got["copies/c4.md"] != "their words\n" {
			t.Errorf("%s has %q", h.name, got)
		}
	}
}

// TestSwappedNames: a human gives two notes each other's names. Their old versions
// under these names are no reason to take one for a stale buffer.
func TestSwappedNames(t *testing.T) {
	a, b := pair(t)
	a.write("one.md", "first\nthird words\nfourth words\nfifth words\n")
	settle(t, a, b)
	a.write("two.md", "twentieth\nthird words\nfourth words\nfifth words\n")
	a.sync()
	b.write("one.md", "first\neighteenth\nthirteenth\nfourteenth\n")
	settle(t, b, a)
	for _, step := range [][2]string{{"one.md", "x.tmp"}, {"two.md", "one.md"}, {"x.tmp", "two.md"}} {
		if err := os.Rename(filepath.Join(a.dir(), step[0]), filepath.Join(a.dir(), step[1])); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, a, b)
	if got := b.bodies(); !strings.Contains(got["one.md"], "third words") || !strings.Contains(got["two.md"], "thirteenth") {
		t.Errorf("got %q", got)
	}
}

func TestRoundWithoutVault(t *testing.T) {
	if r := newHost(t, "A", 1).sync(); !r.Nothing() {
		t.Errorf("got %+v", r)
	}
}

// TestCloneSweeps: what a killed clone left is gone after the next one; a clone
// that runs is left alone.
func TestCloneSweeps(t *testing.T) {
	a, _ := pair(t)
	c := newHost(t, "C", 3)
	for _, name := range []string{".clone-dead", ".clone-alive"} {
		if err := os.MkdirAll(filepath.Join(c.home, name, "vault"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(c.home, ".clone-dead.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	unlock, err := vault.LockPath(t.Context(), filepath.Join(c.home, ".clone-alive.lock"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	c.clone(git(t, a.dir(), "config", "remote.origin.url"))
	var names []string
	entries, err := os.ReadDir(c.home)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".clone-alive.lock.next" {
			names = append(names, e.Name())
		}
	}
	if diff := cmp.Diff([]string{".clone-alive", ".clone-alive.lock", "todd"}, names); diff != "" {
		t.Error(diff)
	}
}
