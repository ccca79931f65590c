//go:build !windows

package jsonrpc

import "syscall"

// alive reports whether pid is a process that was not reaped.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
