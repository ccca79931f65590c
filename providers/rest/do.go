package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"

	"vademecum/providers"
)

// Request is one call of a service's API.
type Request struct {
	Op     string // what the caller is doing, for errors: search, put, …
	Method string // "": GET, or POST with a Body
	Path   string // behind BaseURL, as it is: a slash at the end counts
	Query  url.Values
	Body   any // encoded as JSON; nil: none
	// Mutates: the service may have changed something when the end of the request
	// is not known.
	Mutates bool
}

// Meta is what an answer says besides its body.
type Meta struct {
	Status    int
	Header    http.Header
	RequestID string
}

// Do makes the request and decodes the answer into out, unless that is nil.
// Fields that out does not have are ignored; an empty body where out is wanted
// is a protocol error. Every error is a *providers.Error or ctx's.
func (c *Client) Do(ctx context.Context, r Request, out any) (Meta, error) {
	sent := &atomic.Bool{}
	req, err := c.request(httptrace.WithClientTrace(ctx, traceSent(sent)), r)
	if err != nil {
		return Meta{}, &providers.Error{Provider: c.opts.Name, Op: r.Op, Class: providers.Permanent, Msg: c.Clean(err.Error()), Err: err}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Meta{}, c.broken(ctx, r, err, sent.Load())
	}
	defer resp.Body.Close()
	meta := Meta{Status: resp.StatusCode, Header: resp.Header, RequestID: requestID(resp.Header)}
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if err != nil && resp.StatusCode < 300 {
		return meta, c.broken(ctx, r, err, true)
	}
	if err := c.refused(r, meta, body); err != nil {
		return meta, err
	}
	return meta, c.decode(r, meta, body, out)
}

// traceSent notes that the service may have got the request: from the first
// byte of it on.
func traceSent(sent *atomic.Bool) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	var body io.Reader
	method := r.Method
	if r.Body != nil {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(r.Body); err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(bytes.TrimRight(buf.Bytes(), "\n"))
		if method == "" {
			method = http.MethodPost
		}
	}
	u := *c.base
	path, err := url.PathUnescape(r.Path)
	if err != nil {
		return nil, fmt.Errorf("path: %w", err)
	}
	u.RawPath = c.base.EscapedPath() + r.Path
	u.Path = c.base.Path + path
	u.RawQuery = r.Query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "vade")
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.opts.Header {
		if value != "" {
			req.Header.Set(name, value.Reveal())
		}
	}
	return req, nil
}

// decode reads a good answer.
func (c *Client) decode(r Request, meta Meta, body []byte, out any) error {
	switch {
	case len(body) > MaxBody:
		return c.senseless(r, meta, fmt.Errorf("the answer is longer than %d MiB", MaxBody>>20))
	case out == nil:
		return nil
	case len(bytes.TrimSpace(body)) == 0:
		return c.senseless(r, meta, errors.New("the answer is empty"))
	}
	// What is not UTF-8 becomes U+FFFD, as encoding/json does it.
	if err := json.Unmarshal(body, out); err != nil {
		return c.senseless(r, meta, fmt.Errorf("the answer is not the JSON that was expected: %w", err))
	}
	return nil
}

// senseless is the error of an answer that cannot be understood: a write may
// have been done all the same.
func (c *Client) senseless(r Request, meta Meta, err error) *providers.Error {
	return &providers.Error{
		Provider: c.opts.Name, Op: r.Op, Class: providers.Protocol, Ambiguous: r.Mutates,
		Status: meta.Status, RequestID: meta.RequestID, Msg: c.Clean(err.Error()), Err: err,
	}
}

// Senseless is the error of an answer that is JSON and yet not what the service
// promises, such as one without ids.
func (c *Client) Senseless(r Request, meta Meta, msg string) error {
	return c.senseless(r, meta, errors.New(msg))
}
