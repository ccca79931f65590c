// Package settings edits settings files that belong to somebody else: JSON,
// with comments and trailing commas where they are, and TOML. An edit inserts
// or takes out a few bytes and leaves all others as they are: comments, order,
// indentation, line ends, a BOM. Nothing here touches a disk.
//
// What cannot be understood is refused with an *Error that names the line; it
// is never guessed at.
package settings

import "fmt"

// Error says why a file is not edited.
type Error struct {
	Line int // from 1
	What string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }
