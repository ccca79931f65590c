package sync_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vademecum/sync"
	"vademecum/vault"
)

// host is one clone of the vault of "todd", with a clock of its own that is
// some minutes off.
type host struct {
	t    *testing.T
	name string
	home string
	skew time.Duration
	rng  *rand.Rand

	clock   func() time.Time // nil is the real one
	entropy io.Reader        // nil is the system's
}

func newHost(t *testing.T, name string, seed uint64) *host {
	return &host{
		t: t, name: name, home: filepath.Join(t.TempDir(), name),
		skew: time.Duration(seed%7) * time.Minute, rng: rand.New(rand.NewPCG(seed, 1)),
	}
}

// vault opens the host's vault for one command, as the command line does.
func (h *host) vault() *vault.Vault {
	h.t.Helper()
	now := time.Now
	if h.clock != nil {
		now = h.clock
	}
	v, err := vault.Open(vault.Options{
		Dir: filepath.Join(h.home, "todd"), Identity: "todd", Origin: vault.Origin{Host: h.name},
		Now: func() time.Time { return now().Add(h.skew) }, Entropy: h.entropy,
		Warn: func(msg string) { h.t.Logf("%s: %s", h.name, msg) },
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { v.Close() })
	return v
}

func (h *host) dir() string { return filepath.Join(h.home, "todd", "vault") }

func (h *host) sync() sync.Report { return h.round(sync.Options{Still: time.Nanosecond}) }

// syncCommitted leaves what is on disk.
func (h *host) syncCommitted() sync.Report { return h.round(sync.Options{Committed: true}) }

func (h *host) round(o sync.Options) sync.Report {
	h.t.Helper()
	r, err := sync.Round(h.t.Context(), h.vault(), o)
	if err != nil {
		h.t.Fatalf("%s: sync: %v", h.name, err)
	}
	return r
}

func (h *host) clone(remote string) {
	h.t.Helper()
	if _, err := sync.Clone(h.t.Context(), remote, h.home, sync.CloneOptions{}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) remember(title, body string) vault.Receipt {
	h.t.Helper()
	var d vault.Draft
	d.Title, d.Body = title, body
	r, err := h.vault().Put(h.t.Context(), d)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// memories are the paths of the memories on disk.
func (h *host) memories() []string {
	h.t.Helper()
	s, err := h.vault().Snapshot(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	var paths []string
	for i := range s.Len() {
		if p, _ := s.Key(i); !vault.IsConflict(p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// text is everything that the host's files say.
func (h *host) text() string {
	h.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(h.dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		b.Write(data)
		b.WriteByte('\n')
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return b.String()
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func bareRemote(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "remote.git")
	git(t, t.TempDir(), "init", "--quiet", "--bare", "--initial-branch=main", dir)
	return dir
}

// check proves that the hosts hold the same bytes, that git finds no fault
// with any, and that no file has a conflict marker.
func check(t *testing.T, hosts ...*host) {
	t.Helper()
	trees := map[string][]string{}
	for _, h := range hosts {
		if out := git(t, h.dir(), "status", "--porcelain"); out != "" {
			t.Errorf("%s: git status:\n%s", h.name, out)
		}
		if out := git(t, h.dir(), "fsck", "--strict", "--no-dangling", "--no-progress"); out != "" {
			t.Errorf("%s: git fsck:\n%s", h.name, out)
		}
		tree := git(t, h.dir(), "rev-parse", "HEAD^{tree}")
		trees[tree] = append(trees[tree], h.name)
		if strings.Contains(h.text(), "<<<<<<<") {
			t.Errorf("%s holds a conflict marker", h.name)
		}
	}
	if len(trees) != 1 {
		t.Errorf("the hosts differ: %v", trees)
	}
}

// TestThreeHosts lets three hosts add, edit, retag, delete, rename and insert
// at random, with rare syncs, and proves that not one word was lost that
// nobody took out knowingly.
func TestThreeHosts(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 8
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	remote := bareRemote(t)
	hosts := []*host{newHost(t, "a", seed), newHost(t, "b", seed+1), newHost(t, "c", seed+2)}
	for i := range 6 {
		hosts[0].remember(fmt.Sprintf("Hot %d", i), fmt.Sprintf("first line of %d\n\nsecond line\n\nthird line\n", i))
	}
	if _, err := sync.SetRemote(t.Context(), hosts[0].vault(), remote); err != nil {
		t.Fatal(err)
	}
	hosts[0].sync()
	for _, h := range hosts[1:] {
		h.clone(remote)
	}
	w := &words{removed: map[string]bool{}}
	for range rounds {
		for _, h := range hosts {
			for range 1 + h.rng.IntN(2) {
				w.act(h)
			}
			switch h.rng.IntN(4) {
			case 0:
				w.swept(h, h.syncCommitted())
			case 1, 2:
				w.swept(h, h.sync())
			}
		}
	}
	for range 2 {
		for _, h := range hosts {
			w.swept(h, h.sync())
		}
	}
	for _, h := range hosts {
		if r := h.sync(); !r.Nothing() {
			t.Errorf("%s: a sync after all were in step did %+v", h.name, r)
		}
	}
	check(t, hosts...)
	w.check(t, hosts)
}

// words are the unique words that the hosts wrote, and those that somebody
// took out knowingly.
type words struct {
	n       int
	written []string
	removed map[string]bool
}

func (w *words) next() string {
	w.n++
	word := fmt.Sprintf("word%04dx", w.n)
	w.written = append(w.written, word)
	return word
}

// gone notes that a host took text out knowingly.
func (w *words) gone(text string) {
	for f := range strings.FieldsSeq(text) {
		if f = strings.Trim(f, "[],"); strings.HasPrefix(f, "word") {
			w.removed[f] = true
		}
	}
}

func (w *words) swept(h *host, r sync.Report) {
	for word := range h.swept(r) {
		w.removed[word] = true
	}
}

// act does one thing that a person or an agent does.
func (w *words) act(h *host) {
	paths := h.memories()
	if len(paths) == 0 || h.rng.IntN(10) == 0 {
		h.remember("New "+w.next(), "a line with "+w.next()+"\n\nanother with "+w.next()+"\n")
		return
	}
	path := paths[h.rng.IntN(min(len(paths), 8))] // few files, so that hosts meet
	file := filepath.Join(h.dir(), filepath.FromSlash(path))
	raw, err := os.ReadFile(file)
	if err != nil {
		h.t.Fatal(err)
	}
	switch h.rng.IntN(9) {
	case 0, 1, 2:
		w.insert(h, file, string(raw))
	case 3, 4:
		w.change(h, file, string(raw))
	case 5:
		edit(h, path, vault.Edit{AddTags: []string{w.next()}})
	case 6:
		title := "Title " + w.next()
		w.gone(vault.ParseDocument(raw).Memory().Title)
		edit(h, path, vault.Edit{Title: &title})
	case 7:
		w.rename(h, file)
	case 8:
		w.delete(h, path, file, string(raw))
	}
}

// insert adds a line somewhere in the body, as an editor does.
func (w *words) insert(h *host, file, raw string) {
	head, body := splitBody(raw)
	lines := strings.SplitAfter(body, "\n")
	at := h.rng.IntN(len(lines))
	lines = slices.Insert(lines, at, "inserted "+w.next()+"\n")
	write(h, file, head+strings.Join(lines, ""))
}

// change replaces one line of the body.
func (w *words) change(h *host, file, raw string) {
	head, body := splitBody(raw)
	lines := strings.SplitAfter(body, "\n")
	at := h.rng.IntN(len(lines))
	w.gone(lines[at])
	lines[at] = "changed to " + w.next() + "\n"
	write(h, file, head+strings.Join(lines, ""))
}

func (w *words) rename(h *host, file string) {
	to := filepath.Join(h.dir(), "memories", "moved", fmt.Sprintf("m%d-%s", h.rng.IntN(1000), filepath.Base(file)))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if len(filepath.Base(to)) > 110 {
		return
	}
	if err := os.Rename(file, to); err != nil {
		h.t.Fatal(err)
	}
}

func (w *words) delete(h *host, path, file, raw string) {
	w.gone(raw)
	if h.rng.IntN(2) == 0 {
		if err := os.Remove(file); err != nil {
			h.t.Fatal(err)
		}
		return
	}
	for _, c := range h.conflictsOf(path) { // they are forgotten with it
		w.gone(c.Parked.Title + "\n" + strings.Join(c.Parked.Tags, " ") + "\n" + c.Parked.Body)
	}
	if _, err := h.vault().Forget(h.t.Context(), vault.Ref(path), ""); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) conflictsOf(path string) []vault.Conflict {
	h.t.Helper()
	all, err := h.vault().Conflicts(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(c vault.Conflict) bool { return c.Winner == nil || c.Winner.Path != path })
}

func edit(h *host, path string, e vault.Edit) {
	if _, err := h.vault().Edit(h.t.Context(), vault.Ref(path), e); err != nil {
		h.t.Fatal(err)
	}
}

func splitBody(raw string) (head, body string) {
	if end := strings.Index(raw, "\n---\n"); strings.HasPrefix(raw, "---\n") && end >= 0 {
		return raw[:end+5], raw[end+5:]
	}
	return "", raw
}

func write(h *host, file, text string) {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (w *words) check(t *testing.T, hosts []*host) {
	t.Helper()
	for _, h := range hosts {
		text := h.text()
		for _, word := range w.written {
			if !w.removed[word] && !strings.Contains(text, word) {
				t.Errorf("%s lost %s:\n%s", h.name, word, git(t, h.dir(), "log", "--all", "-m", "-p", "-S"+word, "--format=%n* %h %p %an %s"))
			}
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d words, %d taken out knowingly", len(w.written), len(w.removed))
}

// The syncs after writes look at the disk once a minute, and go by this.
func TestLastLook(t *testing.T) {
	h := newHost(t, "a", 1)
	h.skew = 0
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	h.clock = func() time.Time { return now }
	looked := func(want time.Time) {
		t.Helper()
		if got := sync.LastLook(h.vault()); !got.Equal(want) {
			t.Errorf("looked at %s, want %s", got, want)
		}
	}
	h.remember("One", "a line")
	looked(time.Time{})
	h.sync()
	looked(now)
	first := now
	now = now.Add(time.Minute)
	h.syncCommitted()
	looked(first)
	path := filepath.Join(h.dir(), "staged.md")
	if err := os.WriteFile(path, []byte("of a human\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, h.dir(), "add", "staged.md")
	h.sync()
	looked(first) // something was left
	git(t, h.dir(), "commit", "-qm", "by hand")
	h.sync()
	looked(now)
}
