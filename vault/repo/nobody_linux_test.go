package repo_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// asNobody runs f as a user for whom the modes of files count, even where the
// tests run as root. dir is made readable for that user, as far as modes say.
func asNobody(t *testing.T, dir string, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	for p := dir; len(p) > len(os.TempDir()); p = filepath.Dir(p) {
		ok(t, os.Chmod(p, 0o755))
	}
	chown(t, dir, nobody)
	defer chown(t, dir, 0)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ok(t, unix.Setfsuid(nobody)) // of this thread only
	defer unix.Setfsuid(0)
	f()
}

func chown(t *testing.T, dir string, id int) {
	t.Helper()
	ok(t, filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, id, id)
	}))
}
