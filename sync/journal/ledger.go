package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ledger is deliveries.jsonl: a line for each change of a delivery, whole, so
// that the last one counts. Changes are made under ledger.lock, which nobody
// holds while something is sent. What was read is kept: of the same file only
// what came behind it is read again.
type ledger struct {
	dir string

	mu    sync.Mutex
	file  os.FileInfo // that have was read from; nil before
	have  map[string]*Delivery
	count int   // lines
	whole int64 // bytes of whole lines; behind it is what a killed writer left
}

func (l *ledger) path() string { return filepath.Join(l.dir, "deliveries.jsonl") }

// lock makes the caller the only one who changes the ledger.
func (l *ledger) lock(ctx context.Context) (unlock func(), err error) {
	return waitLock(ctx, filepath.Join(l.dir, "ledger.lock"), ledgerWait)
}

// ledgerWait is how long to wait for whoever changes the ledger.
const ledgerWait = 10 * time.Second

// read returns the deliveries by receiver and key.
func (l *ledger) read() (map[string]Delivery, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return nil, err
	}
	have := make(map[string]Delivery, len(l.have))
	for id, d := range l.have {
		have[id] = *d
	}
	return have, nil
}

// forget makes the next load read everything. mu is held.
func (l *ledger) forget() {
	l.file, l.have, l.count, l.whole = nil, map[string]*Delivery{}, 0, 0
}

// load brings have up to date. mu is held.
func (l *ledger) load() error {
	f, err := os.Open(l.path())
	if errors.Is(err, fs.ErrNotExist) {
		l.forget()
		return nil
	}
	if err == nil {
		defer f.Close()
		err = l.loadFrom(f)
	}
	if err != nil {
		l.forget()
		return fmt.Errorf("read the ledger: %w", err)
	}
	return nil
}

func (l *ledger) loadFrom(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if l.file == nil || !os.SameFile(l.file, st) || st.Size() < l.whole {
		l.forget()
	}
	l.file = st
	data, err := io.ReadAll(io.NewSectionReader(f, l.whole, st.Size()-l.whole))
	for err == nil && len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		if !ended {
			break
		}
		l.whole += int64(len(line)) + 1
		l.count++
		data = rest
		// A line that cannot be read leaves its delivery in the state before;
		// what was delivered then is found to be so when it is sent again.
		if d := parseDelivery(line); d != nil {
			l.have[d.id()] = d
		}
	}
	return err
}

func parseDelivery(line []byte) *Delivery {
	var l struct {
		Delivery *Delivery `json:"delivery"`
	}
	if unseal(line, &l) != nil || l.Delivery == nil || l.Delivery.Key == "" {
		return nil
	}
	return l.Delivery
}

// update calls fn with what the ledger says, under its lock, and appends the
// deliveries that fn returns.
func (l *ledger) update(ctx context.Context, fn func(map[string]*Delivery) []*Delivery) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return err
	}
	changed := fn(l.have)
	if len(changed) == 0 {
		return nil
	}
	data, err := deliveryLines(changed)
	if err == nil {
		err = l.append(data)
	}
	if err != nil {
		l.forget() // fn changed it
		return fmt.Errorf("write the ledger: %w", err)
	}
	return nil
}

func (l *ledger) append(data []byte) error {
	f, err := os.OpenFile(l.path(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(l.whole); err != nil {
		return err
	}
	if _, err = f.WriteAt(data, l.whole); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(l.whole))
	}
	if l.whole == 0 {
		return syncDir(l.dir)
	}
	return nil
}

func deliveryLines(list []*Delivery) ([]byte, error) {
	var b bytes.Buffer
	for _, d := range list {
		raw, err := marshal(d)
		if err != nil {
			return nil, err
		}
		b.Write(seal(fmt.Appendf(nil, `"delivery":%s`, raw)))
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

const (
	// A ledger is written anew when it has these many lines more than
	// deliveries, and twice as many.
	slackLines = 500
	// maxFinal is how many of what was delivered the ledger remembers.
	maxFinal = 500
)

// compact forgets what was delivered before keep, and all but the last
// maxFinal of it, when the ledger is worth writing anew.
func (l *ledger) compact(ctx context.Context, keep time.Time) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return err
	}
	list := sorted(l.have)
	final := 0
	for _, d := range list {
		if d.State.Final() {
			final++
		}
	}
	var kept []*Delivery
	for _, d := range list {
		if d.State.Final() {
			if final--; final >= maxFinal || d.Changed.Before(keep) {
				continue
			}
		}
		kept = append(kept, d)
	}
	if l.count < 2*len(kept) || l.count-len(kept) < slackLines {
		return nil
	}
	data, err := deliveryLines(kept)
	if err != nil {
		return err
	}
	return writeDurable(l.path(), data)
}

// errLocked: somebody held a lock of the journal for too long.
var errLocked = errors.New("is held by another process")

func waitLock(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	until := time.Now().Add(wait)
	for {
		unlock, ok, err := tryLock(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("lock %s: %w", path, err)
		case ok:
			return unlock, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case time.Now().After(until):
			return nil, fmt.Errorf("%s %w", path, errLocked)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
