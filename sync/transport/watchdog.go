package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

var errStalled = errors.New("stalled")

// A watchdog ends an operation during which no byte moves for limit.
type watchdog struct {
	limit time.Duration

	mu    sync.Mutex
	timer *time.Timer // nil unless an operation is watched
}

// watch returns a context that ends when the watchdog bites. done ends the
// watch and explains the error of the operation.
func (w *watchdog) watch(parent context.Context) (ctx context.Context, done func(error) error) {
	ctx, cancel := context.WithCancelCause(parent)
	w.mu.Lock()
	w.timer = time.AfterFunc(w.limit, func() { cancel(errStalled) })
	w.mu.Unlock()
	return ctx, func(err error) error {
		w.hold()
		stalled := context.Cause(ctx) == errStalled
		cancel(nil)
		if err != nil && stalled {
			return fault(ErrUnreachable, fmt.Sprintf("nothing moved for %s", w.limit), "check the network and try again")
		}
		return err
	}
}

// kick tells the watchdog that a byte has moved.
func (w *watchdog) kick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Reset(w.limit)
	}
}

// hold keeps the watchdog from biting while this host works on its own.
func (w *watchdog) hold() (resume func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	timer := w.timer
	if timer == nil {
		return func() {}
	}
	timer.Stop()
	w.timer = nil
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.timer = timer
		timer.Reset(w.limit)
	}
}

// watchedReader and watchedWriter tell the watchdog of each byte.
type watchedReader struct {
	io.Reader
	dog *watchdog
}

func (r watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.dog.kick()
	return n, err
}

type watchedWriter struct {
	io.Writer
	dog *watchdog
}

func (w watchedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.dog.kick()
	return n, err
}
