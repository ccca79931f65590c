package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vademecum/providers"
	"vademecum/providers/child"
	"vademecum/vault"
)

// errTools: what the server says of its tools is not what its owner approved.
var errTools = errors.New("the tools are not those that were approved")

// broken is a call that got no answer, as an error of op.
func (p *peer) broken(op string, mutates bool, err error) error {
	if _, ok := errors.AsType[*providers.Error](err); ok {
		return err
	}
	e := &providers.Error{Provider: p.cfg.Name, Op: op, Class: providers.Retryable, Msg: p.clean(err.Error()), Err: err}
	rpc, refused := errors.AsType[*jsonrpc.Error](err)
	http, answered := errors.AsType[*statusError](err)
	switch {
	case errors.Is(err, errTools):
		e.Class = providers.Auth
	case errors.Is(err, mcp.ErrSessionMissing): // the server was restarted, and did nothing
	case answered:
		e.Class, e.Status, e.RetryAfter = classOfStatus(http.code), http.code, http.retryAfter
	case refused:
		e.Class, e.Code = classOfCode(rpc.Code), strconv.FormatInt(rpc.Code, 10)
	case errors.Is(err, context.Canceled) && !mutates:
		return fmt.Errorf("%s: %s: %w", p.cfg.Name, op, context.Canceled)
	default: // it broke off, or took too long
		e.Ambiguous = mutates && !errors.Is(err, errNotSent)
	}
	return e
}

func classOfCode(code int64) providers.Class {
	switch code {
	case jsonrpc.CodeMethodNotFound:
		return providers.Unsupported
	case jsonrpc.CodeInvalidParams:
		return providers.Permanent
	}
	return providers.Retryable
}

func classOfStatus(status int) providers.Class {
	switch {
	case status == 401 || status == 403:
		return providers.Auth
	case status == 429:
		return providers.RateLimited
	case status == 408 || status == 425 || status >= 500:
		return providers.Retryable
	}
	return providers.Permanent
}

// refusal is the error in an answer, or nil: a result that says that it is one,
// or has what the mapping says is one.
func (p *peer) refusal(op string, c *Call, a answer, isError bool) error {
	msg := textAt(a.root, c.Error)
	if !isError && msg == "" {
		return nil
	}
	if msg == "" {
		msg = a.text
	}
	status, _ := at(a.root, c.Status).(float64)
	e := &providers.Error{Provider: p.cfg.Name, Op: op, Class: classOfText(msg), Status: int(status), Msg: p.clean(msg)}
	if status >= 400 {
		e.Class = classOfStatus(int(status))
	}
	return e
}

// classOfText guesses from what a tool says for people: most servers say it no
// other way.
func classOfText(msg string) providers.Class {
	msg = strings.ToLower(msg)
	for _, c := range []struct {
		class providers.Class
		words []string
	}{
		{providers.RateLimited, []string{"rate limit", "too many requests", "429", "quota"}},
		{providers.Auth, []string{"unauthorized", "unauthenticated", "forbidden", "api key", "api_key", "permission denied", "401", "403"}},
		{providers.Retryable, []string{"timeout", "timed out", "unavailable", "try again", "connection", "locked", "busy"}},
		{providers.Unsupported, []string{"unknown tool", "tool not found", "no such tool"}},
		{providers.Permanent, []string{"invalid", "validation", "required", "too large", "too long", "not found"}},
	} {
		for _, w := range c.words {
			if strings.Contains(msg, w) || c.class == providers.Unsupported && strings.HasPrefix(msg, "tool ") && strings.HasSuffix(msg, " not found") {
				return c.class
			}
		}
	}
	return providers.Retryable
}

// clean is what a server said, without secrets, on one line.
func (p *peer) clean(text string) string {
	text, _ = vault.Redact(child.Hide(child.Hide(text, p.cfg.Env), p.cfg.Headers))
	return child.Brief(text, providers.MaxMessage)
}

// statusError is an answer of a server over HTTP that is none.
type statusError struct {
	httpStatus
	error
}

func (e *statusError) Unwrap() error { return e.error }

// httpStatus is what a server over HTTP answered with; zero: over stdio.
type httpStatus struct {
	code       int
	retryAfter time.Duration
}

// noting returns a context in which HTTP notes its status, and a function that
// adds it to an error.
func noting(ctx context.Context) (context.Context, func(error) error) {
	noted := new(atomic.Pointer[httpStatus])
	return context.WithValue(ctx, statusKey{}, noted), func(err error) error {
		if s := noted.Load(); err != nil && s != nil && s.code >= 400 {
			return &statusError{*s, err}
		}
		return err
	}
}
