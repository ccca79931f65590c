package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// longLived keeps one process for many requests. It is started by the first, in
// the background: a caller who cannot wait that long finds it warm the next time.
type longLived struct {
	peer *peer
	once *oneShot // for a program that turns out to know no other way
	reap sync.WaitGroup

	mu        sync.Mutex
	current   *session // nil: none was started, or it was not needed any more
	restarted time.Time
	closed    bool
}

func (l *longLived) roundTrip(ctx context.Context, id string, line []byte, release func()) (Reply, *failure) {
	for {
		s, f := l.session()
		if f == nil {
			select {
			case <-s.ready:
				if s.oneShot {
					return l.once.roundTrip(ctx, id, line, release)
				}
			case <-ctx.Done():
				f = retryable(false, fmt.Errorf("while the program was starting: %w", ctx.Err()))
			}
		}
		if f != nil {
			release()
			return Reply{}, f
		}
		reply, f := s.roundTrip(ctx, id, line, release)
		if f != nil && errors.Is(f.err, errIdle) {
			continue // stopped since we looked
		}
		return reply, f
	}
}

// session is the present one, or a new one if that is allowed: after a crash,
// once in restartPause.
func (l *longLived) session() (*session, *failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, retryable(false, errors.New("the provider is closed"))
	}
	if l.current != nil {
		if l.current.knownOneShot() {
			return l.current, nil
		}
		dead := l.current.dead()
		if dead == nil {
			return l.current, nil
		}
		if !errors.Is(dead.err, errIdle) {
			if wait := time.Until(l.restarted.Add(l.peer.cfg.restartPause)); wait > 0 {
				return nil, &failure{class: dead.class, retryAfter: wait, err: fmt.Errorf("it ended twice in a short time: %w", dead.err)}
			}
			l.restarted = time.Now()
		}
	}
	l.current = newSession(l.peer)
	l.reap.Go(l.current.run)
	return l.current, nil
}

func (l *longLived) close() {
	l.mu.Lock()
	l.closed = true
	s := l.current
	l.mu.Unlock()
	if s != nil {
		s.stop(errors.New("the provider is closed"))
	}
	l.reap.Wait()
	l.once.close()
}
