package transport

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// defaultStall is how long no byte may move before an operation is given up.
const defaultStall = time.Minute

// Options say how to speak to a remote. The zero value is usable.
type Options struct {
	Auth Auth
	// Progress, when set, is called from the goroutine of the operation, often.
	Progress func(Progress)
	// Exec hands the connection to the user's git and ssh, which know
	// credentials, proxies, jump hosts and url.<base>.insteadOf that we do not:
	// over ssh we speak to the remote through the ssh program, over HTTP git
	// does all the work, in a store that is a git directory.
	Exec bool
	// Env looks environment variables up; nil is os.Getenv. Child processes
	// still inherit the environment, without its GIT_* variables.
	Env func(name string) string
	// StallTimeout ends an operation in which no byte moves; 0 is a minute.
	StallTimeout time.Duration
	// Proxy chooses the proxy of an HTTP request; nil is HTTPS_PROXY and its
	// kin from the process's environment.
	Proxy func(*http.Request) (*url.URL, error)
}

// Auth is what an HTTP remote is shown. In this order: Token, Lookup, the
// userinfo of the URL, netrc, git's credential helpers.
type Auth struct {
	User   string // with Token; "" is x-access-token, which all forges take
	Token  string
	Bearer bool // send Token as a bearer token instead of Basic
	// Lookup finds user and token for a URL without userinfo when the
	// operation starts; an empty token means that it knows none.
	Lookup func(ctx context.Context, url string) (user, token string, err error)
	// NoHelpers leaves netrc and git's credential helpers alone.
	NoHelpers bool
}

// A Phase is what an operation is busy with.
type Phase string

// The phases of fetch and push.
const (
	Receiving Phase = "receiving" // Done is bytes
	Unpacking Phase = "unpacking" // Done and Total are objects
	Checking  Phase = "checking"  // Done and Total are objects
	Sending   Phase = "sending"   // Done is bytes, Total is 0
	Speaking  Phase = "remote"    // Text is a line of the remote's words
)

// Progress is a moment of an operation. Total is 0 when it is not known.
type Progress struct {
	Phase       Phase
	Done, Total int64
	Text        string
}

// FetchStats says what a fetch brought.
type FetchStats struct {
	Objects int   // in the pack; 0 when nothing was missing
	Bytes   int64 // of the pack, as sent
}

// Update moves Ref on the remote from Old to New. A zero Old creates it, a zero
// New deletes it.
type Update struct {
	Ref      string
	Old, New plumbing.Hash
}

// A link speaks to a remote in one of the ways of this package. Its errors need
// no name of the remote.
type link interface {
	refs(ctx context.Context) (map[string]plumbing.Hash, string, error)
	fetch(ctx context.Context, s repo.Store, wants, haves []plumbing.Hash) (FetchStats, error)
	push(ctx context.Context, s repo.Store, updates []Update, haves []plumbing.Hash) error
	close() error
}

// Remote is one git remote. It is used by one goroutine at a time.
type Remote struct {
	addr    address
	opts    Options
	link    link
	secrets []string // never to be printed
}

// Open prepares to speak to the repository at rawURL; nothing is contacted
// yet. A URL that cannot be used is a *[URLError]. Close ends what the
// operations left open.
func Open(rawURL string, opts Options) (*Remote, error) {
	addr, err := parseURL(rawURL)
	if err != nil {
		return nil, err
	}
	if opts.Exec && addr.scheme == schemeSSH {
		if addr, err = insteadOf(rawURL); err != nil {
			return nil, err
		}
	}
	if opts.Env == nil {
		opts.Env = os.Getenv
	}
	if opts.StallTimeout == 0 {
		opts.StallTimeout = defaultStall
	}
	if opts.Progress == nil {
		opts.Progress = func(Progress) {}
	}
	r := &Remote{addr: addr, opts: opts}
	r.hide(addr.secret, opts.Auth.Token)
	if addr.scheme != schemeSSH {
		r.hide(addr.user)
	}
	r.link = r.newLink()
	return r, nil
}

