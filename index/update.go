package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// UpdateStats says what an Update did.
type UpdateStats struct {
	// Skipped: another writer is at work, nothing was done.
	Skipped bool
	// Analysed is how many notes were read and analysed.
	Analysed int
	// Merged is how many generations were made into one, 0 for none.
	Merged int
	// Dropped names generations that were damaged and set aside.
	Dropped []string
	// Unreadable are the paths of notes that could not be read. They stay in
	// the generations that have them.
	Unreadable []string
	// Changed are the paths of notes whose bytes were not what the source had
	// listed; they will be seen as they are by the next Update.
	Changed []string
	// Generations that count now.
	Generations int
}

const (
	// maxDeltas is how many generations there are besides the first before
	// they are made into one.
	maxDeltas = 8
	// baseShare: when the deltas hold more than one in baseShare of the
	// first generation's notes, everything is made into one.
	baseShare = 10
	// deadShare: the same when more than one in deadShare of all documents is dead.
	deadShare = 4
)

// Update makes a generation of the notes that are in none, and merges
// generations when there are too many. Readers go on meanwhile, and see it
// when it is complete. It never waits long for another writer: that one does
// the work. progress, which may be nil, hears how many notes are done.
func (x *Index) Update(ctx context.Context, src Source, progress func(done, total int)) (UpdateStats, error) {
	return x.update(ctx, src, progress, false)
}

// Rebuild analyses every note again and makes one generation of them. Nothing
// of deleted notes is left in the index once readers let go of the old files.
// Notes that cannot be read are taken over from the generations that have them.
func (x *Index) Rebuild(ctx context.Context, src Source, progress func(done, total int)) (UpdateStats, error) {
	return x.update(ctx, src, progress, true)
}

func (x *Index) update(ctx context.Context, src Source, progress func(done, total int), all bool) (UpdateStats, error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return UpdateStats{}, fmt.Errorf("update index: %w", err)
	}
	unlock, err := x.lock(ctx)
	if err != nil {
		return UpdateStats{}, fmt.Errorf("update index: %w", err)
	}
	if unlock == nil {
		return UpdateStats{Skipped: true}, nil
	}
	defer unlock()
	for {
		w := &writer{x: x, src: src, progress: progress}
		err := w.run(ctx, all)
		if damaged, ok := errors.AsType[*damagedError](err); ok && x.distrust(damaged) {
			continue
		}
		if err != nil {
			return w.stats, fmt.Errorf("update index: %w", err)
		}
		return w.stats, nil
	}
}

// lock takes the writer's lock; unlock is nil when another process has it.
func (x *Index) lock(ctx context.Context) (unlock func(), err error) {
	l := flock.New(filepath.Join(x.dir, lockName))
	wait, cancel := context.WithTimeout(ctx, x.opts.LockWait)
	defer cancel()
	ok, err := l.TryLockContext(wait, 5*time.Millisecond)
	switch {
	case ok:
		return func() { _ = l.Close() }, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil, errors.Is(err, context.DeadlineExceeded):
		return nil, nil
	}
	return nil, err
}

// writer makes one new state of the index, under the lock.
type writer struct {
	x        *Index
	src      Source
	progress func(done, total int)
	manifest manifest
	snap     *snapshot
	view     *view
	stats    UpdateStats
	made     int // temporary files
}

func (w *writer) run(ctx context.Context, all bool) error {
	w.tidy()
	w.snap = w.x.acquire()
	defer w.snap.release()
	if err := w.snap.unopened(); err != nil {
		return err
	}
	w.manifest, _ = readManifest(w.x.dir)
	dropped := w.dropDamaged()
	w.view = look(w.src, w.snap)
	todo := w.view.pending
	if all {
		todo = make([]int, w.src.Len())
		for i := range todo {
			todo[i] = i
		}
	}
	parts, err := w.analyse(ctx, todo, all)
	if err != nil {
		return err
	}
	defer closeAll(parts)
	replaced := w.plan(parts, all)
	if len(parts) == 0 && len(replaced) == 0 && !dropped {
		w.stats.Generations = len(w.manifest.Generations)
		return nil
	}
	if err := w.replace(ctx, parts, replaced, all); err != nil {
		return err
	}
	w.stats.Generations = len(w.manifest.Generations)
	return w.manifest.publish(w.x.dir)
}

// tidy removes what killed writers left, and generations that were retired
// long enough ago. Files that cannot be removed yet stay for the next writer.
func (w *writer) tidy() {
	m, _ := readManifest(w.x.dir)
	keep := map[string]bool{}
	for _, g := range m.Generations {
		keep[g.Name] = true
	}
	for _, r := range m.Retired {
		if age := time.Since(r.At); age >= 0 && age < w.x.opts.Grace {
			keep[r.Name] = true
		}
	}
	entries, err := os.ReadDir(w.x.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		gen, isGen := strings.CutPrefix(name, genPrefix)
		gen = genPrefix + strings.TrimSuffix(gen, filepath.Ext(gen))
		if strings.HasPrefix(name, tmpPrefix) || isGen && !keep[gen] {
			_ = os.Remove(filepath.Join(w.x.dir, name))
		}
	}
}

