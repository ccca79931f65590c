package vault

import (
	"context"
	"errors"
	"fmt"

	"vademecum/vault/repo"
)

// Forget removes the memory that ref names, and the parked sides of its
// conflicts, and leaves a tombstone for each, so that no automatic road
// brings them back. History keeps the text. The receipt's Warnings name what
// else was removed.
func (v *Vault) Forget(ctx context.Context, ref Ref, ifMatch Version) (Receipt, error) {
	s, err := v.Snapshot(ctx)
	if err != nil {
		return Receipt{}, err
	}
	i, err := s.Resolve(ref)
	if err != nil {
		return Receipt{}, err
	}
	target, err := s.Meta(i)
	if err != nil {
		return Receipt{}, err
	}
	if ifMatch != "" && !target.Version.Matches(ifMatch) {
		return Receipt{}, &StaleError{Path: target.Path, Expected: ifMatch, Now: target.Version}
	}
	paths := append([]string{target.Path}, s.parkedOf(target)...)
	r := Receipt{ID: target.ID, Title: target.Title, Path: target.Path}
	done, err := v.Update(ctx, Op{Name: "forget", Subject: target.Title}, func(tx *Tx) error {
		for _, path := range paths {
			if err := v.bury(tx, path); err != nil {
				return err
			}
		}
		return s.leaveNoOther(tx, target)
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("forget %s: %w", target.Path, err)
	}
	for _, path := range paths[1:] {
		r.Warnings = append(r.Warnings, "its parked side "+path+" was forgotten with it")
	}
	v.settle(&r, done)
	return r, nil
}

// parkedOf are the paths of the losing sides that name m.
func (s *Snapshot) parkedOf(m *Memory) []string {
	var paths []string
	for i := range s.entries {
		other, err := s.Meta(i)
		if err != nil || other.ConflictOf == "" || other.Path == m.Path {
			continue
		}
		if other.ConflictOf == m.Path || m.ID != "" && other.ConflictOf == string(m.ID) {
			paths = append(paths, other.Path)
		}
	}
	return paths
}

// leaveNoOther removes from main what a human moved to where m is now: a
// checkout would bring it back.
func (s *Snapshot) leaveNoOther(tx *Tx, m *Memory) error {
	for _, gone := range s.scan.Missing {
		if m.ID == "" || gone.Path == m.Path || !IsMemoryPath(gone.Path) || s.v.Absent(gone.Path) != nil {
			continue
		}
		raw, err := tx.ReadCommitted(gone.Path)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if ParseDocument(raw).Memory().ID != m.ID {
			continue
		}
		if there, err := tx.Exists(gone.Path); err == nil && !there {
			tx.Remove(gone.Path)
		}
	}
	return nil
}

// bury replaces the memory at path by its tombstone.
func (v *Vault) bury(tx *Tx, path string) error {
	raw, err := tx.Read(path)
	if err != nil {
		return err
	}
	m := parseMemory(path, repo.BlobHash(raw), raw)
	digest := NewDigest(v.config.DigestKey, m.Title, m.Body)
	t := Tombstone{ID: TombstoneID(m, digest), When: v.Now(), By: v.opts.Origin, Digest: digest}
	if m.ID == "" {
		t.Path = path // the only name that it had; else a path would tell the title
	}
	tx.Remove(path)
	return tx.Put(TombstonePath(t.ID), t.Bytes())
}
