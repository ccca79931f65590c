package main

import (
	"context"
	"sync"
	"time"

	"vademecum/hooks"
	"vademecum/index"
	"vademecum/vault"
)

// trustedFor is how long hooks trust what another one saw on disk.
const trustedFor = 2 * time.Second

// hookVault is a vault as hooks read it. A search that nobody waits for any
// more may still be going on, so one thing is done at a time.
type hookVault struct {
	name string
	own  bool
	open func() (*opened, error)

	mu       sync.Mutex
	o        *opened
	snapshot *vault.Snapshot
	index    *index.Index
	last     index.Result
	err      error
}

var _ hooks.Store = (*hookVault)(nil)

// look opens the vault and looks at what is on disk, once.
func (v *hookVault) look(ctx context.Context) error {
	if v.err != nil || v.snapshot != nil {
		return v.err
	}
	if v.o, v.err = v.open(); v.err != nil {
		return v.err
	}
	if v.snapshot, v.err = v.o.vault.Recent(ctx, trustedFor); v.err != nil {
		return v.err
	}
	v.index, v.err = v.o.index()
	return v.err
}

// Notes implements hooks.Store.
func (v *hookVault) Notes(ctx context.Context) (hooks.Notes, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.look(ctx); err != nil {
		return nil, err
	}
	return &lockedNotes{v.snapshot, &v.mu}, nil
}

// lockedNotes is a snapshot that hookVault's lock protects.
type lockedNotes struct {
	*vault.Snapshot
	mu *sync.Mutex
}

func (n *lockedNotes) Meta(i int) (*vault.Memory, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.Snapshot.Meta(i)
}

func (n *lockedNotes) Memory(i int) (*vault.Memory, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.Snapshot.Memory(i)
}

// Search implements hooks.Store.
func (v *hookVault) Search(ctx context.Context, q vault.Query) ([]vault.Hit, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.look(ctx); err != nil {
		return nil, err
	}
	var err error
	if v.last, err = v.index.Search(ctx, v.snapshot, q); err != nil {
		return nil, err
	}
	for i := range v.last.Hits {
		markHit(&v.last.Hits[i], v.name, v.own)
	}
	return v.last.Hits, nil
}

// markHit says whose vault a hit is from.
func markHit(h *vault.Hit, name string, own bool) {
	if own {
		h.Providers = []string{"vault"}
		return
	}
	h.Providers = []string{"vault:" + name}
	if h.Scope.Type == "" {
		h.Scope = vault.Scope{Type: "team", ID: name}
	}
}

// afterwards keeps what was learned of the disk, unless somebody is still at it.
func (v *hookVault) afterwards() {
	if !v.mu.TryLock() {
		return
	}
	defer v.mu.Unlock()
	if v.err != nil || v.snapshot == nil || !v.o.vault.Exists() {
		return
	}
	v.snapshot.SaveCatalog()
	v.snapshot.NoteLook()
	v.o.refreshIndex(v.last)
}
