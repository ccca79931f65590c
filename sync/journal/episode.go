package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Episode is one turn of one session that is over: a file of its own in
// episodes/, whose first line describes it and whose others are its events.
type Episode struct {
	Key       string    `json:"key"` // of its delivery
	Agent     string    `json:"agent"`
	Session   string    `json:"session"`
	Parent    string    `json:"parent,omitempty"`
	Turn      string    `json:"turn,omitempty"`
	Workspace string    `json:"workspace,omitempty"`
	Cwd       string    `json:"cwd,omitempty"`
	Start     time.Time `json:"start"`
	End       time.Time `json:"end"`
	Count     int       `json:"events"` // how many it was sealed with
	Sealed    string    `json:"sealed"` // why: ended, next turn, quiet, next start, asked for

	Records []Record `json:"-"`
	// Missing is how many of Count could not be read; they are in aside/.
	Missing int `json:"-"`

	file string // name in episodes/
}

// newEpisode describes t.
func newEpisode(t *turn, why string) *Episode {
	first := t.records[0]
	e := &Episode{
		Key: strings.ToLower(first.ID), Agent: first.Event.Agent, Session: first.Event.Session, Turn: t.id,
		Start: first.Event.Time, End: t.last(), Count: len(t.records), Sealed: why, Records: t.records,
	}
	for _, r := range t.records {
		for _, field := range []struct{ to, from *string }{
			{&e.Parent, &r.Event.Parent}, {&e.Workspace, &r.Event.Workspace}, {&e.Cwd, &r.Event.Cwd},
		} {
			if *field.to == "" {
				*field.to = *field.from
			}
		}
	}
	e.file = fmt.Sprintf("%s-%s-%s.jsonl", e.Start.UTC().Format("20060102T150405"), sessionName(first.Event), e.Key)
	return e
}

// EpisodeOf is a turn that no hook told: its events, at least one, in order,
// as a transcript has them. key names it where its events have no ids.
func EpisodeOf(key string, events []Event) *Episode {
	t := &turn{id: events[0].Turn, records: make([]Record, len(events))}
	for i, e := range events {
		t.records[i] = Record{ID: key, Event: e}
	}
	return newEpisode(t, "backfill")
}

func (j *Journal) saveEpisode(e *Episode) error {
	header, err := marshal(e)
	if err != nil {
		return err
	}
	data := append(seal(fmt.Appendf(nil, `"episode":%s`, header)), '\n')
	return WriteDurable(j.path(episodesDir, e.file), append(data, lines(e.Records)...))
}

// loadEpisode reads a file of episodes/. A header that cannot be read is made
// anew from the events; there is no episode when none of those can be read.
func (j *Journal) loadEpisode(name string) (*Episode, []bad, error) {
	data, err := os.ReadFile(j.path(episodesDir, name))
	if err != nil {
		return nil, nil, err
	}
	e, broken := parseEpisode(data)
	if e != nil {
		e.file, e.Key = name, episodeKey(name)
	}
	return e, broken, nil
}

// takeEpisode is loadEpisode for the drainer: lines that cannot be read are
// moved aside, and nil means that nothing is left.
func (j *Journal) takeEpisode(name string) (*Episode, error) {
	e, broken, err := j.loadEpisode(name)
	if err != nil || len(broken) == 0 && e != nil {
		return e, err
	}
	if e == nil {
		broken = append(broken, bad{Reason: "no event of this turn can be read"})
	}
	if err := j.putAside(episodesDir+"/"+name, broken); err != nil {
		return nil, err
	}
	if e == nil {
		return nil, os.Remove(j.path(episodesDir, name))
	}
	return e, j.saveEpisode(e)
}

// episodeKey is the key of the episode in the file name.
func episodeKey(name string) string {
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '-')+1:], ".jsonl")
}

// parseEpisode returns nil when nothing of data can be read.
func parseEpisode(data []byte) (*Episode, []bad) {
	header, rest, _ := bytes.Cut(data, []byte{'\n'})
	var head struct {
		Episode *Episode `json:"episode"`
	}
	if err := unseal(header, &head); err != nil || head.Episode == nil {
		records, broken := parseRecords(data, false)
		if len(records) == 0 {
			return nil, broken
		}
		t := &turn{}
		for _, r := range records {
			t.add(r)
		}
		return newEpisode(t, "mended"), broken
	}
	e := head.Episode
	var broken []bad
	e.Records, broken = parseRecords(rest, false)
	e.Missing = max(e.Count-len(e.Records), 0)
	if len(e.Records) == 0 {
		return nil, broken
	}
	return e, broken
}

// seal turns what is over into episodes. The drainer's lock is held.
func (j *Journal) seal(all bool) error {
	list, err := j.openSessions()
	if err != nil || len(list) == 0 {
		return err
	}
	done, err := j.sealedIDs()
	if err != nil {
		return err
	}
	s := sealing{now: j.opts.Now(), quiet: j.opts.Quiet, all: all}
	for _, o := range list {
		for _, r := range o.records {
			s.note(r)
		}
	}
	for _, o := range list {
		// What an interrupted seal left in both places.
		changed := o.remove(done) || len(o.broken) > 0
		ids, err := j.sealSession(o, &s)
		if err != nil {
			return err
		}
		if o.remove(ids) || changed {
			if err := j.saveSession(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// sealSession writes the episodes of o and returns the ids of what is in them,
// and of what is over without telling anything.
func (j *Journal) sealSession(o *session, s *sealing) (map[string]bool, error) {
	ids := map[string]bool{}
	kept := map[string]bool{}
	list := turns(o.records)
	for i, t := range list {
		why := s.over(list, i)
		for _, r := range t.records {
			kept[r.ID] = true
			if why != "" {
				ids[r.ID] = true
			}
		}
		if why == "" || !t.tells() {
			continue
		}
		if err := j.saveEpisode(newEpisode(t, why)); err != nil {
			return nil, err
		}
	}
	for _, r := range o.records { // what came twice
		if !kept[r.ID] {
			ids[r.ID] = true
		}
	}
	return ids, nil
}

// sealedIDs are the ids of the events in episodes/.
func (j *Journal) sealedIDs() (map[string]bool, error) {
	names, err := j.names(episodesDir)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, name := range names {
		e, _, err := j.loadEpisode(name)
		if err != nil {
			return nil, err
		}
		if e == nil {
			continue
		}
		for _, r := range e.Records {
			ids[r.ID] = true
		}
	}
	return ids, nil
}

// Episodes are the turns that wait for their delivery, oldest first.
func (j *Journal) Episodes() ([]*Episode, error) {
	names, err := j.names(episodesDir)
	if err != nil {
		return nil, err
	}
	var list []*Episode
	for _, name := range names {
		e, _, err := j.loadEpisode(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // delivered meanwhile
		}
		if err != nil {
			return nil, err
		}
		if e != nil {
			list = append(list, e)
		}
	}
	return list, nil
}

// dropEpisodes removes the files of the episodes with these keys.
func (j *Journal) dropEpisodes(keys map[string]bool) error {
	names, err := j.names(episodesDir)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !keys[episodeKey(name)]
	})
	for _, name := range names {
		if err := os.Remove(j.path(episodesDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	return syncDir(j.path(episodesDir))
}
