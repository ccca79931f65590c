//go:build !windows

package main

import (
	"errors"
	"syscall"
)

// diskFull reports whether err is that of a disk, or a quota, that is used up.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
