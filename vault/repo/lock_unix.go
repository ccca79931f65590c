//go:build unix

package repo

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// holdMarker takes an OS lock on f that ends with the process, or with f.
// It does not have it only while somebody asks [markerFree].
func holdMarker(f *os.File) bool {
	return !errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// markerFree reports whether the process that held the marker is gone.
func markerFree(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// renameLock names the lock file, which stays open: the marker is held until the
// lock is gone.
func renameLock(f *os.File, target string) error { return os.Rename(target+".lock", target) }

// dropLock removes the lock file while the marker is still held; else somebody
// could take it for stale, and we would remove the lock that they then make.
func dropLock(f *os.File, lock string) {
	os.Remove(lock)
	f.Close()
}
