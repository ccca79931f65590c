package journal

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Status is how much waits where.
type Status struct {
	Events int           `json:"events"` // appended, not looked at yet
	Open   int           `json:"open"`   // events of turns that are not over
	Bytes  int64         `json:"bytes"`  // of all that waits
	States map[State]int `json:"states"` // of deliveries
	Aside  int           `json:"aside"`  // lines that could not be read
	Lost   Loss          `json:"lost"`
	Oldest time.Time     `json:"oldest,omitzero"` // delivery that is still owed
}

// Waiting is how many deliveries are owed and not given up.
func (s Status) Waiting() int {
	return s.States[Queued] + s.States[Sending] + s.States[Accepted] + s.States[Retry]
}

// Status counts what waits. It takes no lock and changes nothing.
func (j *Journal) Status() (Status, error) {
	s := Status{States: map[State]int{}}
	if !j.exists() {
		return s, nil
	}
	var err error
	if s.Events, err = j.countLines(eventsDir, &s.Bytes); err != nil {
		return s, err
	}
	if s.Open, err = j.countLines(openDir, &s.Bytes); err != nil {
		return s, err
	}
	if _, err = j.countLines(episodesDir, &s.Bytes); err != nil {
		return s, err
	}
	if s.Aside, err = j.countLines(asideDir, nil); err != nil {
		return s, err
	}
	if s.Lost, err = j.Lost(); err != nil {
		return s, err
	}
	list, err := j.Deliveries()
	if err != nil {
		return s, err
	}
	for _, d := range list {
		s.States[d.State]++
		if !d.State.Final() && d.State != Dead && (s.Oldest.IsZero() || d.Queued.Before(s.Oldest)) {
			s.Oldest = d.Queued
		}
	}
	return s, nil
}

// countLines counts the lines of the files of dir, and adds up their sizes.
func (j *Journal) countLines(dir string, size *int64) (int, error) {
	names, err := j.names(dir)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range names {
		data, err := os.ReadFile(j.path(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		n += bytes.Count(data, []byte{'\n'})
		if size != nil {
			*size += int64(len(data))
		}
	}
	return n, nil
}

// ForgetAside removes what could not be read.
func (j *Journal) ForgetAside() error {
	for _, name := range []string{"corrupt.jsonl", "corrupt.old.jsonl"} {
		if err := os.Remove(j.path(asideDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Unfinished lists the turns that are not over, as episodes without a key, by
// session.
func (j *Journal) Unfinished() ([]*Episode, error) {
	list, err := j.openSessions()
	if err != nil {
		return nil, err
	}
	var open []*Episode
	for _, s := range list {
		for _, t := range turns(s.records) {
			e := newEpisode(t, "")
			e.Key = ""
			open = append(open, e)
		}
	}
	return open, nil
}
