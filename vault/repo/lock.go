package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	// lockWait is how long we wait for somebody else's lock file.
	lockWait = 2 * time.Second
	// staleAge is when a lock whose holder we could see, and do not, is stale.
	staleAge = 10 * time.Second
	// staleAgeBlind is the same where processes cannot be looked at.
	staleAgeBlind = 10 * time.Minute
)

// LockedError: another process, a git command or an editor's plugin, held a lock
// file for longer than we wait (2 s). Nothing was changed.
type LockedError struct {
	Path string        // the lock file
	Age  time.Duration // since the file was made
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s has been held by another git process for %s; try again when it is done, or delete the file if none is running",
		e.Path, e.Age.Round(time.Second))
}

// lockFile is a lock of git's protocol: <path>.lock, made exclusively, filled
// with the new content, and renamed over path.
//
// So that a lock which we left behind when we were killed can be told from one
// that git holds, ours is a second name (a hard link) of a marker file in
// <git dir>/vade/locks, on which we hold an OS lock while we live.
type lockFile struct {
	*os.File
	target string
	marker string // "" where the file system has no hard links
}

// lock takes path+".lock", waiting for up to lockWait.
func (g *GitDir) lock(path string) (*lockFile, error) {
	deadline := time.Now().Add(lockWait)
	pause := 2 * time.Millisecond
	for {
		l, err := g.tryLock(path)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return l, err
		}
		if g.breakStale(path + ".lock") {
			continue
		}
		if time.Now().After(deadline) {
			return nil, lockedError(path + ".lock")
		}
		time.Sleep(pause/2 + rand.N(pause))
		pause = min(pause*3/2, 100*time.Millisecond)
	}
}

func lockedError(lock string) error {
	e := &LockedError{Path: lock}
	if st, err := os.Lstat(lock); err == nil {
		e.Age = time.Since(st.ModTime())
	}
	return e
}

// markerDir holds the markers of our locks.
func (g *GitDir) markerDir() string { return filepath.Join(g.common, "vade", "locks") }

func (g *GitDir) tryLock(path string) (*lockFile, error) {
	f, err := g.newMarker()
	if err != nil {
		return nil, err
	}
	l := &lockFile{File: f, target: path, marker: f.Name()}
	if err = os.Link(l.marker, path+".lock"); err == nil {
		return l, nil
	}
	f.Close()
	rerr := os.Remove(l.marker)
	if errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if errors.Is(rerr, fs.ErrNotExist) { // swept before it was held
		return g.tryLock(path)
	}
	f, err = os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return &lockFile{File: f, target: path}, nil
}

// newMarker makes a marker and holds it.
func (g *GitDir) newMarker() (*os.File, error) {
	for {
		name := fmt.Sprintf("lock-%d-%s", os.Getpid(), strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(filepath.Join(g.markerDir(), name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case err == nil:
			if holdMarker(f) {
				return f, nil
			}
			f.Close() // somebody is looking whether it is free; take another one
			os.Remove(f.Name())
		case errors.Is(err, fs.ErrNotExist):
			if err := os.MkdirAll(g.markerDir(), 0o777); err != nil {
				return nil, err
			}
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		}
	}
}

// commit makes the content and its name durable: it renames the lock over the
// target.
func (l *lockFile) commit() error {
	if err := l.rename(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(l.target))
}

// rename is commit without the name being durable on return.
func (l *lockFile) rename() error {
	err := l.Sync()
	if err == nil {
		err = l.stillOurs()
	}
	if err != nil {
		l.release()
		return err
	}
	if err := renameLock(l.File, l.target); err != nil {
		l.release()
		return err
	}
	l.Close()
	if l.marker != "" {
		os.Remove(l.marker)
	}
	return nil
}

// stillOurs makes sure that nobody removed the lock file under us and took the lock.
func (l *lockFile) stillOurs() error {
	mine, err := l.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(l.target + ".lock")
	if err != nil || !os.SameFile(mine, named) {
		return fmt.Errorf("%s.lock was taken away; try again", l.target)
	}
	return nil
}

// release gives the lock up without a change. After commit it must not be called.
func (l *lockFile) release() {
	if l.stillOurs() == nil {
		dropLock(l.File, l.target+".lock")
	}
	l.Close()
	if l.marker != "" {
		os.Remove(l.marker)
	}
}

// breakStale removes a lock file that nobody can be holding, and reports whether
// the name may be free now. Processes of ours that judge at the same time take
// turns: the second one would remove the lock that the first one then takes.
func (g *GitDir) breakStale(lock string) bool {
	if st, err := os.Lstat(lock); err != nil {
		return errors.Is(err, fs.ErrNotExist)
	} else if _, stale := g.isStale(lock, st); !stale {
		return false
	}
	turn := flock.New(filepath.Join(g.markerDir(), "turn"))
	if ok, err := turn.TryLock(); err != nil || !ok {
		return false // somebody else is at it
	}
	defer turn.Unlock()
	st, err := os.Lstat(lock)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	why, stale := g.isStale(lock, st)
	if !stale || os.Remove(lock) != nil {
		return false
	}
	g.sweepMarkers()
	g.warn(fmt.Sprintf("removed the stale lock %s: %s", lock, why))
	return true
}

func (g *GitDir) isStale(lock string, st fs.FileInfo) (why string, stale bool) {
	age := time.Since(st.ModTime())
	if dead, ours := g.markerState(lock, st); ours {
		return "left by a vade process that is gone", dead
	}
	boot, ok := bootTime()
	rebooted := ok && st.ModTime().Before(boot.Add(-2*time.Second)) // the boot is known to the second
	if age < staleAge && !rebooted {
		return "", false
	}
	// Asked even after a boot: a clock that was set since makes files look older.
	running, known := gitRunning(g.places())
	switch {
	case known && running:
		return "", false
	case rebooted:
		return "older than the last boot", true
	case known:
		return fmt.Sprintf("%s old, and no git process is at work here", age.Round(time.Second)), true
	}
	return fmt.Sprintf("%s old", age.Round(time.Second)), age > staleAgeBlind
}

// places are the folders that a git process working here has open or is in.
func (g *GitDir) places() []string {
	p := []string{g.dir, g.common}
	if g.work != nil {
		p = append(p, g.work.dir)
	}
	return p
}

// markerState reports whether lock file st is one of ours, and whether its owner
// is gone. An owner lets go of the marker only after the lock file has lost its
// name, so a lock that still has its name when the marker is free is abandoned.
func (g *GitDir) markerState(lock string, st fs.FileInfo) (dead, ours bool) {
	names, err := os.ReadDir(g.markerDir())
	if err != nil {
		return false, false
	}
	for _, e := range names {
		path := filepath.Join(g.markerDir(), e.Name())
		m, err := os.Lstat(path)
		if err != nil || !os.SameFile(m, st) {
			continue
		}
		if !markerFree(path) {
			return false, true
		}
		now, err := os.Lstat(lock)
		return err == nil && os.SameFile(m, now), true
	}
	return false, false
}

// sweepAge is how old a leftover of ours is before it is swept: long past the
// moment between making a marker and holding it.
const sweepAge = time.Minute

// sweepMarkers removes what processes that are gone left in the marker folder.
func (g *GitDir) sweepMarkers() {
	names, err := os.ReadDir(g.markerDir())
	if err != nil {
		return
	}
	for _, e := range names {
		path := filepath.Join(g.markerDir(), e.Name())
		st, err := e.Info()
		if err != nil || time.Since(st.ModTime()) < sweepAge {
			continue
		}
		if strings.HasPrefix(e.Name(), "lock-") && markerFree(path) {
			os.Remove(path)
		}
	}
}
