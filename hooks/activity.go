package hooks

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Entry is one thing that vade did for an agent or a person: counts, ids and
// durations, no text. It is for its owner to look at; nothing ranks by it,
// syncs it or sends it anywhere.
type Entry struct {
	Time    time.Time `json:"t"`
	What    string    `json:"what"` // hook, recall, remember
	Agent   string    `json:"agent,omitempty"`
	Event   string    `json:"event,omitempty"` // the agent's own name for it
	Session string    `json:"session,omitempty"`
	Kept    string    `json:"kept,omitempty"`    // kind of the journal's event
	Ignored string    `json:"ignored,omitempty"` // why nothing was kept
	Found   int       `json:"found,omitempty"`   // hits before they were sorted out
	IDs     []string  `json:"ids,omitempty"`     // memories that were shown or told
	Bytes   int       `json:"bytes,omitempty"`   // that the model was told
	Ms      float64   `json:"ms"`
	Error   string    `json:"error,omitempty"` // what went wrong: timeout, journal, memory, panic
}

// The values of Entry.What.
const (
	DidHook     = "hook"
	DidRecall   = "recall"
	DidRemember = "remember"
)

const (
	// maxActivity is the size at which the file of the day becomes the old one.
	maxActivity = 1 << 20
	// maxUsage bounds the memories that sums are kept of.
	maxUsage = 50_000

	activityFile = "activity.jsonl"
	activityOld  = "activity.old.jsonl"
	usageFile    = "usage.json"
)

// Activity is the record of one identity on this host, in the folder hooks/.
// Any number of processes may add to it at once.
type Activity struct{ Dir string }

// Add appends e. Failing to is nobody's trouble but the reader's.
func (a Activity) Add(e Entry) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	path := filepath.Join(a.Dir, activityFile)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(a.Dir, 0o700); err == nil {
			f, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n')) // one write, so that lines of several processes do not mix
	info, statErr := f.Stat()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if statErr == nil && info.Size() > maxActivity {
		a.rotate()
	}
	return err
}

// rotate drops the old file, having added it to the sums, and makes the
// present one the old one. Of two processes that do it at once, the second
// finds nothing to rename.
func (a Activity) rotate() {
	sums := a.sums()
	readEntries(filepath.Join(a.Dir, activityOld), sums.add)
	if os.Rename(filepath.Join(a.Dir, activityFile), filepath.Join(a.Dir, activityOld)) != nil {
		return
	}
	sums.bound()
	raw, err := json.Marshal(sums)
	if err != nil {
		return
	}
	tmp := filepath.Join(a.Dir, usageFile+".new")
	if os.WriteFile(tmp, append(raw, '\n'), 0o600) == nil {
		_ = os.Rename(tmp, filepath.Join(a.Dir, usageFile))
	}
}

// Entries are what is on record, oldest first: some thousands of the latest.
func (a Activity) Entries() []Entry {
	var list []Entry
	for _, name := range []string{activityOld, activityFile} {
		readEntries(filepath.Join(a.Dir, name), func(e Entry) { list = append(list, e) })
	}
	return list
}

// readEntries calls fn for each whole line of a file.
func readEntries(path string, fn func(Entry)) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var e Entry
		if json.Unmarshal(sc.Bytes(), &e) == nil && e.What != "" {
			fn(e)
		}
	}
}

// Usage says how often a memory was shown or told, and when last.
type Usage struct {
	Recalled int       `json:"recalled,omitempty"` // shown to who asked
	Told     int       `json:"told,omitempty"`     // told to a model that did not ask
	Last     time.Time `json:"last"`
}

// Sums are what is known of all time.
type Sums struct {
	Memories map[string]Usage                `json:"memories"` // by id, or path
	Fired    map[string]map[string]time.Time `json:"fired"`    // when an agent's event last came, by both names
}

// Sums adds up all that is, and ever was, on record.
func (a Activity) Sums() Sums {
	s := a.sums()
	for _, e := range a.Entries() {
		s.add(e)
	}
	return *s
}

// sums are those of what is not on record any more.
func (a Activity) sums() *Sums {
	s := &Sums{}
	if raw, err := os.ReadFile(filepath.Join(a.Dir, usageFile)); err == nil {
		if json.Unmarshal(raw, s) != nil {
			*s = Sums{}
		}
	}
	if s.Memories == nil {
		s.Memories = map[string]Usage{}
	}
	if s.Fired == nil {
		s.Fired = map[string]map[string]time.Time{}
	}
	return s
}

func (s *Sums) add(e Entry) {
	if e.What == DidHook && e.Agent != "" {
		if s.Fired[e.Agent] == nil {
			s.Fired[e.Agent] = map[string]time.Time{}
		}
		if e.Time.After(s.Fired[e.Agent][e.Event]) {
			s.Fired[e.Agent][e.Event] = e.Time
		}
	}
	if e.What == DidRemember {
		return
	}
	for _, id := range e.IDs {
		u := s.Memories[id]
		if e.What == DidHook {
			u.Told++
		} else {
			u.Recalled++
		}
		if e.Time.After(u.Last) {
			u.Last = e.Time
		}
		s.Memories[id] = u
	}
}

// bound drops what was used longest ago when there is too much.
func (s *Sums) bound() {
	for age := 365 * 24 * time.Hour; len(s.Memories) > maxUsage && age > time.Hour; age /= 2 {
		for id, u := range s.Memories {
			if time.Since(u.Last) > age {
				delete(s.Memories, id)
			}
		}
	}
	for agent, events := range s.Fired {
		if len(events) > 200 || len(s.Fired) > 50 { // names that somebody made up
			delete(s.Fired, agent)
		}
	}
}
