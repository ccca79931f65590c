package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

const token = "tok-3n/s3cret"

// serveWithToken serves f to those who show user and token.
func serveWithToken(t testing.TB, f *fixture, user string) *gitServer {
	t.Helper()
	g := serveGit(t, f)
	g.before = func(w http.ResponseWriter, r *http.Request) bool {
		if u, p, ok := r.BasicAuth(); ok && u == user && (p == token || u == token) {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return true
	}
	return g
}

// withUser puts userinfo into a URL.
func withUser(rawURL string, user *url.Userinfo) string {
	u, _ := url.Parse(rawURL)
	u.User = user
	return u.String()
}

func TestHTTPCredentials(t *testing.T) {
	lookup := func(user, secret string) func(context.Context, string) (string, string, error) {
		return func(context.Context, string) (string, string, error) { return user, secret, nil }
	}
	for _, tt := range []struct {
		name  string
		exec  bool // try it through git too
		user  string
		info  *url.Userinfo
		auth  Auth
		setup func(t *testing.T, home, base string)
	}{
		{name: "token", exec: true, user: "x-access-token", auth: Auth{Token: token}},
		{name: "token of a user", user: "todd", auth: Auth{User: "todd", Token: token}},
		{name: "lookup", user: "todd", auth: Auth{Lookup: lookup("todd", token)}},
		{name: "URL", exec: true, user: "todd", info: url.UserPassword("todd", token), auth: Auth{Lookup: lookup("", "")}},
		{name: "token as the user", user: token, info: url.User(token)},
		{name: "netrc", exec: true, user: "todd", setup: func(t *testing.T, home, _ string) {
			write(t, filepath.Join(home, ".netrc"), "machine other login a password b\nmachine 127.0.0.1\n  login todd password "+token+"\n")
		}},
		{name: "helper", user: "todd", setup: func(t *testing.T, home, base string) {
			write(t, filepath.Join(home, "store"), withUser(base, url.UserPassword("todd", token))+"\n")
			git(t, home, "config", "--global", "credential.helper", "store --file="+filepath.ToSlash(filepath.Join(home, "store")))
		}},
		{name: "helper for a user", exec: true, user: "todd", info: url.User("todd"), setup: func(t *testing.T, home, base string) {
			write(t, filepath.Join(home, "store"), withUser(base, url.UserPassword("eve", "wrong"))+"\n"+withUser(base, url.UserPassword("todd", token))+"\n")
			git(t, home, "config", "--global", "credential.helper", "store --file="+filepath.ToSlash(filepath.Join(home, "store")))
		}},
	} {
		for _, transport := range []string{"own", "exec"} {
			if transport == "exec" && !tt.exec {
				continue
			}
			t.Run(tt.name+"/"+transport, func(t *testing.T) {
				home := isolate(t)
				f := newFixture(t)
				g := serveWithToken(t, f, tt.user)
				if tt.setup != nil {
					tt.setup(t, home, g.URL)
				}
				r := open(t, withUser(g.URL+"/remote.git", tt.info), Options{Auth: tt.auth, Exec: transport == "exec"})
				s := repo.Store(repo.NewMemory())
				if transport == "exec" {
					s = newGitDir(t)
				}
				first := mustFetch(t, r, s)
				second := commitTo(t, s, first, "b.md", "b")
				if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: second}}, nil); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(r.String(), token) {
					t.Errorf("%s prints the token", r)
				}
			})
		}
	}
}

func TestHTTPBearerToken(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	g := serveGit(t, f)
	g.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "Bearer "+token {
			return false
		}
		http.Error(w, "", http.StatusUnauthorized)
		return true
	}
	mustFetch(t, open(t, g.URL+"/remote.git", Options{Auth: Auth{Token: token, Bearer: true}}), repo.NewMemory())
}

