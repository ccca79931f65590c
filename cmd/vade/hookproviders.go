package main

import (
	"context"
	"sync"
	"time"

	"vademecum/hooks"
	"vademecum/providers"
	"vademecum/vault"
)

// minAsk is the least time that is worth asking a provider for, and askMargin
// what is left to fuse what came.
const (
	minAsk    = 30 * time.Millisecond
	askMargin = 20 * time.Millisecond
)

// askingVault is the own vault with the providers that a profile asks besides.
// A hook asks them once, for the whole prompt.
type askingVault struct {
	*hookVault
	profile hooks.Profile
	asked   bool

	side sync.Mutex
	own  *opened          // for the providers alone: opening them may take a while
	gone []providers.Gone // what is still at a provider and should not be
}

// Search implements hooks.Store. What the vault has comes in any case.
func (v *askingVault) Search(ctx context.Context, q vault.Query) ([]vault.Hit, error) {
	deadline, ok := ctx.Deadline()
	left := time.Until(deadline) - askMargin
	if v.asked || !ok || left < minAsk {
		return v.hookVault.Search(ctx, q)
	}
	v.asked = true
	r := v.routerWithin(left / 2)
	if r == nil {
		return v.hookVault.Search(ctx, q)
	}
	r.Budget = min(time.Until(deadline)-askMargin, providers.RecallBudget)
	s := &lockedShelf{shelf: shelf{o: v.own, query: q}, vault: v.hookVault}
	answer, err := r.Recall(ctx, providers.Query{Text: q.Text, Limit: q.Limit, Workspace: q.Workspace}, s)
	v.side.Lock()
	v.gone = answer.Gone
	v.side.Unlock()
	return answer.Hits, err
}

// routerWithin is router, nil when it takes longer: a key may come from a
// keychain, and the vault is not to wait for it.
func (v *askingVault) routerWithin(d time.Duration) *providers.Router {
	ready := make(chan *providers.Router, 1)
	go func() {
		defer func() {
			_ = recover() // a bug of ours is nothing to an agent
			close(ready)
		}()
		ready <- v.router()
	}()
	select {
	case r := <-ready:
		return r
	case <-time.After(d):
		return nil
	}
}

// router is that of the profile, without what is too slow to start for a hook.
func (v *askingVault) router() *providers.Router {
	v.side.Lock()
	defer v.side.Unlock()
	own, err := v.open()
	if err != nil {
		return nil
	}
	v.own = own
	r, _ := own.router(v.profile.Name)
	if r == nil {
		return nil
	}
	quick := &providers.Router{Vault: r.Vault, Gates: r.Gates, Book: r.Book}
	for _, s := range r.Sources {
		if c := own.config.Providers[s.Provider.Name()]; c.Type != "mcp" || c.URL != "" {
			quick.Sources = append(quick.Sources, s)
		}
	}
	if len(quick.Sources) == 0 {
		return nil
	}
	return quick
}

// afterwards has what should be gone deleted, and lets go of the providers.
func (v *askingVault) afterwards() {
	if !v.side.TryLock() {
		return // one that nobody waits for is still being opened
	}
	defer v.side.Unlock()
	if v.own != nil {
		v.own.queueGone(context.Background(), v.gone)
		v.own.closeProviders()
	}
}

// lockedShelf is a shelf of a hook's vault.
type lockedShelf struct {
	shelf
	vault *hookVault
}

// Search implements providers.Shelf.
func (s *lockedShelf) Search(ctx context.Context) ([]vault.Hit, error) {
	hits, err := s.vault.Search(ctx, s.query)
	s.snapshot = s.vault.snapshot
	return hits, err
}

// Look implements providers.Shelf.
func (s *lockedShelf) Look(id string) (*vault.Hit, providers.Fate) {
	s.vault.mu.Lock()
	defer s.vault.mu.Unlock()
	return s.shelf.Look(id)
}
