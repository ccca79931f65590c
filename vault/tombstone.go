package vault

import (
	"fmt"
	"path"
	"strings"
	"time"
)

// Tombstone says that a memory was forgotten, and nothing of what it said. It
// stops the memory, by id and by digest, on every automatic road.
type Tombstone struct {
	ID     ID     // of the memory, or [TombstoneID] where it had none
	Path   string // where a memory without an id was; else ""
	When   time.Time
	By     Origin
	Digest Digest // of the text that was forgotten; zero when unknown
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

// IsTombstone reports whether p is where a tombstone lives.
func IsTombstone(p string) bool {
	id, ok := strings.CutSuffix(path.Base(p), ".yaml")
	return ok && path.Dir(p) == forgottenDir && id != ""
}

// ParseTombstone reads the file of a tombstone. Keys that it does not know are
// left for newer versions; without an id it is an error.
func ParseTombstone(raw []byte) (Tombstone, error) {
	h := parseHeader(strings.TrimPrefix(string(raw), bom))
	if h.broken != nil {
		return Tombstone{}, fmt.Errorf("tombstone: line %d: %s", h.broken.Line-1, h.broken.Reason)
	}
	var t Tombstone
	for i := range h.entries {
		switch e := &h.entries[i]; e.key {
		case "id":
			t.ID, _ = ParseID(e.val.scalar())
		case "path":
			t.Path = e.val.scalar()
		case "when":
			t.When, _ = ParseTime(e.val.scalar())
		case "by":
			t.By = origin(&e.val)
		case "digest":
			t.Digest, _ = ParseDigest(e.val.scalar())
		}
	}
	if t.ID == "" {
		return Tombstone{}, fmt.Errorf("tombstone: has no id that is a ULID")
	}
	return t, nil
}

// Bytes returns the file of t, the same bytes for the same tombstone.
func (t Tombstone) Bytes() []byte {
	fields := []field{{"id", t.ID}, {"path", t.Path}, {"when", t.When}, {"by", t.By}}
	if !t.Digest.IsZero() {
		fields = append(fields, field{"digest", t.Digest.String()})
	}
	return []byte(renderFields(fields))
}
