package protocol

import (
	"syscall"
	"time"
)

// CPU is the processor time of this process so far, user and system, all threads.
func CPU() time.Duration {
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(process, &created, &ended, &kernel, &user); err != nil {
		return 0
	}
	return span(kernel) + span(user)
}

// span is a Filetime that counts, in units of 100 ns, how long something took.
func span(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
