//go:build !windows

package main

import (
	"os/exec"
	"syscall"
)

// detach puts cmd into a session of its own, so that it does not end with our
// terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
