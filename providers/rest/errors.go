package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vademecum/providers"
)

// broken is the error of a request that got no whole answer. sent: the service
// may have got it.
func (c *Client) broken(ctx context.Context, r Request, err error, sent bool) error {
	if errors.Is(context.Cause(ctx), context.Canceled) && !(sent && r.Mutates) {
		return ctx.Err()
	}
	e := &providers.Error{
		Provider: c.opts.Name, Op: r.Op, Class: providers.Retryable, Ambiguous: sent && r.Mutates,
		Msg: c.Clean(reason(err)), Err: err,
	}
	if _, ok := errors.AsType[redirect](err); ok {
		e.Class, e.Ambiguous = providers.Permanent, false
	}
	return e
}

// reason is err without the method and the URL that net/http puts before it.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil || !strings.Contains(err.Error(), "http") {
			return err.Error()
		}
		err = inner
	}
}

// refused is the error of an answer that is one; nil for a good one.
func (c *Client) refused(r Request, meta Meta, body []byte) error {
	e := &providers.Error{Provider: c.opts.Name, Op: r.Op, Status: meta.Status, RequestID: meta.RequestID}
	if meta.Status >= 300 {
		e.Class = classOf(meta.Status)
		e.Ambiguous = r.Mutates && (meta.Status >= 500 || meta.Status == http.StatusRequestTimeout)
		e.Msg = messageOf(body)
		if e.Class == providers.RateLimited {
			e.RetryAfter = c.retryAfter(meta.Header, body)
		}
	}
	if c.opts.Classify != nil {
		c.opts.Classify(e, meta.Status, meta.Header, body[:min(len(body), 64<<10)])
	}
	if e.Class == "" {
		return nil
	}
	if e.RetryAfter != 0 {
		e.RetryAfter = min(max(e.RetryAfter, minRetry), maxRetry)
	}
	e.Msg = c.Clean(e.Msg)
	return e
}

// classOf is what a status alone tells (RFC 9110; 425 is RFC 8470, 429 RFC 6585).
func classOf(status int) providers.Class {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return providers.Auth
	case status == http.StatusTooManyRequests:
		return providers.RateLimited
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return providers.Retryable
	case status == http.StatusNotImplemented, status == http.StatusMethodNotAllowed:
		return providers.Unsupported
	case status >= 500:
		return providers.Retryable
	}
	return providers.Permanent
}

// A service that asks for less or more is not believed.
const (
	minRetry     = time.Second
	maxRetry     = 15 * time.Minute
	defaultRetry = 5 * time.Second // where none is told
)

// retryAfter is how long a service wants to be left alone: Retry-After in
// seconds or as a date (RFC 9110 §10.2.3), X-RateLimit-Reset as seconds from
// now or as a moment, or a retry_after in the body.
func (c *Client) retryAfter(h http.Header, body []byte) time.Duration {
	if v := h.Get("Retry-After"); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < 1e9 {
			return clamp(time.Duration(s * float64(time.Second)))
		}
		if t, err := http.ParseTime(v); err == nil {
			return clamp(t.Sub(c.opts.Now()))
		}
	}
	var said struct {
		RetryAfter *float64 `json:"retry_after"`
	}
	if json.Unmarshal(body, &said) == nil && said.RetryAfter != nil && *said.RetryAfter < 1e9 {
		return clamp(time.Duration(*said.RetryAfter * float64(time.Second)))
	}
	if n, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil && n >= 0 {
		if n > 1e9 { // a moment; where the clocks differ much it is no use
			return clamp(time.Unix(n, 0).Sub(c.opts.Now()))
		}
		return clamp(time.Duration(min(n, 1e6)) * time.Second)
	}
	return defaultRetry
}

func clamp(d time.Duration) time.Duration { return min(max(d, minRetry), maxRetry) }

// requestID is what the service calls the request in its logs.
func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "X-Requestid", "Request-Id", "X-Correlation-Id"} {
		if id := h.Get(name); id != "" {
			return id[:min(len(id), 100)]
		}
	}
	return ""
}

// messageOf is what a service says in an error: the member of its JSON that
// usually has it, else the text.
func messageOf(body []byte) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		text := strings.TrimSpace(string(body[:min(len(body), 4<<10)]))
		if strings.HasPrefix(text, "<") {
			return "a page of HTML"
		}
		return text
	}
	for _, name := range []string{"message", "detail", "error", "details", "msg"} {
		raw := bytes.TrimSpace(fields[name])
		var text string
		switch {
		case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
			continue
		case json.Unmarshal(raw, &text) == nil && text != "":
			return text
		case raw[0] == '{':
			return messageOf(raw)
		case raw[0] == '[':
			return string(raw)
		}
	}
	return ""
}

// Clean makes what a service said a text that can be shown: without our keys, on
// one line, valid, at most providers.MaxMessage bytes.
func (c *Client) Clean(msg string) string {
	msg = c.secrets.Replace(strings.ToValidUTF8(msg, "�"))
	msg = strings.Join(strings.Fields(msg), " ")
	if len(msg) > providers.MaxMessage {
		msg = strings.ToValidUTF8(msg[:providers.MaxMessage-3], "") + "…"
	}
	return msg
}
