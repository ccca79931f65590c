package vault

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// AsOf reads what the vault held at a moment, as [ParseTime] reads it, or after
// a commit, as [Vault.ResolveCommit] finds it. when is that moment, or the
// commit's. It returns ErrNotFound, wrapped, when main has nothing so old.
func (v *Vault) AsOf(ctx context.Context, name string) (s *Snapshot, when time.Time, err error) {
	when, isTime := ParseTime(name)
	var commit plumbing.Hash
	if isTime {
		commit, err = v.lastBefore(ctx, when)
	} else {
		commit, err = v.ResolveCommit(ctx, name)
	}
	if err != nil {
		return nil, when, err
	}
	if !isTime {
		c, err := repo.ReadCommit(v.git, commit)
		if err != nil {
			return nil, when, err
		}
		when = c.Committer.When
	}
	s, err = v.SnapshotAt(commit)
	return s, when, err
}

// lastBefore is the newest commit of main that was made no later than when.
func (v *Vault) lastBefore(ctx context.Context, when time.Time) (plumbing.Hash, error) {
	head, err := v.Head()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if !head.IsZero() {
		for c, err := range repo.Log(v.git, head) { // newest first
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return plumbing.ZeroHash, err
			}
			if !c.Committer.When.After(when) {
				return c.Hash, nil
			}
		}
	}
	return plumbing.ZeroHash, fmt.Errorf("a commit of %s or before: %w", FormatTime(when), ErrNotFound)
}
