package hooks

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"vademecum/vault"
)

// Notes is what a vault holds at one moment; *vault.Snapshot is one.
type Notes interface {
	Len() int
	// Meta returns what note i says of itself, without its body.
	Meta(i int) (*vault.Memory, error)
	// Memory returns note i with its body.
	Memory(i int) (*vault.Memory, error)
}

// Store is one vault as hooks read it. Its methods may take longer than their
// context allows: who calls them does not wait for it.
type Store interface {
	// Notes lists the vault.
	Notes(ctx context.Context) (Notes, error)
	// Search answers q, best first.
	Search(ctx context.Context, q vault.Query) ([]vault.Hit, error)
}

// ask calls fn for each store at once and returns those answers that came in
// time, in the order of the stores, and how many did not come.
func ask[T any](ctx context.Context, stores []Store, timeout time.Duration, fn func(context.Context, Store) (T, error)) (answers []T, missing int) {
	type answer struct {
		at    int
		value T
		err   error
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	came := make(chan answer, len(stores)) // room for those that nobody waits for
	for i, s := range stores {
		go func() {
			a := answer{at: i, err: errPanic}
			defer func() {
				_ = recover() // see async
				came <- a
			}()
			a.value, a.err = fn(ctx, s)
		}()
	}
	got := make([]*T, len(stores))
wait:
	for range stores {
		select {
		case a := <-came:
			if a.err == nil {
				got[a.at] = &a.value
			}
		case <-ctx.Done():
			break wait
		}
	}
	for _, v := range got {
		if v == nil {
			missing++
			continue
		}
		answers = append(answers, *v)
	}
	return answers, missing
}

var errPanic = errors.New("hooks: a vault failed")

// rrfK is the constant of reciprocal rank fusion, k = 60 (Cormack, Clarke and
// Büttcher, SIGIR 2009).
const rrfK = 60

// Fuse makes one list of several, best first, by the ranks in them: scores of
// different vaults cannot be compared. A memory that is in several lists is in
// the result once.
func Fuse(lists ...[]vault.Hit) []vault.Hit {
	if len(lists) == 1 {
		return lists[0]
	}
	var all []vault.Hit
	score, at := map[string]float64{}, map[string]int{}
	for _, list := range lists {
		for rank, h := range list {
			key := note{hit: h}.key()
			if _, ok := at[key]; !ok {
				at[key] = len(all)
				all = append(all, h)
			}
			score[key] += 1 / float64(rrfK+rank+1)
		}
	}
	slices.SortStableFunc(all, func(a, b vault.Hit) int {
		return cmp.Compare(score[note{hit: b}.key()], score[note{hit: a}.key()])
	})
	return all
}