func TestHelperHearsOfWrongAndRightCredentials(t *testing.T) {
	home := isolate(t)
	f := newFixture(t)
	g := serveWithToken(t, f, "todd")
	log := filepath.Join(home, "log")
	helper := filepath.Join(home, "helper")
	for _, tt := range []struct{ secret, want string }{{"wrong", "get\nerase\n"}, {token, "get\nstore\n"}} {
		write(t, log, "")
		write(t, helper, fmt.Sprintf("#!/bin/sh\necho $1 >> %q\n[ $1 = get ] && echo username=todd && echo password=%q\nexit 0\n", log, tt.secret))
		git(t, home, "config", "--global", "credential.helper", "!sh '"+helper+"'")
		_, _, err := open(t, g.URL+"/remote.git", Options{}).Refs(t.Context())
		if (err == nil) != (tt.secret == token) {
			t.Errorf("%s: got %v", tt.secret, err)
		}
		got, _ := os.ReadFile(log)
		if string(got) != tt.want {
			t.Errorf("%s: the helper heard %q, want %q", tt.secret, got, tt.want)
		}
	}
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestHTTPStatus(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	for status, want := range map[int]error{
		401: ErrAuth, 403: ErrAuth, 404: ErrNotFound, 407: ErrUnreachable, 410: ErrNotFound, 413: ErrRejected,
		418: ErrProtocol, 429: ErrUnreachable, 500: ErrUnreachable, 502: ErrUnreachable, 503: ErrUnreachable,
	} {
		g := serveGit(t, f)
		g.before = func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Retry-After", "120")
			http.Error(w, "go away, \x1b[31m"+token, status)
			return true
		}
		_, _, err := open(t, g.URL+"/remote.git", Options{Auth: Auth{Token: token}}).Refs(t.Context())
		e, ok := errors.AsType[*Error](err)
		if !ok || !errors.Is(err, want) || e.Remedy == "" || e.Op != "list" {
			t.Errorf("%d: got %v, want %v", status, err, want)
			continue
		}
		if text := err.Error(); strings.Contains(text, token) || strings.Contains(text, "\x1b") || !strings.Contains(text, "go away") {
			t.Errorf("%d: got %q", status, text)
		}
	}
}

// A POST may fail where the listing did not.
func TestHTTPStatusOfAPost(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	for status, want := range map[int]error{401: ErrAuth, 403: ErrAuth, 404: ErrNotFound, 500: ErrUnreachable, 307: ErrProtocol} {
		g := serveGit(t, f)
		r := open(t, g.URL+"/remote.git", Options{Auth: Auth{NoHelpers: true}})
		s := repo.NewMemory()
		first := mustFetch(t, r, s)
		g.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost {
				return false
			}
			w.Header().Set("Location", "https://elsewhere.example/")
			http.Error(w, "no", status)
			return true
		}
		big := commitTo(t, s, first, "b.md", noise(2<<20))
		err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: big}}, nil)
		if !errors.Is(err, want) {
			t.Errorf("push, %d: got %v, want %v", status, err, want)
		}
		_, err = r.Fetch(t.Context(), repo.NewMemory(), []plumbing.Hash{first}, nil)
		if !errors.Is(err, want) {
			t.Errorf("fetch, %d: got %v, want %v", status, err, want)
		}
	}
}

// noise is text that does not compress.
func noise(n int) string {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x>>24)&0x3f + 32
	}
	return string(b)
}

func TestLongPushGoesInChunks(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	g := serveGit(t, f)
	r := open(t, g.URL+"/remote.git", Options{})
	s := repo.NewMemory()
	first := mustFetch(t, r, s)
	second := commitTo(t, s, first, "big.md", noise(5<<20))
	var sent int64
	r.opts.Progress = func(p Progress) {
		if p.Phase == Sending {
			sent = p.Done
		}
	}
	if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: second}}, nil); err != nil {
		t.Fatal(err)
	}
	if g.chunked != 1 || sent < 3<<20 {
		t.Errorf("got %d chunked requests and %d bytes sent", g.chunked, sent)
	}
}

// git http-backend behind Go's cgi refuses chunked bodies; short ones it takes.
func TestHTTPBackend(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	git(t, f.bare, "config", "http.receivepack", "true")
	backend := filepath.Join(git(t, f.bare, "--exec-path"), "git-http-backend")
	srv := httptest.NewServer(&cgi.Handler{
		Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(f.bare), "GIT_HTTP_EXPORT_ALL=1"}, Stderr: io.Discard,
	})
	t.Cleanup(srv.Close)
	r := open(t, srv.URL+"/remote.git", Options{})
	s := repo.NewMemory()
	first := mustFetch(t, r, s)
	second := commitTo(t, s, first, "b.md", "b")
	if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: second}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(t, srv.URL+"/none.git", Options{}).Refs(t.Context()); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestHTTPRedirects(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	g := serveGit(t, f)
	var stolen []string
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Header.Get("Authorization"))
	}))
	t.Cleanup(thief.Close)
	to := ""
	g.before = func(w http.ResponseWriter, r *http.Request) bool {
		rest, found := strings.CutPrefix(r.URL.Path, "/old.git")
		if found {
			http.Redirect(w, r, to+rest+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
		}
		return found
	}
	opts := Options{Auth: Auth{Token: token}}
	for _, tt := range []struct {
		to   string
		want error
	}{
		{"/remote.git", nil},
		{g.URL + "/remote.git", nil},
		{thief.URL + "/remote.git", ErrProtocol},
		{"/old.git", ErrProtocol},
		{"https://127.0.0.1:1/remote.git", ErrUnreachable}, // more encryption at the same host
		{"file:///etc", ErrProtocol},
	} {
		to = tt.to
		r := open(t, g.URL+"/old.git", opts)
		s := repo.NewMemory()
		_, _, err := r.Refs(t.Context())
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.to, err, tt.want)
		}
		if tt.want == nil {
			first := mustFetch(t, r, s)
			second := commitTo(t, s, first, "b.md", tt.to)
			if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: second}}, nil); err != nil {
				t.Errorf("%s: push: %v", tt.to, err)
			}
		}
	}
	if len(stolen) > 0 {
		t.Errorf("another host was asked, with %q", stolen)
	}
}

