package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// connectTimeout bounds dialling and the TLS handshake.
const connectTimeout = 20 * time.Second

// An httpDialer speaks smart HTTP, version 0 of the protocol.
type httpDialer struct {
	r      *Remote
	client *http.Client
	base   string // of the repository; follows a redirect
	creds  credentials
	dog    *watchdog
}

func newHTTPDialer(r *Remote) *httpDialer {
	proxy := r.opts.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	tr := &http.Transport{
		Proxy:               proxy,
		DialContext:         (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout: connectTimeout,
		ForceAttemptHTTP2:   true,
		IdleConnTimeout:     time.Minute,
	}
	d := &httpDialer{r: r, base: r.addr.String(), creds: credentials{r: r}}
	d.client = &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	return d
}

func (d *httpDialer) watchWith(dog *watchdog) { d.dog = dog }

func (d *httpDialer) close() error {
	d.client.CloseIdleConnections()
	return nil
}

// open asks for the refs of service, with better credentials for as long as
// there are any.
func (d *httpDialer) open(ctx context.Context, service string) (conversation, error) {
	if err := d.creds.prepare(ctx); err != nil {
		return nil, err
	}
	for {
		resp, err := d.getRefs(ctx, service)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusUnauthorized {
			err := d.statusError(resp)
			resp.Body.Close()
			if !d.creds.next(ctx, d.base) {
				return nil, err
			}
			continue
		}
		c, err := d.readRefs(resp, service)
		finishBody(resp.Body, err)
		if err != nil {
			return nil, err
		}
		d.creds.approve(ctx)
		return c, nil
	}
}

func (d *httpDialer) readRefs(resp *http.Response, service string) (conversation, error) {
	if resp.StatusCode != http.StatusOK {
		return nil, d.statusError(resp)
	}
	want := "application/x-" + service + "-advertisement"
	if got := resp.Header.Get("Content-Type"); got != want {
		return nil, fault(ErrProtocol, fmt.Sprintf("the answer is %q, not %q", words1([]byte(got)), want), notGitRemedy)
	}
	a, err := readAdvertisement(newPktReader(watchedReader{resp.Body, d.dog}), service, true)
	if err != nil {
		return nil, err
	}
	return &httpConversation{d: d, service: service, said: a}, nil
}

// maxRedirects is how often one listing may be sent on.
const maxRedirects = 5

// getRefs asks for the advertisement, and follows redirects that stay at the host.
func (d *httpDialer) getRefs(ctx context.Context, service string) (*http.Response, error) {
	for range maxRedirects {
		req, err := d.request(ctx, http.MethodGet, d.base+"/info/refs?service="+service, nil)
		if err != nil {
			return nil, err
		}
		resp, err := d.do(req)
		if err != nil {
			return nil, err
		}
		switch resp.StatusCode {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			return resp, nil
		}
		resp.Body.Close()
		if err := d.follow(resp); err != nil {
			return nil, err
		}
	}
	return nil, fault(ErrProtocol, fmt.Sprintf("more than %d redirects", maxRedirects), notGitRemedy)
}

// follow moves base to where resp redirects. Credentials were meant for this
// host, and for no less than this encryption.
func (d *httpDialer) follow(resp *http.Response) error {
	to, err := resp.Location()
	if err != nil {
		return faultOf(ErrProtocol, err, notGitRemedy)
	}
	from := resp.Request.URL
	base, found := strings.CutSuffix(to.Path, "/info/refs")
	to.User, to.RawQuery, to.Fragment, to.RawPath = nil, "", "", ""
	to.Path = base
	sameHost := to.Scheme == from.Scheme && to.Host == from.Host
	upgrade := from.Scheme == "http" && to.Scheme == "https" && to.Hostname() == from.Hostname()
	if !found || !sameHost && !upgrade {
		return fault(ErrProtocol, "it redirects to "+Mask(to.String()), "set the remote to that address if you trust it")
	}
	d.base = strings.TrimRight(to.String(), "/")
	return nil
}

func (d *httpDialer) request(ctx context.Context, method, target string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, fault(ErrProtocol, "the address makes no request", notGitRemedy)
	}
	// Some servers speak git only to what calls itself git.
	req.Header.Set("User-Agent", "git/2.40 ("+agentName+")")
	d.creds.apply(req)
	return req, nil
}

func (d *httpDialer) do(req *http.Request) (*http.Response, error) {
	resp, err := d.client.Do(req)
	if err != nil {
		if req.Context().Err() != nil {
			return nil, err
		}
		return nil, faultOf(ErrUnreachable, withoutURL(err), "check the address, the network and whether the server is up")
	}
	d.dog.kick()
	return resp, nil
}

func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// statusError reads what went wrong from a response, and the first words of
// its body when they are plain text.
func (d *httpDialer) statusError(resp *http.Response) error {
	detail := fmt.Sprintf("HTTP %d", resp.StatusCode)
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		if words := words1(body); words != "" {
			detail += ": " + words
		}
	}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized && d.creds.given():
		return fault(ErrAuth, detail, "the token or password is not accepted; make a new one")
	case code == http.StatusUnauthorized:
		return fault(ErrAuth, detail, "give a token, or store one with git's credential helper")
	case code == http.StatusForbidden:
		return fault(ErrAuth, detail, "check that this account may use the repository")
	case code == http.StatusNotFound || code == http.StatusGone:
		return fault(ErrNotFound, detail, "check the address, and that this account may see it; a new repository must be created there first")
	case code == http.StatusProxyAuthRequired:
		return fault(ErrUnreachable, detail, "the proxy wants credentials: set them in HTTPS_PROXY")
	case code == http.StatusRequestEntityTooLarge:
		return fault(ErrRejected, detail, "the server limits the size of a push")
	case code == http.StatusTooManyRequests || code >= 500:
		if after := resp.Header.Get("Retry-After"); after != "" {
			detail += ", retry after " + words1([]byte(after))
		}
		return fault(ErrUnreachable, detail, "the server has a problem; try later")
	}
	return fault(ErrProtocol, detail, notGitRemedy)
}
