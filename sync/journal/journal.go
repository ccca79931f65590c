package journal

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// Options tune a journal. The zero value is right for use.
type Options struct {
	// Timeout is how long Append may take before it gives up; 0 means 1 s.
	Timeout time.Duration
	// Until is when Append gives up at the latest; zero: Timeout alone counts.
	Until time.Time
	// Quiet is how long a session must have said nothing for its turn to be
	// taken as over; 0 means 10 min.
	Quiet time.Duration
	// Lease is how long who sends a delivery has it for himself; 0 means 30 s.
	Lease time.Duration
	// Attempts is how often a delivery is tried before it is dead; 0 means 10.
	Attempts int
	// MaxBytes bounds what waits in events/ and, by itself, in open/ and
	// episodes/; 0 means 64 MiB.
	MaxBytes int64
	// Pause is how long a drain that was told to look once more waits before it
	// does, so that what comes one by one is kept together; 0 means 1 s.
	Pause time.Duration
	// Keep is how long the ledger remembers what was delivered; 0 means 7 days.
	Keep time.Duration
	// Now, Entropy and Jitter (in [0, 1)) are the seams for time and chance.
	Now     func() time.Time
	Entropy io.Reader
	Jitter  func() float64
}

// Journal is one identity's queue on this host. It may be used by any number
// of goroutines and processes at once.
type Journal struct {
	dir    string
	opts   Options
	ledger ledger
}

// Open names the journal in dir, which the first Append makes. It reads
// nothing: a hook pays for Append alone.
func Open(dir string, o Options) *Journal {
	def := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	def(&o.Timeout, time.Second)
	def(&o.Quiet, 10*time.Minute)
	def(&o.Lease, 30*time.Second)
	def(&o.Pause, time.Second)
	def(&o.Keep, 7*24*time.Hour)
	if o.Attempts == 0 {
		o.Attempts = 10
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 64 << 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Entropy == nil {
		o.Entropy = rand.Reader
	}
	if o.Jitter == nil {
		o.Jitter = mathrand.Float64
	}
	return &Journal{dir: dir, opts: o, ledger: newLedger(dir)}
}

// Dir is the journal's directory.
func (j *Journal) Dir() string { return j.dir }

func (j *Journal) path(parts ...string) string {
	return filepath.Join(append([]string{j.dir}, parts...)...)
}

const (
	eventsDir   = "events"
	openDir     = "open"
	episodesDir = "episodes"
	asideDir    = "aside"
)

// make makes the folders, and what must be there when the disk is full.
func (j *Journal) make() error {
	for _, sub := range []string{eventsDir, openDir, episodesDir, asideDir} {
		if err := os.MkdirAll(j.path(sub), 0o700); err != nil {
			return err
		}
	}
	return j.makeLoss()
}

// exists reports whether anything was ever appended.
func (j *Journal) exists() bool {
	_, err := os.Stat(j.path(eventsDir))
	return !errors.Is(err, fs.ErrNotExist)
}

// WriteDurable replaces the file at path, whole or not at all, and returns
// when it is on disk.
func WriteDurable(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err = tmp.Write(data); err == nil {
		err = tmp.Sync()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	return err
}
