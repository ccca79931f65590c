package repo_test

import "time"

// cpuOf is the wall time of f: Windows does not add up children.
func cpuOf(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func peakMB() float64 { return 0 }
