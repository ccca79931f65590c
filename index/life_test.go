package index

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vademecum/vault"
)

// A search sees the source as it is now, whatever the index holds.
func TestSearchFollowsTheSource(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []string
		want    map[string][]string
	}{
		{"edit", []string{"a.md", "now about whales"}, map[string][]string{"whales": {"a.md"}, "rockets": nil}},
		{"new", []string{"c.md", "rockets too"}, map[string][]string{"rockets": {"c.md", "a.md"}}},
		{"delete", []string{"a.md", "-"}, map[string][]string{"rockets": nil, "trains": {"b.md"}}},
		{"rename", []string{"a.md", "-", "z.md", "rockets fly high"}, map[string][]string{"rockets": {"z.md"}}},
		{"copy", []string{"z.md", "rockets fly high"}, map[string][]string{"rockets": {"a.md", "z.md"}}},
		{"swap", []string{"a.md", "trains run", "b.md", "rockets fly high"}, map[string][]string{"rockets": {"b.md"}, "trains": {"a.md"}}},
		{"all gone", []string{"a.md", "-", "b.md", "-"}, map[string][]string{"rockets": nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := texts("rockets fly high", "trains run")
			x := open(t)
			update(t, x, src)
			later := src.with(c.changes...)
			for _, when := range []string{"before", "after"} {
				for question, want := range c.want {
					if diff := cmp.Diff(want, paths(t, x, later, question)); diff != "" {
						t.Errorf("%s update: %q (-want +got):\n%s", when, question, diff)
					}
				}
				update(t, x, later)
			}
			checkSound(t, x, later)
		})
	}
}

func TestUpdateAnalysesOnlyWhatIsNew(t *testing.T) {
	src := newNotes(randomVaultOf(40))
	x := open(t)
	if st := update(t, x, src); st.Analysed != 40 || st.Generations != 1 {
		t.Errorf("first update: %+v", st)
	}
	if st := update(t, x, src); st.Analysed != 0 || st.Generations != 1 {
		t.Errorf("nothing new: %+v", st)
	}
	later := src.with("memories/new.md", "one more")
	if st := x.Stale(later); st.Pending != 1 || st.Dead != 0 {
		t.Errorf("Stale = %+v, want 1 pending", st)
	}
	if st := update(t, x, later); st.Analysed != 1 || st.Generations != 2 || st.Merged != 0 {
		t.Errorf("one new: %+v", st)
	}
	if st := x.Stale(later); st.Pending != 0 {
		t.Errorf("Stale = %+v, want nothing pending", st)
	}
}

// Generations stay few, however many updates there are.
func TestDeltasAreMerged(t *testing.T) {
	src := newNotes(randomVaultOf(300))
	x := open(t)
	update(t, x, src)
	merges := 0
	for i := range 40 {
		src = src.with(fmt.Sprintf("memories/new-%d.md", i), "one more "+fmt.Sprint(i))
		st := update(t, x, src)
		if st.Generations > 1+maxDeltas {
			t.Fatalf("update %d: %d generations", i, st.Generations)
		}
		if st.Merged > 0 {
			merges++
		}
	}
	if merges == 0 || merges > 10 {
		t.Errorf("%d merges in 40 updates", merges)
	}
	checkSound(t, x, src)
}

func TestDeadNotesAreSweptOut(t *testing.T) {
	src := newNotes(randomVaultOf(60))
	x := open(t)
	update(t, x, src)
	var gone []string
	for _, p := range src.paths[:30] {
		gone = append(gone, p, "-")
	}
	later := src.with(gone...)
	update(t, x, later)
	if st := x.Stale(later); st.Dead != 0 || st.Pending != 0 {
		t.Errorf("after a sweep: %+v", st)
	}
	checkSound(t, x, later)
}

func randomVaultOf(n int) map[string]string {
	content := map[string]string{}
	for i := range n {
		content[fmt.Sprintf("memories/%03d.md", i)] = fmt.Sprintf("%s %s number%d", words[i%len(words)], words[i*7%len(words)], i)
	}
	return content
}

