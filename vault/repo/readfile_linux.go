package repo

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// readBeneath reads the regular file at p, which is checked, with one system call
// to find it (openat2(2), Linux 5.6): checking each folder on the way through
// os.Root takes some twenty, and a new index reads every file. It is not done where
// the kernel, or a sandbox, does not have the call.
func (w *WorkTree) readBeneath(p string) (b []byte, done bool, err error) {
	if w.top == nil {
		if w.top, err = w.root.Open("."); err != nil {
			return nil, true, err
		}
	}
	fd, err := unix.Openat2(int(w.top.Fd()), p, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	switch {
	case err == nil:
	case errors.Is(err, unix.ELOOP):
		return nil, true, fmt.Errorf("%s: %w", p, ErrSymlink)
	case errors.Is(err, unix.ENOTDIR):
		return nil, true, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EACCES):
		return nil, true, &fs.PathError{Op: "open", Path: p, Err: err}
	default:
		return nil, false, nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, true, &fs.PathError{Op: "stat", Path: p, Err: err}
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		return nil, true, isFolder(p)
	default:
		return nil, true, &PathError{Path: p, Reason: errNotRegular.Error()}
	}
	b, err = readAll(fd, int(st.Size))
	if err != nil {
		err = &fs.PathError{Op: "read", Path: p, Err: err}
	}
	return b, true, err
}

// readAll reads a file that is thought to have size bytes.
func readAll(fd, size int) ([]byte, error) {
	b := make([]byte, 0, size+1)
	for {
		n, err := unix.Read(fd, b[len(b):cap(b)])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, err
		case n == 0:
			return b, nil
		default:
			b = b[:len(b)+n]
		}
		if len(b) == cap(b) { // it grew meanwhile
			b = append(b, make([]byte, max(512, len(b)/4))...)[:len(b)]
		}
	}
}
