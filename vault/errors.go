package vault

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinels that callers branch on, with errors.Is.
var (
	// ErrNotFound: no memory, file or commit has that name.
	ErrNotFound = errors.New("not found")
	// ErrStale: the thing changed since the caller read it (--if-match, --if-none-match).
	ErrStale = errors.New("changed since it was read")
	// ErrLocked: another process held the identity's lock for longer than the caller would wait.
	ErrLocked = errors.New("locked by another process")
	// ErrForgotten: a tombstone stops this text or id on every automatic road.
	ErrForgotten = errors.New("was forgotten")
	// ErrBroken: the front matter cannot be understood, so it is not rewritten.
	ErrBroken = errors.New("front matter is broken")
	// ErrName: a path, name or id is not allowed.
	ErrName = errors.New("name not allowed")
	// ErrSecret: an explicit write holds a known secret shape.
	ErrSecret = errors.New("holds a secret")
)

// AmbiguousError: a Ref fits more than one memory. It is never guessed.
type AmbiguousError struct {
	Ref        Ref
	Candidates []Candidate // at least two, by path
}

// Candidate is one memory that an ambiguous Ref could mean.
type Candidate struct {
	ID    ID     `json:"id,omitempty"`
	Title string `json:"title"`
	Path  string `json:"path"`
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q fits %d memories:", string(e.Ref), len(e.Candidates))
	for _, c := range e.Candidates {
		fmt.Fprintf(&b, "\n  %s  %s  %s", c.ID, c.Title, c.Path)
	}
	return b.String()
}
