package sync

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"vademecum/vault"
)

// WatchOptions tune [Watch].
type WatchOptions struct {
	Options
	// Quiet is how long the work tree must be still before a round starts,
	// and Longest how long a round is put off at most; 0 means 300 ms and 3 s.
	Quiet, Longest time.Duration
	// Every is how often a round runs without anything changing here, which
	// is also how soon what no watch reports is seen; 0 means 3 minutes.
	Every time.Duration
	// Poll is how often the work tree is looked through where it cannot be
	// watched; 0 means 5 s.
	Poll time.Duration
	// Round is told how each round ended; nil is not told.
	Round func(Report, error)
	// Note is told what a person should know, such as that watches ran out.
	Note func(string)
}

func (o *WatchOptions) defaults() {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.Quiet, 300*time.Millisecond)
	set(&o.Longest, 3*time.Second)
	set(&o.Every, 3*time.Minute)
	set(&o.Poll, 5*time.Second)
	if o.Round == nil {
		o.Round = func(Report, error) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
}

// Watch runs rounds until ctx ends: at once, after the work tree changed and
// was left alone, and every few minutes. Events only say that something
// changed; each round looks for itself. Where watching fails it polls.
func Watch(ctx context.Context, v *vault.Vault, o WatchOptions) error {
	o.defaults()
	w := &watcher{v: v, o: o}
	if err := w.open(); err != nil {
		o.Note("cannot watch the vault, looking every " + o.Poll.String() + " instead: " + err.Error())
	}
	defer w.close()
	w.round(ctx)
	for {
		if err := w.wait(ctx); err != nil {
			return nil // asked to stop
		}
		w.round(ctx)
	}
}

type watcher struct {
	v *vault.Vault
	o WatchOptions
	w *fsnotify.Watcher // nil: polling
	// settle is when to look again at files that were still being written.
	settle bool
}

// open watches every folder of the work tree. fsnotify is not recursive.
func (w *watcher) open() error {
	fw, err := fsnotify.NewBufferedWatcher(1024)
	if err != nil {
		return err
	}
	w.w = fw
	if err := w.add(w.v.WorkDir()); err != nil {
		w.close()
		return err
	}
	return nil
}

func (w *watcher) close() {
	if w.w != nil {
		_ = w.w.Close()
		w.w = nil
	}
}

// add watches dir and what is below it. Files that are in it already need no
// event of their own: a round follows.
func (w *watcher) add(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				return nil
			}
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if path != w.v.WorkDir() && ignoredName(d.Name()) {
			return filepath.SkipDir
		}
		return w.w.Add(path)
	})
}

// ignoredName is what editors, git and vade leave around.
func ignoredName(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasSuffix(name, ".swp") ||
		strings.HasSuffix(name, ".tmp") || name == "4913" || name == "node_modules"
}

func (w *watcher) round(ctx context.Context) {
	o := w.o.Options
	o.Wait = time.Minute
	r, err := Round(ctx, w.v, o)
	w.settle = false
	for _, l := range r.Left {
		w.settle = w.settle || l.Path != "" && strings.Contains(l.Reason, "being written")
	}
	if ctx.Err() == nil {
		w.o.Round(r, err)
	}
}

// wait returns when a round is due; an error when ctx ended.
func (w *watcher) wait(ctx context.Context) error {
	every := time.NewTimer(w.period())
	defer every.Stop()
	if w.w == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-every.C:
			return nil
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-every.C:
			return nil
		case err := <-w.w.Errors:
			w.trouble(err)
			return nil
		case ev := <-w.w.Events:
			if w.matters(ev) {
				return w.debounce(ctx)
			}
		}
	}
}

func (w *watcher) period() time.Duration {
	switch {
	case w.settle:
		return w.o.Quiet + defaultStill
	case w.w == nil:
		return w.o.Poll
	}
	return w.o.Every
}

// trouble handles an error of the watch: after an overflow a round looks at
// everything anyway; where watches ran out, we poll.
func (w *watcher) trouble(err error) {
	if err == nil || errors.Is(err, fsnotify.ErrEventOverflow) {
		return
	}
	w.o.Note("watching failed, looking every " + w.o.Poll.String() + " instead: " + err.Error())
	w.close()
}

// matters reports whether ev may mean an edit, and watches new folders.
func (w *watcher) matters(ev fsnotify.Event) bool {
	if ignoredName(filepath.Base(ev.Name)) || ev.Op == fsnotify.Chmod {
		return false
	}
	if ev.Has(fsnotify.Create) {
		if info, err := os.Lstat(ev.Name); err == nil && info.IsDir() {
			if err := w.add(ev.Name); err != nil {
				w.trouble(err)
			}
		}
	}
	return true
}

// debounce returns when nothing happened for Quiet, or after Longest.
func (w *watcher) debounce(ctx context.Context) error {
	deadline := time.NewTimer(w.o.Longest)
	defer deadline.Stop()
	quiet := time.NewTimer(w.o.Quiet)
	defer quiet.Stop()
	for {
		var events chan fsnotify.Event
		if w.w != nil {
			events = w.w.Events
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return nil
		case <-quiet.C:
			return nil
		case ev := <-events:
			if w.matters(ev) {
				quiet.Reset(w.o.Quiet)
			}
		}
	}
}
