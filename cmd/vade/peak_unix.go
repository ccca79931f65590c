//go:build !windows

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory is the largest resident size of a process that ended, in bytes.
func peakMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) // bytes there, KiB elsewhere
	}
	return int64(usage.Maxrss) * 1024
}
