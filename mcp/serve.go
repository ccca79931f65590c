package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage bounds one message of a client, in bytes.
const maxMessage = 8 << 20

// ServeStdio serves one client on in and out until in ends, the client's
// process is gone, or ctx is done. Calls that were begun are finished first.
// Nothing but messages of the protocol is written to out.
func ServeStdio(ctx context.Context, s *sdk.Server, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := watchParent()
	if err == nil {
		defer watch.close()
		go func() {
			watch.wait(ctx)
			cancel()
		}()
	}
	err = s.Run(ctx, drainTransport{&sdk.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{out}, MaxLineLength: maxMessage}})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Handler serves s over HTTP at any path, without sessions: each request
// stands alone, as revision 2026-07-28 has it, and clients of older revisions
// are answered as well. It refuses requests that a web page elsewhere makes
// (Origin, Sec-Fetch-Site) and those for another host's name (DNS rebinding).
func Handler(s *sdk.Server) http.Handler {
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
	})
	return http.NewCrossOriginProtection().Handler(h)
}

// ErrNotLoopback: an address to listen on that other machines reach.
var ErrNotLoopback = errors.New("not a loopback address")

// Listen opens addr (HOST:PORT), whose host must be localhost or a loopback
// address; port 0 takes a free one.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host != "localhost" && !ip.IsLoopback() {
		return nil, fmt.Errorf("listen on %s: %w", addr, ErrNotLoopback)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() { // a hosts file may say anything of localhost
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", l.Addr(), ErrNotLoopback), l.Close())
	}
	return l, nil
}

// ServeHTTP serves s at /mcp on l until ctx is done; requests that were begun
// are finished first, for 5 s at most.
func ServeHTTP(ctx context.Context, s *sdk.Server, l net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("/mcp", Handler(s))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := srv.Shutdown(ctx)
	<-done
	return err
}
