package child

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// Spec says what to run.
type Spec struct {
	Path string // of the program, absolute: see Resolve
	Args []string
	Env  []string // all of it: see Environment
	Dir  string   // the working directory, made 0700 if it is not there
}

// Process is a child and everything in its process group. Its methods may be
// called by any number of goroutines at once.
type Process struct {
	// Stdin may be closed by the owner, which is how most programs learn that
	// they are not needed any more.
	Stdin io.WriteCloser
	// Stdout ends when the program has closed it, or when the process is reaped
	// and Close was called.
	Stdout io.ReadCloser

	cmd    *exec.Cmd
	stderr tail
	done   chan struct{} // closed when it is reaped
	err    error         // of Wait; valid after done

	mu    sync.Mutex
	group group // until it is reaped: its number may be another's afterwards
}

// Grace is how long End waits after SIGTERM before it kills.
const Grace = time.Second

// Start runs s. The caller ends it with End or Kill.
func Start(s Spec) (*Process, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Path, err)
	}
	// Pipes of our own: those of exec.Cmd are closed by Wait, maybe before the
	// last line was read.
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Path, err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		_, _ = inR.Close(), inW.Close()
		return nil, fmt.Errorf("start %s: %w", s.Path, err)
	}
	p := &Process{Stdin: inW, Stdout: outR, done: make(chan struct{})}
	p.cmd = exec.Command(s.Path, s.Args...)
	p.cmd.Env, p.cmd.Dir = s.Env, s.Dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, &p.stderr
	p.cmd.WaitDelay = 100 * time.Millisecond // a grandchild may hold stderr
	prepare(p.cmd)
	started := make(chan error)
	go p.run(started)
	err = <-started
	_, _ = inR.Close(), outW.Close()
	if err != nil {
		_, _ = inW.Close(), outR.Close()
		return nil, fmt.Errorf("start %s: %w", s.Path, err)
	}
	return p, nil
}

// run starts the command and waits for it, on one thread: on Linux the child is
// killed when the thread that made it ends (PR_SET_PDEATHSIG).
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.mu.Lock()
	err := p.cmd.Start()
	if err == nil {
		p.group = newGroup(p.cmd.Process)
	}
	p.mu.Unlock()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	p.mu.Lock()
	p.group.kill() // what it left behind
	p.group = group{}
	p.mu.Unlock()
	close(p.done)
}

// Done is closed when the program has ended and what it left in its process
// group was killed.
func (p *Process) Done() <-chan struct{} { return p.done }

// Pid is the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Stderr is the end of what the program said there, at most 64 KiB.
func (p *Process) Stderr() string { return p.stderr.String() }

// Exit says how the program ended, for people; "" while it runs.
func (p *Process) Exit() string {
	select {
	case <-p.done:
	default:
		return ""
	}
	if p.err == nil || errors.Is(p.err, exec.ErrWaitDelay) {
		return "exit status 0"
	}
	return p.err.Error()
}

// Kill ends the whole process group at once.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.group.kill()
}

// Terminate asks the whole process group to end (SIGTERM; on Windows it kills).
func (p *Process) Terminate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.group.terminate()
}

// End closes stdin, gives the program so long to end by itself, then Grace after
// a Terminate, then kills; it returns when all is over and both pipes are closed.
func (p *Process) End(patience time.Duration) {
	_ = p.Stdin.Close()
	if !p.within(patience) {
		p.Terminate()
		if !p.within(Grace) {
			p.Kill()
			<-p.done
		}
	}
	_ = p.Stdout.Close()
}

func (p *Process) within(d time.Duration) bool {
	select {
	case <-p.done: // also with no patience at all
		return true
	default:
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}
