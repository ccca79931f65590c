package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Session is one session of an agent, whose turns are kept in files of its
// own: sessions/2026/11/30-codex-0f3a.md, then …0f3a.2.md when that is full.
type Session struct {
	Agent     string
	ID        string // the agent's own
	Workspace string // of the first turn
}

// Turn is one turn of a session.
type Turn struct {
	Start, End time.Time
	// Key is what delivers the turn: the same key again is the same delivery.
	Key string
	// Names are the agent's own ids of the turn, of its prompt or its end: a
	// turn with one of these is known, whoever brings it.
	Names []string
	// Texts are keys of what was asked and answered; see TextKey.
	Texts []string
	// Continues: this is what came of a known turn after it was kept.
	Continues bool
	// Render returns the turn as a section of markdown, without what is known
	// already, here or in another recent session of the workspace; "" when
	// nothing is left. It is called under the vault's lock.
	Render func(known func(textKey string) bool) string
}

// Captured is what became of one turn.
type Captured struct {
	Path   string // where it is; "" when nothing of it was kept
	Reason string // why not
}

// IsKept is the reason why a turn that is in the vault is not kept again.
const IsKept = "is kept already"

const saysNothing = "says nothing new"

// TextKey names a text by what it says, whatever its case and white space.
// kind is one letter that tells questions from answers.
func TextKey(kind, text string) string {
	return kind + shortSum(strings.ToLower(strings.Join(strings.Fields(Canonical("", text)), " ")))
}

