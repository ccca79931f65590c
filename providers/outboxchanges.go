package providers

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"vademecum/sync/journal"
	"vademecum/vault"
	"vademecum/vault/repo"
)

// change is what became of one memory between two commits.
type change struct {
	id       string
	old, now *vault.Memory // nil: it was not there, it is not there
	stone    string        // blob of the tombstone that came
	by       author
	added    bool // now is a file that changed
}

func byID(a, b change) int { return strings.Compare(a.id, b.id) }

// follower finds out what changed, once for all providers that are at the same
// commit.
type follower struct {
	o     *Outbox
	head  plumbing.Hash
	since map[plumbing.Hash][]change
	ids   map[string]*vault.Memory // of head, when they are needed
}

// owedTo is what t is owed since cursor.
func (f *follower) owedTo(t *Target, cursor plumbing.Hash) ([]journal.Delivery, error) {
	changes, err := f.changes(cursor)
	if errors.Is(err, repo.ErrObjectNotFound) {
		return f.owedAnew(t)
	}
	if err != nil {
		return nil, err
	}
	return f.o.owedOf(t, changes)
}

// owedAnew is what t is owed when nothing tells what it was followed to: the
// difference between the vault and its book.
func (f *follower) owedAnew(t *Target) ([]journal.Delivery, error) {
	ids, err := f.atHead()
	if err != nil {
		return nil, err
	}
	entries, err := f.o.Book(t.name()).All()
	if err != nil {
		return nil, err
	}
	var changes []change
	has := map[string]bool{}
	for _, e := range entries {
		has[e.ID] = true
		if m := ids[e.ID]; m == nil || m.Version != e.Version {
			changes = append(changes, change{id: e.ID, old: &vault.Memory{Version: e.Version}, now: m})
		}
	}
	for id, m := range ids {
		if !has[id] {
			changes = append(changes, change{id: id, now: m})
		}
	}
	slices.SortFunc(changes, byID)
	return f.o.owedOf(t, changes)
}

func (o *Outbox) owedOf(t *Target, changes []change) ([]journal.Delivery, error) {
	var owed []journal.Delivery
	for i := range changes {
		d, err := o.owed(t, &changes[i])
		if err != nil {
			return nil, err
		}
		if d != nil {
			owed = append(owed, *d)
		}
	}
	return owed, nil
}

// owed is what t is owed because of c; nil is nothing.
func (o *Outbox) owed(t *Target, c *change) (*journal.Delivery, error) {
	name := t.name()
	moved := c.by == byOther && t.onlyHere()
	if c.now != nil && t.Route.admits(c.now) && !c.now.Expired(o.now()) {
		if moved {
			if _, has := o.Book(name).Of(c.id); !has {
				return nil, nil
			}
			return &journal.Delivery{To: name, Key: c.id + elsewhereKey + string(c.now.Version), Group: c.id, What: c.now.Path}, nil
		}
		d := &journal.Delivery{To: name, Key: c.id + "@" + string(c.now.Version), Group: c.id, What: c.now.Path, Unsure: c.by != byUsJustNow}
		if c.by != byUsJustNow && c.by != byUs && PropertiesOf(t.Provider).Find {
			d.Due = o.now().Add(grace) // whoever made it goes first
		}
		if c.old != nil && !d.Unsure {
			_, has := o.Book(name).Of(c.id)
			d.Unsure = !has
		}
		return d, nil
	}
	there, err := o.mayHave(t, c, moved)
	if !there || err != nil {
		return nil, err
	}
	why, what := c.stone, c.id
	if c.old != nil {
		why, what = cmp.Or(why, string(c.old.Version)), cmp.Or(c.old.Path, what)
	}
	if c.now != nil {
		why, what = string(c.now.Version), c.now.Path
	}
	d := o.deletion(t, c.id, why, what)
	return &d, nil
}

// mayHave reports whether t may have something of c's memory: because it was
// handed over before, or may have been by somebody whom t can be asked about.
func (o *Outbox) mayHave(t *Target, c *change, moved bool) (bool, error) {
	if c.old != nil && c.old.Path != "" && t.Route.admits(c.old) && !moved {
		return true, nil
	}
	if _, has := o.Book(t.name()).Of(c.id); has {
		return true, nil
	}
	if is := PropertiesOf(t.Provider); c.stone != "" && !moved && (is.Find || is.List) {
		return true, nil
	}
	live, err := o.Journal.Owed(t.name(), c.id)
	return len(live) > 0, err
}

