package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"vademecum/vault"
)

const (
	benchReaders = 8
	benchWriters = 4
	scanEvery    = 8 // every so many recalls are checked against a scan of the files
)

// concurrent has readers, writers and a rebuild at work on one vault at once,
// each with handles of its own as processes have. Every recall is checked: by
// what its writer was told, and now and then by reading every file. A stale
// or missing hit, or any error, fails the benchmark.
func (b *bench) concurrent(ctx context.Context) error {
	size := b.sizes[0]
	v, err := b.makeVault(ctx, filepath.Join(b.dir, "concurrent"), size)
	if err != nil {
		return err
	}
	if _, err := b.vade(ctx, v.home, "reindex"); err != nil {
		return err
	}
	c := &crowd{vault: v, ledger: &ledger{}}
	if err := c.run(ctx, b.duration); err != nil {
		return err
	}
	tell := func(name string, value float64, unit string) {
		b.add(measure{Name: "concurrent: " + name, Size: size, Ours: value, Unit: unit, Yard: "-"})
	}
	tell("recalls checked", float64(c.recalls), "")
	tell("of them against a scan", float64(c.scans), "")
	tell("writes", float64(c.writes.len()), "")
	tell("rebuilds", float64(c.rebuilds), "")
	for _, t := range []struct {
		name  string
		times *timings
	}{{"wait for the lock", &c.waits}, {"write", &c.writes}, {"recall", &c.looks}} {
		tell(t.name+", p50", t.times.at(.5), "ms")
		tell(t.name+", p99", t.times.at(.99), "ms")
		tell(t.name+", worst", t.times.at(1), "ms")
	}
	return b.git(ctx, v.vault, "fsck", "--no-dangling", "--no-progress")
}

// crowd is everybody who works on one vault.
type crowd struct {
	vault  *benchVault
	ledger *ledger

	waits, writes, looks timings

	mu                       sync.Mutex
	errs                     []error
	recalls, scans, rebuilds int
}

// timings collects how long something took; safe for several goroutines.
type timings struct {
	mu  sync.Mutex
	all []time.Duration
}

func (t *timings) add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, d)
}

func (t *timings) len() int { return len(t.all) }

// at is the quantile q in milliseconds.
func (t *timings) at(q float64) float64 {
	if len(t.all) == 0 {
		return 0
	}
	slices.Sort(t.all)
	return t.all[min(int(q*float64(len(t.all))), len(t.all)-1)].Seconds() * 1000
}

// run lets everybody work for d, or until one of them finds a fault.
func (c *crowd) run(ctx context.Context, d time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	worker := func(name string, seed int, step func(context.Context, *inProcess, *rand.Rand) error) {
		wg.Go(func() {
			err := c.work(ctx, end, rand.New(rand.NewPCG(uint64(seed), 11)), step)
			if err != nil && ctx.Err() == nil {
				c.mu.Lock()
				c.errs = append(c.errs, fmt.Errorf("%s %d: %w", name, seed, err))
				c.mu.Unlock()
				stop()
			}
		})
	}
	for i := range benchWriters {
		w := &writing{crowd: c, number: i}
		worker("writer", i, w.step)
	}
	for i := range benchReaders {
		r := &reading{crowd: c}
		worker("reader", i, r.step)
	}
	worker("rebuild", 0, c.rebuild)
	wg.Wait()
	return errors.Join(c.errs...)
}

func (c *crowd) work(ctx context.Context, end time.Time, r *rand.Rand, step func(context.Context, *inProcess, *rand.Rand) error) error {
	p, err := openInProcess(ctx, c.vault)
	if err != nil {
		return err
	}
	defer p.close()
	for time.Now().Before(end) && ctx.Err() == nil {
		if err := step(ctx, p, r); err != nil {
			return err
		}
	}
	return nil
}

// rebuild brings the index up to date, or makes it anew, as reindex does.
func (c *crowd) rebuild(ctx context.Context, p *inProcess, r *rand.Rand) error {
	s, err := p.vault.Snapshot(ctx)
	if err != nil {
		return err
	}
	bring := p.index.Update
	if r.IntN(2) == 0 {
		bring = p.index.Rebuild
	}
	done, err := bring(ctx, s, nil)
	if err == nil && !done.Skipped {
		c.mu.Lock()
		c.rebuilds++
		c.mu.Unlock()
	}
	return err
}

// ledger is what writers were told about the words that they wrote.
type ledger struct {
	mu    sync.Mutex
	words []*ledgerWord
}

// ledgerWord is a word that one memory has, had, or is about to have.
type ledgerWord struct {
	word    string
	path    string
	there   bool // acknowledged
	moving  bool // a write about it is under way
	version int  // grows with each change
}

// change runs write on w, between its being under way and acknowledged.
func (l *ledger) change(write func() (path string, err error), there map[*ledgerWord]bool) error {
	l.mu.Lock()
	for w := range there {
		w.moving = true
		w.version++
	}
	l.mu.Unlock()
	path, err := write()
	l.mu.Lock()
	defer l.mu.Unlock()
	for w, t := range there {
		w.moving, w.there, w.path = false, t, path
	}
	return err
}

func (l *ledger) add(word string) *ledgerWord {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &ledgerWord{word: word}
	l.words = append(l.words, w)
	return w
}

