package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"vademecum/providers"
	"vademecum/vault"
)

// object is the params of a request.
type object map[string]any

// Request is a line that we send. A notification has no ID.
type Request struct {
	JSONRPC string `json:"jsonrpc"`
	ID      string `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// Line is a request as it is sent, with its line feed. Params are whatever JSON
// makes of them.
func Line(id, method string, params any) ([]byte, error) {
	line, err := json.Marshal(Request{JSONRPC: "2.0", ID: id, Method: method, Params: params})
	return append(line, '\n'), err
}

// Reply is a line that a program answers with.
type Reply struct {
	ID     string // "" for null: the program could not read the request
	Result json.RawMessage
	Error  *WireError // nil: it went well
}

// WireError is the error object of JSON-RPC, with the data that we know of.
type WireError struct {
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Data    ErrorData `json:"data,omitzero"`
}

// ErrorData is what an error may say beside its code.
type ErrorData struct {
	RetryAfterMS int64 `json:"retry_after_ms,omitempty"`
	Ambiguous    bool  `json:"ambiguous,omitempty"` // the write may have been done
	MaxBytes     int   `json:"max_bytes,omitempty"` // with CodeTooLarge
}

// UnmarshalJSON ignores data of other shapes: it is the program's own business
// what it says there.
func (d *ErrorData) UnmarshalJSON(b []byte) error {
	type plain ErrorData
	var is plain
	if json.Unmarshal(b, &is) == nil {
		*d = ErrorData(is)
	}
	return nil
}

// ParseReply reads an answer. What is none is an error that quotes its start.
func ParseReply(line []byte) (Reply, error) {
	var wire struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      *string         `json:"id"`
		Result  json.RawMessage `json:"result"`
		Error   *WireError      `json:"error"`
	}
	if err := json.Unmarshal(line, &wire); err != nil {
		return Reply{}, noReply(line, err)
	}
	switch {
	case wire.JSONRPC != "2.0":
		return Reply{}, noReply(line, errors.New(`no "jsonrpc":"2.0"`))
	case wire.Error == nil && wire.Result == nil:
		return Reply{}, noReply(line, errors.New("neither result nor error"))
	case wire.Error == nil && wire.ID == nil:
		return Reply{}, noReply(line, errors.New("a result without id"))
	}
	r := Reply{Result: wire.Result, Error: wire.Error}
	if wire.ID != nil {
		r.ID = *wire.ID
	}
	return r, nil
}

func noReply(line []byte, err error) error { return &NoReplyError{line, err} }

// NoReplyError is a line of stdout that is no answer, and why.
type NoReplyError struct {
	Line []byte
	Err  error
}

func (e *NoReplyError) Error() string {
	start := bytes.ToValidUTF8(e.Line[:min(len(e.Line), 80)], []byte("�"))
	return fmt.Sprintf("stdout is for answers only, stderr for the rest; got %q: %v", start, e.Err)
}

func (e *NoReplyError) Unwrap() error { return e.Err }

// Hiding is err with what it quotes of a line as hide returns it. That is done
// before the line is cut: half a secret is not known for one.
func Hiding(err error, hide func(string) string) error {
	if e, ok := errors.AsType[*NoReplyError](err); ok {
		return noReply([]byte(hide(string(e.Line[:min(len(e.Line), 4096)]))), e.Err)
	}
	return err
}

// WireItem is an item as it is sent: see ToWire.
type WireItem struct {
	providers.Item
	Key string `json:"key"` // of idempotency
}

// ToWire is i as it is sent: with its times in UTC, which compare as strings.
func ToWire(i providers.Item) WireItem {
	i.Created, i.Updated, i.Expires = i.Created.UTC(), i.Updated.UTC(), i.Expires.UTC()
	return WireItem{i, i.Key()}
}

// wireHit is a hit as programs write it. What is not a number is no score, and
// what is not a time is none: neither is worth losing the hit.
type wireHit struct {
	Ref     providers.Ref   `json:"ref"`
	ID      string          `json:"id"`
	Version vault.Version   `json:"version"`
	Vault   string          `json:"vault"`
	Part    int             `json:"part"`
	Text    string          `json:"text"`
	Score   json.RawMessage `json:"score"`
	Created string          `json:"created"`
}

func (w wireHit) hit() providers.Hit {
	h := providers.Hit{Ref: w.Ref, ID: w.ID, Version: w.Version, Vault: w.Vault, Part: max(w.Part, 0), Text: w.Text}
	if json.Unmarshal(w.Score, &h.Score) != nil {
		h.Score = nil
	}
	if t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(w.Created)); err == nil {
		h.Created = t
	}
	return h
}

// hits are at most limit of them; 0: all. A hit without a ref is no hit: nobody
// could say what it is.
func toHits(wire []wireHit, limit int) []providers.Hit {
	hits := make([]providers.Hit, 0, len(wire))
	for _, w := range wire {
		if limit > 0 && len(hits) == limit {
			break
		}
		if w.Ref != "" {
			hits = append(hits, w.hit())
		}
	}
	return hits
}
