package vault

import (
	"errors"
	"strings"

	"vademecum/vault/repo"
)

// Buried reports whether data is an exact old copy of a forgotten memory: its
// id has a tombstone and its text is the one that was forgotten. Such a copy
// is no new decision of anybody.
func (t *Tx) Buried(data []byte) bool {
	return buried(t.v.config.DigestKey, data, t.Read)
}

func buried(key, data []byte, read func(path string) ([]byte, error)) bool {
	m := ParseDocument(data).Memory()
	if m.ID == "" {
		return false
	}
	raw, err := read(TombstonePath(m.ID))
	if err != nil {
		return false
	}
	stone, err := ParseTombstone(raw)
	return err == nil && stone.Digest == NewDigest(key, m.Title, m.Body)
}

// LiftTombstones removes the tombstones that would forbid data at path: a
// human put it there.
func (t *Tx) LiftTombstones(path string, data []byte) error {
	if !IsMemoryPath(path) {
		return nil
	}
	m := parseMemory(path, repo.BlobHash(data), data)
	digest := NewDigest(t.v.config.DigestKey, m.Title, m.Body)
	_, err := t.lift(m, digest)
	return err
}

// lift removes the tombstones of m, by id and by digest, and returns their paths.
func (t *Tx) lift(m Memory, digest Digest) ([]string, error) {
	rows, err := t.v.rowsWithDigest(t.head, digest)
	if err != nil {
		return nil, err
	}
	stones := []string{TombstonePath(TombstoneID(m, digest))}
	for _, row := range rows {
		if row.tombstone() && row.Path != stones[0] {
			stones = append(stones, row.Path)
		}
	}
	var lifted []string
	for _, stone := range stones {
		_, err := t.Read(stone)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		t.Remove(stone)
		lifted = append(lifted, stone)
	}
	return lifted, nil
}

// adoptable says which files of a work tree belong to a vault: memories, the
// flat text store, tombstones, and what the vault says of itself.
func adoptable(path string, isDir bool) bool {
	if isDir {
		name := path[strings.LastIndexByte(path, '/')+1:]
		return path == metaDir || !strings.HasPrefix(name, ".") && name != "node_modules"
	}
	return IsMemoryPath(path) || IsText(path) || IsTombstone(path) ||
		path == ConfigPath || path == ".gitattributes" || path == ".gitignore"
}

// Busy says why the vault is not to be changed now because of what a human is
// doing in it; "" when it may be.
func (v *Vault) Busy() (string, error) {
	if v.git == nil {
		return "", nil
	}
	state, err := v.git.State()
	if err != nil {
		return "", err
	}
	return heldBy(state), nil
}
