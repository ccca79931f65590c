package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// sinceStart is how long ago this process was started, to 10 ms; 0 when that
// is not known, or cannot be: a container may have an uptime of its own.
func sinceStart() time.Duration {
	if ago := processAge(); ago > 0 && ago <= time.Minute {
		return ago
	}
	return 0
}

// processAge is what /proc says of how long ago this process was started; 0
// when it says nothing.
func processAge() time.Duration {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	up, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0
	}
	// The name of the program, in parentheses, may hold anything; starttime is
	// the 20th field behind it, in 100ths of a second since the boot (proc(5)).
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return 0
	}
	started, err := strconv.ParseFloat(fields[19], 64)
	if err != nil {
		return 0
	}
	now, _, _ := strings.Cut(string(up), " ")
	seconds, err := strconv.ParseFloat(now, 64)
	if err != nil {
		return 0
	}
	return time.Duration((seconds - started/100) * float64(time.Second))
}
