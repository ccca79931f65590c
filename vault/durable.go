package vault

import (
	"os"
	"path/filepath"
)

// writeDurable replaces the small file at path, whole or not at all, and
// returns when it is on disk. It is for state beside git, under the identity's
// lock; the vault's own files go through the work tree. What a writer left that
// was killed, the next one overwrites.
func writeDurable(path string, data []byte) error {
	name := filepath.Join(filepath.Dir(path), ".new-"+filepath.Base(path))
	tmp, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = tmp.Write(data); err == nil {
		err = tmp.Sync()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		_ = os.Remove(name)
	}
	return err
}
