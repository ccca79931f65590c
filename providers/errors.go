package providers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Class says what to do after an error.
type Class string

const (
	Retryable   Class = "retryable"    // again, later
	RateLimited Class = "rate-limited" // again, not before RetryAfter
	Auth        Class = "auth"         // not again until the owner changed something
	Permanent   Class = "permanent"    // never again with this item
	Unsupported Class = "unsupported"  // never again with this provider: it cannot
	Protocol    Class = "protocol"     // the answer made no sense: again, and the breaker counts it
)

// Error is what a provider's methods fail with.
type Error struct {
	Provider string
	Op       string // health, search, put, delete, …
	Class    Class
	// RetryAfter is how long to wait at least; 0: not told.
	RetryAfter time.Duration
	// Ambiguous: the request was sent and its end is not known, so a write may
	// have been done. Whoever repeats it looks first.
	Ambiguous bool
	Status    int    // of HTTP; 0: none
	Code      string // the provider's own
	RequestID string // the provider's, for its support
	// Msg is what the provider said: at most MaxMessage bytes, without our keys.
	Msg string
	Err error // what it was made from
}

// MaxMessage is how many bytes of what a provider said an error repeats.
const MaxMessage = 512

// Error says who could not do what, and why, on one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s", e.Provider, e.Op, e.Class)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (%d", e.Status)
		if e.Code != "" {
			fmt.Fprintf(&b, " %s", e.Code)
		}
		b.WriteByte(')')
	} else if e.Code != "" {
		fmt.Fprintf(&b, " (%s)", e.Code)
	}
	if e.Msg != "" {
		b.WriteString(": " + e.Msg)
	} else if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.RequestID != "" {
		b.WriteString(" [request " + e.RequestID + "]")
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// Unwrap is what e was made from.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf is the class of err: that of the *Error in it; "" for nil and for a
// ctx that was cancelled, which says nothing about the provider; else Retryable.
func ClassOf(err error) Class {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	if errors.Is(err, context.Canceled) {
		return ""
	}
	return Retryable
}

// Is reports whether err is of class c.
func Is(err error, c Class) bool { return err != nil && ClassOf(err) == c }

// Terminal reports whether the same request will fail again however often it
// is made.
func Terminal(err error) bool { return Is(err, Permanent) || Is(err, Unsupported) }

// Ambiguous reports whether a write that failed with err may have been done.
func Ambiguous(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Ambiguous
}

// RetryAfter is how long to wait after err at least; 0: not told.
func RetryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}
