package repo_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"vademecum/vault/repo"
)

// randomHistory writes a history with branches, merges, octopus merges, several
// roots, reverts and clocks that go wrong, and returns its commits, parents first.
func randomHistory(t testing.TB, s repo.Store, rnd *rand.Rand, n int, skew time.Duration) []plumbing.Hash {
	t.Helper()
	var commits []plumbing.Hash
	trees := map[plumbing.Hash]plumbing.Hash{}
	for i := range n {
		var parents []plumbing.Hash
		if i > 0 && rnd.IntN(25) > 0 {
			parents = append(parents, commits[max(0, len(commits)-1-rnd.IntN(4))])
			for rnd.IntN(4) == 0 {
				if p := commits[max(0, len(commits)-1-rnd.IntN(12))]; !slices.Contains(parents, p) {
					parents = append(parents, p)
				}
			}
		}
		tree := plumbing.ZeroHash
		if len(parents) > 0 {
			tree = trees[parents[rnd.IntN(len(parents))]]
		}
		if i > 5 && rnd.IntN(5) == 0 { // back to what some commit had
			tree = trees[commits[rnd.IntN(len(commits))]]
		}
		for range rnd.IntN(3) {
			e := repo.Edit{Path: fmt.Sprintf("%d/%d/%d.md", rnd.IntN(3), rnd.IntN(3), rnd.IntN(3))}
			if rnd.IntN(5) > 0 {
				h, err := repo.WriteBlob(s, fmt.Appendf(nil, "content %d", rnd.IntN(40)))
				ok(t, err)
				e.Hash = h
			}
			var err error
			tree, err = repo.EditTree(s, tree, []repo.Edit{e})
			ok(t, err)
		}
		if tree.IsZero() {
			var err error
			tree, err = repo.EditTree(s, tree, nil)
			ok(t, err)
		}
		who := sign(i * 60)
		who.When = who.When.Add(time.Duration(rnd.Int64N(int64(2*skew+1))) - skew)
		h, err := repo.WriteCommit(s, &repo.Commit{Tree: tree, Parents: parents, Author: who, Committer: who, Message: fmt.Sprint(i)})
		ok(t, err)
		trees[h] = tree
		commits = append(commits, h)
	}
	ok(t, s.Flush())
	return commits
}

// histories runs f on random histories in git directories, with sound clocks and
// with bad ones.
func histories(t *testing.T, f func(t *testing.T, g *repo.GitDir, dir string, rnd *rand.Rand, commits []plumbing.Hash)) {
	for seed, skew := range []time.Duration{0, 10 * time.Minute, 100 * time.Hour} {
		t.Run(fmt.Sprintf("skew %v", skew), func(t *testing.T) {
			g, dir := initRepo(t)
			rnd := rand.New(rand.NewPCG(uint64(seed), 7))
			f(t, g, dir, rnd, randomHistory(t, g, rnd, 120, skew))
		})
	}
}

