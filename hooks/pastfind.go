package hooks

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Homes is where agents keep their things.
type Homes struct {
	Home string              // the user's
	Env  func(string) string // the environment; agents can be told another place
}

// dir is the folder that the first variable that is set names, else sub below
// the user's home.
func (h Homes) dir(sub string, variables ...string) string {
	for _, v := range variables {
		if dir := h.Env(v); filepath.IsAbs(dir) {
			return dir
		}
	}
	return filepath.Join(h.Home, filepath.FromSlash(sub))
}

// patterns are where an agent's transcripts are; ** stands for any folders.
func (h Homes) patterns(agent string) []string {
	join := filepath.Join
	switch agent {
	case "claude":
		return []string{join(h.dir(".claude", "CLAUDE_CONFIG_DIR"), "projects", "*", "*.jsonl")}
	case "codex":
		home := h.dir(".codex", "CODEX_HOME")
		return []string{join(home, "sessions", "**", "rollout-*.jsonl"), join(home, "archived_sessions", "**", "rollout-*.jsonl")}
	case "copilot":
		return []string{join(h.dir(".copilot", "COPILOT_HOME"), "session-state", "*", "events.jsonl")}
	case "gemini":
		home := join(h.dir("", "GEMINI_CLI_HOME"), ".gemini")
		return []string{join(home, "tmp", "*", "chats", "session-*.jsonl"), join(home, "tmp", "*", "chats", "session-*.json")}
	case "qwen":
		return []string{join(h.dir(".qwen", "QWEN_RUNTIME_DIR", "QWEN_HOME"), "projects", "*", "chats", "*.jsonl")}
	case "opencode":
		return []string{join(h.dir(".local/share", "XDG_DATA_HOME"), "opencode", "opencode.db")}
	case "pi":
		return []string{join(h.dir(".pi/agent", "PI_CODING_AGENT_DIR"), "sessions", "*", "*.jsonl")}
	case "cline":
		return []string{join(h.dir(".cline", "CLINE_DIR"), "data", "sessions", "*", "*.messages.json")}
	}
	return nil
}

// Transcripts lists what the agent called name kept of its sessions, what
// changed last comes last. Folders that cannot be read are left out and named.
func Transcripts(name string, h Homes) (list []Transcript, problems []error) {
	for _, pattern := range h.patterns(name) {
		paths, bad := expand(pattern)
		problems = append(problems, bad...)
		for _, path := range paths {
			t, err := TranscriptAt(name, path)
			if err == nil {
				list = append(list, t)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Transcript) int { return a.Modified.Compare(b.Modified) })
	return list, problems
}

// TranscriptAt is the file at path as a transcript of an agent's.
func TranscriptAt(agent, path string) (Transcript, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Transcript{}, err
	}
	if !st.Mode().IsRegular() {
		return Transcript{}, &fs.PathError{Op: "read", Path: path, Err: ErrNoTranscript}
	}
	t := Transcript{Agent: agent, Path: path, Size: st.Size(), Modified: st.ModTime()}
	if log, err := os.Stat(path + "-wal"); err == nil && agent == "opencode" {
		t.Size += log.Size()
		if log.ModTime().After(t.Modified) {
			t.Modified = log.ModTime()
		}
	}
	return t, nil
}

// expand finds the files that a pattern names: like filepath.Glob, but what is
// above the first * is taken as it is, and ** stands for folders of any depth.
func expand(pattern string) (paths []string, problems []error) {
	parts := strings.Split(pattern, string(filepath.Separator))
	fixed := slices.IndexFunc(parts, func(p string) bool { return strings.Contains(p, "*") })
	if fixed < 0 {
		return []string{pattern}, nil
	}
	root := strings.Join(parts[:fixed], string(filepath.Separator))
	var walk func(dir string, rest []string)
	walk = func(dir string, rest []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			if !os.IsNotExist(err) {
				problems = append(problems, err)
			}
			return
		}
		for _, e := range entries {
			full := filepath.Join(dir, e.Name())
			last := rest[len(rest)-1]
			switch {
			case e.IsDir() && rest[0] == "**":
				walk(full, rest)
			case e.IsDir() && len(rest) > 1:
				if ok, _ := filepath.Match(rest[0], e.Name()); ok {
					walk(full, rest[1:])
				}
			case len(rest) == 1 || rest[0] == "**":
				if ok, _ := filepath.Match(last, e.Name()); ok && !e.IsDir() {
					paths = append(paths, full)
				}
			}
		}
	}
	walk(root, parts[fixed:])
	return paths, problems
}
