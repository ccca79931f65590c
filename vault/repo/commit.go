package repo

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Signature says who did something, and when. Git keeps seconds and the offset
// of the time zone.
type Signature struct {
	Name, Email string
	When        time.Time
}

// Commit is one commit. Headers that are not here (gpgsig, encoding, …) are
// skipped by ReadCommit.
type Commit struct {
	Hash      plumbing.Hash // set by ReadCommit and WriteCommit
	Tree      plumbing.Hash
	Parents   []plumbing.Hash
	Author    Signature
	Committer Signature
	Message   string
}

var errCommit = errors.New("malformed commit")

// ReadCommit returns commit h.
func ReadCommit(s Store, h plumbing.Hash) (*Commit, error) {
	raw, err := readTyped(s, plumbing.CommitObject, h)
	if err != nil {
		return nil, err
	}
	c, err := parseCommit(raw)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", h, err)
	}
	c.Hash = h
	return c, nil
}

// WriteCommit stores c, sets c.Hash and returns it. Equal commits get equal ids
// on every host.
func WriteCommit(s Store, c *Commit) (plumbing.Hash, error) {
	h, err := WriteObject(s, plumbing.CommitObject, c.encode())
	c.Hash = h
	return h, err
}

func (c *Commit) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	for _, p := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\n", c.Author)
	fmt.Fprintf(&b, "committer %s\n\n", c.Committer)
	b.WriteString(strings.ReplaceAll(c.Message, "\x00", ""))
	return b.Bytes()
}

// String returns s as a commit or a reflog holds it: "Name <email> 1700000000 +0100".
func (s Signature) String() string {
	name, email := cleanIdent(s.Name), cleanIdent(s.Email)
	if name == "" {
		name = "unknown"
	}
	return fmt.Sprintf("%s <%s> %d %s", name, email, max(0, s.When.Unix()), s.When.Format("-0700"))
}

// cleanIdent drops what would end a name or an email early, as git does.
func cleanIdent(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.Trim(s, " .,:;\"'\\")
}

// parseCommit reads the headers that Commit has and skips the others, with their
// continuation lines.
func parseCommit(raw []byte) (*Commit, error) {
	c := &Commit{}
	seen := false
	for {
		line, rest, ok := bytes.Cut(raw, []byte("\n"))
		if len(line) == 0 {
			if !ok && len(raw) > 0 || !seen {
				return nil, errCommit
			}
			c.Message = string(rest)
			return c, nil
		}
		raw = rest
		key, value, _ := strings.Cut(string(line), " ")
		switch key {
		case "tree":
			if !plumbing.IsHash(value) || seen {
				return nil, errCommit
			}
			c.Tree, seen = plumbing.NewHash(value), true
		case "parent":
			if !plumbing.IsHash(value) {
				return nil, errCommit
			}
			c.Parents = append(c.Parents, plumbing.NewHash(value))
		case "author":
			c.Author = parseSignature(value)
		case "committer":
			c.Committer = parseSignature(value)
		}
	}
}

// parseSignature reads what it can: old tools left odd ones in history.
func parseSignature(s string) Signature {
	var sig Signature
	open, end := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if open < 0 || end < open {
		sig.Name = strings.TrimSpace(s)
		return sig
	}
	sig.Name, sig.Email = strings.TrimSpace(s[:open]), s[open+1:end]
	stamp, zone, _ := strings.Cut(strings.TrimSpace(s[end+1:]), " ")
	sec, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return sig
	}
	sig.When = time.Unix(sec, 0).In(parseZone(zone))
	return sig
}

func parseZone(s string) *time.Location {
	n, err := strconv.Atoi(s)
	if err != nil || len(s) != 5 || n < -9999 || n > 9999 {
		return time.UTC
	}
	if n == 0 {
		return time.UTC
	}
	return time.FixedZone("", (n/100*60+n%100)*60)
}
