package vault

import (
	"time"
)

// ID names a memory for ever: a ULID in upper case (github.com/ulid/spec).
// Renames and edits keep it. Files that nobody gave an id have the empty ID
// and are named by their path.
type ID string

// Ref is what a caller typed to name a memory: an id, an unambiguous prefix
// (from 4 characters) or suffix (from 6) of one, a path, or an exact title.
type Ref string

// Version is the git blob id (40 hex digits) of a whole file. It is the ETag
// of HTTP and the --if-match of the command line, where any unambiguous
// prefix of at least 4 digits stands for it.
type Version string

// Type says what kind of knowledge a memory is.
type Type string

// The types that the tools offer. Files may hold others; they are kept.
const (
	TypeDecision   Type = "decision"
	TypeConvention Type = "convention"
	TypeConstraint Type = "constraint"
	TypeFact       Type = "fact"
	TypePreference Type = "preference"
	TypeProcedure  Type = "procedure"
	TypeEvent      Type = "event"
	TypeHandoff    Type = "handoff"
	TypeNote       Type = "note"
)

// Types lists the known types, in the order that help shows them.
var Types = []Type{
	TypeDecision, TypeConvention, TypeConstraint, TypeFact, TypePreference,
	TypeProcedure, TypeEvent, TypeHandoff, TypeNote,
}

// Tier says how long a memory is meant to live.
type Tier string

const (
	// LTM is kept until somebody forgets it.
	LTM Tier = "ltm"
	// STM is working memory: it expires, after 24 h unless it says otherwise.
	STM Tier = "stm"
)

// Origin says who made a memory, and where.
type Origin struct {
	User    string `json:"user,omitempty" yaml:"user,omitempty"`
	Agent   string `json:"agent,omitempty" yaml:"agent,omitempty"`
	Host    string `json:"host,omitempty" yaml:"host,omitempty"`
	Session string `json:"session,omitempty" yaml:"session,omitempty"`
	Turn    int    `json:"turn,omitempty" yaml:"turn,omitempty"`
}

// Scope says whose vault a memory lives in; not who made it.
type Scope struct {
	Type string `json:"type,omitempty" yaml:"type,omitempty"` // personal | team
	ID   string `json:"id,omitempty" yaml:"id,omitempty"`
}

// Memory is the parsed view of one file of the vault: a snapshot of what its
// bytes say. Changing a Memory changes no file; edits go through [Document].
type Memory struct {
	Path    string  // slash-separated, relative to the work tree
	Version Version // blob id of the bytes that this was parsed from

	ID        ID
	Title     string // front matter title, else the first heading, else the first line of the body
	Type      Type   // "" when the file does not say
	Tier      Tier   // LTM when the file does not say
	Tags      []string
	Aliases   []string
	Created   time.Time // zero when unknown
	Updated   time.Time // zero when unknown
	Expires   time.Time // zero: never
	Origin    Origin
	Scope     Scope
	Workspace string // "": every project

	Supersedes   []string // ids
	SupersededBy string   // id
	MergedIDs    []ID     // ids that were folded into this one and still resolve to it
	ConflictOf   string   // id or path of the memory that this is the losing side of
	Source       string
	Why          string
	Trust        string

	Body string // text after the front matter, line ends as in the file

	// Broken is why the front matter could not be understood; nil when there
	// is none or when it is sound. A broken memory has its body and, where
	// single lines could still be read, nothing else.
	Broken error
}

// Expired reports whether m is past its expiry at now.
func (m *Memory) Expired(now time.Time) bool {
	return !m.Expires.IsZero() && !now.Before(m.Expires)
}
