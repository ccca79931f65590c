package jsonrpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"vademecum/providers"
	"vademecum/providers/child"
)

// errIdle: the process was stopped because nobody asked it any more.
var errIdle = errors.New("stopped when idle")

// session is one long-lived process: run starts it, says vade.initialize, and
// reads its answers until it ends; write is the only one who writes to it.
type session struct {
	peer    *peer
	ready   chan struct{} // closed when it may be asked, or is dead
	oneShot bool          // it is no long-lived program after all; valid after ready
	out     chan outgoing
	over    chan struct{} // closed when it is dead
	workers sync.WaitGroup

	mu      sync.Mutex
	pending map[string]*pending
	failed  *failure // why it is dead
	gently  bool     // it may end by itself
	idle    *time.Timer
}

// pending is a request that was not answered yet.
type pending struct {
	done    chan result // buffered
	release func()
	written bool        // the program may know of it
	timer   *time.Timer // ends a process that does not answer after a cancel
}

type result struct {
	reply Reply
	f     *failure
}

// outgoing is a line to be written; id is empty for a notification.
type outgoing struct {
	id   string
	line []byte
}

func newSession(p *peer) *session {
	return &session{
		peer: p, ready: make(chan struct{}), over: make(chan struct{}), pending: map[string]*pending{},
		out: make(chan outgoing, 4*maxInFlight), // twice as many as can be under way, with their cancels
	}
}

// run is the life of the process.
func (s *session) run() {
	proc, err := child.Start(s.peer.cfg.spec())
	if err != nil {
		s.die(retryable(false, err), false)
		close(s.ready)
		return
	}
	s.workers.Go(func() { s.write(proc) })
	s.workers.Go(func() { s.read(proc) })
	s.workers.Go(s.initialize)
	<-s.over
	patience := time.Duration(0)
	if s.gently {
		patience = s.peer.cfg.endPatience
	}
	proc.End(patience)
	s.workers.Wait()
}

// initialize makes the session ready, or dead.
func (s *session) initialize() {
	defer close(s.ready)
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	line, err := Line("init", "vade.initialize", s.peer.greeting())
	if err != nil {
		s.die(retryable(false, err), false)
		return
	}
	reply, f := s.roundTrip(ctx, "init", line, func() {})
	switch {
	case f != nil:
		s.die(&failure{class: f.class, err: fmt.Errorf("initialize: %w", f.err)}, false)
	case reply.Error != nil && reply.Error.Code == CodeNoMethod:
		s.oneShot = true
		s.die(&failure{class: providers.Unsupported, err: errIdle}, true)
	case reply.Error != nil:
		e := s.peer.refused("initialize", reply.Error, false)
		s.die(&failure{class: e.Class, retryAfter: e.RetryAfter, err: e}, false)
	default:
		if _, err := parseAbilities(reply.Result); err != nil {
			s.die(&failure{class: providers.Protocol, err: err}, false)
		}
	}
}

func (s *session) write(proc *child.Process) {
	for {
		select {
		case <-s.over:
			return
		case o := <-s.out:
			if !s.take(o.id) {
				continue
			}
			if _, err := proc.Stdin.Write(o.line); err != nil {
				return // read finds out why
			}
		}
	}
}

// take notes that the request is being written; false: its caller has gone.
func (s *session) take(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pending[id]
	if p != nil {
		p.written = true
	}
	return p != nil || id == ""
}

func (s *session) read(proc *child.Process) {
	r := bufio.NewReaderSize(proc.Stdout, 64<<10)
	for {
		line, err := child.ReadLine(r)
		if errors.Is(err, child.ErrLineTooLong) {
			s.die(&failure{class: providers.Protocol, err: err}, false)
			return
		} else if err != nil {
			s.crashed(proc)
			return
		}
		reply, err := ParseReply(line)
		if err == nil && reply.ID == "" { // it could not read what we wrote
			err = fmt.Errorf("it refused a line: %s", reply.Error.Message)
		}
		if err != nil {
			s.die(&failure{class: providers.Protocol, err: Hiding(err, s.peer.redact)}, false)
			return
		}
		s.deliver(reply)
	}
}

