package repo

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// syncFlag is how a file has to be opened to be synced.
const syncFlag = os.O_RDWR

// isNameError reports whether the file system refuses a name, finds something else
// there, or another program holds the file open.
func isNameError(err error) bool {
	for _, n := range [...]syscall.Errno{
		windows.ERROR_INVALID_NAME, windows.ERROR_FILENAME_EXCED_RANGE, windows.ERROR_DIRECTORY, windows.ERROR_DIR_NOT_EMPTY,
		windows.ERROR_SHARING_VIOLATION, syscall.ENOTDIR,
	} {
		if errors.Is(err, n) {
			return true
		}
	}
	return false
}