func TestNotAGitServer(t *testing.T) {
	isolate(t)
	for name, h := range map[string]http.HandlerFunc{
		"web page": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>Sign in</html>") },
		"dumb HTTP": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, idA+"\trefs/heads/main\n")
		},
		"garbage": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			io.WriteString(w, "garbage")
		},
		"other service": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			io.WriteString(w, pkts("# service=git-receive-pack\n", "", ""))
		},
		"no side band": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			io.WriteString(w, pkts("# service=git-upload-pack\n", "", idA+" refs/heads/main\x00 ofs-delta\n", ""))
		},
	} {
		srv := httptest.NewServer(h)
		r := open(t, srv.URL, Options{})
		_, err := r.Fetch(t.Context(), repo.NewMemory(), []plumbing.Hash{plumbing.NewHash(idA)}, nil)
		if !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: got %v, want ErrProtocol", name, err)
		}
		srv.Close()
	}
}

// lossy passes on n bytes and swallows the rest.
type lossy struct {
	w io.Writer
	n int
}

func (l *lossy) Write(p []byte) (int, error) {
	keep := p[:min(len(p), l.n)]
	l.n -= len(keep)
	if _, err := l.w.Write(keep); err != nil {
		return 0, err
	}
	return len(p), nil
}

// bend changes the byte at n.
type bend struct {
	w io.Writer
	n int
}

func (b *bend) Write(p []byte) (int, error) {
	q := slices.Clone(p)
	if b.n >= 0 && b.n < len(q) {
		q[b.n] ^= 0x55
	}
	b.n -= len(q)
	return b.w.Write(q)
}

// damages cut or bend what a server sends, at byte n.
var damages = map[string]func(n int) func(io.Writer) io.Writer{
	"cut":  func(n int) func(io.Writer) io.Writer { return func(w io.Writer) io.Writer { return &lossy{w, n} } },
	"bent": func(n int) func(io.Writer) io.Writer { return func(w io.Writer) io.Writer { return &bend{w, n} } },
}

func TestDamagedPackLeavesNothing(t *testing.T) {
	for _, files := range []int{3, 3 * unpackLimit} {
		isolate(t)
		f := newFixture(t)
		for i := range files {
			f.write(fmt.Sprintf("n/%d.md", i), noise(300+i))
		}
		tip := f.commit("x.md", "x")
		g := serveGit(t, f)
		for how, damage := range damages {
			for _, at := range []int{20, 60, 200, 900, 1500, 2500} {
				g.body = damage(at)
				for _, k := range storeKinds() {
					s := k.make(t)
					r := open(t, g.URL+"/remote.git", Options{})
					_, err := r.Fetch(t.Context(), s, []plumbing.Hash{tip}, nil)
					if err == nil {
						if how == "cut" && at > 1300 {
							continue // behind the pack
						}
						// Bent progress, or a length that still fits: then all must be there.
						wantWhole(t, s, tip)
						continue
					}
					if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrProtocol) && !errors.Is(err, ErrUnreachable) {
						t.Errorf("%s at %d, %s: got %v", how, at, k.name, err)
					}
					wantEmpty(t, s)
				}
			}
		}
	}
}

// wantEmpty checks that s holds no object, nor the litter of one.
func wantEmpty(t testing.TB, s repo.Store) {
	t.Helper()
	iter, err := s.IterEncodedObjects(plumbing.AnyObject)
	if err != nil {
		t.Fatal(err)
	}
	defer iter.Close()
	if o, err := iter.Next(); err != io.EOF {
		t.Errorf("the store holds %v, %v", o, err)
	}
	g, ok := s.(*repo.GitDir)
	if !ok {
		return
	}
	litter, err := filepath.Glob(filepath.Join(g.Dir(), "objects", "pack", "*"))
	if err != nil || len(litter) > 0 {
		t.Errorf("left behind: %v, %v", litter, err)
	}
}

