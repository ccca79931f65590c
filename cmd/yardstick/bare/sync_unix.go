//go:build !windows

package main

import (
	"errors"
	"os"
)

// syncDir makes durable which names a folder holds.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
