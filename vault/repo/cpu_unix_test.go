//go:build unix

package repo_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuOf is the CPU time of f, in this process and in its children.
func cpuOf(f func()) time.Duration {
	before := cpu()
	f()
	return cpu() - before
}

func cpu() time.Duration {
	var d time.Duration
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			d += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return d
}

// peakMB is the largest size of this process so far.
func peakMB() float64 {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return float64(u.Maxrss) / 1024 // kilobytes on Linux
}