// Whatever happens to the files of the index, answers stay the same, a warning
// says so, and the next update mends it.
func TestDamageHealsItself(t *testing.T) {
	src := newNotes(randomVaultOf(80))
	var delta []string
	for i := range 5 {
		delta = append(delta, fmt.Sprintf("memories/delta-%d.md", i), "deploy delta "+fmt.Sprint(i))
	}
	later := src.with(delta...)
	want := answersOnly(t, open(t), later)
	for _, c := range []struct {
		name   string
		harm   func(t *testing.T, dir string)
		silent bool // nothing to warn of
	}{
		{"index gone", func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }, true},
		{"manifest gone", func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, manifestName))) }, true},
		{"manifest is noise", func(t *testing.T, dir string) { write(t, filepath.Join(dir, manifestName), []byte("{\"")) }, true},
		{"manifest of an older format", func(t *testing.T, dir string) {
			editManifest(t, dir, func(m *manifest) { m.Format = "vade 0" })
		}, true},
		{"zap gone", func(t *testing.T, dir string) { eachFile(t, dir, zapExt, func(p string) { must(t, os.Remove(p)) }) }, false},
		{"docs gone", func(t *testing.T, dir string) { eachFile(t, dir, tableExt, func(p string) { must(t, os.Remove(p)) }) }, false},
		{"zap cut", func(t *testing.T, dir string) { eachFile(t, dir, zapExt, cutHalf(t)) }, false},
		{"docs cut", func(t *testing.T, dir string) { eachFile(t, dir, tableExt, cutHalf(t)) }, false},
		{"zap empty", func(t *testing.T, dir string) { eachFile(t, dir, zapExt, func(p string) { write(t, p, nil) }) }, false},
		{"docs flipped", func(t *testing.T, dir string) { eachFile(t, dir, tableExt, flip(t, 0.4)) }, false},
		{"zap zeroed with its tail", func(t *testing.T, dir string) { eachFile(t, dir, zapExt, zeroed(t)) }, false},
		{"swapped", swapZaps, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			x := openIn(t, dir)
			update(t, x, src)
			if st := update(t, x, later); st.Generations != 2 {
				t.Fatalf("%d generations, want 2", st.Generations)
			}
			x.Close()
			c.harm(t, dir)
			x = openIn(t, dir)
			r, err := x.Search(t.Context(), later, vault.Query{Text: "deploy"})
			if err != nil {
				t.Fatal(err)
			}
			if (len(r.Warnings) == 0) != c.silent {
				t.Errorf("warnings: %q", r.Warnings)
			}
			if diff := cmp.Diff(want, answersOnly(t, x, later)); diff != "" {
				t.Errorf("answers with a damaged index (-want +got):\n%s", diff)
			}
			update(t, x, later)
			checkSound(t, x, later)
			fresh := openIn(t, dir)
			checkSound(t, fresh, later)
			ask(t, fresh, later, vault.Query{Text: "deploy"}) // and does not warn
			if st := fresh.Stale(later); st.Pending != 0 {
				t.Errorf("after the update: %+v", st)
			}
		})
	}
}

