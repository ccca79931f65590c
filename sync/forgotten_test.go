package sync_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vademecum/sync"
	"vademecum/vault"
)

// TestMovedAndForgotten: a human moves, copies, edits or deletes a memory by other
// means than vade while it is forgotten here or elsewhere, in every order. In the end
// all hosts have the same files and nothing else, and the text is gone unless
// somebody had changed it.
func TestMovedAndForgotten(t *testing.T) {
	const moved = "memories/moved/x.md"
	mv := func(h *host, m, to string) { h.must(h.move(m, to)) }
	for _, c := range []struct {
		name  string
		play  func(a, b *host, m string)
		lives []string // bodies, but for the other memory's
	}{
		{"moved and forgotten before anybody saw it", func(_, b *host, m string) {
			mv(b, m, moved)
			b.forget(moved)
		}, nil},
		{"edited and forgotten", func(_, b *host, m string) {
			b.append(m, "more words\n")
			b.forget(m)
			b.wantHistory("more words")
		}, nil},
		{"moved, edited and forgotten", func(_, b *host, m string) {
			mv(b, m, moved)
			b.append(moved, "more words\n")
			b.forget(moved)
			b.wantHistory("more words")
		}, nil},
		{"a new note, forgotten", func(_, b *host, m string) {
			b.remove(m)
			b.write("note.md", "a note\n")
			b.forget("note.md")
			b.wantHistory("a note")
		}, nil},
		{"moved twice, then forgotten", func(_, b *host, m string) {
			mv(b, m, moved)
			mv(b, moved, "x.md")
			b.forget("x.md")
		}, nil},
		{"moved there and back, then forgotten", func(_, b *host, m string) {
			mv(b, m, moved)
			mv(b, moved, m)
			b.forget(m)
		}, nil},
		{"its folder moved, then forgotten", func(_, b *host, m string) {
			dir := filepath.Dir(m)
			mv(b, dir, "old")
			b.forget("old/" + filepath.Base(m))
		}, nil},
		{"moved here, forgotten there and synced first", func(a, b *host, m string) {
			mv(b, m, moved)
			a.forget(m)
			a.sync()
		}, nil},
		{"moved here and synced first, forgotten there", func(a, b *host, m string) {
			mv(b, m, moved)
			b.sync()
			a.forget(m)
		}, nil},
		{"moved here, moved and forgotten there", func(a, b *host, m string) {
			mv(b, m, moved)
			mv(a, m, "memories/elsewhere/x.md")
			a.forget("memories/elsewhere/x.md")
			a.sync()
		}, nil},
		{"moved and forgotten on both", func(a, b *host, m string) {
			for _, h := range []*host{a, b} {
				mv(h, m, "memories/"+h.name+".md")
				h.forget("memories/" + h.name + ".md")
			}
		}, nil},
		{"moved here, moved and forgotten there, in a later round", func(a, b *host, m string) {
			mv(b, m, moved)
			settle(a.t, b, a)
			mv(a, moved, m)
			a.forget(m)
		}, nil},
		{"moved and edited here, forgotten there", func(a, b *host, m string) {
			mv(b, m, moved)
			b.append(moved, "more words\n")
			a.forget(m)
			a.sync()
		}, []string{"the body\nmore words\n"}},
		{"moved here, edited and forgotten there", func(a, b *host, m string) {
			mv(b, m, moved)
			b.sync()
			a.append(m, "more words\n")
			a.forget(m)
		}, nil},
		{"moved here, then edited, forgotten there in between", func(a, b *host, m string) {
			mv(b, m, moved)
			b.sync()
			a.forget(m)
			a.sync()
			b.append(moved, "more words\n")
		}, []string{"the body\nmore words\n"}},
		{"deleted here, moved there", func(a, b *host, m string) {
			b.remove(m)
			mv(a, m, moved)
			a.sync()
		}, nil},
		{"moved here, deleted there", func(a, b *host, m string) {
			mv(b, m, moved)
			b.sync()
			a.remove(m)
		}, nil},
		{"copied here, forgotten there", func(a, b *host, m string) {
			b.write(moved, string(b.read(m)))
			a.forget(m)
			a.sync()
		}, nil},
		{"copied, the copy forgotten, the original deleted", func(_, b *host, m string) {
			b.write(moved, string(b.read(m)))
			b.forget(moved)
			b.remove(m)
		}, nil},
		{"git mv here, forgotten there", func(a, b *host, m string) {
			b.must(os.MkdirAll(filepath.Join(b.dir(), "memories", "moved"), 0o700))
			git(b.t, b.dir(), "mv", m, moved)
			a.forget(m)
			a.sync()
			b.sync() // left alone
			git(b.t, b.dir(), "commit", "-qm", "moved")
		}, nil},
		{"moved while the forget was on its way", func(a, b *host, m string) {
			a.forget(m)
			a.sync()
			mv(b, m, moved)
			b.pull(a)
		}, nil},
		{"moved and edited while the forget was on its way", func(a, b *host, m string) {
			a.forget(m)
			a.sync()
			mv(b, m, moved)
			b.append(moved, "more words\n")
			b.pull(a)
		}, []string{"the body\nmore words\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := pair(t)
			r := a.remember("Thing", "the body\n")
			settle(t, a, b)
			a.t, b.t = t, t
			c.play(a, b, r.Path)
			settle(t, b, a)
			check(t, a, b)
			got := slices.DeleteFunc(slices.Sorted(maps.Values(b.bodies())), func(body string) bool { return body == "the seed\n" })
			got = slices.DeleteFunc(got, func(body string) bool { return strings.Contains(body, "was forgotten") }) // the flag
			if !slices.Equal(got, c.lives) {
				t.Errorf("%q is left, want %q", got, c.lives)
			}
		})
	}
}

