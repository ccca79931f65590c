package openviking

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vademecum/providers"
	"vademecum/providers/rest"
)

// Config says which server, and as whom.
type Config struct {
	Name string // "" is "openviking"
	// BaseURL is the server's, without /api/v1: http://localhost:1933.
	BaseURL string
	Key     rest.Secret // of a user, not the root key
	// AllowInsecure lets http go to other machines.
	AllowInsecure bool
	Transport     http.RoundTripper // a seam for tests; nil: one of our own
}

// client is what the two kinds of provider share.
type client struct {
	name string
	rest *rest.Client
}

func newClient(c Config) (*client, error) {
	name := cmp.Or(c.Name, "openviking")
	r, err := rest.New(rest.Options{
		Name: name, BaseURL: c.BaseURL, AllowInsecure: c.AllowInsecure, Transport: c.Transport,
		Header: map[string]rest.Secret{"X-API-Key": c.Key}, Classify: classify,
	})
	if err != nil {
		return nil, err
	}
	return &client{name, r}, nil
}

// Name is what the config calls it.
func (c *client) Name() string { return c.name }

// Close lets go of idle connections.
func (c *client) Close() error { return c.rest.Close() }

// envelope is what every answer but /health is wrapped in.
type envelope[T any] struct {
	Status string `json:"status"`
	Result *T     `json:"result"`
}

// call makes a request and unwraps the answer.
func call[T any](ctx context.Context, c *client, r rest.Request) (T, error) {
	var e envelope[T]
	meta, err := c.rest.Do(ctx, r, &e)
	if err == nil && e.Result == nil {
		err = c.rest.Senseless(r, meta, "the answer has no result")
	}
	if err != nil {
		var none T
		return none, err
	}
	return *e.Result, nil
}

// nothing is a result that nobody looks at.
type nothing struct{}

// UnmarshalJSON implements json.Unmarshaler for results of any form.
func (*nothing) UnmarshalJSON([]byte) error { return nil }

// userKey is the way out of the most common mistake (OpenViking#1022, #1464).
const userKey = `: vade needs the key of a user; the server's root key cannot reach memories (make a user with the server's admin API, and give the provider that key)`

// classes are what the codes of docs/en/api/01-overview mean. A conflict is
// that of two writers who were there at once.
func classes(code string) providers.Class {
	switch code {
	case "RESOURCE_EXHAUSTED":
		return providers.RateLimited
	case "UNAUTHENTICATED", "PERMISSION_DENIED":
		return providers.Auth
	case "UNAVAILABLE", "MODEL_UNAVAILABLE", "DEADLINE_EXCEEDED", "EMBEDDING_FAILED", "VLM_FAILED", "INTERNAL", "CONFLICT", "ABORTED", "WRITE_CONFLICT":
		return providers.Retryable
	case "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION":
		return providers.Permanent
	case "UNIMPLEMENTED":
		return providers.Unsupported
	}
	if strings.HasPrefix(code, "INVALID_") {
		return providers.Permanent
	}
	return ""
}

// retryAfter is how long a server wants to be left alone that does not say:
// it has no Retry-After, and what is exhausted is its own quota at a model.
const retryAfter = 30 * time.Second

// classify reads {"status":"error","error":{"code","message"}}.
func classify(e *providers.Error, _ int, _ http.Header, body []byte) {
	var said struct {
		Status string `json:"status"`
		Error  struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &said) != nil || said.Error.Code == "" && said.Status != "error" {
		return
	}
	e.Code, e.Msg = said.Error.Code, said.Error.Message
	e.Class = cmp.Or(classes(e.Code), e.Class, providers.Retryable)
	switch e.Class {
	case providers.Auth:
		e.Msg += userKey
	case providers.RateLimited:
		e.RetryAfter = max(e.RetryAfter, retryAfter)
	case providers.Permanent, providers.Unsupported:
		e.Ambiguous = false
	}
}

// Health asks whether the server is up and the key is one of a user.
func (c *client) Health(ctx context.Context) (providers.Health, error) {
	h := providers.Health{Warnings: []string{}}
	var up struct {
		Healthy *bool  `json:"healthy"`
		Version string `json:"version"`
	}
	r := rest.Request{Op: "health", Path: "/health"}
	if _, err := c.rest.Do(ctx, r, &up); err != nil {
		return h, err
	}
	if up.Healthy != nil && !*up.Healthy {
		return h, &providers.Error{Provider: c.name, Op: "health", Class: providers.Retryable, Msg: "the server says that it is not healthy"}
	}
	_, err := call[nothing](ctx, c, rest.Request{Op: "health", Path: "/api/v1/fs/ls", Query: url.Values{"uri": {"viking://~/"}}})
	if err != nil {
		return h, err
	}
	h.Version = c.rest.Clean(up.Version)
	if !c.rest.Loopback() && !c.rest.Encrypted() {
		h.Warnings = append(h.Warnings, "memories and the key go over the network unencrypted")
	}
	return h, nil
}

// found is one hit of search/find; category, overview and match_reason of
// older servers are gone.
type found struct {
	URI      string     `json:"uri"`
	Score    rest.Score `json:"score"`
	Abstract string     `json:"abstract"`
	Tags     []string   `json:"tags"`
}

// Search finds memories of the key's user: ours, and what others put there.
// Text is what the server calls an abstract, which may be shorter than the memory.
func (c *client) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	type ask struct {
		Query       string `json:"query"`
		TargetURI   string `json:"target_uri"`
		ContextType string `json:"context_type"`
		Limit       int    `json:"limit"`
		Level       int    `json:"level"` // 2: files, not the summaries of folders
	}
	got, err := call[struct {
		Memories []found `json:"memories"`
	}](ctx, c, rest.Request{Op: "search", Path: "/api/v1/search/find", Body: ask{q.Text, "viking://~/memories", "memory", max(q.Limit, 1), 2}})
	if err != nil {
		return nil, err
	}
	var hits []providers.Hit
	for _, f := range got.Memories {
		if f.URI != "" && len(hits) < q.Limit {
			hits = append(hits, f.hit())
		}
	}
	return hits, nil
}

func (f *found) hit() providers.Hit {
	h := providers.Hit{Ref: providers.Ref(f.URI), Text: f.Abstract, Score: f.Score.Value}
	name, ok := ourName(f.URI)
	if !ok {
		return h
	}
	meta := map[string]string{}
	for _, tag := range f.Tags {
		key, value, _ := strings.Cut(tag, "=")
		meta[key] = value
	}
	h.Identify(meta)
	h.Ref = providers.Ref(folder + name)
	h.ID, h.Part = parseName(name)
	h.Vault = strings.ToUpper(h.Vault) // a ULID, which the server made lower case
	return h
}
