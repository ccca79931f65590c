package vault

import (
	"os"
	"path/filepath"
)

// writeDurable replaces the small file at path, whole or not at all, and
// returns when it is on disk. It is for state beside git; the vault's own
// files go through the work tree.
func writeDurable(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err = tmp.Write(data); err == nil {
		err = tmp.Sync()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
