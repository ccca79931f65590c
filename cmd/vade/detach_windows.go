package main

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach gives cmd no console and a process group of its own, so that it does
// not end with ours.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS,
	}
}
