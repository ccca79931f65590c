package mem0

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// loopback is a server that reads what it is sent and says answer.
func loopback(t testing.TB, answer func(*http.Request) string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer(r))
	}))
	t.Cleanup(s.Close)
	return s.URL
}
