//go:build unix

package repo

import (
	"errors"
	"os"
	"syscall"
)

// syncFlag is how a file has to be opened to be synced.
const syncFlag = os.O_RDONLY

// isNameError reports whether the file system refuses a name, or finds something
// else there.
func isNameError(err error) bool {
	for _, n := range [...]syscall.Errno{
		syscall.ENAMETOOLONG, syscall.EILSEQ, syscall.EINVAL, syscall.ENOTDIR, syscall.EISDIR, syscall.ENOTEMPTY, syscall.ELOOP,
	} {
		if errors.Is(err, n) {
			return true
		}
	}
	return false
}
