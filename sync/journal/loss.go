package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Loss says how many events could not be kept since somebody last asked to
// forget about them.
type Loss struct {
	Count int       `json:"count"`
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	Error string    `json:"error,omitempty"` // of the last one
}

// lossLen is the length of lost.json. It is always written in place, so that
// a full disk takes it too.
const lossLen = 512

func (j *Journal) lossPath() string { return j.path("lost.json") }

// makeLoss makes the file and its lock before they are needed.
func (j *Journal) makeLoss() error {
	if _, err := os.Stat(j.lossPath()); err == nil {
		return nil
	}
	unlock, ok, err := tryLock(j.path("lost.lock"))
	if err != nil || !ok {
		return err
	}
	defer unlock()
	return WriteDurable(j.lossPath(), Loss{}.bytes())
}

func (l Loss) bytes() []byte {
	l.Error = cutAt(l.Error, 200)
	raw, err := marshal(l)
	if err != nil || len(raw) >= lossLen {
		raw, _ = marshal(Loss{Count: l.Count, First: l.First, Last: l.Last})
	}
	return append(append(raw, bytes.Repeat([]byte{' '}, lossLen-1-len(raw))...), '\n')
}

// countLoss records that err lost an event, as well as a disk in trouble lets
// it; durable says whether to wait for that disk.
func (j *Journal) countLoss(err error, durable bool) {
	for range 20 {
		unlock, ok, lockErr := tryLock(j.path("lost.lock"))
		if lockErr != nil {
			return
		}
		if ok {
			defer unlock()
			break
		}
		time.Sleep(time.Millisecond)
	}
	l, readErr := j.Lost()
	if readErr != nil {
		return
	}
	l.Count++
	l.Last, l.Error = j.opts.Now().UTC().Truncate(time.Second), strings.TrimPrefix(err.Error(), "journal: ")
	if l.First.IsZero() {
		l.First = l.Last
	}
	f, err := os.OpenFile(j.lossPath(), os.O_RDWR, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if _, err := f.WriteAt(l.bytes(), 0); err == nil && durable {
		_ = f.Sync()
	}
}

// Lost says what Append could not keep. The zero Loss means nothing was lost.
func (j *Journal) Lost() (Loss, error) {
	raw, err := os.ReadFile(j.lossPath())
	if errors.Is(err, fs.ErrNotExist) {
		return Loss{}, nil
	}
	if err != nil {
		return Loss{}, err
	}
	var l Loss
	if json.Unmarshal(bytes.TrimSpace(raw), &l) != nil { // a count is not worth an error
		return Loss{}, nil
	}
	return l, nil
}

// ForgetLoss starts the count of Lost anew.
func (j *Journal) ForgetLoss() error {
	if _, err := os.Stat(j.lossPath()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return WriteDurable(j.lossPath(), Loss{}.bytes())
}
