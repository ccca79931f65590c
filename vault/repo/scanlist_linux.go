package repo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// direntFixed is what comes before the name in a linux_dirent64 (getdents64(2)):
// inode and offset of 8 bytes each, the record's length of 2, the type.
const direntFixed = 19

// list appends the names of the folder to items. It reads the records itself:
// os.File.ReadDir makes two allocations of each, which cost more than the
// reading.
func (d *scanDir) list(items []scanItem) ([]scanItem, error) {
	buf := make([]byte, 16<<10)
	for {
		n, err := unix.Getdents(d.fd, buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return items, &fs.PathError{Op: "readdir", Path: d.f.Name(), Err: err}
		case n <= 0:
			return items, nil
		}
		if items, err = d.appendRecords(items, buf[:n]); err != nil {
			return items, err
		}
	}
}

// appendRecords appends what a buffer of records holds. All keys of a buffer
// are parts of one string.
func (d *scanDir) appendRecords(items []scanItem, records []byte) ([]scanItem, error) {
	keys := make([]byte, 0, len(records)/2)
	type entry struct {
		end int
		typ fs.FileMode
	}
	entries := make([]entry, 0, len(records)/32)
	for len(records) >= direntFixed {
		size := int(binary.NativeEndian.Uint16(records[16:]))
		if size < direntFixed || size > len(records) {
			break
		}
		name, _, _ := bytes.Cut(records[direntFixed:size], []byte{0})
		typ := direntType(records[18])
		records = records[size:]
		if len(name) == 0 || string(name) == "." || string(name) == ".." {
			continue
		}
		if typ == unknownType {
			var err error
			if typ, err = d.typeOf(string(name)); errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return items, err
			}
		}
		keys = append(append(keys, name...), '/')
		entries = append(entries, entry{len(keys), typ})
	}
	all, start := string(keys), 0
	for _, e := range entries {
		items = appendKey(items, all[start:e.end], e.typ)
		start = e.end
	}
	return items, nil
}

// unknownType is of a name whose file system does not tell.
const unknownType = fs.ModeIrregular

func direntType(t byte) fs.FileMode {
	switch t {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_UNKNOWN:
		return unknownType
	}
	return fs.ModeDevice
}

// typeOf asks for the type of a name.
func (d *scanDir) typeOf(name string) (fs.FileMode, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, &os.PathError{Op: "lstat", Path: name, Err: err}
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0, nil
	case unix.S_IFDIR:
		return fs.ModeDir, nil
	case unix.S_IFLNK:
		return fs.ModeSymlink, nil
	}
	return fs.ModeDevice, nil
}
