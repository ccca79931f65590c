//go:build !windows

package protocol

import (
	"syscall"
	"time"
)

// CPU is the processor time of this process so far, user and system, all threads.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
