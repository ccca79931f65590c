package repo

import (
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
)

// Operation is what a human is in the middle of.
type Operation string

// Operations, by the git command that they belong to.
const (
	NoOperation Operation = ""
	Merging     Operation = "merge"
	Rebasing    Operation = "rebase"
	Applying    Operation = "am"
	CherryPick  Operation = "cherry-pick"
	Reverting   Operation = "revert"
	Bisecting   Operation = "bisect"
)

// State is where HEAD is and what is going on.
type State struct {
	Branch    string        // "refs/heads/main"; "" when HEAD is detached
	Commit    plumbing.Hash // zero: unborn branch
	Operation Operation
}

// State reads HEAD and looks for an operation in progress.
func (g *GitDir) State() (State, error) {
	branch, commit, err := g.Head()
	if err != nil {
		return State{}, err
	}
	return State{Branch: branch, Commit: commit, Operation: g.operation()}, nil
}

// operation looks at the files that git status looks at (wt-status.c). During a
// rebase several are there: the outermost operation comes first.
func (g *GitDir) operation() Operation {
	for _, o := range []struct {
		file string
		op   Operation
	}{
		{"rebase-merge", Rebasing},
		{"rebase-apply/applying", Applying},
		{"rebase-apply", Rebasing},
		{"MERGE_HEAD", Merging},
		{"CHERRY_PICK_HEAD", CherryPick},
		{"REVERT_HEAD", Reverting},
		{"sequencer", CherryPick}, // between two commits of a series
		{"BISECT_LOG", Bisecting},
	} {
		if _, err := os.Lstat(filepath.Join(g.dir, filepath.FromSlash(o.file))); err == nil {
			return o.op
		}
	}
	return NoOperation
}