// Bits that flipped inside a segment may go unnoticed by a search, but never
// make it fail; Check names them, and a merge refuses them.
func TestFlippedBitsInASegment(t *testing.T) {
	src := newNotes(randomVaultOf(80))
	for i := range 12 {
		dir := filepath.Join(t.TempDir(), "index")
		x := openIn(t, dir)
		update(t, x, src)
		x.Close()
		eachFile(t, dir, zapExt, flip(t, float64(i)/12.5))
		x = openIn(t, dir)
		for _, q := range questions {
			if _, err := x.Search(t.Context(), src, vault.Query{Text: q}); err != nil {
				t.Errorf("flip %d: %v", i, err)
			}
		}
		r, err := openIn(t, dir).Check(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		if r.OK() {
			t.Errorf("flip %d: Check finds nothing", i)
		}
		if _, err := x.Rebuild(t.Context(), src, nil); err != nil {
			t.Errorf("flip %d: Rebuild: %v", i, err)
		}
		checkSound(t, x, src)
	}
}

// A file that is cut while it is open must not take the process down.
func TestCutWhileOpen(t *testing.T) {
	src := newNotes(randomVaultOf(3000))
	dir := filepath.Join(t.TempDir(), "index")
	x := openIn(t, dir)
	update(t, x, src)
	ask(t, x, src, vault.Query{Text: "deploy"})
	eachFile(t, dir, zapExt, func(p string) { must(t, os.Truncate(p, 10)) })
	for _, q := range questions {
		if _, err := x.Search(t.Context(), src, vault.Query{Text: q}); err != nil {
			t.Errorf("%q: %v", q, err)
		}
	}
	update(t, x, src)
	checkSound(t, openIn(t, dir), src)
}

func answersOnly(t *testing.T, x *Index, src *notes) map[string][]vault.Hit {
	t.Helper()
	out := map[string][]vault.Hit{}
	for _, q := range questions {
		r, err := x.Search(t.Context(), src, vault.Query{Text: q, Limit: 20})
		if err != nil {
			t.Fatal(err)
		}
		out[q] = r.Hits
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	must(t, os.WriteFile(path, content, 0o600))
}

func eachFile(t *testing.T, dir, ext string, fn func(path string)) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"+ext))
	must(t, err)
	for _, p := range list {
		fn(p)
	}
}

func cutHalf(t *testing.T) func(string) {
	return func(p string) {
		info, err := os.Stat(p)
		must(t, err)
		must(t, os.Truncate(p, info.Size()/2))
	}
}

func flip(t *testing.T, where float64) func(string) {
	return func(p string) {
		raw, err := os.ReadFile(p)
		must(t, err)
		raw[int(where*float64(len(raw)))] ^= 0xA5
		write(t, p, raw)
	}
}

// zeroed keeps size and checksum field: the damage shows only when it is read.
func zeroed(t *testing.T) func(string) {
	return func(p string) {
		raw, err := os.ReadFile(p)
		must(t, err)
		clear(raw[:len(raw)-4])
		write(t, p, raw)
	}
}

func swapZaps(t *testing.T, dir string) {
	list, err := filepath.Glob(filepath.Join(dir, "*"+zapExt))
	must(t, err)
	tmp := filepath.Join(dir, "swap")
	must(t, os.Rename(list[0], tmp))
	must(t, os.Rename(list[1], list[0]))
	must(t, os.Rename(tmp, list[1]))
}

func editManifest(t *testing.T, dir string, fn func(*manifest)) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, manifestName))
	must(t, err)
	var m manifest
	must(t, json.Unmarshal(raw, &m))
	fn(&m)
	raw, err = json.Marshal(m)
	must(t, err)
	write(t, filepath.Join(dir, manifestName), raw)
}

// Replaced generations go away after the grace period, and foreign files stay.
func TestOldFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "catalog"), []byte("not ours"))
	x, err := Open(dir, Options{Grace: time.Nanosecond})
	must(t, err)
	defer x.Close()
	src := newNotes(randomVaultOf(20))
	update(t, x, src)
	write(t, filepath.Join(dir, tmpPrefix+"left.zap"), []byte("left by a killed writer"))
	write(t, filepath.Join(dir, genPrefix+"unknown.docs"), []byte("left by a killed writer"))
	for i := range 3 {
		src = src.with(fmt.Sprintf("memories/n%d.md", i), "deploy", fmt.Sprintf("memories/m%d.md", i), "deploys", fmt.Sprintf("memories/k%d.md", i), "x")
		update(t, x, src)
	}
	if _, err := x.Rebuild(t.Context(), src, nil); err != nil {
		t.Fatal(err)
	}
	update(t, x, src)
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, filepath.Ext(e.Name())+"|"+strings.SplitN(e.Name(), "-", 2)[0])
	}
	want := []string{"|catalog", ".docs|g", ".zap|g", "|manifest", ".lock|writer.lock"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Nothing of a forgotten note is left in the files after a rebuild.
func TestRebuildForgetsWhatIsGone(t *testing.T) {
	dir := t.TempDir()
	x, err := Open(dir, Options{Grace: time.Nanosecond})
	must(t, err)
	defer x.Close()
	src := newNotes(randomVaultOf(200)).with("memories/secret.md", "hunter2xyzzy")
	update(t, x, src)
	src = src.with("memories/secret.md", "-")
	_, err = x.Rebuild(t.Context(), src, nil)
	must(t, err)
	update(t, x, src)
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		raw, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		if bytes.Contains(raw, []byte("secret.md")) {
			t.Errorf("%s still names the note", e.Name())
		}
	}
}

// A note that cannot be read is found as long as a generation has it, and
// named otherwise. It never makes anything fail.
func TestUnreadableNotes(t *testing.T) {
	src := texts("rockets fly high", "trains run")
	x := open(t)
	update(t, x, src)
	later := src.with("c.md", "rockets unread")
	later.unreadable["a.md"] = true
	later.unreadable["c.md"] = true
	r := ask(t, x, later, vault.Query{Text: "rockets"})
	if got := hitPaths(r); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("hits %v, want a.md from the index", got)
	}
	if diff := cmp.Diff([]string{"c.md", "a.md"}, r.Unreadable); diff != "" {
		t.Errorf("unreadable (-want +got):\n%s", diff)
	}
	st, err := x.Rebuild(t.Context(), later, nil)
	must(t, err)
	if diff := cmp.Diff([]string{"a.md", "c.md"}, st.Unreadable); diff != "" {
		t.Errorf("rebuild: unreadable (-want +got):\n%s", diff)
	}
	if got := paths(t, x, later, "rockets"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("after a rebuild: hits %v, want a.md taken over", got)
	}
}

