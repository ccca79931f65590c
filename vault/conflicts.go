package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"vademecum/vault/repo"
)

// Conflict is a parked side: what lost where two hosts changed the same place.
type Conflict struct {
	Parked *Memory // in conflicts/
	Winner *Memory // nil when it is gone
	// Forgotten marks an edit that met a forget: the memory lives, and the
	// parked file only says who forgot it.
	Forgotten bool
}

// TypeForgotten is the type of the note that a merge parks when one side
// edited what the other forgot.
const TypeForgotten Type = "forgotten"

// Conflicts lists the parked sides that nobody resolved yet, by path.
func (v *Vault) Conflicts(ctx context.Context) ([]Conflict, error) {
	s, err := v.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return s.conflicts()
}

func (s *Snapshot) conflicts() ([]Conflict, error) {
	var found []Conflict
	for i := range s.entries {
		m, err := s.Meta(i)
		if err != nil || m.ConflictOf == "" && !IsConflict(m.Path) {
			continue
		}
		parked, err := s.Memory(i)
		if err != nil {
			return nil, err
		}
		c := Conflict{Parked: parked, Forgotten: parked.Type == TypeForgotten}
		if c.Winner, err = s.winner(m.ConflictOf); err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
}

// winner is the memory or text of the flat store that a parked side lost to;
// nil when it is gone.
func (s *Snapshot) winner(name string) (*Memory, error) {
	if IsText(name) {
		data, err := s.v.git.WorkTree().ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return &Memory{Path: name, Title: name, Version: Version(repo.BlobHash(data).String()), Body: string(data)}, err
	}
	i, err := s.Resolve(Ref(name))
	if err != nil {
		return nil, nil
	}
	return s.Memory(i)
}

// FindConflict returns the conflict whose parked side ref names, or the only
// one of the memory that ref names.
func (v *Vault) FindConflict(ctx context.Context, ref Ref) (Conflict, error) {
	s, err := v.Snapshot(ctx)
	if err != nil {
		return Conflict{}, err
	}
	all, err := s.conflicts()
	if err != nil {
		return Conflict{}, err
	}
	i, err := s.Resolve(ref)
	if err != nil {
		return Conflict{}, err
	}
	path, _ := s.Key(i)
	var found []Conflict
	for _, c := range all {
		if c.Parked.Path == path {
			return c, nil
		}
		if c.Winner != nil && c.Winner.Path == path {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return Conflict{}, fmt.Errorf("conflict of %q: %w", string(ref), ErrNotFound)
	case 1:
		return found[0], nil
	}
	e := &AmbiguousError{Ref: ref}
	for _, c := range found {
		e.Candidates = append(e.Candidates, Candidate{ID: c.Parked.ID, Title: c.Parked.Title, Path: c.Parked.Path})
	}
	return Conflict{}, e
}

// Keep says which side of a conflict stays.
type Keep string

const (
	// KeepOurs keeps the memory as it is and drops the parked side.
	KeepOurs Keep = "ours"
	// KeepTheirs puts the parked side in the memory's place; of a forget it
	// forgets the memory.
	KeepTheirs Keep = "theirs"
	// KeepBoth makes the parked side a memory of its own.
	KeepBoth Keep = "both"
)

// ResolveConflict ends a conflict in one commit. History keeps both sides.
func (v *Vault) ResolveConflict(ctx context.Context, c Conflict, keep Keep) (Receipt, error) {
	r := Receipt{Path: c.Parked.Path, ID: c.Parked.ID, Title: c.Parked.Title}
	if c.Winner != nil {
		r.Path, r.ID = c.Winner.Path, c.Winner.ID
	}
	op := Op{Name: "resolve", Subject: fmt.Sprintf("%s (keep %s)", c.Parked.Title, keep)}
	done, err := v.Update(ctx, op, func(tx *Tx) error {
		raw, err := tx.Read(c.Parked.Path)
		if err != nil {
			return err
		}
		if Version(repo.BlobHash(raw).String()) != c.Parked.Version {
			return fmt.Errorf("%s: %w", c.Parked.Path, ErrStale)
		}
		tx.Remove(c.Parked.Path)
		switch {
		case keep == KeepOurs || keep == KeepBoth && c.Forgotten:
			return nil
		case keep == KeepTheirs && c.Forgotten && c.Winner != nil:
			return v.bury(tx, c.Winner.Path)
		case keep == KeepTheirs && c.Winner != nil:
			return tx.replaceBy(c, raw)
		case keep == KeepTheirs, keep == KeepBoth:
			path, err := tx.unpark(c, raw)
			r.Path, r.ID = path, c.Parked.ID
			return err
		}
		return fmt.Errorf("keep %q: use ours, theirs or both", keep)
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("resolve %s: %w", c.Parked.Path, err)
	}
	v.settle(&r, done)
	return r, nil
}

// replaceBy gives the winner's file the parked side's content under the
// winner's id.
func (t *Tx) replaceBy(c Conflict, parked []byte) error {
	if IsText(c.Winner.Path) {
		return t.Put(c.Winner.Path, []byte(ParseDocument(parked).Body()))
	}
	if _, err := t.Read(c.Winner.Path); err != nil {
		return err
	}
	doc := ParseDocument(parked)
	if err := doc.Delete("conflict_of"); err != nil {
		return err
	}
	if c.Winner.ID != "" {
		if err := doc.Set("id", string(c.Winner.ID)); err != nil {
			return err
		}
	}
	if doc.Has("updated") {
		if err := doc.Set("updated", t.v.Now()); err != nil {
			return err
		}
	}
	return t.Put(c.Winner.Path, doc.Bytes())
}

// unpark moves the parked side to the path of a memory of its own.
func (t *Tx) unpark(c Conflict, parked []byte) (string, error) {
	doc := ParseDocument(parked)
	if err := doc.Delete("conflict_of"); err != nil {
		return "", err
	}
	m := doc.Memory()
	if m.Created.IsZero() {
		m.Created = t.v.Now()
	}
	path := MemoryPath(m)
	if there, err := t.Exists(path); err != nil {
		return "", err
	} else if there {
		return "", fmt.Errorf("%s is there already: %w", path, ErrStale)
	}
	return path, t.Put(path, doc.Bytes())
}
