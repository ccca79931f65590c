package vault

import (
	"context"
	"fmt"
	"strings"
	"time"

	"vademecum/vault/repo"
)

// Edit says what to change in a memory; nil and empty fields change nothing.
type Edit struct {
	IfMatch Version // refuse, with ErrStale, unless the file has this version (or prefix of it)

	Title, Body, Workspace, Why *string
	Type                        *Type
	Tier                        *Tier
	Expires                     *time.Time // the zero time removes it
	AddTags, RemoveTags         []string
	AddAliases, RemoveAliases   []string
	// Raw replaces the whole file, as an editor does.
	Raw []byte

	AllowSecret bool
}

// Empty reports whether e changes nothing.
func (e *Edit) Empty() bool {
	return e.Title == nil && e.Body == nil && e.Workspace == nil && e.Why == nil && e.Type == nil &&
		e.Tier == nil && e.Expires == nil && e.Raw == nil &&
		len(e.AddTags)+len(e.RemoveTags)+len(e.AddAliases)+len(e.RemoveAliases) == 0
}

// StaleError is an ErrStale that says what the version is now.
type StaleError struct {
	Path          string
	Expected, Now Version
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s changed since it was read: its version is %s now, not %s", e.Path, e.Now, e.Expected)
}

func (e *StaleError) Is(target error) bool { return target == ErrStale }

// Matches reports whether want, a version or a prefix of one (4 digits at
// least), is v.
func (v Version) Matches(want Version) bool {
	return len(want) >= minPrefix && strings.HasPrefix(string(v), strings.ToLower(string(want)))
}

// Edit changes the memory that ref names. Only the lines that have to change
// do; `updated` moves where the file has one.
func (v *Vault) Edit(ctx context.Context, ref Ref, e Edit) (Receipt, error) {
	target, err := v.find(ctx, ref)
	if err != nil {
		return Receipt{}, err
	}
	path := target.Path
	if !e.AllowSecret {
		if err := e.refuseSecrets(); err != nil {
			return Receipt{}, err
		}
	}
	var r Receipt
	done, err := v.Update(ctx, Op{Name: "edit", Subject: target.Title}, func(tx *Tx) error {
		raw, err := tx.Read(path)
		if err != nil {
			return err
		}
		now := Version(repo.BlobHash(raw).String())
		if e.IfMatch != "" && !now.Matches(e.IfMatch) {
			return &StaleError{Path: path, Expected: e.IfMatch, Now: now}
		}
		changed, err := v.apply(raw, e)
		if err != nil {
			return fmt.Errorf("edit %s: %w", path, err)
		}
		m := ParseDocument(changed).Memory()
		r = Receipt{ID: m.ID, Title: m.Title, Path: path}
		return tx.Put(path, changed)
	})
	if err != nil {
		return Receipt{}, err
	}
	v.settle(&r, done)
	if len(done.Paths) == 0 {
		r.Warnings = append(r.Warnings, "nothing changed")
	}
	return r, nil
}

func (e *Edit) refuseSecrets() error {
	texts := []string{string(e.Raw)}
	for _, p := range []*string{e.Title, e.Body, e.Why} {
		if p != nil {
			texts = append(texts, *p)
		}
	}
	return refuseSecrets(texts...)
}

// find resolves ref in what is on disk now, without the memory's body.
func (v *Vault) find(ctx context.Context, ref Ref) (*Memory, error) {
	s, err := v.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	i, err := s.Resolve(ref)
	if err != nil {
		return nil, err
	}
	return s.Meta(i)
}

// apply returns raw with e's changes.
func (v *Vault) apply(raw []byte, e Edit) ([]byte, error) {
	if e.Raw != nil {
		return e.Raw, nil
	}
	doc := ParseDocument(raw)
	if err := e.header(doc); err != nil {
		return nil, err
	}
	if e.Body != nil {
		if err := doc.SetBody(*e.Body); err != nil {
			return nil, err
		}
	}
	if string(doc.Bytes()) != string(raw) && doc.Has("updated") && doc.Broken() == nil {
		if err := doc.Set("updated", v.Now()); err != nil {
			return nil, err
		}
	}
	return doc.Bytes(), nil
}

func (e *Edit) header(doc *Document) error {
	set := func(key string, value *string) error {
		switch {
		case value == nil:
			return nil
		case *value == "":
			return doc.Delete(key)
		}
		return doc.Set(key, *value)
	}
	steps := []func() error{
		func() error { return set("title", e.Title) },
		func() error { return set("type", (*string)(e.Type)) },
		func() error { return set("tier", (*string)(e.Tier)) },
		func() error { return set("workspace", e.Workspace) },
		func() error { return set("why", e.Why) },
		func() error { return e.expiry(doc) },
		func() error { return list(doc.AddToList, "tags", e.AddTags) },
		func() error { return list(doc.RemoveFromList, "tags", e.RemoveTags) },
		func() error { return list(doc.AddToList, "aliases", e.AddAliases) },
		func() error { return list(doc.RemoveFromList, "aliases", e.RemoveAliases) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (e *Edit) expiry(doc *Document) error {
	switch {
	case e.Expires == nil:
		return nil
	case e.Expires.IsZero():
		return doc.Delete("expires")
	}
	return doc.Set("expires", *e.Expires)
}

func list(change func(string, ...string) error, key string, items []string) error {
	if len(items) == 0 {
		return nil
	}
	return change(key, items...)
}
