//go:build unix && !linux && !darwin

package repo

import "time"

// bootTime is not known here.
func bootTime() (time.Time, bool) { return time.Time{}, false }

// gitRunning is not known here.
func gitRunning([]string) (running, known bool) { return false, false }
