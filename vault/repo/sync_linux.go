package repo

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// syncDirs makes the names in several folders of one file system durable, the
// last one having been changed last. ext4 and XFS write their journal in order:
// what was done before the last change is durable with it. Others (btrfs) log the
// synced folder alone.
func syncDirs(dirs []string) error {
	var st unix.Statfs_t
	if n := len(dirs); n > 1 && unix.Statfs(dirs[n-1], &st) == nil &&
		(st.Type == unix.EXT4_SUPER_MAGIC || st.Type == unix.XFS_SUPER_MAGIC) {
		return syncDir(dirs[n-1])
	}
	return syncEach(dirs)
}