// some returns a word, a fresh one more likely, as it is now.
func (l *ledger) some(r *rand.Rand) (w *ledgerWord, now ledgerWord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.words) == 0 {
		return nil, now
	}
	back := int(float64(len(l.words)) * r.Float64() * r.Float64())
	w = l.words[len(l.words)-1-back]
	return w, *w
}

func (l *ledger) get(w *ledgerWord) ledgerWord {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *w
}

// writing is one writer.
type writing struct {
	crowd  *crowd
	number int
	made   int
	mine   []*ledgerWord // of memories that are there
}

func (w *writing) word() *ledgerWord {
	w.made++
	return w.crowd.ledger.add(uniqueWord(10_000_000*(w.number+1) + w.made))
}

func (w *writing) text(word *ledgerWord) string {
	return "Ticket " + word.word + ". " + prose(w.made, 300)
}

// step remembers something, or changes or forgets what it remembered before.
func (w *writing) step(ctx context.Context, p *inProcess, r *rand.Rand) error {
	start := time.Now()
	err := p.vault.Lock(ctx, func() error { return nil }) // what a writer waits, apart from what it writes
	if err != nil {
		return err
	}
	w.crowd.waits.add(time.Since(start))
	start = time.Now()
	switch n := r.IntN(10); {
	case n < 2 && len(w.mine) > 0:
		err = w.edit(ctx, p, r.IntN(len(w.mine)))
	case n < 4 && len(w.mine) > 0:
		err = w.forget(ctx, p, r.IntN(len(w.mine)))
	default:
		err = w.remember(ctx, p)
	}
	w.crowd.writes.add(time.Since(start))
	return err
}

func (w *writing) remember(ctx context.Context, p *inProcess) error {
	word := w.word()
	w.mine = append(w.mine, word)
	return w.crowd.ledger.change(func() (string, error) {
		r, err := p.vault.Put(ctx, vault.Draft{Memory: vault.Memory{Body: w.text(word)}})
		return r.Path, err
	}, map[*ledgerWord]bool{word: true})
}

func (w *writing) edit(ctx context.Context, p *inProcess, i int) error {
	old, word := w.mine[i], w.word()
	w.mine[i] = word
	return w.crowd.ledger.change(func() (string, error) {
		title, body := word.word, w.text(word)
		r, err := p.vault.Edit(ctx, vault.Ref(old.path), vault.Edit{Title: &title, Body: &body})
		return r.Path, err
	}, map[*ledgerWord]bool{old: false, word: true})
}

func (w *writing) forget(ctx context.Context, p *inProcess, i int) error {
	old := w.mine[i]
	w.mine = slices.Delete(w.mine, i, i+1)
	return w.crowd.ledger.change(func() (string, error) {
		_, err := p.vault.Forget(ctx, vault.Ref(old.path), "")
		return "", err
	}, map[*ledgerWord]bool{old: false})
}

// reading is one reader.
type reading struct {
	crowd *crowd
	n     int
}

// step recalls one word and checks the answer.
func (r *reading) step(ctx context.Context, p *inProcess, rnd *rand.Rand) error {
	word, before := r.crowd.ledger.some(rnd)
	if word == nil || before.moving {
		time.Sleep(time.Millisecond) // nothing to be sure of yet
		return nil
	}
	r.n++
	scan := r.n%scanEvery == 0
	var seen []string
	var err error
	if scan {
		if seen, err = filesWith(p.vault.WorkDir(), before.word); err != nil {
			return err
		}
	}
	start := time.Now()
	hits, err := recallPaths(ctx, p, before.word)
	if err != nil {
		return err
	}
	r.crowd.looks.add(time.Since(start))
	if after := r.crowd.ledger.get(word); after != before {
		return nil // it changed meanwhile; either answer is right
	}
	r.crowd.mu.Lock()
	r.crowd.recalls++
	if scan {
		r.crowd.scans++
	}
	r.crowd.mu.Unlock()
	var want []string
	if before.there {
		want = []string{before.path}
	}
	if !slices.Equal(hits, want) {
		return fmt.Errorf("recall of %q found %q, but what was acknowledged is %q", before.word, hits, want)
	}
	if scan && !slices.Equal(seen, want) {
		return fmt.Errorf("a scan for %q found %q, recall %q", before.word, seen, hits)
	}
	return nil
}

func recallPaths(ctx context.Context, p *inProcess, word string) ([]string, error) {
	s, err := p.vault.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	r, err := p.index.Search(ctx, s, vault.Query{Text: word, Limit: benchLimit, AllWorkspaces: true})
	if len(r.Warnings) > 0 {
		err = errors.Join(err, errors.New(strings.Join(r.Warnings, "; ")))
	}
	var paths []string
	for _, h := range r.Hits {
		paths = append(paths, h.Path)
	}
	return paths, err
}

// filesWith reads every memory below dir and returns those with word.
func filesWith(dir, word string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(filepath.Join(dir, "memories"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // forgotten meanwhile
		case err != nil:
			return err
		case d.IsDir() || !strings.HasSuffix(path, ".md"):
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if strings.Contains(string(raw), word) {
			name, err := filepath.Rel(dir, path)
			found = append(found, filepath.ToSlash(name))
			return err
		}
		return nil
	})
	return found, err
}
