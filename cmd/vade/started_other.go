//go:build !linux

package main

import "time"

// sinceStart is how long ago this process was started; 0: that is not known.
func sinceStart() time.Duration { return 0 }
