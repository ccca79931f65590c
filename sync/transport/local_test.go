package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// withoutGit makes sure that no git command can be found.
func withoutGit(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
}

func TestPathNeedsNoGit(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	path := os.Getenv("PATH")
	first := f.head()
	withoutGit(t)
	s := repo.NewMemory()
	r := open(t, f.bare, Options{})
	mustFetch(t, r, s)
	second := commitTo(t, s, first, "b.md", "b")
	if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: second}}, nil); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	if got := f.head(); got != second {
		t.Errorf("main is at %s, want %s", got, second)
	}
}

// workTree makes a clone with a work tree, its main checked out.
func workTree(t *testing.T, f *fixture) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	git(t, f.bare, "clone", "-q", f.bare, dir)
	return dir
}

func TestPathForms(t *testing.T) {
	home := isolate(t)
	f := newFixture(t)
	work := workTree(t, f)
	if err := os.Rename(f.bare, filepath.Join(home, "v.git")); err != nil {
		t.Fatal(err)
	}
	f.bare = filepath.Join(home, "v.git")
	for _, url := range []string{f.bare, strings.TrimSuffix(f.bare, ".git"), "~/v.git", "~/v", work, work + "/.git", "file://" + filepath.ToSlash(work)} {
		if refs := mustRefs(t, open(t, url, Options{})); refs[mainRef] != f.head() {
			t.Errorf("%s: got %v", url, refs)
		}
	}
	for url, want := range map[string]error{
		"/nowhere/at/all": ErrNotFound, home: ErrNotFound, f.bare + "/objects": ErrNotFound,
	} {
		if _, _, err := open(t, url, Options{}).Refs(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", url, err, want)
		}
	}
}

func TestCheckedOutBranchIsLeftAlone(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	work := workTree(t, f)
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, work, "worktree", "add", "-q", "-b", "linked", linked)
	s := repo.NewMemory()
	r := open(t, work, Options{})
	first := mustFetch(t, r, s)
	second := commitTo(t, s, first, "b.md", "b")
	for _, branch := range []string{mainRef, "refs/heads/linked"} {
		err := r.Push(t.Context(), s, []Update{{Ref: branch, Old: first, New: second}}, nil)
		rejected, ok := errors.AsType[*RejectedError](err)
		if !ok || rejected.NonFastForward || !strings.Contains(err.Error(), "checked out") {
			t.Errorf("%s: got %v", branch, err)
		}
	}
	if err := r.Push(t.Context(), s, []Update{{Ref: "refs/heads/side", New: second}}, nil); err != nil {
		t.Errorf("a branch that is not checked out: %v", err)
	}
	git(t, work, "config", "receive.denyCurrentBranch", "ignore")
	if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: second}}, nil); err != nil {
		t.Errorf("the owner lets it be pushed to: %v", err)
	}
}

func TestHooksWithoutGit(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	writeHook(t, f, "post-update", "touch ran")
	s := repo.NewMemory()
	r := open(t, f.bare, Options{})
	first := mustFetch(t, r, s)
	u := []Update{{Ref: mainRef, Old: first, New: commitTo(t, s, first, "b.md", "b")}}
	path := os.Getenv("PATH")
	withoutGit(t)
	err := r.Push(t.Context(), s, u, nil)
	t.Setenv("PATH", path)
	if rejected, ok := errors.AsType[*RejectedError](err); !ok || !strings.Contains(rejected.Reason, "post-update") {
		t.Errorf("got %v, want a rejection that names the hook", err)
	}
	if err := r.Push(t.Context(), s, u, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(f.bare, "ran")); err != nil {
		t.Error("the hook did not run")
	}
}

func TestHooksPathOfTheRemote(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	writeHook(t, f, "pre-receive", "exit 1")
	if err := os.Rename(filepath.Join(f.bare, "hooks"), filepath.Join(f.bare, "rules")); err != nil {
		t.Fatal(err)
	}
	git(t, f.bare, "config", "core.hooksPath", "rules")
	s := repo.NewMemory()
	r := open(t, f.bare, Options{})
	first := mustFetch(t, r, s)
	err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: commitTo(t, s, first, "b.md", "b")}}, nil)
	if !errors.Is(err, ErrRejected) {
		t.Errorf("got %v, want the hook's refusal", err)
	}
}