// changes is what changed from cursor to head, in the order of ids.
func (f *follower) changes(cursor plumbing.Hash) ([]change, error) {
	if list, ok := f.since[cursor]; ok {
		return list, nil
	}
	git := f.o.Vault.Git()
	d := delta{git: git, vaultID: f.o.Vault.Config().VaultID, byID: map[string]int{}}
	d.authors = f.o.authorsOf(cursor, f.head)
	for ch, err := range repo.DiffCommits(git, cursor, f.head) {
		if err == nil {
			err = d.add(ch)
		}
		if err != nil {
			return nil, err
		}
	}
	list := make([]change, 0, len(d.list))
	for _, c := range d.list {
		if c.now == nil { // another file may have the same id
			ids, err := f.atHead()
			if err != nil {
				return nil, err
			}
			c.now = ids[c.id]
		}
		if c.changed() {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, byID) // which is the order in which they were made
	f.since[cursor] = list
	return list, nil
}

// changed reports whether c is anybody's business: a move is not.
func (c *change) changed() bool {
	switch {
	case c.now == nil:
		return true
	case c.old == nil:
		return c.added // else it lives in spite of a tombstone
	}
	return c.now.Version != c.old.Version || vault.IsCapture(c.now.Path) != vault.IsCapture(c.old.Path)
}

// atHead are the memories that anybody else may have, by id; of several with
// one id the first by path.
func (f *follower) atHead() (map[string]*vault.Memory, error) {
	if f.ids != nil {
		return f.ids, nil
	}
	ids, err := f.o.memories(f.head)
	if err == nil {
		f.ids = ids
	}
	return ids, err
}

func (o *Outbox) memories(commit plumbing.Hash) (map[string]*vault.Memory, error) {
	o.reading.Lock()
	defer o.reading.Unlock()
	s, err := o.Vault.SnapshotAt(commit)
	if err != nil {
		return nil, err
	}
	ids := map[string]*vault.Memory{}
	for i := range s.Len() {
		if path, _ := s.Key(i); !handedOver(path) {
			continue
		}
		m, err := s.Meta(i)
		if err != nil {
			return nil, err
		}
		if id := o.ID(m); ids[id] == nil {
			ids[id] = m
		}
	}
	return ids, nil
}

// delta collects what a difference of trees says of each memory.
type delta struct {
	git     *repo.GitDir
	vaultID vault.ID
	authors authors
	list    []change
	byID    map[string]int
}

func (d *delta) add(ch repo.Change) error {
	if vault.IsTombstone(ch.Path) && !ch.NewHash.IsZero() {
		return d.addStone(ch)
	}
	if !handedOver(ch.Path) {
		return nil
	}
	old, err := d.memory(ch.Path, ch.OldHash, ch.OldMode)
	if err != nil {
		return err
	}
	now, err := d.memory(ch.Path, ch.NewHash, ch.NewMode)
	if err != nil {
		return err
	}
	by := d.authors.of(ch)
	for _, m := range []*vault.Memory{old, now} {
		if m == nil {
			continue
		}
		c := d.of(idOf(d.vaultID, m))
		if m == old && c.old == nil {
			c.old = m
		}
		if m == now && c.now == nil {
			c.now, c.added, c.by = m, true, by
		} else if c.now == nil {
			c.by = by
		}
	}
	return nil
}

func (d *delta) addStone(ch repo.Change) error {
	raw, err := repo.ReadBlob(d.git, ch.NewHash)
	if err != nil {
		return err
	}
	stone, err := vault.ParseTombstone(raw)
	if err != nil {
		return nil // doctor names it
	}
	id := string(stone.ID)
	if stone.Path != "" {
		id = string(d.vaultID) + ":" + stone.Path
	}
	c := d.of(id)
	c.stone = ch.NewHash.String()
	if c.old == nil && c.now == nil {
		c.by = d.authors.of(ch)
	}
	return nil
}

// of is the change of the memory called id; valid until the next call.
func (d *delta) of(id string) *change {
	n, ok := d.byID[id]
	if !ok {
		n = len(d.list)
		d.byID[id] = n
		d.list = append(d.list, change{id: id})
	}
	return &d.list[n]
}

func (d *delta) memory(path string, blob plumbing.Hash, mode filemode.FileMode) (*vault.Memory, error) {
	if blob.IsZero() || !mode.IsRegular() && mode != filemode.Executable {
		return nil, nil
	}
	raw, err := repo.ReadBlob(d.git, blob)
	if err != nil {
		return nil, err
	}
	m := vault.ParseDocument(raw).Memory()
	m.Path, m.Version = path, vault.Version(blob.String())
	return &m, nil
}