// newLink chooses the way to speak.
func (r *Remote) newLink() link {
	switch {
	case r.addr.scheme == schemeFile && r.opts.Exec:
		return newWire(r, newLocalProgram(r.expandHome(r.addr.path)))
	case r.addr.scheme == schemeFile:
		return &local{r: r, path: r.expandHome(r.addr.path)}
	case r.addr.scheme == schemeSSH && r.opts.Exec:
		return newWire(r, newSSHProgram(r))
	case r.addr.scheme == schemeSSH:
		return newWire(r, &sshDialer{r: r})
	case r.opts.Exec:
		return &gitProgram{r: r, creds: credentials{r: r}}
	}
	return newWire(r, newHTTPDialer(r))
}

// String is the URL of the remote, masked.
func (r *Remote) String() string { return r.addr.String() }

// Refs lists the remote's refs and the branch that its HEAD names ("" when it
// does not tell). A repository without commits has no refs; that is no error.
func (r *Remote) Refs(ctx context.Context) (map[string]plumbing.Hash, string, error) {
	refs, head, err := r.link.refs(ctx)
	if err != nil {
		return nil, "", r.finish(ctx, "list", err)
	}
	return maps.Clone(refs), head, nil
}

// Fetch brings wants, and all that they reach, into s. haves are commits that s
// holds with all that they reach: what both sides have is not sent. On success
// everything that wants reach is in s; on an error s may have gained objects
// that nothing refers to. No ref of s moves.
func (r *Remote) Fetch(ctx context.Context, s repo.Store, wants, haves []plumbing.Hash) (FetchStats, error) {
	wants, err := missing(ctx, s, wants, haves)
	if err != nil || len(wants) == 0 {
		return FetchStats{}, r.finish(ctx, "fetch", err)
	}
	stats, err := r.link.fetch(ctx, s, wants, haves)
	if err == nil {
		err = r.checkConnected(ctx, s, wants, haves)
	}
	return stats, r.finish(ctx, "fetch", err)
}

// Push moves refs of the remote, each only if it is still where Old says, and
// sends the objects for it. haves are commits that the remote is known to have.
// A branch moves forward only. A refusal is a *[RejectedError] of the first ref
// that was refused; others may have moved, unless the remote can update
// all or none. An error without an answer from the remote leaves
// open whether it took the update; Refs tells.
func (r *Remote) Push(ctx context.Context, s repo.Store, updates []Update, haves []plumbing.Hash) error {
	updates, err := checkUpdates(s, updates)
	if err == nil && len(updates) > 0 {
		err = r.link.push(ctx, s, updates, haves)
	}
	return r.finish(ctx, "push", err)
}

// Close ends connections that operations left open for the next one.
func (r *Remote) Close() error { return r.link.close() }

// hide adds to what may never be printed.
func (r *Remote) hide(secrets ...string) {
	for _, s := range secrets {
		if len(s) >= 3 {
			r.secrets = append(r.secrets, s, url.QueryEscape(s), url.PathEscape(s))
		}
	}
}

// scrub cuts the secrets from s.
func (r *Remote) scrub(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, "***")
	}
	return s
}

// say hands words of the remote to the progress.
func (r *Remote) say(words string) {
	for line := range strings.FieldsFuncSeq(words, func(c rune) bool { return c == '\n' || c == '\r' }) {
		r.opts.Progress(Progress{Phase: Speaking, Text: r.scrub(words1([]byte(line)))})
	}
}

// checkUpdates drops updates that change nothing and refuses those that would
// take commits from a branch.
func checkUpdates(s repo.Store, updates []Update) ([]Update, error) {
	var out []Update
	for _, u := range updates {
		if err := repo.CheckRefName(u.Ref); err != nil {
			return nil, err
		}
		if u.Old == u.New {
			continue
		}
		forward, err := movesForward(s, u)
		if err != nil {
			return nil, err
		}
		if !forward {
			return nil, &RejectedError{
				Ref: u.Ref, Reason: "non-fast-forward", NonFastForward: true,
				Remedy: "fetch and merge first",
			}
		}
		out = append(out, u)
	}
	return out, nil
}

func movesForward(s repo.Store, u Update) (bool, error) {
	if !strings.HasPrefix(u.Ref, "refs/heads/") || u.Old.IsZero() || u.New.IsZero() {
		return true, nil
	}
	ok, err := repo.IsAncestor(s, u.Old, u.New)
	if errors.Is(err, repo.ErrObjectNotFound) && s.HasEncodedObject(u.Old) != nil {
		return false, nil
	}
	return ok, err
}
