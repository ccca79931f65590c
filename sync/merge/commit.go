package merge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// Commits merges two commits: their trees, made of the first of their merge
// bases by id, or of nothing where they have none.
func Commits(s repo.Store, a, b plumbing.Hash) (Result, error) {
	bases, err := repo.MergeBases(s, a, b)
	if err != nil {
		return Result{}, fmt.Errorf("merge %.10s with %.10s: %w", a, b, err)
	}
	var base plumbing.Hash
	if len(bases) > 0 {
		base = bases[0]
	}
	var trees [3]plumbing.Hash
	for i, h := range []plumbing.Hash{base, a, b} {
		if h.IsZero() {
			continue
		}
		c, err := repo.ReadCommit(s, h)
		if err != nil {
			return Result{}, fmt.Errorf("merge %.10s with %.10s: %w", a, b, err)
		}
		trees[i] = c.Tree
	}
	return Trees(s, trees[0], trees[1], trees[2], Options{
		ChangedA: ChangeTimes(s, base, a), ChangedB: ChangeTimes(s, base, b),
	})
}

// Commit writes the merge commit of the tips a and b, whose merge is r, and
// returns its id. Two hosts that merge the same tips make the same commit:
// parents are in the order of their ids, the author is vade, the time is that
// of the later parent, and the message says only what the merge did.
func Commit(s repo.Store, a, b plumbing.Hash, r Result) (plumbing.Hash, error) {
	parents := []plumbing.Hash{a, b}
	slices.SortFunc(parents, func(x, y plumbing.Hash) int { return strings.Compare(x.String(), y.String()) })
	var when time.Time
	for _, p := range parents {
		c, err := repo.ReadCommit(s, p)
		if err != nil {
			return plumbing.ZeroHash, fmt.Errorf("merge commit: %w", err)
		}
		if t := c.Committer.When.UTC(); t.After(when) {
			when = t
		}
	}
	who := repo.Signature{Name: "vade", Email: "vade@localhost", When: when}
	return repo.WriteCommit(s, &repo.Commit{
		Tree: r.Tree, Parents: parents, Author: who, Committer: who,
		Message: repo.FormatMessage(r.subject(parents), r.body(), repo.Trailer{Key: "Vade-Op", Value: "merge"}),
	})
}

func (r Result) subject(parents []plumbing.Hash) string {
	s := fmt.Sprintf("merge: %.10s and %.10s", parents[0], parents[1])
	if n := len(r.Conflicts); n > 0 {
		s += fmt.Sprintf(" (%d in conflict)", n)
	}
	return s
}

// listed is how many paths of a kind the message of a merge names.
const listed = 20

func (r Result) body() string {
	var b strings.Builder
	for _, c := range r.Conflicts[:min(listed, len(r.Conflicts))] {
		fmt.Fprintf(&b, "conflict: %s (%s), see %s\n", c.Path, c.Kind, c.Parked)
	}
	for _, part := range []struct {
		what  string
		paths []string
	}{
		{"merged", r.Merged}, {"folded", r.Folded}, {"forgotten before", r.Swept}, {"revived", r.Revived}, {"renamed", r.Renamed},
	} {
		for _, p := range part.paths[:min(listed, len(part.paths))] {
			fmt.Fprintf(&b, "%s: %s\n", part.what, p)
		}
		if more := len(part.paths) - listed; more > 0 {
			fmt.Fprintf(&b, "%s: %d more\n", part.what, more)
		}
	}
	return b.String()
}
