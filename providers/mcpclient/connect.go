package mcpclient

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vademecum/providers/child"
)

// Server is what a server says of itself.
type Server struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Tools     []string `json:"tools"`
	ToolsHash string   `json:"tools_hash"` // for Config.ToolsHash
}

// connection is a server that we talk to.
type connection struct {
	*mcp.ClientSession
	proc    *child.Process // nil: over HTTP
	server  Server
	changed atomic.Bool // its tools are not those that were asked for
}

// Inspect connects to the server of c, asks what its tools are, and leaves: to
// show its owner what is to be approved. It compares with no hash.
func Inspect(ctx context.Context, c Config) (Server, error) {
	c, err := c.check()
	if err != nil {
		return Server{}, err
	}
	conn, err := connect(ctx, &c, nil)
	if err != nil {
		return Server{}, fmt.Errorf("provider %s: %w", c.Name, err)
	}
	conn.end()
	return conn.server, nil
}

// connect starts the program, or goes to the address, and asks for its tools.
// transport, if there is one, is used instead of either.
func connect(ctx context.Context, c *Config, transport mcp.Transport) (*connection, error) {
	conn := &connection{}
	if transport == nil {
		var err error
		if transport, conn.proc, err = c.transport(); err != nil {
			return nil, err
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: c.Client, Version: "1"}, &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { conn.changed.Store(true) },
	})
	ctx, noted := noting(ctx)
	var err error
	if conn.ClientSession, err = client.Connect(ctx, transport, nil); err == nil {
		err = conn.ask(ctx)
	}
	if err != nil {
		conn.end()
		return nil, conn.explain(noted(err))
	}
	return conn, nil
}

// transport starts the program, or says how to reach the address.
func (c *Config) transport() (mcp.Transport, *child.Process, error) {
	if c.URL != "" {
		return &mcp.StreamableClientTransport{
			Endpoint: c.URL, HTTPClient: c.httpClient(), MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: child.MaxLine,
		}, nil, nil
	}
	proc, err := child.Start(child.Spec{Path: c.Command, Args: c.Args, Env: child.Environment(c.Env), Dir: c.Dir})
	if err != nil {
		return nil, nil, err
	}
	return &mcp.IOTransport{Reader: proc.Stdout, Writer: proc.Stdin, MaxLineLength: child.MaxLine}, proc, nil
}

// ask fills in what the server is.
func (c *connection) ask(ctx context.Context) error {
	var tools []*mcp.Tool
	for tool, err := range c.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list of tools: %w", err)
		}
		tools = append(tools, tool)
	}
	if info := c.InitializeResult().ServerInfo; info != nil {
		c.server.Name, c.server.Version = info.Name, info.Version
	}
	for _, tool := range tools {
		c.server.Tools = append(c.server.Tools, tool.Name)
	}
	slices.Sort(c.server.Tools)
	var err error
	c.server.ToolsHash, err = hash(tools)
	return err
}

// hash is one of everything that a server says of its tools.
func hash(tools []*mcp.Tool) (string, error) {
	tools = slices.SortedFunc(slices.Values(tools), func(a, b *mcp.Tool) int { return cmp.Compare(a.Name, b.Name) })
	b, err := json.Marshal(tools)
	if err != nil {
		return "", fmt.Errorf("hash of the tools: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8]), nil
}

// end leaves the server: a program has 2 s to end by itself, unless it has never
// said anything.
func (c *connection) end() {
	patience := time.Duration(0)
	if c.ClientSession != nil {
		_ = c.Close()
		patience = 2 * time.Second
	}
	if c.proc != nil {
		c.proc.End(patience)
	}
}

// explain adds the last words of a program that has ended.
func (c *connection) explain(err error) error {
	if c.proc == nil {
		return err
	}
	if said := c.proc.Stderr(); said != "" {
		return fmt.Errorf("%w (%s; it said: %s)", err, c.proc.Exit(), said[max(0, len(said)-1000):])
	}
	return err
}

// httpClient sends our headers, to no other host.
func (c *Config) httpClient() *http.Client {
	return &http.Client{
		Transport: &withHeaders{base: http.DefaultTransport, headers: c.Headers},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme || len(via) > 3 {
				return errors.New("refused to follow it to " + req.URL.Host)
			}
			return nil
		},
	}
}

// withHeaders adds headers to requests, bounds the answers, and notes the status
// for the call in whose context it was made.
type withHeaders struct {
	base    http.RoundTripper
	headers map[string]string
}

type statusKey struct{}

func (w *withHeaders) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, value := range w.headers {
		req.Header.Set(name, value)
	}
	resp, err := w.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if noted, ok := req.Context().Value(statusKey{}).(*atomic.Pointer[httpStatus]); ok {
		s := &httpStatus{code: resp.StatusCode}
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
			s.retryAfter = min(time.Duration(max(seconds, 0))*time.Second, maxRetryAfter)
		}
		noted.Store(s)
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, child.MaxLine), resp.Body}
	return resp, nil
}

// maxRetryAfter bounds how long a server may put us off.
const maxRetryAfter = time.Hour
