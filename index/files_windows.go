package index

import (
	"os"
	"time"
)

// replaceFile renames from to to. Windows refuses while a reader has the old
// file open, which takes it a moment.
func replaceFile(from, to string) error {
	var err error
	for wait := time.Millisecond; wait < 200*time.Millisecond; wait *= 2 {
		if err = os.Rename(from, to); err == nil {
			return nil
		}
		time.Sleep(wait)
	}
	return err
}

// syncDir does nothing: Windows has no way to sync a folder.
func syncDir(string) error { return nil }
