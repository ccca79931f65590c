package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"vademecum/sync/journal"
)

// Transcript is what an agent itself keeps of its sessions: a file of one
// session, or a database of many.
type Transcript struct {
	Agent    string
	Path     string
	Size     int64 // in bytes, with what belongs to it
	Modified time.Time
}

// Told says how much of a transcript could be read.
type Told struct {
	// Lost counts the lines that could not be read.
	Lost int
	// Unfinished: a turn is still going on, or was until a moment ago; its
	// hooks tell how it ended. It is left out.
	Unfinished bool
}

// stillGoing is how long a turn without an answer is taken for one that goes on.
const stillGoing = 10 * time.Minute

// ErrNoTranscript: a file has nothing of a session's in it.
var ErrNoTranscript = errors.New("is no transcript")

// Past reads transcripts to the episodes that hooks would have made of them.
// It may be used for one transcript at a time.
type Past struct {
	Redactor  Redactor
	Workspace func(dir string) string // the project key of a folder; nil for none
	Now       func() time.Time
	// Progress, if set, is told how many bytes of transcripts were read since
	// it was called last.
	Progress func(bytes int)

	workspaces map[string]string
	// seen are the ids of prompts: agents copy what was said into the
	// transcript of a session that goes on under another id.
	seen map[[16]byte]bool
}

// Read tells yield the turns of t, oldest first within a session, redacted. It
// stops at yield's first error and returns it.
func (p *Past) Read(ctx context.Context, t Transcript, yield func(*journal.Episode) error) (Told, error) {
	agent, ok := Find(t.Agent)
	if !ok || pastReaders()[t.Agent] == nil {
		return Told{}, fmt.Errorf("transcripts of %s cannot be read", t.Agent)
	}
	n := &teller{past: p, agent: agent, t: t, yield: yield, ctx: ctx}
	n.live = p.Now().Sub(t.Modified) < stillGoing
	err := pastReaders()[t.Agent](n)
	if err == nil {
		err = n.end()
	}
	if err == nil && !n.any {
		err = ErrNoTranscript
	}
	return n.told, err
}

// pastReaders read the transcripts of one agent each.
func pastReaders() map[string]func(*teller) error {
	return map[string]func(*teller) error{
		"claude": (*teller).claude, "codex": (*teller).codex, "copilot": (*teller).copilot, "gemini": (*teller).gemini,
		"qwen": (*teller).qwen, "opencode": (*teller).opencode, "pi": (*teller).pi, "cline": (*teller).cline,
	}
}

// Remembering are the agents whose transcripts can be read.
func Remembering() []string {
	return []string{"claude", "codex", "copilot", "gemini", "qwen", "opencode", "pi", "cline"}
}

func (p *Past) workspace(dir string) string {
	if p.Workspace == nil || dir == "" {
		return ""
	}
	key, ok := p.workspaces[dir]
	if !ok {
		key = p.Workspace(dir)
		if p.workspaces == nil {
			p.workspaces = map[string]string{}
		}
		p.workspaces[dir] = key
	}
	return key
}

func (p *Past) read(bytes int) {
	if p.Progress != nil {
		p.Progress(bytes)
	}
}

// maxLine is the longest line that is read: images and whole files lie in
// transcripts, in one line.
const maxLine = 32 << 20

// lines hands every line of the transcript that is a JSON object to fn. Those
// that are none are counted; the end of the file that is half a line is what
// somebody is writing.
func (n *teller) lines(fn func(o object)) error {
	f, err := os.Open(n.t.Path)
	if err != nil {
		return unwrapPath(err)
	}
	defer f.Close()
	l := lineReader{in: f, max: maxLine}
	for {
		line, whole, err := l.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return unwrapPath(err)
		}
		if len(strings.TrimSpace(string(line[:min(len(line), 64)]))) == 0 && whole {
			continue
		}
		n.past.read(len(line) + 1)
		o, ok := parseObject(line)
		switch {
		case ok:
			fn(o)
		case whole:
			n.told.Lost++
		default:
			n.told.Unfinished = n.told.Unfinished || n.live
		}
		if n.err == nil {
			n.err = n.ctx.Err()
		}
		if n.err != nil {
			return n.err
		}
	}
}

// unwrapPath is what went wrong, without the path that the caller names.
func unwrapPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// parseObject reads one whole JSON object.
func parseObject(line []byte) (object, bool) {
	p := &reader{in: nothing{}, buf: line, end: len(line)}
	o, ok := p.value(0).(object)
	return o, ok && !p.bad
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

// when reads the times that agents write: RFC 3339, or milliseconds.
func when(o object, path ...string) time.Time {
	switch v := o.get(path...).(type) {
	case string:
		if t, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return t.UTC()
		}
	case number:
		if ms, err := v.Float64(); err == nil && ms > 0 {
			return time.UnixMilli(int64(ms)).UTC()
		}
	}
	return time.Time{}
}
