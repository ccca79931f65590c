package mem0

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"vademecum/providers"
)

// noRoute is the code of our own for an answer that is about the path, not about
// what was asked for.
const noRoute = "no-such-path"

// modelRetry is how long a model is left alone that refuses the server for a
// while: the server does not pass on what the model said.
const modelRetry = 30 * time.Second

// codes are what the server says of what is behind it, a model or a database
// (server/errors.py), all with status 502.
func codes(code string) providers.Class {
	switch code {
	case "provider_auth_failed":
		return providers.Auth
	case "provider_bad_request":
		return providers.Permanent
	case "provider_rate_limited":
		return providers.RateLimited
	}
	return ""
}

// classify reads {"detail": …, "code": …, "request_id": …} of the server and
// {"error": …, "details": {"message": …}} of the cloud.
func classify(e *providers.Error, status int, _ http.Header, body []byte) {
	if status < 300 {
		failed(e, body)
		return
	}
	var said struct {
		Code      string          `json:"code"`
		RequestID string          `json:"request_id"`
		Detail    json.RawMessage `json:"detail"`
		Details   struct {
			Message string `json:"message"`
		} `json:"details"`
	}
	err := json.Unmarshal(body, &said)
	if status == http.StatusNotFound && (err != nil || string(said.Detail) == `"Not Found"`) { // FastAPI's own
		e.Code, e.Msg = noRoute, "the service has no such path: is the url right?"
		return
	}
	e.Code, e.RequestID = cmp.Or(said.Code, e.Code), cmp.Or(e.RequestID, said.RequestID)
	e.Msg = cmp.Or(said.Details.Message, e.Msg)
	class := codes(said.Code)
	if status != http.StatusBadGateway || class == "" {
		return
	}
	e.Class = class
	switch class {
	case providers.RateLimited:
		e.RetryAfter = modelRetry
	default: // it was refused before anything was kept
		e.Ambiguous = false
	}
	if class == providers.Auth {
		e.Msg += " It is the server's own key for its model that is refused, not vade's."
	}
}

// failed recognises an event of the cloud that came to nothing.
func failed(e *providers.Error, body []byte) {
	var said struct {
		Status string `json:"status"`
		Error  string `json:"error"`
	}
	if !bytes.Contains(body, []byte(`"FAILED"`)) || json.Unmarshal(body, &said) != nil || said.Status != "FAILED" {
		return
	}
	e.Class, e.Code = providers.Permanent, said.Status
	e.Msg = "the service could not keep it: " + cmp.Or(said.Error, "it does not say why")
}

// missing reports whether err says that a memory is not there.
func missing(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return ok && e.Status == http.StatusNotFound && e.Code != noRoute
}