// dropDamaged takes generations that a reader marked, or that do not open,
// out of the manifest, and keeps the files of the last one for whoever wants
// to know what happened.
func (w *writer) dropDamaged() bool {
	usable := map[string]bool{}
	for _, g := range w.snap.gens {
		_, err := os.Stat(filepath.Join(w.x.dir, g.Name+suspectExt))
		usable[g.Name] = errors.Is(err, fs.ErrNotExist)
	}
	var kept []generation
	for _, g := range w.manifest.Generations {
		if usable[g.Name] {
			kept = append(kept, g)
			continue
		}
		w.setAside(g.Name)
		w.stats.Dropped = append(w.stats.Dropped, g.Name)
	}
	w.manifest.Generations = kept
	s := &snapshot{}
	s.refs.Store(1)
	for _, g := range w.snap.gens {
		if usable[g.Name] {
			g.refs.Add(1)
			s.gens = append(s.gens, g)
		}
	}
	w.snap.release()
	w.snap = s
	return len(w.stats.Dropped) > 0
}

// setAside moves a generation's files to damaged/, in place of those that were there.
func (w *writer) setAside(name string) {
	dir := filepath.Join(w.x.dir, damagedDir)
	_ = os.RemoveAll(dir)
	_ = os.Mkdir(dir, 0o700)
	for _, ext := range []string{zapExt, tableExt} {
		_ = os.Rename(filepath.Join(w.x.dir, name+ext), filepath.Join(dir, name+ext))
	}
	_ = os.Remove(filepath.Join(w.x.dir, name+suspectExt))
}

// analyse reads and analyses the notes at places, and returns them as
// temporary segments.
func (w *writer) analyse(ctx context.Context, places []int, all bool) ([]*mergePart, error) {
	var parts []*mergePart
	var b segmentBuilder
	var failed error
	flush := func() {
		if len(b.rows) > 0 && failed == nil {
			p, err := w.writePart(&b)
			if err != nil {
				failed = err
				return
			}
			parts, failed = w.combine(ctx, append(parts, p))
		}
	}
	cached := w.x.analysed.get
	if all {
		cached = func(noteKey) *analysedNote { return nil }
	}
	done := 0
	w.progress(0, len(places))
	err := readAll(ctx, w.src, places, cached, func(r reading) {
		done++
		switch {
		case r.err != nil:
			w.stats.Unreadable = append(w.stats.Unreadable, r.path)
		case r.raw != nil && !r.exact:
			w.stats.Changed = append(w.stats.Changed, r.path)
		default:
			w.stats.Analysed++
			b.add(noteKey{r.path, r.blob}, r.note)
			if b.full() {
				flush()
			}
		}
		if done%batchNotes == 0 || done == len(places) {
			w.progress(done, len(places))
		}
	})
	flush()
	if err = errors.Join(err, failed); err != nil {
		closeAll(parts)
		return nil, err
	}
	return parts, nil
}

// plan decides which generations are replaced by one, together with the new notes.
func (w *writer) plan(parts []*mergePart, all bool) []*openGeneration {
	gens := w.snap.gens
	if all {
		return gens
	}
	if len(gens) == 0 {
		return nil
	}
	fresh, deltas, deltaNotes, docs, dead := len(parts), 0, 0, 0, 0
	for _, p := range parts {
		deltaNotes += len(p.rows)
	}
	for i, p := range w.view.parts { // newest first
		docs += p.docs
		dead += w.view.dead[i]
		if i < len(gens)-1 {
			deltas++
			deltaNotes += p.stats.notes
		}
	}
	base := w.view.parts[len(gens)-1].stats.notes
	switch {
	case dead*deadShare > docs, deltaNotes*baseShare > base && fresh+deltas > 0:
		return gens
	case deltas+min(fresh, 1) > maxDeltas:
		return gens[1:]
	}
	return nil
}

// replace puts one generation of parts and what is live in replaced at the
// place of the oldest of replaced, or at the end.
func (w *writer) replace(ctx context.Context, parts []*mergePart, replaced []*openGeneration, all bool) error {
	var inputs []*mergePart
	taken := map[string]bool{}
	for _, p := range parts {
		for _, r := range p.rows {
			taken[r.path] = true
		}
	}
	for i := range w.view.parts {
		g := w.view.gens[i]
		if !slices.Contains(replaced, g) {
			continue
		}
		if err := w.verify(g); err != nil {
			return err
		}
		inputs = append(inputs, oldPart(g, w.view.parts[i], func(path string) bool { return all && taken[path] }))
	}
	slices.Reverse(inputs) // oldest first
	kept := slices.DeleteFunc(slices.Clone(w.manifest.Generations), func(g generation) bool {
		return slices.ContainsFunc(replaced, func(r *openGeneration) bool { return r.Name == g.Name })
	})
	for _, r := range replaced {
		w.manifest.Retired = append(w.manifest.Retired, retired{r.Name, time.Now().UTC()})
	}
	if len(replaced) > 0 {
		w.stats.Merged = len(replaced)
	}
	w.manifest.Retired = slices.DeleteFunc(w.manifest.Retired, func(r retired) bool {
		_, err := os.Lstat(filepath.Join(w.x.dir, r.Name+zapExt))
		return errors.Is(err, fs.ErrNotExist)
	})
	w.manifest.Generations = kept
	g, err := w.merge(ctx, append(inputs, parts...))
	if err != nil || g == nil {
		return err
	}
	w.manifest.Generations = append(kept, *g)
	return nil
}

func (w *writer) verify(g *openGeneration) error {
	err := g.Zap.verify(filepath.Join(w.x.dir, g.Name+zapExt))
	if err != nil {
		return &damagedError{g.Name, err}
	}
	return nil
}

// tmp returns a new name for a temporary file.
func (w *writer) tmp() string {
	w.made++
	return filepath.Join(w.x.dir, tmpPrefix+strconv.Itoa(w.made)+zapExt)
}
