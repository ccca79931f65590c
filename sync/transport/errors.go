package transport

import (
	"context"
	"errors"
	"strings"
)

// What a caller branches on, with errors.Is. The error that holds one is an
// *[Error] or a *[RejectedError].
var (
	// ErrUnreachable: no answer from the remote: offline, refused, stalled,
	// or its server failed. Trying later can help.
	ErrUnreachable = errors.New("cannot be reached")
	// ErrAuth: the remote wants other credentials, or the account may not do this.
	ErrAuth = errors.New("access denied")
	// ErrNotFound: there is no such repository, or the account may not see it.
	ErrNotFound = errors.New("no such repository")
	// ErrHostKey: the ssh host is unknown or shows another key than before.
	ErrHostKey = errors.New("host key not accepted")
	// ErrMoved: the remote no longer has what it had advertised. List its
	// refs again.
	ErrMoved = errors.New("remote changed meanwhile")
	// ErrRejected: the remote took the pack but not the update; see *RejectedError.
	ErrRejected = errors.New("rejected")
	// ErrProtocol: the remote does not speak git, or not a git that we know.
	ErrProtocol = errors.New("not understood")
	// ErrCorrupt: what arrived is damaged or incomplete. Nothing of it was kept.
	ErrCorrupt = errors.New("damaged or incomplete")
)

// Error is an operation on a remote that failed. Its text holds no credential.
type Error struct {
	Op     string // "list", "fetch" or "push"
	Remote string // the masked URL
	Kind   error  // one of the sentinels above
	Detail string // what happened, with the server's words
	Remedy string // what the person can do
	Err    error  // the cause, nil when Detail says all
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op + " " + e.Remote + ": " + e.Kind.Error())
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Remedy != "" {
		b.WriteString(" (" + e.Remedy + ")")
	}
	return b.String()
}

func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// RejectedError: the remote refused to move Ref. It is an [ErrRejected].
type RejectedError struct {
	Remote string // the masked URL
	Ref    string
	Reason string // the server's own words
	// NonFastForward: the remote has what we do not. Fetch, merge, push again.
	NonFastForward bool
	Remedy         string
}

func (e *RejectedError) Error() string {
	return "push " + e.Remote + ": " + e.Ref + " rejected: " + e.Reason + " (" + e.Remedy + ")"
}

func (e *RejectedError) Unwrap() error { return ErrRejected }

// fault is an error inside the package, before the remote's name and the
// operation are known.
func fault(kind error, detail, remedy string) *Error {
	return &Error{Kind: kind, Detail: detail, Remedy: remedy}
}

// faultOf wraps err, whose text becomes the detail.
func faultOf(kind, err error, remedy string) *Error {
	return &Error{Kind: kind, Detail: err.Error(), Remedy: remedy, Err: err}
}

// finish gives an error that leaves the package its operation and remote, and
// cuts every secret from its text. Cancellation passes as it is.
func (r *Remote) finish(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return &opError{op: op, remote: r.String(), text: ctx.Err().Error(), err: ctx.Err()}
	}
	if rejected, ok := errors.AsType[*RejectedError](err); ok {
		rejected.Remote = r.String()
		rejected.Reason = r.scrub(rejected.Reason)
		return rejected
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return &opError{op: op, remote: r.String(), text: r.scrub(err.Error()), err: err}
	}
	out := *e
	out.Op, out.Remote, out.Detail = op, r.String(), r.scrub(out.Detail)
	return &out
}

// opError is an error of this host, a full disk or a missing local object, or
// the end of the caller's context.
type opError struct {
	op, remote, text string
	err              error
}

func (e *opError) Error() string { return e.op + " " + e.remote + ": " + e.text }
func (e *opError) Unwrap() error { return e.err }