// shortSum is 32 bits: enough to tell the turns of a session, and those of the
// last sessions, from each other.
func shortSum(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

const (
	// maxSession is the size from which on a session goes on in another file:
	// each turn writes and indexes its file anew.
	maxSession = 64 << 10
	// recentSessions is how many sessions are looked through for repeats.
	recentSessions = 64
	turnsKey       = "turns" // front matter: the keys of the turns of a file
)

// SessionTurns are turns of one session, oldest first.
type SessionTurns struct {
	Session
	Turns []Turn
	// Keep is how long after its last turn a file of the session expires; 0
	// keeps it for ever.
	Keep time.Duration
}

// Capture keeps turns, oldest first, in the files of session s, in one commit.
// A turn that is there already, under its key or one of its names, is not kept
// again, nor anything of a session that was forgotten. Files expire when keep
// is over since their last turn; 0 keeps them for ever.
func (v *Vault) Capture(ctx context.Context, s Session, turns []Turn, keep time.Duration) ([]Captured, Commit, error) {
	done, commit, err := v.CaptureAll(ctx, []SessionTurns{{s, turns, keep}})
	if err != nil {
		return nil, Commit{}, err
	}
	return done[0], commit, nil
}

// CaptureAll is Capture for several sessions of one agent, all in one commit.
func (v *Vault) CaptureAll(ctx context.Context, list []SessionTurns) ([][]Captured, Commit, error) {
	if len(list) == 0 {
		return nil, Commit{}, nil
	}
	origin := v.opts.Origin
	origin.Agent, origin.Session, origin.Turn = list[0].Agent, "", 0
	if len(list) == 1 {
		origin.Session = list[0].ID
	}
	op := Op{Name: "capture", Subject: captureSubject(list), Origin: origin}
	var done [][]Captured
	commit, err := v.Update(ctx, op, func(tx *Tx) (err error) {
		done, err = captureIn(tx, list, true)
		return err
	})
	if err != nil {
		return nil, Commit{}, fmt.Errorf("capture %s: %w", op.Subject, err)
	}
	return done, commit, nil
}

func captureSubject(list []SessionTurns) string {
	n := 0
	for _, s := range list {
		n += len(s.Turns)
	}
	what := fmt.Sprintf("%d turns", n)
	if n == 1 {
		what = "a turn"
	}
	if len(list) == 1 {
		return fmt.Sprintf("%s of %s %s", what, list[0].Agent, list[0].ID)
	}
	return fmt.Sprintf("%s of %d sessions of %s", what, len(list), list[0].Agent)
}

// captureIn adds turns to the files of their sessions, and saves those.
func captureIn(tx *Tx, list []SessionTurns, save bool) ([][]Captured, error) {
	files, err := tx.v.sessionFiles()
	if err != nil {
		return nil, err
	}
	done := make([][]Captured, len(list))
	recent := map[string]map[string]bool{}
	for i, s := range list {
		origin := tx.v.opts.Origin
		origin.Agent, origin.Session, origin.Turn = s.Agent, s.ID, 0
		c := capture{tx: tx, s: s.Session, keep: s.Keep, origin: origin, files: files, recent: recent}
		if err := c.locate(); err != nil {
			return nil, err
		}
		done[i] = make([]Captured, len(s.Turns))
		for j, t := range s.Turns {
			if done[i][j], err = c.add(t); err != nil {
				return nil, err
			}
		}
		if !save {
			continue
		}
		if err := c.save(); err != nil {
			return nil, err
		}
	}
	return done, nil
}

// capture is what comes to one session.
type capture struct {
	tx     *Tx
	s      Session
	keep   time.Duration
	origin Origin
	files  []sessionFile // of all sessions, as they were before

	parts     []*sessionPart // of this session, in order
	forgotten bool
	known     map[string]bool // keys of turns of this session
	// recent are text keys of recent sessions by workspace, nil until asked for.
	recent map[string]map[string]bool
}

// sessionPart is one file of a session.
type sessionPart struct {
	path   string
	number int
	doc    *Document
	fresh  []section // what comes to it; one change of its front matter for all
}

// section is a turn that comes to a part.
type section struct {
	text string
	keys []string
	end  time.Time
}

// size is that of the file with what comes to it, in bytes.
func (p *sessionPart) size() int {
	n := len(p.doc.Bytes())
	for _, s := range p.fresh {
		n += len(s.text) + 2 + len(s.keys)*len(", n0a1b2c3d")
	}
	return n
}

// add keeps one turn.
func (c *capture) add(t Turn) (Captured, error) {
	key := "k" + shortSum(t.Key)
	var names []string
	for _, n := range t.Names {
		names = append(names, "n"+shortSum(n))
	}
	isKnown := func(k string) bool { return c.known[k] }
	switch {
	case c.forgotten:
		return Captured{Reason: "this session was forgotten"}, nil
	case isKnown(key), slices.ContainsFunc(names, isKnown) && !t.Continues:
		return Captured{Reason: IsKept}, nil
	}
	text := strings.TrimSpace(t.Render(c.isKnownText))
	if text == "" {
		return Captured{Reason: saysNothing}, nil
	}
	p, err := c.partFor(t, len(text))
	if err != nil {
		return Captured{}, err
	}
	keys := slices.Concat(names, t.Texts)
	if len(names) == 0 || t.Continues {
		keys = append([]string{key}, keys...)
	}
	p.fresh = append(p.fresh, section{text, keys, t.End.UTC().Truncate(time.Second)})
	for _, k := range keys {
		c.known[k] = true
	}
	if recent := c.recent[c.s.Workspace]; recent != nil {
		for _, k := range t.Texts {
			recent[k] = true
		}
	}
	return Captured{Path: p.path}, nil
}

func (c *capture) isKnownText(key string) bool {
	if c.known[key] {
		return true
	}
	if c.recent[c.s.Workspace] == nil {
		c.recent[c.s.Workspace] = c.recentTexts()
	}
	return c.recent[c.s.Workspace][key]
}

// partFor returns the file that takes size more bytes.
func (c *capture) partFor(t Turn, size int) (*sessionPart, error) {
	next := 1
	if n := len(c.parts); n > 0 {
		last := c.parts[n-1]
		if last.doc.Broken() == nil && last.size()+size <= maxSession {
			return last, nil
		}
		next = last.number + 1
	}
	p, err := c.newPart(t, next)
	if err == nil {
		c.parts = append(c.parts, p)
	}
	return p, err
}

func (c *capture) newPart(t Turn, number int) (*sessionPart, error) {
	path, err := c.freePath(t.Start, number)
	if err != nil {
		return nil, err
	}
	title := fmt.Sprintf("%s %s", c.s.Agent, t.Start.UTC().Format(time.DateOnly))
	if number > 1 {
		title += fmt.Sprintf(", part %d", number)
	}
	doc := NewDocument(Memory{
		ID: DerivedID(t.Start, sessionSeed(c.s, number)), Title: title, Type: TypeEvent, Tier: c.tier(),
		Created: t.Start.UTC().Truncate(time.Second), Updated: t.End.UTC().Truncate(time.Second),
		Origin: c.origin, Scope: Scope{Type: "personal", ID: c.tx.v.Identity()}, Workspace: c.s.Workspace,
	})
	return &sessionPart{path: path, number: number, doc: doc}, nil
}

// tier: what expires is working memory.
func (c *capture) tier() Tier {
	if c.keep > 0 {
		return STM
	}
	return LTM
}

// write puts what came to the part into its document.
func (p *sessionPart) write(keep time.Duration) error {
	var body strings.Builder
	body.WriteString(strings.TrimRight(p.doc.Body(), "\r\n"))
	var keys []string
	updated := p.doc.Time("updated")
	for _, s := range p.fresh {
		if body.Len() > 0 {
			body.WriteString("\n\n")
		}
		body.WriteString(s.text)
		keys = append(keys, s.keys...)
		if s.end.After(updated) {
			updated = s.end
		}
	}
	if err := p.doc.SetRawBody(body.String() + "\n"); err != nil {
		return err
	}
	if updated.After(p.doc.Time("updated")) {
		if err := p.doc.Set("updated", updated); err != nil {
			return err
		}
	}
	if keep > 0 {
		if err := p.doc.Set("expires", updated.Add(keep)); err != nil {
			return err
		}
	}
	if !p.doc.Has(turnsKey) {
		return p.doc.Set(turnsKey, keys)
	}
	return p.doc.AddToList(turnsKey, keys...)
}

func (c *capture) save() error {
	for _, p := range c.parts {
		if len(p.fresh) == 0 {
			continue
		}
		if err := p.write(c.keep); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		if err := c.tx.Put(p.path, p.doc.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
