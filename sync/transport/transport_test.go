package transport

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"vademecum/vault/repo"
)

func TestRefsOfARepository(t *testing.T) {
	overEvery(t, func(t *testing.T, f *fixture, open func() *Remote, s repo.Store) {
		git(t, f.bare, "branch", "other", "main")
		git(t, f.bare, "tag", "-a", "-m", "x", "v1", "main")
		refs, head, err := open().Refs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"refs/heads/main " + f.head().String(),
			"refs/heads/other " + f.head().String(),
			"refs/tags/v1 " + f.at("refs/tags/v1").String(),
		}
		if diff := cmp.Diff(want, hashes(refs)); diff != "" {
			t.Error(diff)
		}
		if head != mainRef {
			t.Errorf("got HEAD %q, want %q", head, mainRef)
		}
	})
}

func TestFetchThenFetchMore(t *testing.T) {
	overEvery(t, func(t *testing.T, f *fixture, open func() *Remote, s repo.Store) {
		r := open()
		first := mustFetch(t, r, s)
		if err := s.CompareAndSet(mainRef, plumbing.ZeroHash, first, "test"); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			f.write(fmt.Sprintf("more/%d.md", i), strings.Repeat("text\n", i))
		}
		f.commit("notes/two.md", "two\n")
		second := mustFetch(t, r, s, first)
		if second != f.head() {
			t.Errorf("got %s, want %s", second, f.head())
		}
		stats, err := r.Fetch(t.Context(), s, []plumbing.Hash{second}, []plumbing.Hash{first})
		if err != nil || stats != (FetchStats{}) {
			t.Errorf("fetch of what is there: got %+v, %v", stats, err)
		}
	})
}

func TestFetchManyObjects(t *testing.T) {
	overEvery(t, func(t *testing.T, f *fixture, open func() *Remote, s repo.Store) {
		for i := range 3 * unpackLimit {
			f.write(fmt.Sprintf("m/%02d/%d.md", i%7, i), fmt.Sprintf("%d\n%s", i, strings.Repeat("the same line again\n", 50)))
		}
		f.commit("x.md", "x")
		git(t, f.bare, "gc", "-q")
		mustFetch(t, open(), s)
	})
}

func TestPushCreatesMovesAndDeletes(t *testing.T) {
	overEvery(t, func(t *testing.T, f *fixture, open func() *Remote, s repo.Store) {
		r := open()
		first := mustFetch(t, r, s)
		second := commitTo(t, s, first, "notes/b.md", "b\n")
		push := func(updates ...Update) {
			t.Helper()
			if err := r.Push(t.Context(), s, updates, nil); err != nil {
				t.Fatal(err)
			}
		}
		push(Update{Ref: mainRef, Old: first, New: second})
		if got := f.head(); got != second {
			t.Errorf("main is at %s, want %s", got, second)
		}
		push(Update{Ref: "refs/heads/new", New: second})
		if got := f.at("refs/heads/new"); got != second {
			t.Errorf("new is at %s, want %s", got, second)
		}
		push(Update{Ref: "refs/heads/new", Old: second})
		if got := f.at("refs/heads/new"); !got.IsZero() {
			t.Errorf("new is at %s still", got)
		}
		push(Update{Ref: mainRef, Old: second, New: second})
	})
}

func TestPushToAnEmptyRemote(t *testing.T) {
	overEvery(t, func(t *testing.T, f *fixture, open func() *Remote, s repo.Store) {
		git(t, f.bare, "update-ref", "-d", mainRef)
		r := open()
		refs, _, err := r.Refs(t.Context())
		if err != nil || len(refs) != 0 {
			t.Fatalf("refs of an empty repository: got %v, %v", refs, err)
		}
		h := plumbing.ZeroHash
		for i := range 2 * unpackLimit {
			h = commitLazily(t, s, h, fmt.Sprintf("n/%d.md", i), fmt.Sprint(i))
		}
		if err := r.Push(t.Context(), s, []Update{{Ref: mainRef, New: h}}, nil); err != nil {
			t.Fatal(err)
		}
		if got := f.head(); got != h {
			t.Errorf("got main at %s, want %s", got, h)
		}
	})
}

func TestPushIsRejectedWhenTheRemoteMoved(t *testing.T) {
	overEvery(t, func(t *testing.T, f *fixture, open func() *Remote, s repo.Store) {
		r := open()
		first := mustFetch(t, r, s)
		ours := commitTo(t, s, first, "notes/b.md", "b\n")
		theirs := f.commit("notes/c.md", "c\n")
		for name, u := range map[string]Update{
			"moved":  {Ref: mainRef, Old: first, New: ours},
			"exists": {Ref: mainRef, New: ours},
			"gone":   {Ref: "refs/heads/gone", Old: first, New: ours},
		} {
			err := r.Push(t.Context(), s, []Update{u}, nil)
			rejected, ok := errors.AsType[*RejectedError](err)
			if !ok || !rejected.NonFastForward || !errors.Is(err, ErrRejected) || rejected.Ref != u.Ref {
				t.Errorf("%s: got %v, want a rejection", name, err)
			}
		}
		if got := f.head(); got != theirs {
			t.Errorf("main is at %s, want %s", got, theirs)
		}
	})
}

