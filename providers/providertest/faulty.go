package providertest

import (
	"context"
	"sync"

	"vademecum/providers"
	"vademecum/sync/journal"
)

// Faulty is a provider that does what it is told instead of what it should. It
// has no optional abilities but Resolve.
type Faulty struct {
	providers.Provider // what it does when it does what it should
	// OnPut, if set, decides about each put; n counts from 1. It may let the
	// provider do it by calling put.
	OnPut func(ctx context.Context, n int, item providers.Item, put func() (providers.Receipt, error)) (providers.Receipt, error)
	// OnSearch and OnResolve likewise.
	OnSearch  func(ctx context.Context, n int, q providers.Query) ([]providers.Hit, error)
	OnResolve func(ctx context.Context, n int, r providers.Receipt) (providers.Receipt, error)
	// Is are its properties.
	Is providers.Properties

	mu                       sync.Mutex
	puts, searches, resolves int
}

// Fails is an error of class c.
func Fails(name, op string, c providers.Class, status int) error {
	return &providers.Error{Provider: name, Op: op, Class: c, Status: status, Msg: "as told"}
}

// Hang blocks until ctx is done and returns its error.
func Hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// Properties implements providers.Describer.
func (f *Faulty) Properties() providers.Properties {
	is := f.Is
	is.Kind, is.Resolve = "faulty", true
	return is
}

func (f *Faulty) count(n *int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n++
	return *n
}

// Put implements providers.Provider.
func (f *Faulty) Put(ctx context.Context, item providers.Item) (providers.Receipt, error) {
	n := f.count(&f.puts)
	put := func() (providers.Receipt, error) { return f.Provider.Put(ctx, item) }
	if f.OnPut == nil {
		return put()
	}
	return f.OnPut(ctx, n, item, put)
}

// Search implements providers.Provider.
func (f *Faulty) Search(ctx context.Context, q providers.Query) ([]providers.Hit, error) {
	n := f.count(&f.searches)
	if f.OnSearch == nil {
		return f.Provider.Search(ctx, q)
	}
	return f.OnSearch(ctx, n, q)
}

// Resolve implements providers.Resolver.
func (f *Faulty) Resolve(ctx context.Context, r providers.Receipt) (providers.Receipt, error) {
	n := f.count(&f.resolves)
	if f.OnResolve == nil {
		r.State = journal.Stored
		return r, nil
	}
	return f.OnResolve(ctx, n, r)
}
