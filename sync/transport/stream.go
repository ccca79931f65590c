package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// A process is a service at the other end of a pipe.
type process interface {
	// kill ends it at once.
	kill()
	// wait returns what it said on its standard error when it has ended, and
	// the error of its exit.
	wait() (words string, err error)
}

// grace is how long a service may take to end after its input did.
const grace = 2 * time.Second

// A stream is a conversation over the standard input and output of a process.
type stream struct {
	p       process
	in      io.WriteCloser
	out     *pktReader
	dog     *watchdog
	said    *advertisement
	asked   bool
	writing chan error  // of an exchange whose writer may still run
	release func() bool // the context of the last exchange
}

// startStream reads the advertisement of the service that p has started.
func startStream(ctx context.Context, p process, in io.WriteCloser, out io.Reader, dog *watchdog, service string) (conversation, error) {
	s := &stream{p: p, in: in, dog: dog, out: newPktReader(watchedReader{out, dog})}
	s.heed(ctx)
	defer s.release()
	var err error
	s.said, err = readAdvertisement(s.out, service, false)
	if err != nil {
		return nil, s.close(err)
	}
	return s, nil
}

// heed kills the process when ctx ends, and no longer when the last one did.
func (s *stream) heed(ctx context.Context) {
	if s.release != nil {
		s.release()
	}
	s.release = context.AfterFunc(ctx, s.p.kill)
}

func (s *stream) advert() *advertisement { return s.said }
func (s *stream) stateless() bool        { return false }

// exchange writes from a goroutine of its own, because the service may answer
// before it has read all; the next call waits for it.
func (s *stream) exchange(ctx context.Context, write func(io.Writer) error) (*pktReader, error) {
	if err := s.written(); err != nil {
		return nil, err
	}
	s.heed(ctx)
	s.asked = true
	s.writing = make(chan error, 1)
	go func() {
		err := write(watchedWriter{s.in, s.dog})
		if err != nil {
			// Half a request must not look like one that waits for more.
			s.in.Close()
		}
		s.writing <- err
	}()
	return s.out, nil
}

// written waits for the last exchange's writer.
func (s *stream) written() error {
	if s.writing == nil {
		return nil
	}
	err := <-s.writing
	s.writing = nil
	return err
}

// close ends the conversation: in good order, or by force when an error left it
// in the middle. It adds to the error what the service said last.
func (s *stream) close(err error) error {
	defer s.release()
	if !s.asked && err == nil {
		io.WriteString(s.in, "0000")
	}
	if err != nil && !broken(err) && !errors.Is(err, ErrRejected) {
		s.p.kill()
	}
	defer time.AfterFunc(grace, s.p.kill).Stop()
	writeErr := s.written()
	s.in.Close()
	words, waitErr := s.p.wait()
	if err == nil {
		err = writeErr
	}
	if err == nil || !broken(err) {
		return err
	}
	if said := words1([]byte(words)); said != "" {
		return classifyWords(said)
	}
	if waitErr != nil {
		return fmt.Errorf("%w: %w", err, waitErr)
	}
	return err
}

// A tail keeps the last words written to it.
type tail struct{ kept []byte }

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-tailSize):]
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }
