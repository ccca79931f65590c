package merge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// ErrForeignVault: the two sides are not clones of one vault.
var ErrForeignVault = errors.New("another vault")

// Options tell Trees what the trees do not say.
type Options struct {
	// DigestKey is what tombstones' digests were made with; nil means the key of
	// the vault that the trees are of.
	DigestKey []byte

	// ChangedA and ChangedB tell when a side last changed the file at a path of
	// its tree; nil, or the zero time, is unknown. See [ChangeTimes].
	ChangedA, ChangedB func(path string) time.Time
}

// Result is a merged tree, already in the store, and what the merge did.
// Every list is sorted; those of strings are paths in Tree, unless it says
// otherwise.
type Result struct {
	Tree      plumbing.Hash
	Conflicts []ConflictReport
	Merged    []string // both sides had changed the content
	Folded    []string // took in other memories of the same fact
	Flags     []string // edited on one side and forgotten on the other: they live
	Swept     []string // new on one side and forgotten before: not in Tree
	Revived   []string // newer than the tombstone that named them, which is gone
	Renamed   []string // had to take this path, as the one they had was taken
}

// Kind says what kind of conflict a ConflictReport is of.
type Kind string

const (
	// KindOverlap: both changed the same place; the losing side is parked.
	KindOverlap Kind = "overlap"
	// KindForgotten: one side edited what the other forgot. The edit lives, and
	// Parked says who forgot it.
	KindForgotten Kind = "forgotten"
	// KindKeptLaterEdit: an undo left alone what was changed since.
	KindKeptLaterEdit Kind = "kept-later-edit"
)

// ConflictReport is one conflict that a merge settled.
type ConflictReport struct {
	Path   string   // of the file that stayed; of the one that is gone, where none did
	ID     vault.ID // of the memory that stayed; "" when it has none
	Parked string   // in conflicts/; "" when nothing had to be parked
	Kind   Kind
}

// Trees merges the trees a and b, both made of base, and writes the merged
// tree. A zero base means unrelated histories: the union of both. Swapping the
// sides does not change the tree.
//
// Files are followed by their id, so that a file renamed on one side and
// edited on the other is both. Who edits wins over who deletes; who edits over
// who forgets, with a note in conflicts/; who forgets over who has the file
// from an older clone. A fact that both added is folded into one memory. What
// cannot be merged is parked in conflicts/, under a name that follows from its
// content.
//
// It returns ErrForeignVault, wrapped, when the trees are of two vaults, and
// *vault.FormatError when one was written by a newer vade.
func Trees(s repo.Store, base, a, b plumbing.Hash, opt Options) (Result, error) {
	if strings.Compare(a.String(), b.String()) > 0 {
		a, b = b, a
		opt.ChangedA, opt.ChangedB = opt.ChangedB, opt.ChangedA
	}
	if base == b || a == b {
		return Result{Tree: a}, nil
	}
	if base == a {
		return Result{Tree: b}, nil
	}
	e := newEngine(s, base, a, b)
	e.key, e.a.when, e.b.when = opt.DigestKey, opt.ChangedA, opt.ChangedB
	r, err := e.run()
	if err != nil {
		return Result{}, fmt.Errorf("merge trees: %w", err)
	}
	return r, nil
}

// engine is one merge of trees. Its steps are run in order: each works on
// what the step before left.
type engine struct {
	*reader
	base plumbing.Hash
	a, b *lane

	undo bool // a is kept where it differs, and nothing is parked; see Revert

	key      []byte // of digests; nil when unknown
	units    []*unit
	outcomes []*outcome
	dropped  map[string]bool // tombstones that go
	losers   []loser
	flagged  []flagged
	notes    []Parked // files that the merge adds to conflicts/
	result   Result
}

// flagged is a file that lives although one side forgot it.
type flagged struct {
	*outcome
	id   vault.ID
	note string // path of the note that says so
}

// loser is a losing version that is to be parked.
type loser struct {
	winner *outcome
	data   []byte
	path   string // where it was
}

func newEngine(s repo.Store, base, a, b plumbing.Hash) *engine {
	r := &reader{Store: s, files: map[plumbing.Hash]*file{}}
	return &engine{reader: r, base: base, a: &lane{tree: a}, b: &lane{tree: b}, dropped: map[string]bool{}}
}

func (e *engine) run() (Result, error) {
	for _, step := range []func() error{
		e.checkVault, e.compare, e.match, e.resolve, e.joinFolded, e.sweep, e.foldEqual, e.place, e.parkAll, e.write,
	} {
		if err := step(); err != nil {
			return Result{}, err
		}
	}
	e.result.sort()
	return e.result, nil
}

func (r *Result) sort() {
	slices.SortFunc(r.Conflicts, func(x, y ConflictReport) int {
		return strings.Compare(x.Path+"\x00"+x.Parked, y.Path+"\x00"+y.Parked)
	})
	for _, paths := range []*[]string{&r.Merged, &r.Folded, &r.Flags, &r.Swept, &r.Revived, &r.Renamed} {
		slices.Sort(*paths)
		*paths = slices.Compact(*paths)
	}
}

// checkVault finds the digest key, and refuses to merge two vaults.
func (e *engine) checkVault() error {
	a, err := e.config(e.a.tree)
	if err != nil {
		return err
	}
	b, err := e.config(e.b.tree)
	if err != nil {
		return err
	}
	if a != nil && b != nil && a.VaultID != b.VaultID {
		return fmt.Errorf("vault %s (%s) and vault %s (%s) cannot be merged; check the remote's URL: %w",
			a.VaultID, a.Identity, b.VaultID, b.Identity, ErrForeignVault)
	}
	for _, c := range []*vault.Config{a, b} {
		if e.key == nil && c != nil {
			e.key = c.DigestKey
		}
	}
	return nil
}

// config returns what a tree says its vault is; nil when it does not, or not
// so that it can be read.
func (e *engine) config(tree plumbing.Hash) (*vault.Config, error) {
	entry, err := repo.Lookup(e.Store, tree, vault.ConfigPath)
	if errors.Is(err, repo.ErrPathNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	raw, err := repo.ReadBlob(e.Store, entry.Hash)
	if err != nil {
		return nil, err
	}
	c, err := vault.ParseConfig(raw)
	if _, ok := errors.AsType[*vault.FormatError](err); ok {
		return nil, err
	}
	if err != nil {
		return nil, nil
	}
	return &c, nil
}
