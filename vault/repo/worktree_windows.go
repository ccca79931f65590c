package repo

import (
	"os"
	"time"
)

// renameWritten names the file that f wrote and describes it. Windows renames no
// open file, and none over a file that somebody has open: it tries for a while.
func renameWritten(root *os.Root, f *os.File, tmp, name string) (fileStat, error) {
	st, err := f.Stat()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fileStat{}, err
	}
	pause := time.Millisecond
	for err = root.Rename(tmp, name); err != nil && pause < 500*time.Millisecond; pause *= 2 {
		time.Sleep(pause)
		err = root.Rename(tmp, name)
	}
	return statOf(st), err
}

// syncRootDir has nothing to do: Windows cannot flush a folder; NTFS journals its
// names.
func syncRootDir(*os.Root, string) error { return nil }
