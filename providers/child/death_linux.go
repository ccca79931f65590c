package child

import "syscall"

// dieWithUs makes the kernel kill the child when we are killed.
func dieWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
