//go:build unix

package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// scanDir is an open folder. Everything is looked up in it by its last name only,
// and no symbolic link is followed.
type scanDir struct {
	f  *os.File
	fd int
}

func openScanRoot(w *WorkTree) (*scanDir, error) {
	f, err := w.root.Open(".")
	if err != nil {
		return nil, err
	}
	return &scanDir{f: f, fd: int(f.Fd())}, nil
}

func (d *scanDir) close() { d.f.Close() }

func (d *scanDir) sub(name string) (*scanDir, error) {
	f, err := d.open(name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &scanDir{f: f, fd: int(f.Fd())}, nil
}

func (d *scanDir) open(name string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0)
		if err == nil {
			return os.NewFile(uintptr(fd), name), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

func (d *scanDir) stat(name string) (fileStat, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			return statOfUnix(&st), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return fileStat{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
		}
	}
}

func statOfUnix(st *unix.Stat_t) fileStat {
	s := fileStat{
		mtime: stamp{uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec)},
		ctime: stamp{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec)},
		dev:   uint32(st.Dev), ino: uint32(st.Ino), uid: st.Uid, gid: st.Gid,
		size: uint32(st.Size), full: st.Size,
		modTime: time.Unix(st.Mtim.Unix()),
	}
	if uint32(st.Mode)&unix.S_IFMT == unix.S_IFREG {
		s.mode = modeRegular
		if st.Mode&0o100 != 0 {
			s.mode = modeExecutable
		}
	}
	return s
}

// hash reads the file and returns its blob id, and what the file was meanwhile.
func (d *scanDir) hash(name string) (plumbing.Hash, fileStat, error) {
	f, err := d.open(name, unix.O_NONBLOCK) // lest a FIFO makes us wait
	if err != nil {
		return plumbing.ZeroHash, fileStat{}, err
	}
	defer f.Close()
	for range 3 {
		var st unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &st); err != nil {
			return plumbing.ZeroHash, fileStat{}, err
		}
		now := statOfUnix(&st)
		if now.mode == 0 {
			return plumbing.ZeroHash, now, errNotRegular
		}
		h, err := hashFile(f, st.Size)
		if !errors.Is(err, errChanging) {
			return h, now, err
		}
	}
	return plumbing.ZeroHash, fileStat{}, fmt.Errorf("read %s: %w", name, errChanging)
}
