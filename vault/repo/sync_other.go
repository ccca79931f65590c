//go:build unix && !linux

package repo

import "os"

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// syncDirs makes the names in several folders of one file system durable.
func syncDirs(dirs []string) error { return syncEach(dirs) }
