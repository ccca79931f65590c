package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// agentName names us to servers.
const agentName = "vade/1"

// A dialer starts conversations with the services of one remote.
type dialer interface {
	// open starts service and reads its advertisement.
	open(ctx context.Context, service string) (conversation, error)
	close() error
}

// A conversation is a service that has advertised and waits for requests.
type conversation interface {
	advert() *advertisement
	// stateless services forget each exchange: the next one repeats what was
	// agreed.
	stateless() bool
	// exchange sends what write writes and returns the reader of the answer. A
	// stateful service answers all exchanges in one stream.
	exchange(ctx context.Context, write func(io.Writer) error) (*pktReader, error)
	// close ends the conversation and waits for what writes. Given an error of
	// it, it returns what explains that best.
	close(err error) error
}

// wire is a link that speaks the pack protocol over a dialer.
type wire struct {
	r    *Remote
	dial dialer
	dog  watchdog
	// parked is the conversation whose advertisement refs returned: the fetch
	// that follows asks for just what that promised.
	parked conversation
}

// A watched dialer kicks the watchdog of its wire.
type watchedDialer interface{ watchWith(*watchdog) }

func newWire(r *Remote, d dialer) *wire {
	w := &wire{r: r, dial: d, dog: watchdog{limit: r.opts.StallTimeout}}
	if watched, ok := d.(watchedDialer); ok {
		watched.watchWith(&w.dog)
	}
	return w
}

func (w *wire) close() error {
	w.unpark()
	return w.dial.close()
}

func (w *wire) unpark() {
	if w.parked != nil {
		w.parked.close(nil)
		w.parked = nil
	}
}

func (w *wire) refs(parent context.Context) (map[string]plumbing.Hash, string, error) {
	w.unpark()
	ctx, done := w.dog.watch(parent)
	c, err := w.dial.open(ctx, uploadPack)
	if err = done(err); err != nil {
		return nil, "", classify(err)
	}
	w.parked = c
	return c.advert().refs, c.advert().head, nil
}

// take returns the parked conversation if it promises all of wants, else a
// new one.
func (w *wire) take(ctx context.Context, wants []plumbing.Hash) (conversation, error) {
	if c := w.parked; c != nil {
		if !slices.ContainsFunc(wants, func(h plumbing.Hash) bool { return !c.advert().advertises(h) }) {
			w.parked = nil
			return c, nil
		}
		w.unpark()
	}
	return w.dial.open(ctx, uploadPack)
}

func (w *wire) fetch(parent context.Context, s repo.Store, wants, haves []plumbing.Hash) (FetchStats, error) {
	ctx, done := w.dog.watch(parent)
	stats, err := w.fetchWatched(ctx, s, wants, haves)
	return stats, classify(done(err))
}

func (w *wire) fetchWatched(ctx context.Context, s repo.Store, wants, haves []plumbing.Hash) (stats FetchStats, err error) {
	c, err := w.take(ctx, wants)
	if err != nil {
		return stats, err
	}
	defer func() { err = c.close(err) }()
	n, err := newNegotiation(c, s, wants, haves)
	if err != nil || n == nil {
		return stats, err
	}
	answer, err := n.run(ctx)
	if err != nil {
		return stats, err
	}
	band := &sideband{pkts: answer, say: w.r.say}
	return w.r.receive(ctx, s, band, &w.dog)
}

// classify turns what the network, or the service at its last breath, said
// into one of the package's kinds.
func classify(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*RejectedError](err); ok {
		return err
	}
	if said, ok := errors.AsType[*remoteError](err); ok {
		return classifyWords(said.words)
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return faultOf(ErrUnreachable, err, unreachableRemedy)
	}
	if broken(err) {
		return faultOf(ErrUnreachable, fmt.Errorf("the connection broke: %w", err), unreachableRemedy)
	}
	return err
}

const unreachableRemedy = "check the address, the network and whether the server is up"

// broken says whether err is that of a connection that ended too early.
func broken(err error) bool {
	for _, cut := range []error{
		ErrUnreachable, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, os.ErrClosed, net.ErrClosed, syscall.EPIPE, syscall.ECONNRESET,
	} {
		if errors.Is(err, cut) {
			return true
		}
	}
	return false
}
