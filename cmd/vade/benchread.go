package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"vademecum/sync/merge"
	"vademecum/vault/repo"
)

// recall compares a cold recall's look at the disk with git status, and the
// rest of it with a recall in an empty vault.
func (b *bench) recall(ctx context.Context) error {
	empty, err := b.vaultOf(ctx, 0)
	if err != nil {
		return err
	}
	if _, err := b.vade(ctx, empty.home, "remember", "the only memory here"); err != nil {
		return err
	}
	for _, size := range b.sizes {
		v, err := b.vaultOf(ctx, size)
		if err != nil {
			return err
		}
		if _, err := b.vade(ctx, v.home, "reindex"); err != nil {
			return err
		}
		ms, err := b.turns(
			func(int) (time.Duration, error) { return b.vade(ctx, v.home, "recall", "delete empty directories eto") },
			func(int) (time.Duration, error) { return b.vade(ctx, v.home, "bench", "freshness") },
			func(int) (time.Duration, error) {
				return b.vade(ctx, empty.home, "recall", "delete empty directories eto")
			},
			func(int) (time.Duration, error) { return b.vade(ctx, empty.home, "bench", "freshness") },
			func(int) (time.Duration, error) { return b.gitCPU(ctx, v.vault, "status", "--porcelain") },
		)
		if err != nil {
			return err
		}
		b.add(measure{Name: "recall: freshness check", Size: size, Ours: ms[1] - ms[3], Theirs: ms[4], Unit: "ms", Allowed: 1, Yard: "git status"})
		b.add(measure{Name: "recall: the rest", Size: size, Ours: ms[0] - (ms[1] - ms[3]), Theirs: ms[2], Unit: "ms", Allowed: 3, Yard: "recall in an empty vault"})
	}
	return nil
}

// remotes gives a vault and its git clone a bare remote each, in step.
func (b *bench) remotes(ctx context.Context, v *benchVault) error {
	if err := b.cloned(ctx, v); err != nil {
		return err
	}
	for dir, name := range map[string]string{v.vault: "ours.git", v.git: "theirs.git"} {
		bare := filepath.Join(filepath.Dir(v.git), name)
		if _, err := os.Stat(bare); err == nil {
			continue
		}
		if err := b.git(ctx, b.dir, "clone", "--quiet", "--bare", "--no-hardlinks", dir, bare); err != nil {
			return err
		}
	}
	if _, err := b.vade(ctx, v.home, "remote", "set", filepath.Join(filepath.Dir(v.git), "ours.git")); err != nil {
		return err
	}
	if _, err := b.vade(ctx, v.home, "sync"); err != nil {
		return err
	}
	return b.git(ctx, v.git, "remote", "set-url", "origin", filepath.Join(filepath.Dir(v.git), "theirs.git"))
}

// syncIdle compares a round with nothing to do with git fetch and git status.
func (b *bench) syncIdle(ctx context.Context) error {
	for _, size := range b.sizes {
		v, err := b.vaultOf(ctx, size)
		if err != nil {
			return err
		}
		if err := b.remotes(ctx, v); err != nil {
			return err
		}
		ms, err := b.turns(
			func(int) (time.Duration, error) { return b.vade(ctx, v.home, "sync") },
			func(int) (time.Duration, error) {
				fetch, err := b.gitCPU(ctx, v.git, "fetch", "--quiet")
				if err != nil {
					return 0, err
				}
				status, err := b.gitCPU(ctx, v.git, "status", "--porcelain")
				return fetch + status, err
			},
		)
		if err != nil {
			return err
		}
		b.add(measure{Name: "sync: nothing new", Size: size, Ours: ms[0], Theirs: ms[1], Unit: "ms", Allowed: 1, Yard: "git fetch && git status"})
	}
	return nil
}