func TestPushNeverTakesCommitsAway(t *testing.T) {
	overEvery(t, func(t *testing.T, f *fixture, open func() *Remote, s repo.Store) {
		r := open()
		first := mustFetch(t, r, s)
		other := commitTo(t, s, plumbing.ZeroHash, "unrelated.md", "x")
		err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: other}}, nil)
		if rejected, ok := errors.AsType[*RejectedError](err); !ok || !rejected.NonFastForward {
			t.Errorf("got %v, want a rejection", err)
		}
		if got := f.head(); got != first {
			t.Errorf("main is at %s, want %s", got, first)
		}
	})
}

func TestHookOfTheRemoteDeclines(t *testing.T) {
	overEvery(t, func(t *testing.T, f *fixture, open func() *Remote, s repo.Store) {
		writeHook(t, f, "pre-receive", "echo 'no notes on \033[31mFridays' >&2; exit 1")
		r := open()
		first := mustFetch(t, r, s)
		err := r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: commitTo(t, s, first, "b.md", "b")}}, nil)
		rejected, ok := errors.AsType[*RejectedError](err)
		if !ok || rejected.NonFastForward {
			t.Fatalf("got %v, want a rejection that is not about fast-forwards", err)
		}
		if !strings.Contains(err.Error(), "hook declined") {
			t.Errorf("the error does not name the hook: %v", err)
		}
		if strings.Contains(err.Error(), "\033") {
			t.Errorf("the error steers the terminal: %q", err)
		}
		if !strings.Contains(t.Name(), "exec_http") && !strings.Contains(err.Error(), "Fridays") {
			t.Errorf("the error lacks the hook's words: %v", err)
		}
	})
}

func TestOneOfManyPushersWins(t *testing.T) {
	for _, w := range ways() {
		if strings.HasPrefix(w.name, "exec") {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			isolate(t)
			f := newFixture(t)
			url, opts := w.url(t, f)
			const pushers = 6
			errs := make([]error, pushers)
			heads := make([]plumbing.Hash, pushers)
			var wg sync.WaitGroup
			start := make(chan bool)
			for i := range pushers {
				s := repo.NewMemory()
				r := open(t, url, opts)
				first := mustFetch(t, r, s)
				heads[i] = commitTo(t, s, first, fmt.Sprintf("n%d.md", i), "x")
				wg.Go(func() {
					<-start
					errs[i] = r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: heads[i]}}, nil)
				})
			}
			close(start)
			wg.Wait()
			won := 0
			for i, err := range errs {
				if err == nil {
					won++
					if got := f.head(); got != heads[i] {
						t.Errorf("main is at %s, not at the winner's %s", got, heads[i])
					}
					continue
				}
				if rejected, ok := errors.AsType[*RejectedError](err); !ok || !rejected.NonFastForward {
					t.Errorf("loser got %v", err)
				}
			}
			if won != 1 {
				t.Errorf("%d pushers won, want 1", won)
			}
		})
	}
}

func TestRefMovesBetweenListingAndFetch(t *testing.T) {
	overEvery(t, func(t *testing.T, f *fixture, open func() *Remote, s repo.Store) {
		listed := mustRefs(t, open())[mainRef]
		f.commit("notes/later.md", "later\n")
		// Another Remote: its conversation did not see the old tip.
		if _, err := open().Fetch(t.Context(), s, []plumbing.Hash{listed}, nil); err != nil {
			t.Fatal(err)
		}
		wantWhole(t, s, listed)
	})
}

func TestFetchOfWhatWasRewrittenAway(t *testing.T) {
	overEvery(t, func(t *testing.T, f *fixture, open func() *Remote, s repo.Store) {
		gone := f.commit("notes/gone.md", "gone\n")
		git(t, f.bare, "update-ref", mainRef, gone.String()+"~")
		git(t, f.bare, "reflog", "expire", "--expire=now", "--all")
		git(t, f.bare, "gc", "-q", "--prune=now")
		_, err := open().Fetch(t.Context(), s, []plumbing.Hash{gone}, nil)
		if !errors.Is(err, ErrMoved) {
			t.Errorf("got %v, want ErrMoved", err)
		}
	})
}

func TestNoSuchRepository(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			isolate(t)
			url, opts := w.url(t, newFixture(t))
			_, _, err := open(t, strings.Replace(url, "remote.git", "other.git", 1), opts).Refs(t.Context())
			if !errors.Is(err, ErrNotFound) {
				t.Fatalf("got %v, want ErrNotFound", err)
			}
			if e, ok := errors.AsType[*Error](err); !ok || e.Remedy == "" {
				t.Errorf("no remedy in %v", err)
			}
		})
	}
}