func TestDenyDeletes(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	git(t, f.bare, "config", "receive.denyDeletes", "true")
	git(t, f.bare, "branch", "x", "main")
	remove := func(ref string) error {
		return open(t, f.bare, Options{}).Push(t.Context(), repo.NewMemory(), []Update{{Ref: ref, Old: f.head()}}, nil)
	}
	if err := remove("refs/heads/x"); !errors.Is(err, ErrRejected) {
		t.Errorf("got %v", err)
	}
	git(t, f.bare, "config", "receive.denyDeletes", "false")
	if err := remove("refs/heads/x"); err != nil {
		t.Error(err)
	}
	if err := remove(mainRef); !errors.Is(err, ErrRejected) {
		t.Errorf("the current branch: got %v", err)
	}
}

func TestUpdateInsteadIsLeftToGit(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	work := workTree(t, f)
	git(t, work, "config", "receive.denyCurrentBranch", "updateInstead")
	s := repo.NewMemory()
	r := open(t, work, Options{})
	first := mustFetch(t, r, s)
	second := commitTo(t, s, first, "b.md", "b")
	if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: second}}, nil); err != nil {
		t.Fatal(err)
	}
	if out := git(t, work, "status", "--porcelain"); out != "" {
		t.Errorf("the work tree did not follow: %s", out)
	}
}

func TestRemoteThatBorrowsObjects(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	f.commit("two.md", "two")
	git(t, f.bare, "gc", "-q")
	borrower := filepath.Join(t.TempDir(), "borrower.git")
	git(t, f.bare, "clone", "-q", "--bare", "--shared", f.bare, borrower)
	s := repo.NewMemory()
	r := open(t, borrower, Options{})
	tip := mustRefs(t, r)[mainRef]
	_, err := r.Fetch(t.Context(), s, []plumbing.Hash{tip}, nil)
	if err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Remedy == "" {
			t.Errorf("got %v", err)
		}
		return
	}
	wantWhole(t, s, tip)
	second := commitTo(t, s, tip, "b.md", "b")
	if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: tip, New: second}}, nil); err != nil {
		t.Fatal(err)
	}
	git(t, borrower, "fsck", "--full")
}

func TestRemoteThatNobodyMayWrite(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	s := repo.NewMemory()
	r := open(t, f.bare, Options{})
	first := mustFetch(t, r, s)
	second := commitTo(t, s, first, "b.md", "b")
	chmod := func(mode os.FileMode) {
		for _, d := range []string{"objects", "refs/heads"} {
			if err := os.Chmod(filepath.Join(f.bare, d), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	chmod(0o500)
	err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: second}}, nil)
	chmod(0o700)
	// Root may write anywhere.
	if err != nil && !errors.Is(err, ErrAuth) {
		t.Errorf("got %v, want ErrAuth", err)
	}
}

// While gc repacks and prunes, fetches and pushes go on.
func TestRemoteUnderGC(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	for i := range 30 {
		f.commit(fmt.Sprintf("n/%d.md", i), strings.Repeat("text\n", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := tryGit(f.bare, "repack", "-a", "-d", "-q", "-f", fmt.Sprintf("--window=%d", i%5)); err != nil {
				t.Error(err)
				return
			}
			if _, err := tryGit(f.bare, "pack-refs", "--all"); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range 25 {
		s := repo.NewMemory()
		r := open(t, f.bare, Options{})
		tip := mustFetch(t, r, s)
		next := commitTo(t, s, tip, fmt.Sprintf("m/%d.md", i), "x")
		if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: tip, New: next}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	wg.Wait()
}

// A repository format that we do not speak is named, not misread.
func TestForeignRepositoryFormats(t *testing.T) {
	isolate(t)
	dir := filepath.Join(t.TempDir(), "sha256.git")
	git(t, t.TempDir(), "init", "-q", "--bare", "--object-format=sha256", dir)
	s := repo.NewMemory()
	u := []Update{{Ref: mainRef, New: commitTo(t, s, plumbing.ZeroHash, "a.md", "a")}}
	for _, opts := range []Options{{}, {Exec: true}} {
		err := open(t, dir, opts).Push(t.Context(), s, u, nil)
		if !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), "sha256") && !strings.Contains(err.Error(), "objectFormat") {
			t.Errorf("exec %v: got %v", opts.Exec, err)
		}
	}
}

func TestDamagedObjectInTheRemote(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	f.commit("big.md", strings.Repeat("x", 1000))
	blob := git(t, f.bare, "rev-parse", "main:big.md")
	file := filepath.Join(f.bare, "objects", blob[:2], blob[2:])
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{"cut": good[:len(good)-6], "empty": nil} {
		os.Chmod(file, 0o600)
		write(t, file, string(bad))
		s := repo.NewMemory()
		_, err = open(t, f.bare, Options{}).Fetch(t.Context(), s, []plumbing.Hash{f.head()}, nil)
		if err == nil {
			t.Errorf("%s: a damaged object was taken", name)
		}
	}
	write(t, file, string(good))
}
