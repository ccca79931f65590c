//go:build !linux && !windows

package child

import "syscall"

// dieWithUs does nothing here: the child sees the end of its stdin.
func dieWithUs(*syscall.SysProcAttr) {}
