package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// Draft is a memory that somebody wants to be remembered.
type Draft struct {
	Memory // ID "" gives a fresh one; Path, Version and Created are set by Put
	// Supersedes are references to memories that this one replaces.
	SupersedesRefs []Ref
	// AllowSecret stores a known secret shape knowingly.
	AllowSecret bool

	header *Document // of a text that came with front matter of its own
}

// SecretError is an ErrSecret that says where.
type SecretError struct{ Secrets []Secret }

func (e *SecretError) Error() string {
	var places []string
	for _, s := range e.Secrets {
		places = append(places, fmt.Sprintf("%s on line %d", s.Kind, s.Line))
	}
	return "text holds what looks like a secret: " + strings.Join(places, ", ")
}

func (e *SecretError) Is(target error) bool { return target == ErrSecret }

// refuseSecrets returns a [*SecretError] when one of the texts holds a known
// secret shape.
func refuseSecrets(texts ...string) error {
	for _, text := range texts {
		if found := FindSecrets(text); len(found) > 0 {
			return &SecretError{Secrets: found}
		}
	}
	return nil
}

// stmLife is how long working memory lives when it does not say.
const stmLife = 24 * time.Hour

// Put remembers a draft, durably, and says so in the receipt. The same text
// again, in the same workspace and scope, is the memory that is there with a
// later `updated` and the draft's tags and aliases added. A text that was
// forgotten is a new decision here: its tombstones go, and the receipt says so.
func (v *Vault) Put(ctx context.Context, d Draft) (Receipt, error) {
	named := d.ID != ""
	if err := v.checkDraft(&d); err != nil {
		return Receipt{}, err
	}
	superseded, err := v.resolveAll(ctx, d.SupersedesRefs)
	if err != nil {
		return Receipt{}, err
	}
	var r Receipt
	done, err := v.Update(ctx, Op{Name: "remember", Subject: d.Title}, func(tx *Tx) error {
		r = Receipt{}
		known, err := v.lookUp(tx, d)
		if err != nil {
			return err
		}
		switch {
		case known.equal != nil:
			err = tx.touch(known.equal, d, &r)
		case known.was != "" && !named:
			revived := d
			revived.ID = known.was
			err = tx.add(revived, superseded, &r)
		default:
			err = tx.add(d, superseded, &r)
		}
		if err != nil {
			return err
		}
		for _, path := range known.tombstones {
			tx.Remove(path)
			r.Warnings = append(r.Warnings, "this text was forgotten before; remembering it is a new decision and lifts its tombstone")
		}
		return nil
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("remember %q: %w", d.Title, err)
	}
	v.settle(&r, done)
	return r, nil
}

// checkDraft fills in what a draft leaves open and refuses what cannot be kept.
func (v *Vault) checkDraft(d *Draft) error {
	d.Body = strings.Trim(strings.ReplaceAll(d.Body, "\r\n", "\n"), "\n")
	d.takeHeader()
	if strings.TrimSpace(d.Body) == "" && strings.TrimSpace(d.Title) == "" {
		return fmt.Errorf("remember: the text is empty: %w", ErrName)
	}
	if !d.AllowSecret {
		if err := refuseSecrets(d.Title, d.Body, d.Why); err != nil {
			return err
		}
	}
	now := v.Now()
	if d.Title = strings.Join(strings.Fields(d.Title), " "); d.Title == "" {
		d.Title = ParseDocument([]byte(d.Body)).Memory().Title
	}
	if d.Type == "" {
		d.Type = TypeNote
	}
	if d.Tier == "" {
		d.Tier = LTM
	}
	if d.Tier == STM && d.Expires.IsZero() {
		d.Expires = now.Add(stmLife)
	}
	if d.ID == "" {
		d.ID = NewID(v.opts.Now(), v.opts.Entropy)
	} else {
		id, err := ParseID(string(d.ID))
		if err != nil {
			return err
		}
		d.ID = id
	}
	d.Created, d.Updated = now, now
	if d.Origin == (Origin{}) {
		d.Origin = v.opts.Origin
	}
	if d.Scope == (Scope{}) {
		d.Scope = Scope{Type: "personal", ID: v.Identity()}
	}
	if !strings.HasSuffix(d.Body, "\n") && d.Body != "" {
		d.Body += "\n"
	}
	return nil
}

// takeHeader lets a text that comes with sound front matter describe itself,
// where the draft does not say; its other keys are kept.
func (d *Draft) takeHeader() {
	doc := ParseDocument([]byte(d.Body))
	if !doc.HasHeader() || doc.Broken() != nil {
		return
	}
	m := doc.Memory()
	d.header, d.Body = doc, strings.Trim(m.Body, "\n")
	fill := func(to *string, from string) {
		if *to == "" {
			*to = from
		}
	}
	if doc.Has("title") {
		fill(&d.Title, m.Title)
	}
	fill((*string)(&d.Type), string(m.Type))
	if doc.Has("tier") {
		fill((*string)(&d.Tier), string(m.Tier))
	}
	fill(&d.Why, m.Why)
	fill(&d.Source, m.Source)
	if d.Expires.IsZero() {
		d.Expires = m.Expires
	}
	for _, list := range []struct {
		to   *[]string
		from []string
	}{{&d.Tags, m.Tags}, {&d.Aliases, m.Aliases}} {
		for _, item := range list.from {
			if !slices.Contains(*list.to, item) {
				*list.to = append(*list.to, item)
			}
		}
	}
}

// bytes renders the memory as a file, on the front matter that its text
// brought along if there was any.
func (d *Draft) bytes() ([]byte, error) {
	fresh := NewDocument(d.Memory)
	if d.header == nil {
		return fresh.Bytes(), nil
	}
	for _, key := range fresh.Keys() {
		if err := d.header.SetRaw(key, fresh.Raw(key)); err != nil {
			return nil, err
		}
	}
	if err := d.header.SetRawBody(d.Body); err != nil {
		return nil, err
	}
	return d.header.Bytes(), nil
}

// known is what a vault already has of a draft's text.
type known struct {
	equal      *Memory  // the memory with this text, workspace and scope
	tombstones []string // paths of tombstones that forbid the text or the id
	was        ID       // the id under which the text was forgotten
}

// lookUp finds the draft's text in what is committed and in what waits to be.
func (v *Vault) lookUp(tx *Tx, d Draft) (known, error) {
	var k known
	digest := NewDigest(v.config.DigestKey, d.Title, d.Body)
	rows, err := v.rowsWithDigest(tx.head, digest)
	if err != nil {
		return k, err
	}
	for _, r := range rows {
		committed, err := tx.Committed(r.Path)
		if err != nil {
			return k, err
		}
		if committed != r.Blob {
			continue
		}
		if r.tombstone() {
			k.tombstones = append(k.tombstones, r.Path)
			k.was = tombstoneOf(r.Path)
			continue
		}
		if m := r.memory(); m != nil && k.equal == nil && sameFact(m, &d.Memory) {
			if k.equal, err = v.stillEqual(tx, r.Path, digest); err != nil {
				return k, err
			}
		}
	}
	byID := TombstonePath(d.ID)
	if there, err := tx.Exists(byID); err != nil {
		return k, err
	} else if there && !slices.Contains(k.tombstones, byID) {
		k.tombstones = append(k.tombstones, byID)
	}
	return k, nil
}

// tombstoneOf is the id that the tombstone at path is of; "" for a foreign file.
func tombstoneOf(path string) ID {
	id, err := ParseID(strings.TrimSuffix(strings.TrimPrefix(path, forgottenDir+"/"), ".yaml"))
	if err != nil {
		return ""
	}
	return id
}

// sameFact reports whether two memories with one text are one memory.
func sameFact(a, b *Memory) bool {
	return a.Workspace == b.Workspace && sameScope(a.Scope, b.Scope) && a.ConflictOf == "" &&
		!IsCapture(a.Path) && !IsConflict(a.Path)
}

// sameScope takes a memory that does not say for one of its vault's own scope.
func sameScope(a, b Scope) bool { return a == b || a == Scope{} || b == Scope{} }

// stillEqual returns the memory at path unless a human changed it on disk
// into something else.
func (v *Vault) stillEqual(tx *Tx, path string, digest Digest) (*Memory, error) {
	data, err := tx.Read(path)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := parseMemory(path, repo.BlobHash(data), data)
	if NewDigest(v.config.DigestKey, m.Title, m.Body) != digest {
		return nil, nil
	}
	return &m, nil
}

// rowsWithDigest are the memories and tombstones in commit head whose text
// has digest d; some may be of versions that head no longer has.
func (v *Vault) rowsWithDigest(head plumbing.Hash, d Digest) ([]catalogRow, error) {
	c, fresh, err := v.committedCatalog(head)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var rows []catalogRow
	for _, i := range c.withDigest(d) {
		row := c.row(i)
		row.Memory, row.record = row.memory(), nil
		rows = append(rows, row)
	}
	for _, r := range fresh {
		if r.Digest == d {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// touch makes a memory that says the same as d a bit newer.
func (t *Tx) touch(m *Memory, d Draft, r *Receipt) error {
	raw, err := t.Read(m.Path)
	if err != nil {
		return err
	}
	r.ID, r.Title, r.Path = m.ID, m.Title, m.Path
	r.Warnings = append(r.Warnings, "known already: the same text is one memory")
	doc := ParseDocument(raw)
	if doc.Broken() != nil || !doc.HasHeader() {
		return nil // a file that somebody wrote by hand stays as it is
	}
	for _, add := range []struct {
		key   string
		items []string
	}{{"tags", d.Tags}, {"aliases", d.Aliases}} {
		if len(add.items) > 0 {
			if err := doc.AddToList(add.key, add.items...); err != nil {
				return err
			}
		}
	}
	if err := doc.Set("updated", d.Updated); err != nil {
		return err
	}
	return t.Put(m.Path, doc.Bytes())
}

// add writes a new memory and marks those that it replaces.
func (t *Tx) add(d Draft, superseded []*Memory, r *Receipt) error {
	for _, old := range superseded {
		if old.ID == "" {
			return fmt.Errorf("%s has no id, so nothing can supersede it; give it one with \"vade edit\"", old.Path)
		}
		if !slices.Contains(d.Supersedes, string(old.ID)) {
			d.Supersedes = append(d.Supersedes, string(old.ID))
		}
	}
	d.Path = MemoryPath(d.Memory)
	there, err := t.Exists(d.Path)
	if err != nil {
		return err
	}
	if there {
		return fmt.Errorf("%s is there already with another text: %w", d.Path, ErrStale)
	}
	data, err := d.bytes()
	if err != nil {
		return err
	}
	if err := t.Put(d.Path, data); err != nil {
		return err
	}
	r.ID, r.Title, r.Path = d.ID, d.Title, d.Path
	for _, old := range superseded {
		if err := t.markSuperseded(old.Path, d.ID); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) markSuperseded(path string, by ID) error {
	raw, err := t.Read(path)
	if err != nil {
		return err
	}
	doc := ParseDocument(raw)
	if err := doc.Set("superseded_by", string(by)); err != nil {
		return fmt.Errorf("mark %s as superseded: %w", path, err)
	}
	return t.Put(path, doc.Bytes())
}

// resolveAll looks up what refs name; nothing to do costs nothing.
func (v *Vault) resolveAll(ctx context.Context, refs []Ref) ([]*Memory, error) {
	var found []*Memory
	for _, ref := range refs {
		m, err := v.find(ctx, ref)
		if err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	return found, nil
}

// settle fills in what a finished update made true.
func (v *Vault) settle(r *Receipt, done Commit) {
	r.Saved = true
	if r.Providers == nil {
		r.Providers = []ProviderReceipt{}
	}
	if data, err := v.git.WorkTree().ReadFile(r.Path); err == nil {
		r.Version = Version(repo.BlobHash(data).String())
	}
	switch {
	case done.Held != "":
		r.Warnings = append(r.Warnings, "saved but not committed: "+done.Held)
	case !done.Hash.IsZero():
		r.Commit = done.Hash.String()
	default:
		if head, err := v.Head(); err == nil {
			r.Commit = head.String() // what it says was committed before
		}
	}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
}
