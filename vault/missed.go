package vault

import (
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
)

// A human may move a memory while a sync that has looked at the disk already
// fetches its forgetting. The removal then does not find the file, and the next
// look would take the moved one for a copy that somebody made by hand. So what
// a pull did not find is noted until then.

func (v *Vault) missedDir() string { return filepath.Join(v.stateDir(), "missed") }

func (v *Vault) noteMissed(blob plumbing.Hash) error {
	if err := os.MkdirAll(v.missedDir(), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(v.missedDir(), blob.String()), nil, 0o600)
}

// Missed reports whether the last pull was to remove a file with the content
// blob and did not find it.
func (v *Vault) Missed(blob plumbing.Hash) bool {
	_, err := os.Stat(filepath.Join(v.missedDir(), blob.String()))
	return err == nil
}

// DropMissed forgets what Missed reports.
func (v *Vault) DropMissed() error { return os.RemoveAll(v.missedDir()) }
