// Command mock is a scripted stand-in for the models of coding agents, so that
// real clients can be tested without network, keys or accounts. On one loopback
// port it speaks
//
//	Anthropic Messages   POST …/messages, …/count_tokens
//	OpenAI Responses     POST …/responses
//	OpenAI Chat          POST …/chat/completions
//	Google Gemini        POST …:generateContent, …:streamGenerateContent, …:countTokens
//	lists of models      GET  …/models
//
// streamed and plain. What the user says is the script; its directives are
// played one a call:
//
//	[[call NAME {json}]]   NAME is looked for among the tools offered: exact, as an ending, anywhere
//	[[say TEXT]]
//
// The last message of the user's that holds a directive rules, and the number
// of tool results after it says which comes next. Each answer in words ends with
// "seen=" and every word INJ-… of the request: that is how a test knows that a
// hook's or a tool's text reached the model. Every request is a JSON line in -log.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8931", "loopback address")
	logFile := flag.String("log", "", "file for a JSON line a request")
	dump := flag.String("dump", "", "folder for the requests' bodies")
	up := flag.Bool("up", false, "bring the loopback interface up first, as a new network namespace needs")
	flag.Parse()
	if err := run(*addr, *logFile, *dump, *up); err != nil {
		log.Fatal(err)
	}
}

func run(addr, logFile, dump string, up bool) error {
	if up {
		if err := loopbackUp(); err != nil {
			return fmt.Errorf("loopback: %w", err)
		}
	}
	s := &server{log: io.Discard, dump: dump}
	if logFile != "" {
		f, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		s.log = f
	}
	if dump != "" {
		if err := os.MkdirAll(dump, 0o700); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	if ip := l.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		return fmt.Errorf("%s is no loopback address", addr)
	}
	return (&http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}).Serve(l)
}

// object is JSON.
type object = map[string]any

// server answers requests, and keeps a log of them.
type server struct {
	dump string

	mu  sync.Mutex // guards what follows
	n   int
	log io.Writer
}

// entry is a line of the log.
type entry struct {
	N     int      `json:"n"`
	Path  string   `json:"path"`
	API   string   `json:"api,omitempty"`
	Tools []string `json:"tools,omitempty"`
	Seen  []string `json:"seen,omitempty"`
	Tool  string   `json:"reply_tool,omitempty"`
	Text  string   `json:"reply_text,omitempty"`
	Error string   `json:"error,omitempty"`
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	s.mu.Lock()
	s.n++
	e := entry{N: s.n, Path: r.Method + " " + r.URL.Path}
	s.mu.Unlock()
	if s.dump != "" && len(body) > 0 {
		name := fmt.Sprintf("%04d%s.json", e.N, strings.NewReplacer("/", "_", ":", "_").Replace(r.URL.Path))
		_ = os.WriteFile(filepath.Join(s.dump, name), body, 0o600)
	}
	s.answer(w, r, body, &e)
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.log.Write(append(line, '\n'))
}

// apis are the protocols by how their paths end.
var apis = []struct{ ending, name string }{
	{"/messages", "anthropic"},
	{"/responses", "responses"},
	{"/chat/completions", "chat"},
	{"enerateContent", "gemini"},
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, body []byte, e *entry) {
	path := r.URL.Path
	for _, api := range apis {
		if r.Method == http.MethodPost && strings.HasSuffix(path, api.ending) {
			e.API = api.name
			s.model(w, path, body, e)
			return
		}
	}
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		writeJSON(w, http.StatusOK, object{"input_tokens": 100})
	case strings.HasSuffix(path, ":countTokens"):
		writeJSON(w, http.StatusOK, object{"totalTokens": 100})
	case strings.HasSuffix(path, "/models") && r.Method == http.MethodGet:
		m := object{
			"id": "mock-model", "object": "model", "type": "model", "display_name": "Mock", "created": 0, "owned_by": "mock",
			"name": "models/mock-model", "slug": "mock-model",
		}
		writeJSON(w, http.StatusOK, object{"object": "list", "data": []any{m}, "models": []any{}, "has_more": false})
	default:
		e.Error = "no such path"
		writeJSON(w, http.StatusNotFound, object{"error": object{"type": "not_found_error", "message": "mock: no such path"}})
	}
}

// model answers a call of a model.
func (s *server) model(w http.ResponseWriter, path string, body []byte, e *entry) {
	var request object
	if err := json.Unmarshal(body, &request); err != nil {
		e.Error = err.Error()
		writeJSON(w, http.StatusBadRequest, object{"error": object{"type": "invalid_request_error", "message": err.Error()}})
		return
	}
	turns, tools := parse(e.API, request)
	e.Seen = markers(string(body))
	said := decide(turns, tools, e.Seen)
	for _, t := range tools {
		e.Tools = append(e.Tools, t.namespace+t.name)
	}
	e.Tool, e.Text = said.tool.name, said.text
	out := writer{w: w, n: e.N, model: request["model"]}
	out.stream, _ = request["stream"].(bool)
	switch e.API {
	case "anthropic":
		out.anthropic(said)
	case "responses":
		out.responses(said)
	case "chat":
		out.chat(said)
	case "gemini":
		out.stream = strings.Contains(path, "stream")
		out.gemini(said)
	}
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}