// crashed: stdout has ended, and with it what the program is good for.
func (s *session) crashed(proc *child.Process) {
	select {
	case <-s.over: // we wanted it to
		return
	case <-proc.Done():
	case <-time.After(child.Grace):
		proc.Kill()
		<-proc.Done()
	}
	s.die(retryable(false, s.peer.ended(proc)), false)
}

// deliver hands the answer to whoever waits; nobody does for one who has gone.
func (s *session) deliver(r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pending[r.ID]; p != nil {
		s.finish(r.ID, p, result{reply: r})
	}
}

// finish forgets a request. s.mu is held.
func (s *session) finish(id string, p *pending, r result) {
	delete(s.pending, id)
	if p.timer != nil {
		p.timer.Stop()
	}
	p.done <- r
	p.release()
	if len(s.pending) == 0 && s.failed == nil {
		s.idle = time.AfterFunc(s.peer.cfg.IdleStop, s.idled)
	}
}

// idled stops the process if nobody asked it in the last instant.
func (s *session) idled() {
	s.mu.Lock()
	busy := len(s.pending) > 0
	s.mu.Unlock()
	if !busy {
		s.stop(errIdle)
	}
}

// stop ends the process in peace: what is under way has no answer.
func (s *session) stop(why error) { s.die(retryable(false, why), true) }

// die ends the session; the first reason counts.
func (s *session) die(f *failure, gently bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return
	}
	s.failed, s.gently = f, gently
	if s.idle != nil {
		s.idle.Stop()
	}
	for id, p := range s.pending {
		if p.timer != nil { // cancelled, and not answered: nobody waits for a hanging program
			s.gently = false
		}
		s.finish(id, p, result{f: &failure{class: f.class, sent: p.written, err: f.err}})
	}
	close(s.over)
}

// knownOneShot reports whether it turned out that the program answers one request
// a process.
func (s *session) knownOneShot() bool {
	select {
	case <-s.ready:
		return s.oneShot
	default:
		return false
	}
}

// dead is why it is, or nil.
func (s *session) dead() *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (s *session) roundTrip(ctx context.Context, id string, line []byte, release func()) (Reply, *failure) {
	p := &pending{done: make(chan result, 1), release: release}
	if f := s.enqueue(id, line, p); f != nil {
		return Reply{}, f
	}
	select {
	case r := <-p.done:
		return r.reply, r.f
	case <-ctx.Done():
		return s.abandon(ctx, id, p)
	}
}

// enqueue has the line written. A session that was stopped when idle has not
// had it, and release was not called; of any other failure, it was.
func (s *session) enqueue(id string, line []byte, p *pending) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.failed; f != nil {
		if !errors.Is(f.err, errIdle) {
			p.release()
		}
		return &failure{class: f.class, retryAfter: f.retryAfter, err: f.err}
	}
	select {
	case s.out <- outgoing{id, line}:
	default: // full of what callers have given up
		p.release()
		return retryable(false, errors.New("the program does not read its stdin"))
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	s.pending[id] = p
	return nil
}

// abandon leaves a request whose caller has gone. One that the program knows of
// stays under way until it is answered; when that takes too long, the process
// hangs, and is ended.
func (s *session) abandon(ctx context.Context, id string, p *pending) (Reply, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending[id] == nil { // answered in this instant
		r := <-p.done
		return r.reply, r.f
	}
	if !p.written {
		s.finish(id, p, result{})
		return Reply{}, retryable(false, ctx.Err())
	}
	if line, err := Line("", "vade.cancel", object{"id": id}); err == nil {
		select {
		case s.out <- outgoing{line: line}:
		default: // it does not read; the timer sees to that
		}
	}
	p.timer = time.AfterFunc(s.peer.cfg.patience, func() {
		s.die(retryable(true, fmt.Errorf("no answer %s after its deadline", s.peer.cfg.patience)), false)
	})
	return Reply{}, retryable(true, ctx.Err())
}

// parseAbilities reads the result of vade.initialize.
func parseAbilities(result json.RawMessage) (Abilities, error) {
	var a Abilities
	if err := json.Unmarshal(result, &a); err != nil {
		return a, fmt.Errorf("initialize: %w", err)
	}
	if a.Protocol != Protocol {
		return a, fmt.Errorf("initialize: the program speaks %q, not %s", a.Protocol, Protocol)
	}
	return a, nil
}
