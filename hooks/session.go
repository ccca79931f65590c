package hooks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const (
	// maxTold is how many memories a session's state remembers as told, the
	// latest ones; what fell out may be told again.
	maxTold = 256
	// maxSessions is how many states are kept; the oldest go.
	maxSessions = 256
	// maxSubagents is how many subagents of a session are known by their ids.
	maxSubagents = 32
)

// session is what one session of an agent was told already, so that nothing is
// told twice. Losing it costs a repetition; it is not fsynced.
type session struct {
	Parent    string   `json:"parent,omitempty"` // of a subagent's own session
	Prompts   int      `json:"prompts"`          // since the context was new
	Last      string   `json:"last,omitempty"`   // id of the last prompt
	Brief     string   `json:"brief,omitempty"`  // digest of the brief that was told
	Told      []string `json:"told,omitempty"`   // keys of memories
	Subagents []string `json:"subagents,omitempty"`

	path string
}

// loadSession reads the state of a session of an agent; a new one when there
// is none that can be read.
func loadSession(dir, agent, id string) *session {
	sum := sha256.Sum256([]byte(id))
	s := &session{path: filepath.Join(dir, agent+"-"+hex.EncodeToString(sum[:10])+".json")}
	raw, err := os.ReadFile(s.path)
	if err == nil && json.Unmarshal(raw, s) != nil {
		*s = session{path: s.path}
	}
	return s
}

// save replaces the state whole or not at all.
func (s *session) save() error {
	s.Told = s.Told[max(0, len(s.Told)-maxTold):]
	s.Subagents = s.Subagents[max(0, len(s.Subagents)-maxSubagents):]
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(raw, '\n'))
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), s.path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// view is a copy to look at while s changes.
func (s *session) view() *session {
	v := *s
	v.Told, v.Subagents = slices.Clone(s.Told), slices.Clone(s.Subagents)
	return &v
}

// reset: the model has lost what it was told.
func (s *session) reset() { s.Prompts, s.Brief, s.Told, s.Last = 0, "", nil, "" }

// tell notes that the model was told of notes.
func (s *session) tell(notes []note) {
	for _, n := range notes {
		s.Told = slices.DeleteFunc(s.Told, func(k string) bool { return k == n.key() })
		s.Told = append(s.Told, n.key())
	}
}

func (s *session) knows(n note) bool { return slices.Contains(s.Told, n.key()) }

// pruneSessions removes the oldest states when there are too many.
func pruneSessions(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= maxSessions {
		return
	}
	infos := make([]fs.FileInfo, 0, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, info := range infos[:max(0, len(infos)-maxSessions*3/4)] {
		_ = os.Remove(filepath.Join(dir, info.Name()))
	}
}
