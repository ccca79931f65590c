package sync

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// ForeignError: the remote holds something that is not this vault.
type ForeignError struct {
	Remote string // masked URL
	Holds  string // what it holds
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("remote %s holds %s, which is not this vault; nothing was changed", e.Remote, e.Holds)
}

// seed is how many files a remote without a vault may have and still be taken
// for a new repository that its host has filled with a README and a licence.
const seed = 4

// checkOwner refuses a remote that holds another identity's vault, or no
// vault at all but more than what a git host puts into a new repository. A
// branch that was this vault's before, when it was at last, still is without
// a vault.yaml.
func (rd *round) checkOwner(last, theirs plumbing.Hash) error {
	config, _, err := vault.ConfigAt(rd.v.Git(), theirs)
	if errors.Is(err, vault.ErrNoVault) {
		if last.IsZero() {
			return rd.checkSeed(theirs)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("remote %s: %w", rd.report.Remote, err)
	}
	if config.VaultID == rd.v.Config().VaultID {
		return nil
	}
	if config.Identity != rd.v.Identity() {
		return &ForeignError{Remote: rd.report.Remote, Holds: fmt.Sprintf("the vault of %q", config.Identity)}
	}
	rd.warn("the vault of %q was begun on two hosts: both are joined, nothing is dropped", config.Identity)
	return nil
}

func (rd *round) checkSeed(theirs plumbing.Hash) error {
	c, err := repo.ReadCommit(rd.v.Git(), theirs)
	if err != nil {
		return err
	}
	n := 0
	for _, err := range repo.Files(rd.v.Git(), c.Tree, "") {
		if err != nil {
			return err
		}
		n++
	}
	if n > seed {
		return &ForeignError{Remote: rd.report.Remote, Holds: fmt.Sprintf("a repository of %d files that is no vault", n)}
	}
	return nil
}

func (rd *round) warn(format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if slices.Contains(rd.report.Warnings, msg) {
		return
	}
	rd.report.Warnings = append(rd.report.Warnings, msg)
}

// rescueIfRewritten keeps what the remote's branch held, when it does not
// hold it any more, under refs/vade/rescue/.
func (rd *round) rescueIfRewritten(last, theirs plumbing.Hash) error {
	git := rd.v.Git()
	kept, err := repo.IsAncestor(git, last, theirs)
	if err != nil || kept {
		return err
	}
	rd.rewritten = true
	name := fmt.Sprintf("refs/vade/rescue/%s-%.10s", rd.v.Now().Format("20060102T150405Z"), last)
	if err := git.CompareAndSet(name, plumbing.ZeroHash, last, "remote was rewritten"); err != nil && !errors.Is(err, repo.ErrRefMoved) {
		return err
	}
	rd.report.Rescued = name
	rd.warn("the remote was rewritten and no longer has %.10s; it is kept in %s and nothing is dropped here", last, name)
	return nil
}

// sides are the trees of a three-way merge.
type sides struct {
	baseCommit         plumbing.Hash // zero: none in common
	base, ours, theirs plumbing.Hash
}

// sides finds the merge base, and makes sure that a remote that was rewritten
// or begun elsewhere cannot shrink us.
func (rd *round) sides(ours, theirs plumbing.Hash) (sides, error) {
	git := rd.v.Git()
	var s sides
	bases, err := repo.MergeBases(git, ours, theirs)
	if err != nil {
		return s, err
	}
	if len(bases) > 0 {
		s.baseCommit = bases[0]
	}
	for _, side := range []struct {
		commit plumbing.Hash
		tree   *plumbing.Hash
	}{{s.baseCommit, &s.base}, {ours, &s.ours}, {theirs, &s.theirs}} {
		if side.commit.IsZero() {
			continue
		}
		c, err := repo.ReadCommit(git, side.commit)
		if err != nil {
			return s, err
		}
		*side.tree = c.Tree
	}
	if len(bases) == 0 {
		rd.warn("the remote has another history; both are merged, nothing is dropped")
		s.ours, err = sameConfig(git, s.ours, s.theirs)
		return s, err
	}
	if rd.rewritten {
		s.theirs, err = undelete(git, s)
	}
	return s, err
}

// sameConfig returns ours with theirs' vault.yaml: the remote was there first,
// so every host that joins it takes its vault id.
func sameConfig(git repo.Store, ours, theirs plumbing.Hash) (plumbing.Hash, error) {
	entry, err := repo.Lookup(git, theirs, vault.ConfigPath)
	if errors.Is(err, repo.ErrPathNotFound) {
		return ours, nil
	}
	if err != nil {
		return ours, err
	}
	return repo.EditTree(git, ours, []repo.Edit{{Path: vault.ConfigPath, Hash: entry.Hash, Mode: filemode.Regular}})
}

// undelete returns theirs with the files that it lacks of the base and that no
// tombstone of it names: a rewritten branch did not delete them, it never had
// them.
func undelete(git repo.Store, s sides) (plumbing.Hash, error) {
	var edits []repo.Edit
	for c, err := range repo.Diff(git, s.base, s.theirs) {
		if err != nil {
			return s.theirs, err
		}
		if !c.NewHash.IsZero() {
			continue
		}
		forgotten, err := namedByTombstone(git, s.theirs, c.OldHash)
		if err != nil {
			return s.theirs, err
		}
		if !forgotten {
			edits = append(edits, repo.Edit{Path: c.Path, Hash: c.OldHash, Mode: c.OldMode})
		}
	}
	return repo.EditTree(git, s.theirs, edits)
}

func namedByTombstone(git repo.Store, tree, blob plumbing.Hash) (bool, error) {
	data, err := repo.ReadBlob(git, blob)
	if err != nil {
		return false, err
	}
	id := vault.ParseDocument(data).Memory().ID
	if id == "" {
		return false, nil
	}
	_, err = repo.Lookup(git, tree, vault.TombstonePath(id))
	if errors.Is(err, repo.ErrPathNotFound) {
		return false, nil
	}
	return err == nil, err
}
