package providertest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// spec is a service's OpenAPI document, as a judge of requests and answers.
type spec struct{ router routers.Router }

// defineFormats makes the validator look at formats that it lets pass unless
// it is told what they are.
var defineFormats = sync.OnceFunc(func() {
	openapi3.DefineStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC4122))
})

func loadSpec(t *testing.T, path string) *spec {
	t.Helper()
	defineFormats()
	doc, err := openapi3.NewLoader().LoadFromFile(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	doc.Servers = nil
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return &spec{router}
}

// request says what is wrong with r, whose body is body; it returns what the
// answer is judged by.
func (s *spec) request(r *http.Request, body []byte) (*openapi3filter.RequestValidationInput, error) {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	route, params, err := s.router.FindRoute(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err)
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: &openapi3filter.Options{
		MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true,
	}}
	return in, openapi3filter.ValidateRequest(r.Context(), in)
}

func (s *spec) response(in *openapi3filter.RequestValidationInput, status int, body []byte) error {
	err := openapi3filter.ValidateResponse(in.Request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), Options: in.Options,
	})
	if err != nil && strings.Contains(err.Error(), "no response body") {
		return nil
	}
	return err
}
