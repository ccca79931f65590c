package repo

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is when the machine started.
func bootTime() (time.Time, bool) {
	tv, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(tv.Unix()), true
}

// gitRunning is not known on macOS.
func gitRunning([]string) (running, known bool) { return false, false }
