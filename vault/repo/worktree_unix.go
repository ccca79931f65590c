//go:build unix

package repo

import "os"

// renameWritten names the file that f wrote and describes it afterwards: the
// rename itself changes the time of the inode. When it was written to between, by
// somebody who opened its new name, the description is empty.
func renameWritten(root *os.Root, f *os.File, tmp, name string) (fileStat, error) {
	before, err := f.Stat()
	if err != nil {
		return fileStat{}, err
	}
	if err := root.Rename(tmp, name); err != nil {
		return fileStat{}, err
	}
	after, err := f.Stat()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fileStat{}, err
	}
	b, a := statOf(before), statOf(after)
	if b.size != a.size || b.mtime != a.mtime {
		return fileStat{}, nil
	}
	return a, nil
}

// syncRootDir makes the names in a folder durable.
func syncRootDir(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
