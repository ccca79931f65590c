package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Log is a file of lines, each with its checksum, that tell of things in the
// order in which it happened: of what is told of one thing the last line counts.
//
//	{"sum":"9f3c2a11","delivery":{…}}
//
// What a killed writer left behind the last whole line is dropped by the next
// one. Who writes holds a lock of his own, and has loaded. Readers take none.
// A Log belongs to one goroutine at a time.
type Log[T any] struct {
	path  string
	begin []byte // of each line behind its sum

	file  os.FileInfo // that was loaded; nil before
	count int         // lines
	whole int64       // bytes of whole lines
}

// OpenLog names the log at path, whose lines have what they tell under member.
// It reads nothing.
func OpenLog[T any](path, member string) *Log[T] {
	return &Log[T]{path: path, begin: fmt.Appendf(nil, "%q:", member)}
}

// Lines is how many lines the log had when it was loaded.
func (l *Log[T]) Lines() int { return l.count }

// Forget makes the next Load read everything.
func (l *Log[T]) Forget() { l.file, l.count, l.whole = nil, 0, 0 }

// Load calls each with what was appended since the last time. Where the file is
// another one by now, or none, reset is called first, and each with all of it.
// A line that cannot be read is passed over.
func (l *Log[T]) Load(reset func(), each func(*T)) error {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		l.Forget()
		reset()
		return nil
	}
	if err == nil {
		defer f.Close()
		err = l.loadFrom(f, reset, each)
	}
	if err != nil {
		l.Forget()
		reset()
	}
	return err
}

func (l *Log[T]) loadFrom(f *os.File, reset func(), each func(*T)) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if l.file == nil || !os.SameFile(l.file, st) || st.Size() < l.whole {
		l.Forget()
		reset()
	}
	l.file = st
	data := make([]byte, st.Size()-l.whole)
	n, err := f.ReadAt(data, l.whole)
	if data = data[:n]; errors.Is(err, io.EOF) { // it was cut meanwhile
		err = nil
	}
	for err == nil && len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		if !ended {
			break
		}
		l.whole += int64(len(line)) + 1
		l.count++
		data = rest
		if v := l.parse(line); v != nil {
			each(v)
		}
	}
	return err
}

func (l *Log[T]) parse(line []byte) *T {
	if verify(line) != nil {
		return nil
	}
	body, ok := bytes.CutPrefix(line[sumLen:], l.begin)
	if !ok || len(body) == 0 {
		return nil
	}
	v := new(T)
	if json.Unmarshal(body[:len(body)-1], v) != nil {
		return nil
	}
	return v
}

// Append writes a line for each of list, durably, all or none. The lines count
// as not loaded yet.
func (l *Log[T]) Append(list ...*T) error {
	data, err := l.encode(list)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
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
		return syncDir(filepath.Dir(l.path))
	}
	return nil
}

// Replace makes list all that the log tells.
func (l *Log[T]) Replace(list []*T) error {
	data, err := l.encode(list)
	if err != nil {
		return err
	}
	return WriteDurable(l.path, data)
}

func (l *Log[T]) encode(list []*T) ([]byte, error) {
	var b bytes.Buffer
	for _, v := range list {
		raw, err := marshal(v)
		if err != nil {
			return nil, err
		}
		b.Write(seal(append(bytes.Clone(l.begin), raw...)))
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}
