package sync

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/sync/merge"
	"vademecum/vault"
	"vademecum/vault/repo"
)

// UndoTarget says which commits to undo; exactly one field is set, or none
// for the last commit that was made on this host.
type UndoTarget struct {
	Commit  plumbing.Hash
	Session string // every commit of this session
	Agent   string // every commit of this agent
}

// Undone is what an undo did.
type Undone struct {
	Commit  string           `json:"commit,omitempty"` // of the undo
	Undoes  []vault.LogEntry `json:"undoes"`
	Paths   []string         `json:"paths"`
	Kept    []string         `json:"kept"` // paths where a later edit stands in the way and stays
	Held    string           `json:"held,omitempty"`
	Changed bool             `json:"changed"`
}

// ErrNothingToUndo: no commit fits, or all that do are undone already.
var ErrNothingToUndo = fmt.Errorf("nothing to undo: %w", vault.ErrNotFound)

// Undo takes back exactly what the target's commits did, in one commit that
// can itself be undone. Later edits by others stay.
func Undo(ctx context.Context, v *vault.Vault, target UndoTarget) (Undone, error) {
	if !v.Exists() {
		return Undone{}, ErrNothingToUndo
	}
	if err := settled(ctx, v); err != nil {
		return Undone{}, err
	}
	commits, err := target.find(ctx, v)
	if err != nil {
		return Undone{}, err
	}
	done := Undone{Kept: []string{}}
	for _, c := range commits {
		done.Undoes = append(done.Undoes, vault.EntryOf(c))
	}
	if _, err := Adopt(ctx, v, AdoptOptions{Paths: touched(v, commits), Still: 1}); err != nil {
		return Undone{}, err
	}
	commit, err := v.Update(ctx, target.op(commits), func(tx *vault.Tx) error {
		hashes := make([]plumbing.Hash, len(commits))
		for i, c := range commits {
			hashes[i] = c.Hash
		}
		result, err := merge.RevertAll(v.Git(), tx.Head(), hashes)
		if err != nil {
			return err
		}
		done.Kept = done.Kept[:0]
		for _, c := range result.Conflicts {
			done.Kept = append(done.Kept, c.Path)
		}
		return tx.PutTree(result.Tree)
	})
	if err != nil {
		return Undone{}, fmt.Errorf("undo: %w", err)
	}
	done.Paths, done.Held, done.Changed = commit.Paths, commit.Held, len(commit.Paths) > 0
	if !commit.Hash.IsZero() {
		done.Commit = commit.Hash.String()
	}
	return done, nil
}

// settled commits what was saved and not committed yet, so that the last
// change is the last commit. Where that cannot be now, nothing is undone: it
// would be the wrong change.
func settled(ctx context.Context, v *vault.Vault) error {
	busy, err := v.Busy()
	if err != nil {
		return err
	}
	if busy != "" {
		return fmt.Errorf("nothing is undone now: %s", busy)
	}
	done, err := v.Update(ctx, vault.Op{Name: "repair"}, func(*vault.Tx) error { return nil })
	if err != nil {
		return err
	}
	held, err := v.HeldPaths()
	if err == nil && len(held) > 0 {
		why := done.Held
		if why == "" {
			why = "\"vade sync\" says why"
		}
		return fmt.Errorf("nothing is undone now: %s was saved and could not be committed yet: %s", strings.Join(held, ", "), why)
	}
	return err
}

// touched are the paths that the commits changed.
func touched(v *vault.Vault, commits []*repo.Commit) []string {
	var paths []string
	for _, c := range commits {
		var parent plumbing.Hash
		if len(c.Parents) > 0 {
			parent = c.Parents[0]
		}
		for ch, err := range repo.DiffCommits(v.Git(), parent, c.Hash) {
			if err != nil {
				break
			}
			paths = append(paths, ch.Path)
		}
	}
	return paths
}

func (t UndoTarget) op(commits []*repo.Commit) vault.Op {
	op := vault.Op{Name: "undo", Subject: commits[0].Subject()}
	switch {
	case t.Session != "":
		op.Subject = fmt.Sprintf("session %s (%d commits)", t.Session, len(commits))
	case t.Agent != "":
		op.Subject = fmt.Sprintf("agent %s (%d commits)", t.Agent, len(commits))
	}
	var names []string
	for _, c := range commits {
		names = append(names, c.Hash.String())
	}
	op.Extra = []repo.Trailer{{Key: "Vade-Undoes", Value: strings.Join(names, " ")}}
	return op
}

// find returns the target's commits, newest first, without those that were
// undone already and not brought back.
func (t UndoTarget) find(ctx context.Context, v *vault.Vault) ([]*repo.Commit, error) {
	head, err := v.Head()
	if err != nil {
		return nil, err
	}
	if !t.Commit.IsZero() {
		c, err := repo.ReadCommit(v.Git(), t.Commit)
		if err != nil {
			return nil, err
		}
		if len(c.Parents) > 1 {
			return nil, fmt.Errorf("commit %.10s is a merge: undo the commits that it brought, \"vade history\" lists them", c.Hash)
		}
		return []*repo.Commit{c}, nil
	}
	var found []*repo.Commit
	undone := map[string]bool{}
	for c, err := range repo.Log(v.Git(), head) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if undone[c.Hash.String()] || len(c.Parents) > 1 || !t.fits(v, c) {
			continue
		}
		if t.Session == "" && t.Agent == "" {
			return []*repo.Commit{c}, nil
		}
		if c.Trailer("Vade-Op") == "undo" {
			for name := range strings.FieldsSeq(c.Trailer("Vade-Undoes")) {
				undone[name] = true
			}
			continue
		}
		found = append(found, c)
	}
	switch {
	case len(found) > 0:
		return found, nil
	case t.Session != "":
		return nil, fmt.Errorf("session %q: %w", t.Session, ErrNothingToUndo)
	case t.Agent != "":
		return nil, fmt.Errorf("agent %q: %w", t.Agent, ErrNothingToUndo)
	}
	return nil, fmt.Errorf("host %q: %w", v.Origin().Host, ErrNothingToUndo)
}

// fits reports whether c belongs to the target. Only what vade committed is
// undone without being named.
func (t UndoTarget) fits(v *vault.Vault, c *repo.Commit) bool {
	op := c.Trailer("Vade-Op")
	switch {
	case op == "" || op == "init" || op == "merge":
		return false
	case t.Session != "":
		return c.Trailer("Vade-Session") == t.Session || op == "undo"
	case t.Agent != "":
		return c.Trailer("Vade-Agent") == t.Agent || op == "undo"
	}
	return c.Trailer("Vade-Host") == v.Origin().Host
}