func TestServerHidesObjects(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	first := f.head()
	tip := f.commit("two.md", "two")
	g := serveGit(t, f)
	// A have that the client lacks makes the server leave its objects out.
	r := open(t, g.URL+"/remote.git", Options{})
	s := repo.NewMemory()
	c, err := f2commit(t, f, s, first)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Fetch(t.Context(), s, []plumbing.Hash{tip}, []plumbing.Hash{c})
	if !errors.Is(err, ErrCorrupt) && !errors.Is(err, repo.ErrObjectNotFound) {
		t.Errorf("got %v, want an error about missing objects", err)
	}
}

// f2commit copies the commit object alone from f to s.
func f2commit(t testing.TB, f *fixture, s repo.Store, h plumbing.Hash) (plumbing.Hash, error) {
	t.Helper()
	out, err := exec.Command("git", "-C", f.bare, "cat-file", "commit", h.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	return repo.WriteObject(s, plumbing.CommitObject, out)
}

func TestStalledServer(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	tip := f.head()
	for name, stall := range map[string]func(g *gitServer, wait func()){
		"before the answer": func(g *gitServer, wait func()) {
			g.before = func(http.ResponseWriter, *http.Request) bool { wait(); return true }
		},
		"in the pack": func(g *gitServer, wait func()) {
			g.body = func(w io.Writer) io.Writer { return &stalling{w, 300, wait} }
		},
	} {
		g := serveGit(t, f)
		release := make(chan struct{})
		stall(g, func() { <-release })
		r := open(t, g.URL+"/remote.git", Options{StallTimeout: 200 * time.Millisecond})
		_, err := r.Fetch(t.Context(), repo.NewMemory(), []plumbing.Hash{tip}, nil)
		close(release)
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "nothing moved for 200ms") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// stalling passes n bytes, waits, and passes the rest.
type stalling struct {
	w    io.Writer
	n    int
	wait func()
}

func (s *stalling) Write(p []byte) (int, error) {
	head := p[:min(len(p), s.n)]
	s.n -= len(head)
	if _, err := s.w.Write(head); err != nil {
		return 0, err
	}
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
	if s.n == 0 {
		s.wait()
	}
	_, err := s.w.Write(p[len(head):])
	return len(p), err
}

// A host may accept a connection, or start a program, and never say a word.
func TestStalledSSH(t *testing.T) {
	isolate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("GIT_SSH_COMMAND", "cat >/dev/null #")
	for url, opts := range map[string]Options{"ssh://git@" + l.Addr().String() + "/x": {}, "git@host:x": {Exec: true}} {
		opts.StallTimeout = 100 * time.Millisecond
		_, _, err := open(t, url, opts).Refs(t.Context())
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "nothing moved") {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

func TestBigPackIsSpooledToAFile(t *testing.T) {
	isolate(t)
	tmp := t.TempDir()
	f := newFixture(t)
	f.commit("big.md", noise(spoolMemory*3/2))
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp)
	mustFetch(t, open(t, serveGit(t, f).URL+"/remote.git", Options{}), repo.NewMemory())
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCancel(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	g := serveGit(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	g.before = func(_ http.ResponseWriter, r *http.Request) bool {
		cancel()
		<-r.Context().Done()
		return true
	}
	_, _, err := open(t, g.URL+"/remote.git", Options{}).Refs(ctx)
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v, want context.Canceled alone", err)
	}
}

func TestNobodyListens(t *testing.T) {
	isolate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	for _, u := range []string{"http://u:" + url.QueryEscape(token) + "@" + addr + "/x", "ssh://git@" + addr + "/x"} {
		_, _, err := open(t, u, Options{}).Refs(t.Context())
		if !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), token) || strings.Contains(err.Error(), url.QueryEscape(token)) {
			t.Errorf("%s: got %v", u, err)
		}
	}
}

func TestProxy(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	g := serveGit(t, f)
	proxied := 0
	g.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Host == "git.example" {
			proxied++
		}
		return false
	}
	proxy, _ := url.Parse(g.URL)
	r := open(t, "http://git.example/remote.git", Options{Proxy: http.ProxyURL(proxy)})
	mustFetch(t, r, repo.NewMemory())
	if proxied == 0 {
		t.Error("the proxy was passed by")
	}
}

// The answer to a push may be lost after the remote took it.
func TestLostAnswerOfAPushThatArrived(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	g := serveGit(t, f)
	r := open(t, g.URL+"/remote.git", Options{})
	s := repo.NewMemory()
	first := mustFetch(t, r, s)
	second := commitTo(t, s, first, "b.md", "b")
	g.body = func(io.Writer) io.Writer { return io.Discard }
	if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: second}}, nil); err != nil {
		t.Errorf("got %v for a push that arrived", err)
	}
	if got := f.head(); got != second {
		t.Errorf("main is at %s, want %s", got, second)
	}
}

