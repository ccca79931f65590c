package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gofrs/flock"

	"vademecum/vault"
)

// slots is how many processes can append at once.
const slots = 16

// Errors of Append.
var (
	// ErrBusy: every segment was in somebody's hands for the whole time.
	ErrBusy = errors.New("journal: every segment is locked by another process")
	// ErrFull: nobody drained, and the bound is reached.
	ErrFull = errors.New(`journal: is full; "vade journal drain" empties it`)
	// ErrSlow: the disk did not answer in time; the event may be kept all the same.
	ErrSlow = errors.New("journal: the disk did not answer in time, it may be kept all the same")
)

// errSlotBusy and errSlotFull send Append on to the next segment.
var (
	errSlotBusy = errors.New("busy")
	errSlotFull = errors.New("full")
)

// Append keeps e, and returns when it is on disk: one fsync of a segment that
// nobody else writes. Private spans and known secrets are taken out first, and
// long texts are cut. It takes no lock that anybody holds for longer than an
// append, and returns within Options.Timeout. After an error other than
// ErrSlow the event is not kept. Every error is counted in Lost.
func (j *Journal) Append(e Event) error {
	timeout := j.timeout()
	done := make(chan error, 1)
	var once sync.Once // it is one loss, whoever finds it first
	go func() {
		err := j.append(e, timeout*3/4)
		if err != nil {
			once.Do(func() { j.countLoss(err, true) })
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(timeout):
	}
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		once.Do(func() { j.countLoss(ErrSlow, false) }) // the process may be gone before the disk answers
	}()
	select {
	case err := <-done:
		return err
	case <-counted:
	case <-time.After(timeoutForLoss):
	}
	return ErrSlow
}

// timeoutForLoss is how long a disk that is slow is given to note that.
const timeoutForLoss = 40 * time.Millisecond

// timeout is how long an append may take from now on.
func (j *Journal) timeout() time.Duration {
	if j.opts.Until.IsZero() {
		return j.opts.Timeout
	}
	return min(j.opts.Timeout, max(50*time.Millisecond, time.Until(j.opts.Until)))
}

// Lose counts an event that was not even appended, because of err.
func (j *Journal) Lose(err error) {
	if j.make() == nil {
		j.countLoss(err, true)
	}
}

func (j *Journal) append(e Event, patience time.Duration) error {
	now := j.opts.Now()
	if e.Time.IsZero() {
		e.Time = now
	}
	e.clean()
	event, err := marshal(e)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	id := string(vault.NewID(now, j.opts.Entropy))
	giveUp := time.Now().Add(patience)
	for {
		err := j.appendSomewhere(id, event)
		if !errors.Is(err, errSlotBusy) {
			return err
		}
		if time.Now().After(giveUp) {
			return ErrBusy
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (j *Journal) appendSomewhere(id string, event []byte) error {
	busy := false
	for n := range slots {
		err := j.appendTo(n, id, event)
		if errors.Is(err, fs.ErrNotExist) {
			if err = j.make(); err == nil {
				err = j.appendTo(n, id, event)
			}
		}
		switch {
		case errors.Is(err, errSlotBusy):
			busy = true
		case errors.Is(err, errSlotFull):
		case err != nil:
			return fmt.Errorf("journal: %w", err)
		default:
			return nil
		}
	}
	if busy {
		return errSlotBusy
	}
	return ErrFull
}

func (j *Journal) segment(n int) string { return j.path(eventsDir, fmt.Sprintf("%02d.jsonl", n)) }

// lockSlot makes the caller the only one who reads or writes segment n; ok is
// false when somebody else is.
func (j *Journal) lockSlot(n int) (unlock func(), ok bool, err error) {
	return tryLock(j.path(eventsDir, fmt.Sprintf("%02d.lock", n)))
}

func tryLock(path string) (unlock func(), ok bool, err error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	ok, err = l.TryLock()
	if err != nil || !ok {
		return nil, false, err
	}
	return func() { _ = l.Unlock() }, true, nil
}

// appendTo writes to segment n. What could not be written whole is taken back.
func (j *Journal) appendTo(n int, id string, event []byte) error {
	unlock, ok, err := j.lockSlot(n)
	if err != nil {
		return err
	}
	if !ok {
		return errSlotBusy
	}
	defer unlock()
	f, created, err := openSegment(j.segment(n))
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Seek(0, 2)
	if err != nil {
		return err
	}
	if size > j.opts.MaxBytes/slots {
		return errSlotFull
	}
	end := size
	if tornAt(f, size) {
		end++
	}
	data := encodeRecord(end, id, event)
	if end > size {
		data = append([]byte{'\n'}, data...)
	}
	_, err = f.WriteAt(data, size)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	if created {
		return syncDir(j.path(eventsDir))
	}
	return nil
}

func openSegment(path string) (f *os.File, created bool, err error) {
	f, err = os.OpenFile(path, os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		return f, true, err
	}
	return f, false, err
}

// tornAt reports whether the size bytes of f end inside a line, which a power
// cut left.
func tornAt(f *os.File, size int64) bool {
	var last [1]byte
	if size == 0 {
		return false
	}
	_, err := f.ReadAt(last[:], size-1)
	return err == nil && last[0] != '\n'
}

// clean takes out of e what must not be kept: it is the second line of defence
// behind the hook's own redaction.
func (e *Event) clean() {
	e.Text = e.keep(e.Text)
	if e.Tool != nil {
		t := *e.Tool // the caller's stays as it is
		t.Input, t.Output, t.Error = e.keep(t.Input), e.keep(t.Output), e.keep(t.Error)
		e.Tool = &t
	}
}

func (e *Event) keep(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToValidUTF8(text, "�")
	text, _ = vault.StripPrivate(text)
	if len(text) > 2*MaxText { // a secret that the cut would split is near it
		e.Cut += len(text) - 2*MaxText
		text = cutAt(text, 2*MaxText)
	}
	text, _ = vault.Redact(text)
	if len(text) > MaxText {
		e.Cut += len(text) - MaxText
		text = cutAt(text, MaxText)
	}
	return text
}

// cutAt returns at most n bytes of text, in whole characters.
func cutAt(text string, n int) string {
	n = min(n, len(text))
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
