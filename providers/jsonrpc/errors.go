package jsonrpc

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"vademecum/providers"
	"vademecum/providers/child"
	"vademecum/vault"
)

// The error codes of the protocol.
const (
	CodeParse          = -32700 // the line is not JSON
	CodeInvalidRequest = -32600 // it is no request
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeRetry          = -32001 // again, later
	CodeRateLimited    = -32002
	CodeAuth           = -32003
	CodePermanent      = -32004 // never with this item
	CodeNotFound       = -32005
	CodeTooLarge       = -32006
	CodeCancelled      = -32800 // after vade.cancel, or past deadline_ms
)

func classOf(code int) providers.Class {
	switch code {
	case CodeParse, CodeInvalidRequest:
		return providers.Protocol
	case CodeNoMethod:
		return providers.Unsupported
	case CodeInvalidParams, CodePermanent, CodeNotFound, CodeTooLarge:
		return providers.Permanent
	case CodeRateLimited:
		return providers.RateLimited
	case CodeAuth:
		return providers.Auth
	}
	return providers.Retryable
}

// maxRetryAfter bounds how long a program may put us off.
const maxRetryAfter = time.Hour

// refused is what the program answered, as an error.
func (p *peer) refused(op string, e *WireError, mutates bool) *providers.Error {
	msg := e.Message
	if e.Data.MaxBytes > 0 {
		msg += " (at most " + strconv.Itoa(e.Data.MaxBytes) + " bytes)"
	}
	return &providers.Error{
		Provider: p.cfg.Name, Op: op, Class: classOf(e.Code), Code: strconv.Itoa(e.Code), Msg: p.clean(msg),
		RetryAfter: min(time.Duration(max(e.Data.RetryAfterMS, 0))*time.Millisecond, maxRetryAfter),
		Ambiguous:  mutates && (e.Data.Ambiguous || e.Code == CodeCancelled),
	}
}

// protocolError says that an answer made no sense; what was asked may be done.
func (p *peer) protocolError(op, msg string, mutates bool) *providers.Error {
	return &providers.Error{Provider: p.cfg.Name, Op: op, Class: providers.Protocol, Msg: p.clean(msg), Ambiguous: mutates}
}

// failure is a request that got no answer.
type failure struct {
	class      providers.Class
	retryAfter time.Duration
	sent       bool // the program may have acted on it
	err        error
}

func retryable(sent bool, err error) *failure {
	return &failure{class: providers.Retryable, sent: sent, err: err}
}

// unanswered is f as an error of op.
func (p *peer) unanswered(op string, f *failure, mutates bool) error {
	ambiguous := f.sent && mutates
	if errors.Is(f.err, context.Canceled) && !ambiguous {
		return f.err
	}
	return &providers.Error{
		Provider: p.cfg.Name, Op: op, Class: f.class, RetryAfter: f.retryAfter, Ambiguous: ambiguous, Msg: p.clean(f.err.Error()), Err: f.err,
	}
}

// clean is what a program said, without what must not be repeated, on one line
// of at most providers.MaxMessage bytes.
func (p *peer) clean(text string) string { return child.Brief(p.redact(text), providers.MaxMessage) }

// redact is text without secrets.
func (p *peer) redact(text string) string { return Redact(text, p.cfg.Env) }

// Redact is what a program said without the values of env, by name, that
// it was given, and without what else has the shape of a secret.
func Redact(text string, env map[string]string) string {
	text, _ = vault.Redact(child.Hide(text, env))
	return text
}

// ended says how a program ended, and its last words on stderr.
func (p *peer) ended(c *child.Process) error {
	msg := "the program ended: " + c.Exit()
	if said := strings.TrimSpace(p.redact(c.Stderr())); said != "" { // before it is cut: half a secret is not known for one
		msg += "; it said: " + said[max(0, len(said)-300):]
	}
	return errors.New(msg)
}
