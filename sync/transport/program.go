package transport

import (
	"context"
	"os/exec"
	"runtime"
	"strings"
)

// A programDialer runs git's services through a program: ssh, or git itself for
// a repository on this host.
type programDialer struct {
	dog     *watchdog
	command func(ctx context.Context, service string) (*exec.Cmd, error)
}

func (d *programDialer) watchWith(dog *watchdog) { d.dog = dog }
func (d *programDialer) close() error            { return nil }

func (d *programDialer) open(ctx context.Context, service string) (conversation, error) {
	cmd, err := d.command(ctx, service)
	if err != nil {
		return nil, err
	}
	p := &child{cmd: cmd}
	cmd.Stderr = &p.words
	cmd.WaitDelay = grace
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, faultOf(ErrUnreachable, err, "install "+cmd.Args[0]+", or leave transport: exec out")
	}
	return startStream(ctx, p, in, out, d.dog, service)
}

// A child is a service that runs as a child process.
type child struct {
	cmd   *exec.Cmd
	words tail
}

func (p *child) kill() { p.cmd.Process.Kill() }

func (p *child) wait() (string, error) {
	err := p.cmd.Wait()
	return p.words.String(), err
}

// newLocalProgram runs git-upload-pack and git-receive-pack on a path.
func newLocalProgram(path string) *programDialer {
	return &programDialer{command: func(_ context.Context, service string) (*exec.Cmd, error) {
		cmd := exec.Command("git", strings.TrimPrefix(service, "git-"), path)
		cmd.Env = quietEnv()
		return cmd, nil
	}}
}

// newSSHProgram runs the services through the user's ssh: GIT_SSH_COMMAND,
// core.sshCommand, GIT_SSH or ssh, as git does.
func newSSHProgram(r *Remote) *programDialer {
	return &programDialer{command: func(ctx context.Context, service string) (*exec.Cmd, error) {
		program, shell := r.sshProgram(ctx)
		args := sshArguments(r.addr, program, service)
		cmd := exec.Command(program, args...)
		if shell {
			cmd = exec.Command("sh", append([]string{"-c", program + ` "$@"`, program}, args...)...)
		}
		cmd.Env = quietEnv()
		return cmd, nil
	}}
}

// sshProgram is the program to run, or a line for the shell.
func (r *Remote) sshProgram(ctx context.Context) (program string, shell bool) {
	if c := r.opts.Env("GIT_SSH_COMMAND"); c != "" {
		return c, true
	}
	out, err := gitCommand(ctx, "config", "--get", "core.sshCommand").Output()
	if c := strings.TrimSpace(string(out)); err == nil && c != "" {
		return c, true
	}
	if p := r.opts.Env("GIT_SSH"); p != "" {
		return p, false
	}
	return "ssh", false
}

// sshArguments are those of OpenSSH, of which -p is the only one that differs
// between the programs in use.
func sshArguments(a address, program, service string) []string {
	var args []string
	if program == "ssh" {
		// Nobody is there to answer a question.
		args = append(args, "-o", "BatchMode=yes")
	}
	if a.port != "" {
		flag := "-p"
		if name := strings.ToLower(program); runtime.GOOS == "windows" && strings.Contains(name, "plink") {
			flag = "-P"
		}
		args = append(args, flag, a.port)
	}
	host := a.host
	if a.user != "" {
		host = a.user + "@" + host
	}
	return append(args, host, remoteCommand(service, a.path))
}
