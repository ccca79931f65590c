package rest

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vademecum/providers"
)

// MaxBody is how many bytes of an answer are read, after decompression. A
// longer one is a protocol error.
const MaxBody = 4 << 20

// Options say which service a client is for.
type Options struct {
	Name string // of the provider, for errors
	// BaseURL is what paths are joined to: https, or http on this machine.
	BaseURL string
	// AllowInsecure lets http go to other machines.
	AllowInsecure bool
	// Header is sent with each request, e.g. Authorization. Its values are
	// secrets: they go to BaseURL's host only and are masked in errors.
	Header map[string]Secret
	// Classify, if set, refines an error by what the service says in its own way.
	// e.Class is what the status alone tells. body is at most 64 KiB. It is also
	// called for answers with status 2xx, with an e of class "", whose class it
	// sets if the answer is an error all the same.
	Classify func(e *providers.Error, status int, header http.Header, body []byte)
	// Transport is a seam for tests; nil: one of our own.
	Transport http.RoundTripper
	// Now is the clock that dates in headers are compared with; nil: time.Now.
	Now func() time.Time
}

// Client makes requests to one service. It may be used by any number of
// goroutines.
type Client struct {
	opts    Options
	base    *url.URL
	http    http.Client
	own     *http.Transport // nil when the transport came from outside
	secrets *strings.Replacer
}

// New checks o and returns a client. It connects to nothing.
func New(o Options) (*Client, error) {
	base, err := parseBase(o)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Client{opts: o, base: base, secrets: maskOf(o.Header)}
	if c.http.Transport = o.Transport; o.Transport == nil {
		c.own = newTransport()
		c.http.Transport = c.own
	}
	c.http.CheckRedirect = c.checkRedirect
	return c, nil
}

// Close lets go of idle connections.
func (c *Client) Close() error {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	return nil
}

// Loopback reports whether the service is on this machine.
func (c *Client) Loopback() bool { return loopback(c.base.Hostname()) }

// Encrypted reports whether requests go over TLS.
func (c *Client) Encrypted() bool { return c.base.Scheme == "https" }

func parseBase(o Options) (*url.URL, error) {
	u, err := url.Parse(o.BaseURL)
	switch {
	case err != nil: // it repeats the URL, which may hold a password
		return nil, fmt.Errorf("provider %s: the url cannot be understood", o.Name)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("provider %s: the url must begin with https:// or http://", o.Name)
	case u.User != nil:
		return nil, fmt.Errorf("provider %s: the url holds credentials; give them as key", o.Name)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("provider %s: the url must end with its path", o.Name)
	case u.Scheme == "http" && !o.AllowInsecure && !loopback(u.Hostname()):
		return nil, fmt.Errorf("provider %s: %s is neither https nor on this machine; anybody on the way could read your memories and the key (insecure: true allows it)", o.Name, u.Host)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		MaxConnsPerHost:     4,
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second,
	}
}

// redirect is why a redirect is not followed.
type redirect string

func (r redirect) Error() string { return string(r) }

// checkRedirect follows redirects on the same host only, and never one that
// makes a write a read, whose answer would look like success.
func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case req.URL.Host != c.base.Host || req.URL.Scheme != c.base.Scheme:
		return redirect("it redirects to another host, where the key must not go: is the url right?")
	case req.Method != via[0].Method:
		return redirect("it redirects a " + via[0].Method + " to a " + req.Method + ": is the url right?")
	case len(via) >= 3:
		return redirect("it redirects again and again: is the url right?")
	}
	return nil
}

// maskOf replaces the secrets among the values of header, also those parts that
// follow a scheme such as "Bearer ".
func maskOf(header map[string]Secret) *strings.Replacer {
	var pairs []string
	for _, s := range header {
		value := s.Reveal()
		if _, key, ok := strings.Cut(value, " "); ok && len(key) >= 4 {
			pairs = append(pairs, key, masked)
		} else if len(value) >= 4 {
			pairs = append(pairs, value, masked)
		}
	}
	return strings.NewReplacer(pairs...)
}