// A file that changes between being listed and being read is not indexed
// under its old blob.
func TestChangedWhileReading(t *testing.T) {
	src := texts("rockets fly high", "trains run")
	src.content["a.md"] = "whales swim"
	x := open(t)
	st := update(t, x, src)
	if diff := cmp.Diff([]string{"a.md"}, st.Changed); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if got := paths(t, x, src, "whales"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("what is read counts: got %v", got)
	}
	back := texts("rockets fly high", "trains run")
	if got := paths(t, x, back, "rockets"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("the listed blob: got %v", got)
	}
}

func TestSecondWriterSkips(t *testing.T) {
	dir := t.TempDir()
	src := newNotes(randomVaultOf(10))
	x := openIn(t, dir)
	unlock, err := x.lock(t.Context())
	must(t, err)
	st := update(t, openIn(t, dir), src)
	if !st.Skipped {
		t.Errorf("second writer did %+v", st)
	}
	unlock()
	if st := update(t, x, src); st.Skipped {
		t.Error("skipped with the lock free")
	}
}

// Readers, writers and rebuilds at once: every answer is that of the source.
func TestReadersAndWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	base := newNotes(randomVaultOf(120))
	want := answersOnly(t, open(t), base)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			x, err := Open(dir, Options{Grace: time.Nanosecond, LockWait: time.Millisecond})
			if err != nil {
				t.Error(err)
				return
			}
			defer x.Close()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				src := base.with(fmt.Sprintf("memories/tmp-%d.md", i), "deploy production server "+fmt.Sprint(i))
				if i%5 == 0 {
					_, err = x.Rebuild(t.Context(), src, nil)
				} else {
					_, err = x.Update(t.Context(), src, nil)
				}
				if err != nil {
					t.Errorf("writer: %v", err)
				}
			}
		})
	}
	shared := openIn(t, dir)
	var readers sync.WaitGroup
	for k := range 4 {
		readers.Go(func() {
			x := shared
			if k%2 == 0 {
				x = openIn(t, dir)
			}
			src := newNotes(base.content)
			for range 15 {
				if diff := cmp.Diff(want, answersOnly(t, x, src)); diff != "" {
					t.Errorf("reader %d (-want +got):\n%s", k, diff)
					return
				}
			}
		})
	}
	readers.Wait()
	close(stop)
	wg.Wait()
}

// Many temporary segments become one on the way, and lose nothing by it.
func TestFreshSegmentsAreCombined(t *testing.T) {
	w := &writer{x: open(t)}
	if err := os.MkdirAll(w.x.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	a := newNoteAnalyzer()
	var parts []*mergePart
	docs := 0
	for i := range maxFresh + 3 {
		var b segmentBuilder
		n := a.analyse("x.md", []byte(strings.Repeat(fmt.Sprintf("note %d has these words. ", i), 1+i*3)), nil)
		docs += len(n.chunks)
		b.add(noteKey{path: fmt.Sprintf("%03d.md", i)}, n)
		p, err := w.writePart(&b)
		if err != nil {
			t.Fatal(err)
		}
		if parts, err = w.combine(t.Context(), append(parts, p)); err != nil {
			t.Fatal(err)
		}
	}
	defer closeAll(parts)
	if len(parts) != 4 || len(parts[0].rows) != maxFresh {
		t.Fatalf("%d segments, the first of %d notes; want 4, the first of %d", len(parts), len(parts[0].rows), maxFresh)
	}
	seen := map[int]bool{}
	for _, p := range parts {
		docs -= int(p.seg.Count())
	}
	for i, r := range parts[0].rows {
		if r.path != fmt.Sprintf("%03d.md", i) || seen[r.firstDoc] {
			t.Errorf("row %d is %s at document %d", i, r.path, r.firstDoc)
		}
		seen[r.firstDoc] = true
	}
	if docs != 0 {
		t.Errorf("%d documents were lost", docs)
	}
}
