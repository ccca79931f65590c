//go:build !windows

package child

import (
	"os"
	"os/exec"
	"syscall"
)

// group is a process group; the zero group is none.
type group struct{ id int }

// prepare gives cmd a process group of its own.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithUs(cmd.SysProcAttr)
}

func newGroup(p *os.Process) group { return group{id: p.Pid} }

func (g *group) kill()      { g.signal(syscall.SIGKILL) }
func (g *group) terminate() { g.signal(syscall.SIGTERM) }

func (g *group) signal(s syscall.Signal) {
	if g.id > 0 {
		_ = syscall.Kill(-g.id, s) // nobody there: so it is
	}
}