// TestCopyOfForgotten: who puts an old copy of a forgotten memory into the vault by
// hand keeps the file, is told of it each time, and says with one command what it is.
func TestCopyOfForgotten(t *testing.T) {
	a, b := pair(t)
	r := a.remember("Thing", "the body\n")
	settle(t, a, b)
	data := string(b.read(r.Path))
	a.forget(r.Path)
	settle(t, a, b)
	b.write("backup/thing.md", data)
	for range 2 {
		r := b.sync()
		if len(r.Left) != 1 || r.Left[0].Path != "backup/thing.md" || !strings.Contains(r.Left[0].Reason, "forgotten") {
			t.Errorf("left: %+v", r.Left)
		}
	}
	if string(b.read("backup/thing.md")) != data {
		t.Error("the human's copy is gone")
	}
	snap, err := b.vault().Snapshot(t.Context())
	if err != nil || !slices.Equal(snap.Buried, []string{"backup/thing.md"}) {
		t.Errorf("buried: %v, %v", snap.Buried, err)
	}
	b.append("backup/thing.md", "and more\n") // a text of its own now
	settle(t, b, a)
	a.wantText("and more")
}

// TestDeleteWhatNobodyCommitted: what was never committed is deleted from the disk
// too, and history keeps it.
func TestDeleteWhatNobodyCommitted(t *testing.T) {
	h := newHost(t, "A", 1)
	h.remember("Seed", "the seed")
	h.write("files/new.txt", "the human's\n")
	if _, err := h.vault().DeleteFile(t.Context(), "new.txt", vault.Precondition{}); err != nil {
		t.Fatal(err)
	}
	h.write("files/old.txt", "first\n")
	h.sync()
	h.write("files/old.txt", "second\n")
	if _, err := h.vault().PutFile(t.Context(), "old.txt", []byte("third\n"), vault.Precondition{}); err != nil {
		t.Fatal(err)
	}
	h.wantHistory("the human's")
	h.wantHistory("second")
	h.write("staged.md", "staged words\n")
	git(t, h.dir(), "add", "staged.md")
	if _, err := h.vault().Forget(t.Context(), "staged.md", ""); err == nil || !strings.Contains(err.Error(), "nobody committed") {
		t.Errorf("forget what is staged: %v", err)
	}
	if string(h.read("staged.md")) != "staged words\n" {
		t.Error("the staged file is gone")
	}
	git(t, h.dir(), "commit", "-qm", "staged")
	check(t, h)
	if _, err := sync.Undo(t.Context(), h.vault(), sync.UndoTarget{}); err != nil {
		t.Fatal(err)
	}
	if got := string(h.read("files/old.txt")); got != "second\n" {
		t.Errorf("undo brings back %q", got)
	}
}

func (h *host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) forget(m string) {
	h.t.Helper()
	_, err := h.vault().Forget(h.t.Context(), vault.Ref(m), "")
	h.must(err)
}

func (h *host) append(m, text string) {
	h.t.Helper()
	h.write(m, string(h.read(m))+text)
	h.must(os.Chtimes(filepath.Join(h.dir(), filepath.FromSlash(m)), time.Time{}, time.Now().Add(-time.Minute)))
}

func (h *host) wantHistory(text string) {
	h.t.Helper()
	if git(h.t, h.dir(), "log", "-S"+text, "--format=%h", "main") == "" {
		h.t.Errorf("%s: history does not have %q", h.name, text)
	}
}

// TestFolderMovedAway: the few memories of a young vault are gone at once. That is
// no decision to delete them, until somebody says so.
func TestFolderMovedAway(t *testing.T) {
	a, b := pair(t)
	for _, title := range []string{"One", "Two", "Three"} {
		a.remember(title, "the body of "+title)
	}
	settle(t, a, b)
	away := filepath.Join(t.TempDir(), "memories")
	a.must(os.Rename(filepath.Join(a.dir(), "memories"), away))
	if r := a.sync(); len(r.Adopted) > 0 || len(r.Left) != 1 || !strings.Contains(r.Left[0].Reason, "vade sync --adopt-deletes") {
		t.Errorf("adopted %v, left %+v", r.Adopted, r.Left)
	}
	b.sync()
	b.wantText("the body of Two")
	a.must(os.Rename(away, filepath.Join(a.dir(), "memories")))
	settle(t, a, b)
	a.must(os.RemoveAll(filepath.Join(a.dir(), "memories")))
	r, err := sync.Round(t.Context(), a.vault(), sync.Options{Still: time.Nanosecond, AdoptDeletions: true})
	if err != nil || len(r.Adopted) != 4 {
		t.Errorf("adopted %v, %v", r.Adopted, err)
	}
	settle(t, a, b)
	if got := b.bodies(); len(got) != 0 {
		t.Errorf("B still has %v", got)
	}
}