func pick(rnd *rand.Rand, hs []plumbing.Hash, n int) []plumbing.Hash {
	var out []plumbing.Hash
	for range n {
		out = append(out, hs[rnd.IntN(len(hs))])
	}
	return out
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func hashStrings(hs []plumbing.Hash) []string {
	var out []string
	for _, h := range hs {
		out = append(out, h.String())
	}
	return out
}

func TestGraphAgainstGit(t *testing.T) {
	t.Parallel()
	histories(t, func(t *testing.T, g *repo.GitDir, dir string, rnd *rand.Rand, commits []plumbing.Hash) {
		for range 15 {
			p := pick(rnd, commits, 2)
			a, b := p[0], p[1]
			bases, err := repo.MergeBases(g, a, b)
			ok(t, err)
			out, _ := gitTry(t, dir, "merge-base", "--all", a.String(), b.String())
			want := lines(out)
			slices.Sort(want)
			if diff := cmp.Diff(want, hashStrings(bases)); diff != "" {
				t.Errorf("merge bases of %s and %s: -git +ours\n%s", a, b, diff)
			}
			other, err := repo.MergeBases(g, b, a)
			ok(t, err)
			equal(t, "merge bases the other way round", fmt.Sprint(other), fmt.Sprint(bases))
			yes, err := repo.IsAncestor(g, a, b)
			ok(t, err)
			_, err = gitTry(t, dir, "merge-base", "--is-ancestor", a.String(), b.String())
			equal(t, fmt.Sprintf("%s is an ancestor of %s", a, b), yes, err == nil)
			n, err := repo.Count(g, a, b)
			ok(t, err)
			// git's own count is wrong here now and then, where clocks are.
			if want := exactCount(t, g, a, b); n != want {
				t.Errorf("count %s..%s: got %d, want %d", a, b, n, want)
			}
		}
		n, err := repo.Count(g, plumbing.ZeroHash, commits[90])
		ok(t, err)
		equal(t, "count of all", strconv.Itoa(n), git(t, dir, "rev-list", "--count", commits[90].String()))
	})
}

func TestLogAgainstGit(t *testing.T) {
	t.Parallel()
	histories(t, func(t *testing.T, g *repo.GitDir, dir string, rnd *rand.Rand, commits []plumbing.Hash) {
		for range 8 {
			tips := pick(rnd, commits, 1+rnd.IntN(3))
			seen := map[plumbing.Hash]bool{}
			var got []string
			for c, err := range repo.Log(g, tips...) {
				ok(t, err)
				got = append(got, c.Hash.String())
				for _, p := range c.Parents {
					if seen[p] {
						t.Fatalf("parent %s came before its child %s", p, c.Hash)
					}
				}
				seen[c.Hash] = true
			}
			want := lines(git(t, dir, append([]string{"rev-list", "--date-order"}, hashStrings(tips)...)...))
			if len(want) != len(seen) {
				t.Fatalf("log: got %d commits, git has %d", len(seen), len(want))
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// exactCount walks all of both histories.
func exactCount(t testing.TB, s repo.Store, from, to plumbing.Hash) int {
	t.Helper()
	reach := func(h plumbing.Hash) map[plumbing.Hash]bool {
		seen := map[plumbing.Hash]bool{}
		for c, err := range repo.Log(s, h) {
			ok(t, err)
			seen[c.Hash] = true
		}
		return seen
	}
	known, n := reach(from), 0
	for h := range reach(to) {
		if !known[h] {
			n++
		}
	}
	return n
}

// TestLogIsNewestFirst: with sound clocks, in git's own order.
func TestLogIsNewestFirst(t *testing.T) {
	g, dir := initRepo(t)
	commits := randomHistory(t, g, rand.New(rand.NewPCG(9, 9)), 120, 0)
	tips := []plumbing.Hash{commits[119], commits[110]}
	var got []string
	for c, err := range repo.Log(g, tips...) {
		ok(t, err)
		got = append(got, c.Hash.String())
	}
	if diff := cmp.Diff(lines(git(t, dir, append([]string{"rev-list", "--date-order"}, hashStrings(tips)...)...)), got); diff != "" {
		t.Errorf("-git +ours\n%s", diff)
	}
}

// TestLogReadsNoFurtherThanNeeded: the newest commit of a straight history costs
// two reads.
func TestLogReadsNoFurtherThanNeeded(t *testing.T) {
	m := &counting{Memory: repo.NewMemory()}
	var head plumbing.Hash
	for i := range 100 {
		head, _ = buildCommit(t, m, head, i, map[string]string{"a.md": fmt.Sprint(i)})
	}
	m.reads = 0
	for _, err := range repo.Log(m, head) {
		ok(t, err)
		break
	}
	if m.reads > 2 {
		t.Errorf("%d reads for one commit", m.reads)
	}
}

type counting struct {
	*repo.Memory
	reads int
}

func (c *counting) ReadObject(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	c.reads++
	return c.Memory.ReadObject(h)
}

func TestHistoryAgainstGit(t *testing.T) {
	t.Parallel()
	histories(t, func(t *testing.T, g *repo.GitDir, dir string, rnd *rand.Rand, commits []plumbing.Hash) {
		for _, path := range []string{"0/1/2.md", "2", "none.md"} {
			var got []string
			for c, err := range repo.History(g, path, commits[len(commits)-1]) {
				ok(t, err)
				if len(c.Parents) < 2 {
					got = append(got, c.Hash.String())
				}
				for _, p := range c.Parents {
					if git(t, dir, "diff-tree", "--name-only", p.String(), c.Hash.String(), "--", path) == "" {
						t.Errorf("%s did not change %s", c.Hash, path)
					}
				}
			}
			slices.Sort(got)
			want := lines(git(t, dir, "rev-list", "--full-history", "--no-merges", commits[len(commits)-1].String(), "--", path))
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("history of %s: -git +ours\n%s", path, diff)
			}
		}
	})
}

func TestDiffAgainstGit(t *testing.T) {
	t.Parallel()
	histories(t, func(t *testing.T, g *repo.GitDir, dir string, rnd *rand.Rand, commits []plumbing.Hash) {
		for range 12 {
			p := pick(rnd, commits, 2)
			var got []string
			for c, err := range repo.DiffCommits(g, p[0], p[1]) {
				ok(t, err)
				kind := "M"
				switch {
				case c.OldHash.IsZero():
					kind = "A"
				case c.NewHash.IsZero():
					kind = "D"
				}
				got = append(got, fmt.Sprintf(":%06o %06o %s %s %s\t%s", uint32(c.OldMode), uint32(c.NewMode), c.OldHash, c.NewHash, kind, c.Path))
			}
			want := lines(git(t, dir, "diff-tree", "-r", "--no-renames", p[0].String(), p[1].String()))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("-git +ours\n%s", diff)
			}
		}
	})
}

// TestNewObjectsAgainstGit: never fewer than git rev-list --objects, and what is
// sent makes a sound repository.
func TestNewObjectsAgainstGit(t *testing.T) {
	t.Parallel()
	over, total := 0, 0
	histories(t, func(t *testing.T, g *repo.GitDir, dir string, rnd *rand.Rand, commits []plumbing.Hash) {
		for range 25 {
			wants, haves := pick(rnd, commits, 1+rnd.IntN(2)), pick(rnd, commits, rnd.IntN(3))
			got, err := repo.NewObjects(g, wants, append(haves, plumbing.NewHash("1111111111111111111111111111111111111111")))
			ok(t, err)
			args := append([]string{"rev-list", "--objects"}, hashStrings(wants)...)
			for _, h := range haves {
				args = append(args, "^"+h.String())
			}
			sent := map[string]bool{}
			for _, h := range got {
				if sent[h.String()] {
					t.Fatalf("%s is listed twice", h)
				}
				sent[h.String()] = true
			}
			want := lines(git(t, dir, args...))
			for _, line := range want {
				id, _, _ := strings.Cut(line, " ")
				if !sent[id] {
					// git lists a few objects that the other side has in older commits.
					if has := git(t, dir, append([]string{"rev-list", "--objects"}, hashStrings(haves)...)...); len(haves) == 0 || !strings.Contains(has, id) {
						t.Fatalf("%s is not sent (wants %v, haves %v)", line, wants, haves)
					}
				}
			}
			over += max(0, len(got)-len(want))
			total++
		}
	})
	t.Logf("%.1f objects too many on average", float64(over)/float64(total))
}

func TestEncodePackMakesSoundRepositories(t *testing.T) {
	t.Parallel()
	g, dir := initRepo(t)
	rnd := rand.New(rand.NewPCG(5, 5))
	commits := randomHistory(t, g, rnd, 120, 0)
	other := filepath.Join(t.TempDir(), "other")
	git(t, t.TempDir(), "init", "-q", "--bare", other)
	var haves []plumbing.Hash
	for _, upTo := range []int{10, 11, 119} {
		want := commits[upTo]
		list, err := repo.NewObjects(g, []plumbing.Hash{want}, haves)
		ok(t, err)
		var pack bytes.Buffer
		_, err = repo.EncodePack(&pack, g, list)
		ok(t, err)
		gitIn(t, other, pack.String(), "index-pack", "--stdin", "--strict")
		git(t, other, "update-ref", fmt.Sprintf("refs/heads/b%d", upTo), want.String())
		fsck(t, other)
		haves = append(haves, want)
		git(t, dir, "gc", "-q") // the next pack is made from packed objects
	}
}

// TestEncodePackCopies: of a packed history, whole and in part.
func TestEncodePackCopies(t *testing.T) {
	t.Parallel()
	g, dir := packedHistory(t, growingFolder(t, 250))
	_, head, err := g.Head()
	ok(t, err)
	git(t, dir, "repack", "-adfq") // with deltas
	for _, haves := range [][]plumbing.Hash{nil, {plumbing.NewHash(git(t, dir, "rev-parse", "HEAD~120"))}} {
		list, err := repo.NewObjects(g, []plumbing.Hash{head}, haves)
		ok(t, err)
		var pack bytes.Buffer
		_, err = repo.EncodePack(&pack, g, list)
		ok(t, err)
		other := t.TempDir()
		git(t, other, "init", "-q", "--bare")
		if haves != nil {
			git(t, dir, "push", "-q", other, haves[0].String()+":refs/heads/old")
		}
		gitIn(t, other, pack.String(), "index-pack", "--stdin", "--strict")
		git(t, other, "update-ref", "refs/heads/main", head.String())
		fsck(t, other)
		t.Logf("%d objects, %d bytes", len(list), pack.Len())
	}
}

func TestNewObjectsOfTags(t *testing.T) {
	g, dir := initRepo(t)
	a := commit(t, g, map[string]string{"a.md": "a"})
	git(t, dir, "tag", "-am", "one", "v1")
	git(t, dir, "tag", "-am", "of a tag", "v2", "v1")
	tag := plumbing.NewHash(git(t, dir, "rev-parse", "v2"))
	got, err := repo.NewObjects(g, []plumbing.Hash{tag}, nil)
	ok(t, err)
	equal(t, "objects", len(got), 5)
	got, err = repo.NewObjects(g, []plumbing.Hash{tag}, []plumbing.Hash{a})
	ok(t, err)
	equal(t, "objects beyond the commit", len(got), 2)
}
