package repo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// TestConcurrentWriters: several writers, each with a handle of its own, commit to
// one branch while git reads, packs and collects. Every commit that was
// acknowledged is in history, and no reader ever sees a broken ref or index.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	const writers, commits = 4, 12
	g, dir := initRepo(t)
	commit(t, g, map[string]string{"start.md": "start"})
	ctx, stop := context.WithCancel(t.Context())
	var humans, ours sync.WaitGroup
	for _, args := range [][]string{
		{"status", "--porcelain"}, {"log", "-1", "--format=%H"}, {"gc", "-q"}, {"pack-refs", "--all"}, {"repack", "-adq"},
	} {
		humans.Go(func() {
			for ctx.Err() == nil {
				out, err := gitCmd(ctx, dir, args...).CombinedOutput()
				// git waits for a ref's lock for 100 ms only.
				busy := strings.Contains(string(out), "gc is already running") || strings.Contains(string(out), ".lock': File exists")
				if err != nil && ctx.Err() == nil && !busy {
					t.Errorf("git %v: %v\n%s", args, err, out)
				}
			}
		})
	}
	var acked [writers][]plumbing.Hash
	var retries atomic.Int32
	for w := range writers {
		ours.Go(func() {
			for i := range commits {
				path := fmt.Sprintf("w%d/%d.md", w, i%5)
				h, tries, err := tryCommit(t, dir, path, fmt.Sprintf("writer %d, commit %d", w, i))
				retries.Add(int32(tries))
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				acked[w] = append(acked[w], h)
			}
		})
	}
	ours.Wait()
	stop()
	humans.Wait()
	_, head, err := g.Head()
	ok(t, err)
	in := map[plumbing.Hash]bool{}
	for c, err := range repo.Log(g, head) {
		ok(t, err)
		in[c.Hash] = true
	}
	for w := range writers {
		for _, h := range acked[w] {
			if !in[h] {
				t.Errorf("lost commit %s of writer %d", h, w)
			}
		}
	}
	equal(t, "commits", len(in), writers*commits+1)
	t.Logf("%d retries", retries.Load())
	clean(t, dir)
	reflog := strings.Count(git(t, dir, "reflog", "show", "main"), "\n") + 1
	equal(t, "reflog lines", reflog, writers*commits+1)
}

// tryCommit commits one file with a handle of its own, and starts over when
// somebody else was faster.
func tryCommit(t *testing.T, dir, path, text string) (h plumbing.Hash, tries int, err error) {
	for ; tries < 1000; tries++ {
		h, err = commitOnce(t, dir, path, text)
		_, locked := errors.AsType[*repo.LockedError](err)
		if !locked && !errors.Is(err, repo.ErrRefMoved) {
			return h, tries, err
		}
	}
	return h, tries, err
}

func commitOnce(t *testing.T, dir, path, text string) (plumbing.Hash, error) {
	g, err := repo.Open(dir)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer g.Close()
	setUp(t, g)
	if err := g.WorkTree().WriteFile(path, []byte(text)); err != nil {
		return plumbing.ZeroHash, err
	}
	branch, head, err := g.Head()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	blob, err := repo.WriteBlob(g, []byte(text))
	if err != nil {
		return plumbing.ZeroHash, err
	}
	c, err := repo.ReadCommit(g, head)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tree, err := repo.EditTree(g, c.Tree, []repo.Edit{{Path: path, Hash: blob}})
	if err != nil {
		return plumbing.ZeroHash, err
	}
	h, err := repo.WriteCommit(g, &repo.Commit{
		Tree: tree, Parents: []plumbing.Hash{head},
		Author: sign(1), Committer: sign(1), Message: text,
	})
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if err := g.CompareAndSet(branch, head, h, "race"); err != nil {
		return plumbing.ZeroHash, err
	}
	for { // the commit stands: the index must follow
		err := g.Splice(t.Context(), []repo.IndexChange{{Path: path, Hash: blob}})
		if _, locked := errors.AsType[*repo.LockedError](err); !locked {
			return h, err
		}
	}
}

func TestRefRaces(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	base := commit(t, g, map[string]string{"a.md": "a"})
	var ids []plumbing.Hash
	for i := range 8 {
		h, _ := buildCommit(t, g, base, i+2, map[string]string{"a.md": fmt.Sprint(i)})
		ids = append(ids, h)
	}
	ok(t, g.Flush())
	for _, name := range []string{"refs/heads/new", "refs/vade/x/y", repo.Main} {
		old := plumbing.ZeroHash
		if name == repo.Main {
			old = base
		}
		var won atomic.Int32
		var wg sync.WaitGroup
		for _, h := range ids {
			o := openRepo(t, dir)
			wg.Go(func() {
				switch err := o.CompareAndSet(name, old, h, "race"); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, repo.ErrRefMoved):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		equal(t, name+": winners", won.Load(), 1)
	}
	if names, err := os.ReadDir(filepath.Join(dir, ".git", "vade", "locks")); err != nil || len(names) > 0 {
		t.Errorf("markers left: %v, %v", names, err)
	}
	git(t, dir, "reset", "-q", "--hard")
}

// TestLocksAreNeverTakenFromTheLiving: many that lock one ref and mostly give it up
// again. A lock between two states must not be taken for stale, nor be put back
// after its owner let it go.
func TestLocksAreNeverTakenFromTheLiving(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	base := commit(t, g, map[string]string{"a.md": "a"})
	var wg sync.WaitGroup
	for w := range 6 {
		o := openRepo(t, dir)
		o.Warn = func(msg string) { t.Error(msg) }
		h, _ := buildCommit(t, o, base, w+2, map[string]string{"a.md": fmt.Sprint(w)})
		ok(t, o.Flush())
		wg.Go(func() {
			for range 150 {
				at, err := o.Ref(repo.Main)
				if err != nil {
					t.Error(err)
					return
				}
				err = o.CompareAndSet(repo.Main, at, h, "race")
				_, locked := errors.AsType[*repo.LockedError](err)
				if err != nil && !locked && !errors.Is(err, repo.ErrRefMoved) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if _, err := os.Lstat(filepath.Join(dir, ".git", "refs", "heads", "main.lock")); err == nil {
		t.Error("a lock was left behind")
	}
	git(t, dir, "reset", "-q", "--hard")
}

func TestStaleRefLocks(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	a := commit(t, g, map[string]string{"a.md": "a"})
	b, _ := buildCommit(t, g, a, 2, map[string]string{"a.md": "b"})
	lock := filepath.Join(dir, ".git", "refs", "heads", "x.lock")
	writeFile(t, lock, "")
	err := g.CompareAndSet("refs/heads/x", plumbing.ZeroHash, b, "")
	if e, found := errors.AsType[*repo.LockedError](err); !found || e.Path != lock {
		t.Errorf("got %v", err)
	}
	refs, err := g.Refs("refs/heads/")
	ok(t, err)
	equal(t, "a lock is no ref", len(refs), 1)
	ok(t, os.Remove(lock))
	ok(t, g.CompareAndSet("refs/heads/x", plumbing.ZeroHash, b, ""))
}
