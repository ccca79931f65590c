package jsonrpc

import (
	"bufio"
	"context"
	"errors"
	"sync"

	"vademecum/providers"
	"vademecum/providers/child"
)

// transport brings one line to the program and its answer back. It calls release
// once, when the program has nothing more to do with the request: maybe after
// it returned.
type transport interface {
	roundTrip(ctx context.Context, id string, line []byte, release func()) (Reply, *failure)
	close()
}

// oneShot runs the program once for each request.
type oneShot struct {
	peer *peer
	reap sync.WaitGroup // processes that have not ended
}

// answer is what was read of a program's stdout.
type answer struct {
	line []byte
	err  error
}

func (o *oneShot) roundTrip(ctx context.Context, id string, line []byte, release func()) (Reply, *failure) {
	proc, err := child.Start(o.peer.cfg.spec())
	if err != nil {
		release()
		return Reply{}, retryable(false, err)
	}
	answers := make(chan answer, 1)
	o.reap.Go(func() {
		_, _ = proc.Stdin.Write(line) // one that does not read may still answer
		_ = proc.Stdin.Close()
	})
	o.reap.Go(func() {
		got, err := child.ReadLine(bufio.NewReader(proc.Stdout))
		answers <- answer{got, err}
	})
	select {
	case <-ctx.Done():
		o.end(proc, true, release)
		return Reply{}, retryable(true, ctx.Err())
	case got := <-answers:
		ended := o.end(proc, errors.Is(got.err, child.ErrLineTooLong), release)
		select { // it may still be writing down what it answered
		case <-ended:
		case <-ctx.Done():
		}
		return o.read(id, got, proc)
	}
}

// end sees to it that proc ends, now or when it has had its time.
func (o *oneShot) end(proc *child.Process, now bool, release func()) <-chan struct{} {
	ended := make(chan struct{})
	o.reap.Go(func() {
		defer close(ended)
		defer release()
		if now {
			proc.End(0)
		} else {
			proc.End(o.peer.cfg.endPatience)
		}
	})
	return ended
}

func (o *oneShot) read(id string, got answer, proc *child.Process) (Reply, *failure) {
	if errors.Is(got.err, child.ErrLineTooLong) {
		return Reply{}, &failure{class: providers.Protocol, sent: true, err: got.err}
	} else if got.err != nil {
		return Reply{}, retryable(true, o.peer.ended(proc))
	}
	reply, err := ParseReply(got.line)
	if err == nil && reply.ID != id && (reply.ID != "" || reply.Error == nil) {
		err = errors.New("it answered another request than the one that was made")
	}
	if err != nil {
		return Reply{}, &failure{class: providers.Protocol, sent: true, err: Hiding(err, o.peer.redact)}
	}
	return reply, nil
}

func (o *oneShot) close() { o.reap.Wait() }
