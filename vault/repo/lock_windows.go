package repo

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/windows"
)

// holdMarker does nothing: on Windows the marker's name tells whose it is, since
// a file with an OS lock on it could not be read or renamed.
func holdMarker(*os.File) bool { return true }

// markerFree reports whether the process in the marker's name is gone.
func markerFree(path string) bool {
	rest, ok := strings.CutPrefix(filepath.Base(path), "lock-")
	digits, _, ok2 := strings.Cut(rest, "-")
	pid, err := strconv.ParseUint(digits, 10, 32)
	if !ok || !ok2 || err != nil {
		return false
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return err == windows.ERROR_INVALID_PARAMETER // no such process
	}
	defer windows.CloseHandle(h)
	ev, err := windows.WaitForSingleObject(h, 0)
	return err == nil && ev == windows.WAIT_OBJECT_0
}

// renameLock names the lock file. Windows renames no open file, and none that
// somebody else has open, such as a virus scanner: try for a while.
func renameLock(f *os.File, target string) error {
	f.Close()
	return retryRename(target+".lock", target)
}

func retryRename(from, to string) error {
	pause := time.Millisecond
	for {
		err := os.Rename(from, to)
		if err == nil || pause > 500*time.Millisecond {
			return err
		}
		time.Sleep(pause)
		pause *= 2
	}
}

// dropLock removes the lock file; Windows removes no open file.
func dropLock(f *os.File, lock string) {
	f.Close()
	os.Remove(lock)
}

// bootTime is when the machine started.
func bootTime() (time.Time, bool) {
	return time.Now().Add(-windows.DurationSinceBoot()), true
}

// gitRunning is not known on Windows.
func gitRunning([]string) (running, known bool) { return false, false }