// push compares what follows a write, and a round that looks at all files first,
// with git push of one commit.
func (b *bench) push(ctx context.Context) error {
	for _, size := range b.sizes {
		v, err := b.vaultOf(ctx, size)
		if err != nil {
			return err
		}
		if err := b.remotes(ctx, v); err != nil {
			return err
		}
		ms, err := b.turns(
			func(run int) (time.Duration, error) {
				if _, err := b.vade(ctx, v.home, "remember", fmt.Sprintf("push %d %d", run, size)); err != nil {
					return 0, err
				}
				return b.vade(ctx, v.home, "sync", "--committed")
			},
			func(run int) (time.Duration, error) {
				if _, err := b.vade(ctx, v.home, "remember", fmt.Sprintf("whole %d %d", run, size)); err != nil {
					return 0, err
				}
				return b.vade(ctx, v.home, "sync")
			},
			func(run int) (time.Duration, error) {
				if _, err := b.addAndCommit(ctx, v.git, 1000+run); err != nil {
					return 0, err
				}
				return b.gitCPU(ctx, v.git, "push", "--quiet", "origin", "HEAD:main")
			},
		)
		if err != nil {
			return err
		}
		b.add(measure{Name: "push: one commit", Size: size, Ours: ms[0], Theirs: ms[2], Unit: "ms", Allowed: 2, Yard: "git push"})
		b.add(measure{Name: "push: with a look at all files", Size: size, Ours: ms[1], Theirs: ms[2], Unit: "ms", Yard: "git push"})
	}
	return nil
}

const (
	mergeCommits = 200 // on each side
	mergeOverlap = 50  // files that both sides change
)

// merge compares bringing 200 commits of each of two hosts together with what
// git merge-tree costs for the same two commits. git leaves its conflicts to a
// person; ours are settled.
func (b *bench) merge(ctx context.Context) error {
	size := b.sizes[len(b.sizes)-1]
	v, err := b.vaultOf(ctx, size)
	if err != nil {
		return err
	}
	repository := filepath.Join(b.dir, "merge")
	if err := b.git(ctx, b.dir, "clone", "--quiet", "--no-hardlinks", v.vault, repository); err != nil {
		return err
	}
	for side, branch := range []string{"left", "right"} {
		if err := b.diverge(ctx, repository, branch, side); err != nil {
			return err
		}
	}
	ms, err := b.turns(
		func(int) (time.Duration, error) { return b.vade(ctx, b.dir, "bench", "merge-trees", repository) },
		func(int) (time.Duration, error) { return b.vade(ctx, b.dir, "version") },
		func(int) (time.Duration, error) {
			cmd := exec.CommandContext(ctx, "git", "merge-tree", "--write-tree", "left", "right")
			cmd.Env, cmd.Dir = environment(b.dir), repository
			d, err := cpuOf(cmd)
			if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 1 { // it found conflicts
				return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
			}
			return d, err
		},
	)
	if err != nil {
		return err
	}
	b.add(measure{Name: "merge: 200 with 200 commits", Size: size, Ours: ms[0] - ms[1], Theirs: ms[2], Unit: "ms", Allowed: 4, Yard: "git merge-tree"})
	return nil
}

// diverge makes a branch of 200 commits, of which 50 change files that the
// other branch changes too.
func (b *bench) diverge(ctx context.Context, repository, branch string, side int) error {
	if err := b.git(ctx, repository, "checkout", "--quiet", "-b", branch, "origin/main"); err != nil {
		return err
	}
	for i := range mergeCommits {
		n := i
		if i >= mergeOverlap {
			n = i*2 + side
		}
		path := filepath.Join(repository, "memories", "2026", "00", fmt.Sprintf("note-%06d.md", n%500))
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		data = append(data, fmt.Sprintf("%s adds line %d\n", branch, i)...)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
		if err := b.git(ctx, repository, "commit", "--quiet", "-am", branch); err != nil {
			return err
		}
	}
	return nil
}

// mergeTreesCmd merges the branches left and right of a repository and throws
// the result away.
func (a *app) mergeTreesCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "merge-trees DIR",
		Short:  "Merge the branches left and right of a repository in memory",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			git, err := repo.Open(args[0])
			if err != nil {
				return err
			}
			defer git.Close()
			left, err := git.Ref("refs/heads/left")
			if err != nil {
				return err
			}
			right, err := git.Ref("refs/heads/right")
			if err != nil {
				return err
			}
			r, err := merge.Commits(git, left, right)
			if err == nil {
				a.printf("%s %d\n", r.Tree, len(r.Conflicts))
			}
			return err
		},
	}
}
