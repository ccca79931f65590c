package repo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is when the machine started.
func bootTime() (time.Time, bool) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return time.Time{}, false
	}
	return time.Now().Add(-time.Duration(info.Uptime) * time.Second), true
}

// gitRunning reports whether a git process works in one of the folders: its
// current directory or one of its open files lies there. A git process that we
// may not look into counts as one. It is not known where /proc is not there.
func gitRunning(places []string) (running, known bool) {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return false, false
	}
	for i, p := range places {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			places[i] = real
		}
	}
	for _, p := range procs {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		known = true
		dir := filepath.Join("/proc", p.Name())
		if isGit(dir) && worksIn(dir, places) {
			return true, true
		}
	}
	return false, known
}

func isGit(proc string) bool {
	name, err := os.ReadFile(filepath.Join(proc, "comm"))
	if err != nil {
		return false
	}
	s := strings.TrimSpace(string(name))
	if exe, err := os.Readlink(filepath.Join(proc, "exe")); err == nil {
		s = filepath.Base(exe)
	}
	return s == "git" || strings.HasPrefix(s, "git-")
}

func worksIn(proc string, places []string) bool {
	cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
	if err != nil {
		return errors.Is(err, fs.ErrPermission) // alive, and not ours to look into
	}
	if inside(cwd, places) {
		return true
	}
	fds, _ := os.ReadDir(filepath.Join(proc, "fd"))
	for _, fd := range fds {
		if target, err := os.Readlink(filepath.Join(proc, "fd", fd.Name())); err == nil && inside(target, places) {
			return true
		}
	}
	return false
}

func inside(path string, places []string) bool {
	for _, p := range places {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}
