package transport

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A gitServer serves a bare repository over smart HTTP with git's own
// upload-pack and receive-pack; hooks of it let a test misbehave.
type gitServer struct {
	*httptest.Server
	root string

	mu       sync.Mutex
	requests []string // "GET /remote.git/info/refs?service=…"
	chunked  int      // requests without a length

	// before may answer a request itself and return true.
	before func(w http.ResponseWriter, r *http.Request) bool
	// body may change what the service answers to a POST.
	body func(w io.Writer) io.Writer
}

// serveGit serves the folder of f until the test ends.
func serveGit(t testing.TB, f *fixture) *gitServer {
	t.Helper()
	g := &gitServer{root: filepath.Dir(f.bare)}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	git(t, f.bare, "config", "http.receivepack", "true")
	return g
}

func (g *gitServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.requests = append(g.requests, r.Method+" "+r.URL.String())
	if r.ContentLength < 0 {
		g.chunked++
	}
	g.mu.Unlock()
	if g.before != nil && g.before(w, r) {
		return
	}
	if path, found := strings.CutSuffix(r.URL.Path, "/info/refs"); found {
		g.advertise(w, path, r.URL.Query().Get("service"))
		return
	}
	i := strings.LastIndexByte(r.URL.Path, '/')
	g.serve(w, r, r.URL.Path[:i], r.URL.Path[i+1:])
}

func (g *gitServer) advertise(w http.ResponseWriter, path, service string) {
	cmd := exec.Command("git", strings.TrimPrefix(service, "git-"), "--stateless-rpc", "--advertise-refs", filepath.Join(g.root, path))
	out, err := cmd.Output()
	if err != nil {
		http.Error(w, "Repository not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
	line := "# service=" + service + "\n"
	fmt.Fprintf(w, "%04x%s0000%s", len(line)+4, line, out)
}

func (g *gitServer) serve(w http.ResponseWriter, r *http.Request, path, service string) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-result")
	cmd := exec.Command("git", strings.TrimPrefix(service, "git-"), "--stateless-rpc", filepath.Join(g.root, path))
	cmd.Stdin = body
	cmd.Stdout = w
	if g.body != nil {
		cmd.Stdout = g.body(w)
	}
	cmd.Run()
}

func (g *gitServer) count(prefix string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, r := range g.requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}
