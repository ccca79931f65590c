package sync

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"vademecum/sync/merge"
	"vademecum/vault"
)

// makeRoom returns the path at which the human's file at path can be committed.
// It is path, unless main came to have another memory there, or a folder of that
// name, which the disk could not take: then the human's file moves aside, as a
// merge would have moved one of the two. A file of main that is where the human
// has the folder of path moves aside too.
func (ad *adopter) makeRoom(tx *vault.Tx, path string, data []byte) (string, error) {
	taken := func(other string) (bool, error) { return ad.taken(tx, other) }
	for {
		rival, err := tx.Clash(path)
		if err != nil {
			return "", err
		}
		if rival == "" {
			other, err := ad.another(tx, path, data)
			if err != nil || !other {
				return path, err
			}
			rival = path
		}
		if rival == path {
			other, err := merge.Aside(path, data, taken)
			if err != nil {
				return "", err
			}
			ad.aside = append(ad.aside, path)
			return other, ad.v.Git().WorkTree().MoveAside(path, other)
		}
		theirs, err := tx.ReadCommitted(rival)
		if err != nil {
			return "", err
		}
		other, err := merge.Aside(rival, theirs, taken)
		if err != nil {
			return "", err
		}
		tx.Remove(rival)
		if err := tx.Adopt(other, theirs); err != nil {
			return "", err
		}
	}
}

// another reports whether main's memory at path is another one than the human's:
// both are new, and not the same by id.
func (ad *adopter) another(tx *vault.Tx, path string, data []byte) (bool, error) {
	if base, noted := ad.v.EditBase(path); !noted || !base.IsZero() || !vault.IsMemoryPath(path) {
		return false, nil
	}
	theirs, err := tx.ReadCommitted(path)
	if errors.Is(err, vault.ErrNotFound) {
		return false, nil
	}
	if err != nil || bytes.Equal(theirs, data) {
		return false, err
	}
	id := idOf(data)
	return id == "" || id != idOf(theirs), nil
}

// taken reports whether there is anything at path, on disk or in main.
func (ad *adopter) taken(tx *vault.Tx, path string) (bool, error) {
	if clash, err := tx.Clash(path); err != nil || clash != "" {
		return true, err
	}
	if blob, err := tx.Committed(path); err != nil || !blob.IsZero() {
		return true, err
	}
	_, err := ad.v.Git().WorkTree().Stat(path)
	return !errors.Is(err, fs.ErrNotExist), nil
}

// catchUp tries again to bring the disk to what main has at paths.
func (ad *adopter) catchUp(ctx context.Context, paths []string, done *Adopted) error {
	if len(paths) == 0 {
		return nil
	}
	commit, err := ad.v.Update(ctx, vault.Op{Name: "adopt"}, func(tx *vault.Tx) error {
		for _, path := range paths {
			if _, err := tx.Exists(path); err != nil {
				continue // something else is there now, and stays
			}
			if err := tx.Restore(path); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	done.Left = append(done.Left, leftUnwritten(commit.Unwritten)...)
	return nil
}

func leftUnwritten(files []vault.Unwritten) []Left {
	var left []Left
	for _, u := range files {
		left = append(left, Left{Path: u.Path, Reason: "is not on this disk: " + u.Err.Error()})
	}
	return left
}
