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

// Capture keeps turns, oldest first, in the files of session s, in one commit.
// A turn that is there already, under its key or one of its names, is not kept
// again, nor anything of a session that was forgotten. Files expire when keep
// is over since their last turn; 0 keeps them for ever.
func (v *Vault) Capture(ctx context.Context, s Session, turns []Turn, keep time.Duration) ([]Captured, Commit, error) {
	origin := v.opts.Origin
	origin.Agent, origin.Session, origin.Turn = s.Agent, s.ID, 0
	op := Op{Name: "capture", Subject: captureSubject(s, len(turns)), Origin: origin}
	var done []Captured
	commit, err := v.Update(ctx, op, func(tx *Tx) error {
		c := capture{tx: tx, s: s, keep: keep, origin: origin}
		done = make([]Captured, len(turns))
		if err := c.locate(); err != nil {
			return err
		}
		for i, t := range turns {
			var err error
			if done[i], err = c.add(t); err != nil {
				return err
			}
		}
		return c.save()
	})
	if err != nil {
		return nil, Commit{}, fmt.Errorf("capture session %s of %s: %w", s.ID, s.Agent, err)
	}
	return done, commit, nil
}

func captureSubject(s Session, turns int) string {
	if turns == 1 {
		return fmt.Sprintf("a turn of %s %s", s.Agent, s.ID)
	}
	return fmt.Sprintf("%d turns of %s %s", turns, s.Agent, s.ID)
}

// capture is one call of Capture.
type capture struct {
	tx     *Tx
	s      Session
	keep   time.Duration
	origin Origin

	parts     []*sessionPart // of this session, in order
	forgotten bool
	known     map[string]bool // keys of turns of this session
	recent    map[string]bool // text keys of recent sessions; nil until asked for
}

// sessionPart is one file of a session.
type sessionPart struct {
	path    string
	number  int
	doc     *Document
	changed bool
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
	section := strings.TrimSpace(t.Render(c.isKnownText))
	if section == "" {
		return Captured{Reason: saysNothing}, nil
	}
	p, err := c.partFor(t, len(section))
	if err != nil {
		return Captured{}, err
	}
	keys := slices.Concat(names, t.Texts)
	if len(names) == 0 || t.Continues {
		keys = append([]string{key}, keys...)
	}
	if err := p.append(section, keys, t, c.keep); err != nil {
		return Captured{}, fmt.Errorf("%s: %w", p.path, err)
	}
	for _, k := range keys {
		c.known[k] = true
	}
	return Captured{Path: p.path}, nil
}

func (c *capture) isKnownText(key string) bool {
	if c.known[key] {
		return true
	}
	if c.recent == nil {
		c.recent = c.recentTexts()
	}
	return c.recent[key]
}

// partFor returns the file that takes size more bytes.
func (c *capture) partFor(t Turn, size int) (*sessionPart, error) {
	next := 1
	if n := len(c.parts); n > 0 {
		last := c.parts[n-1]
		if last.doc.Broken() == nil && len(last.doc.Bytes())+size <= maxSession {
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

func (p *sessionPart) append(section string, keys []string, t Turn, keep time.Duration) error {
	p.changed = true
	body := strings.TrimRight(p.doc.Body(), "\r\n")
	if body != "" {
		body += "\n\n"
	}
	if err := p.doc.SetRawBody(body + section + "\n"); err != nil {
		return err
	}
	end := t.End.UTC().Truncate(time.Second)
	if was := p.doc.Time("updated"); end.After(was) {
		if err := p.doc.Set("updated", end); err != nil {
			return err
		}
	}
	if keep > 0 {
		if err := p.doc.Set("expires", p.doc.Time("updated").Add(keep)); err != nil {
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
		if !p.changed {
			continue
		}
		if err := c.tx.Put(p.path, p.doc.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
