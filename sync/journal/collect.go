package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// session is the events of one session that are in no episode yet.
type session struct {
	file    string // name in open/
	records []Record
	broken  []bad // lines that cannot be read; not written again
}

// collect moves what is in events/ to open/. The drainer's lock is held.
func (j *Journal) collect() error {
	for n := range slots {
		if st, err := os.Stat(j.segment(n)); err != nil || st.Size() == 0 {
			continue
		}
		if err := j.collectSlot(n); err != nil {
			return err
		}
	}
	return nil
}

func (j *Journal) collectSlot(n int) error {
	unlock, ok := func() {}, false
	for range 100 { // an append takes a few milliseconds
		var err error
		if unlock, ok, err = j.lockSlot(n); err != nil {
			return err
		}
		if ok {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	if !ok {
		return nil // the next drain will do
	}
	defer unlock()
	data, err := os.ReadFile(j.segment(n))
	if err != nil {
		return err
	}
	records, broken := parseRecords(data, true)
	if err := j.putAside(fmt.Sprintf("%s/%02d.jsonl", eventsDir, n), broken); err != nil {
		return err
	}
	bySession := map[string][]Record{}
	for _, r := range records {
		name := sessionName(r.Event) + ".jsonl"
		bySession[name] = append(bySession[name], r)
	}
	for name, records := range bySession {
		s, err := j.openSession(name)
		if err != nil {
			return err
		}
		if s.add(records) {
			if err := j.saveSession(s); err != nil {
				return err
			}
		}
	}
	return j.empty(n)
}

// empty takes everything out of segment n, whose lock is held.
func (j *Journal) empty(n int) error {
	f, err := os.OpenFile(j.segment(n), os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(0); err != nil {
		return err
	}
	return f.Sync()
}

// sessionName is a file name that says whose session it is, and which.
func sessionName(e Event) string {
	sum := sha256.Sum256([]byte(e.Agent + "\x00" + e.Session))
	return fmt.Sprintf("%s-%s-%x", plainName(e.Agent, 16), plainName(e.Session, 24), sum[:4])
}

// plainName keeps the letters and digits of s that any file system takes.
func plainName(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '-':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, s)
	if s = strings.Trim(s[:min(len(s), n)], "-"); s == "" {
		return "x"
	}
	return s
}

// openSession reads a file of open/; one that is not there has no records.
func (j *Journal) openSession(name string) (*session, error) {
	s := &session{file: name}
	data, err := os.ReadFile(j.path(openDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	s.records, s.broken = parseRecords(data, false)
	return s, nil
}

// openSessions reads all of open/, by name.
func (j *Journal) openSessions() ([]*session, error) {
	names, err := j.names(openDir)
	if err != nil {
		return nil, err
	}
	var list []*session
	for _, name := range names {
		s, err := j.openSession(name)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// add takes in records that s does not have yet and reports whether there were any.
func (s *session) add(records []Record) bool {
	n := len(s.records)
	for _, r := range records {
		if !slices.ContainsFunc(s.records, r.same) {
			s.records = append(s.records, r)
		}
	}
	return len(s.records) > n
}

// remove takes out the records with these ids and reports whether there were any.
func (s *session) remove(ids map[string]bool) bool {
	n := len(s.records)
	s.records = slices.DeleteFunc(s.records, func(r Record) bool { return ids[r.ID] })
	return len(s.records) < n
}

// saveSession puts aside what cannot be read of s and writes the rest.
func (j *Journal) saveSession(s *session) error {
	if err := j.putAside(openDir+"/"+s.file, s.broken); err != nil {
		return err
	}
	s.broken = nil
	path := j.path(openDir, s.file)
	if len(s.records) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return syncDir(j.path(openDir))
	}
	return WriteDurable(path, lines(s.records))
}

func lines(records []Record) []byte {
	var b bytes.Buffer
	for _, r := range records {
		b.Write(r.line)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// names lists the files of a folder, sorted, without what is being written.
func (j *Journal) names(dir string) ([]string, error) {
	entries, err := os.ReadDir(j.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".jsonl") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// maxAside bounds aside/corrupt.jsonl; the one before it is kept.
const maxAside = 1 << 20

// aside is a line of aside/corrupt.jsonl.
type aside struct {
	When   time.Time `json:"when"`
	From   string    `json:"from"` // file in the journal
	At     int64     `json:"at"`   // byte in it
	Reason string    `json:"reason"`
	Text   string    `json:"text,omitempty"`
}

// putAside keeps what cannot be read where a person finds it.
func (j *Journal) putAside(from string, broken []bad) error {
	if len(broken) == 0 {
		return nil
	}
	path := j.path(asideDir, "corrupt.jsonl")
	have, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(have) > maxAside {
		if err := os.Rename(path, j.path(asideDir, "corrupt.old.jsonl")); err != nil {
			return err
		}
		have = nil
	}
	b := bytes.NewBuffer(have)
	for _, x := range broken {
		line, err := marshal(aside{j.opts.Now().UTC(), from, x.At, x.Reason, string(x.Line[:min(len(x.Line), 64<<10)])})
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return WriteDurable(path, b.Bytes())
}