// git says "failed to update ref" to the loser of a race in the middle of two
// pushes; a re-listing tells that from a broken disk.
func TestRaceInsideReceivePack(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	g := serveGit(t, f)
	r := open(t, g.URL+"/remote.git", Options{})
	s := repo.NewMemory()
	first := mustFetch(t, r, s)
	ours := commitTo(t, s, first, "b.md", "b")
	theirs := plumbing.ZeroHash
	g.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && theirs.IsZero() {
			theirs = f.commit("c.md", "c")
		}
		return false
	}
	err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: ours}}, nil)
	rejected, ok := errors.AsType[*RejectedError](err)
	if !ok || !rejected.NonFastForward {
		t.Errorf("got %v, want a rejection as non-fast-forward", err)
	}
	if got := f.head(); got != theirs {
		t.Errorf("main is at %s, want %s", got, theirs)
	}
}

func TestFetchWithNothingNewIsOneRequest(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	g := serveGit(t, f)
	r := open(t, g.URL+"/remote.git", Options{})
	s := repo.NewMemory()
	first := mustFetch(t, r, s)
	before := g.count("")
	if second := mustFetch(t, r, s, first); second != first {
		t.Fatal("the remote moved")
	}
	if got := g.count("") - before; got != 1 {
		t.Errorf("got %d requests, want 1", got)
	}
}

func TestOneHTTPConnectionForARound(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	var opened atomic.Int32
	g := &gitServer{root: filepath.Dir(f.bare)}
	g.Server = httptest.NewUnstartedServer(g)
	g.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	g.Start()
	t.Cleanup(g.Close)
	git(t, f.bare, "config", "http.receivepack", "true")
	r := open(t, g.URL+"/remote.git", Options{})
	s := repo.NewMemory()
	first := mustFetch(t, r, s)
	f.commit("two.md", "two")
	second := mustFetch(t, r, s, first)
	third := commitTo(t, s, second, "b.md", "b")
	if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: second, New: third}}, nil); err != nil {
		t.Fatal(err)
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("got %d connections, want 1", n)
	}
}

// Long histories on both sides: negotiation must end, and send only the rest.
func TestNegotiation(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			isolate(t)
			f := newFixture(t)
			url, opts := w.url(t, f)
			r := open(t, url, opts)
			s := newGitDir(t)
			base := mustFetch(t, r, s)
			ours := base
			for i := range 400 {
				ours = commitLazily(t, s, ours, fmt.Sprintf("ours/%d.md", i%10), fmt.Sprint(i))
			}
			if err := s.CompareAndSet(mainRef, plumbing.ZeroHash, ours, "test"); err != nil {
				t.Fatal(err)
			}
			for i := range 5 {
				f.commit(fmt.Sprintf("theirs/%d.md", i), "x")
			}
			tip := mustRefs(t, r)[mainRef]
			stats, err := r.Fetch(t.Context(), s, []plumbing.Hash{tip}, []plumbing.Hash{ours})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(w.name, "exec http") && stats.Objects != 5*3+1 {
				t.Errorf("got %d objects, want 5 commits, 10 trees and a blob", stats.Objects)
			}
			wantWhole(t, s, tip)
		})
	}
}

func TestFetchOfAnUnrelatedHistory(t *testing.T) {
	overEvery(t, func(t *testing.T, f *fixture, open func() *Remote, s repo.Store) {
		ours := plumbing.ZeroHash
		for i := range 30 {
			ours = commitTo(t, s, ours, "ours.md", fmt.Sprint(i))
		}
		mustFetch(t, open(), s, ours)
	})
}

func TestShallowRemote(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	f.commit("two.md", "two")
	shallow := filepath.Join(t.TempDir(), "shallow.git")
	git(t, f.bare, "clone", "-q", "--bare", "--depth=1", "file://"+f.bare, shallow)
	for _, opts := range []Options{{}, {Exec: true}} {
		r := open(t, shallow, opts)
		_, err := r.Fetch(t.Context(), repo.NewMemory(), []plumbing.Hash{f.head()}, nil)
		if err == nil || !strings.Contains(err.Error(), "shallow") {
			t.Errorf("got %v, want words about a shallow clone", err)
		}
	}
}
