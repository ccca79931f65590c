package providers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"vademecum/sync/journal"
	"vademecum/vault"
)

// Outbox hands what changes in a vault over to other providers. It follows the
// commits: CatchUp queues in the journal what is owed since the commit that
// each provider was followed to, Deliver sends it.
//
//	<dir>/NAME/cursor          the commit that the provider was followed to
//	<dir>/NAME/receipts.jsonl  what it has of ours, see Book
//	<dir>/NAME/rate            when it may be written to next
//	<dir>/NAME/lock            held by whoever delivers to it
//
// What is owed is known by the memory's id: the newest change of a memory
// counts, and goes out after what is on its way. A delivery is repeated until
// the provider's answer is in the book and in the journal, so that each is made
// at least once, under the same key; where the provider can be asked (Finder),
// exactly one copy is left.
//
// An Outbox may be used by one goroutine at a time, any number of processes
// may work on the same folder.
type Outbox struct {
	Vault   *vault.Vault
	Journal *journal.Journal
	Dir     string
	Gates   *Gates
	// Targets are the providers that are written to. Others are further ones of
	// the config, which cannot be opened now or are not written to at present:
	// what they are owed waits. One that is in neither was removed.
	Targets []Target
	Others  []string
	Now     func() time.Time // nil: time.Now
	Notice  func(string)     // is told what the owner must see to; nil: nobody is

	reading  sync.Mutex // guards Vault while lanes run
	noticing sync.Mutex // calls Notice one by one
	booking  sync.Mutex // guards books
	books    map[string]*Book
}

// Target is a provider as the outbox writes to it.
type Target struct {
	Provider    Provider
	Fingerprint string // of its config, see Gates
	Route       WriteRoute
}

// WriteRoute says which memories go to a provider. Parked sides of conflicts
// and the flat text store never do.
type WriteRoute struct {
	Tiers    []vault.Tier  // empty: all
	Types    []vault.Type  // empty: all
	Scopes   []string      // types of scope; empty: all
	Sessions bool          // captured turns too
	Timeout  time.Duration // of one write; 0 means 30 s
	// From says whose changes go: FromHere, FromAll, or "" for FromAll where the
	// provider can be asked what it has or takes the same thing twice as one,
	// else FromHere. Several hosts of one vault all see each change; with FromAll
	// at a provider of the other kind each leaves a copy, with FromHere what one
	// host edits that another one handed over moves from that one's copies to
	// its own.
	From string
}

// Values of WriteRoute.From.
const (
	FromAll  = "all"  // also what came from other hosts by a merge
	FromHere = "here" // what was committed on this host
)

const writeTimeout = 30 * time.Second

// admits reports whether m goes to a provider, now or before it expired.
func (r *WriteRoute) admits(m *vault.Memory) bool {
	return within(r.Tiers, m.Tier) && within(r.Types, m.Type) && within(r.Scopes, m.Scope.Type) && handedOver(m.Path) &&
		(r.Sessions || !vault.IsCapture(m.Path))
}

// handedOver reports whether what lies at path is ever anybody else's business.
func handedOver(path string) bool { return vault.IsMemoryPath(path) && !vault.IsConflict(path) }

func (t *Target) name() string { return t.Provider.Name() }

// onlyHere reports whether only changes of this host go to t.
func (t *Target) onlyHere() bool {
	is := PropertiesOf(t.Provider)
	return t.Route.From == FromHere || t.Route.From == "" && !is.Find && !is.Idempotent
}

func (t *Target) timeout() time.Duration {
	if t.Route.Timeout > 0 {
		return t.Route.Timeout
	}
	return writeTimeout
}

func (o *Outbox) now() time.Time {
	if o.Now == nil {
		return time.Now().UTC()
	}
	return o.Now().UTC()
}

func (o *Outbox) notice(text string) {
	o.noticing.Lock()
	defer o.noticing.Unlock()
	if o.Notice != nil {
		o.Notice(text)
	}
}

func (o *Outbox) file(name, file string) string { return filepath.Join(o.Dir, name, file) }

// ErrNoTarget: the outbox does not write to a provider of that name.
var ErrNoTarget = errors.New("is not written to")

func (o *Outbox) target(name string) (*Target, error) {
	for i := range o.Targets {
		if o.Targets[i].name() == name {
			return &o.Targets[i], nil
		}
	}
	return nil, fmt.Errorf("provider %s %w", name, ErrNoTarget)
}

// Book is what the provider called name has of ours.
func (o *Outbox) Book(name string) *Book {
	o.booking.Lock()
	defer o.booking.Unlock()
	b := o.books[name]
	if b == nil {
		if o.books == nil {
			o.books = map[string]*Book{}
		}
		b = OpenBook(o.file(name, "receipts.jsonl"))
		o.books[name] = b
	}
	return b
}

// ID is what m is called in the outbox and at providers; see Item.ID.
func (o *Outbox) ID(m *vault.Memory) string { return idOf(o.Vault.Config().VaultID, m) }

// Pending is how much is owed to the provider called name, by state: all that
// is not over.
func (o *Outbox) Pending(name string) (map[journal.State]int, error) {
	counts, err := o.Journal.Counts()
	pending := map[journal.State]int{}
	for state, n := range counts[name] {
		if !state.Final() {
			pending[state] = n
		}
	}
	return pending, err
}

// State is how far the last change of the memory called id is at each provider
// that it is owed to or that has it.
func (o *Outbox) State(id string) ([]vault.ProviderReceipt, error) {
	list := []vault.ProviderReceipt{}
	for i := range o.Targets {
		name := o.Targets[i].name()
		d, ok, err := o.Journal.Newest(name, id)
		if err != nil {
			return nil, err
		}
		state := d.State
		if !ok {
			if _, ok = o.Book(name).Of(id); !ok {
				continue
			}
			state = journal.Stored
		}
		list = append(list, vault.ProviderReceipt{Name: name, State: string(state)})
	}
	return list, nil
}

// CannotDelete names the providers that have, or are about to have, the memory
// called id and will keep it when it is forgotten.
func (o *Outbox) CannotDelete(id string) ([]string, error) {
	var names []string
	for i := range o.Targets {
		p := o.Targets[i].Provider
		if _, ok := p.(Deleter); ok {
			continue
		}
		_, has := o.Book(p.Name()).Of(id)
		if !has {
			owed, err := o.Journal.Owed(p.Name(), id)
			if err != nil {
				return nil, err
			}
			has = slices.ContainsFunc(owed, func(d journal.Delivery) bool { return d.Attempts > 0 && !isDelete(d.Key) })
		}
		if has {
			names = append(names, p.Name())
		}
	}
	return names, nil
}

// healed is how long a provider that said it deleted something may go on
// returning it before it is told again.
const healed = 10 * time.Minute

// QueueDelete queues the deletion of a memory that should not be at the
// provider called name any more, though the provider returned it, as refs. Where
// something is owed to it of that memory already, or the provider cannot
// delete, nothing is done.
func (o *Outbox) QueueDelete(ctx context.Context, name, id string, refs ...Ref) error {
	t, err := o.target(name)
	if err != nil {
		return err
	}
	if _, ok := t.Provider.(Deleter); !ok {
		return nil
	}
	last, ok, err := o.Journal.Newest(name, id)
	if err != nil || ok && (!last.State.Final() || isDelete(last.Key) && o.now().Sub(last.Changed) < healed) {
		return err
	}
	d := o.deletion(t, id, "returned", id)
	d.Unsure = true
	d.Parts = []journal.Part{{Refs: plain(refs)}}
	return o.Journal.Queue(ctx, d)
}

// Keys of what is owed: "id@version" of a put (Item.Key), "id@deleted.why" of a
// deletion, where why tells it from a later one, and "id@elsewhere.version" of
// what another host hands over from now on.
const (
	deletedKey   = "@deleted."
	elsewhereKey = "@elsewhere."
)

func isDelete(key string) bool {
	verb := key[max(strings.LastIndexByte(key, '@'), 0):]
	return strings.HasPrefix(verb, deletedKey) || strings.HasPrefix(verb, elsewhereKey)
}

// versionIn is the version in the key of a put.
func versionIn(key string) vault.Version {
	return vault.Version(key[strings.LastIndexByte(key, '@')+1:])
}

func (o *Outbox) deletion(t *Target, id, why, what string) journal.Delivery {
	return journal.Delivery{To: t.name(), Key: id + deletedKey + short(why), Group: id, What: what}
}

func short(hash string) string { return hash[:min(len(hash), 12)] }

func plain(refs []Ref) []string {
	var list []string
	for _, r := range refs {
		list = append(list, string(r))
	}
	return list
}

// dropRemoved ends what is owed to providers that the config does not name any
// more, and puts their books aside.
func (o *Outbox) dropRemoved(ctx context.Context) error {
	known := map[string]bool{"vault": true}
	for i := range o.Targets {
		known[o.Targets[i].name()] = true
	}
	for _, name := range o.Others {
		known[name] = true
	}
	counts, err := o.Journal.Counts()
	if err != nil {
		return err
	}
	for to, states := range counts {
		owed := 0
		for state, n := range states {
			if !state.Final() {
				owed += n
			}
		}
		if !known[to] && owed > 0 {
			if _, err := o.Journal.Cancel(ctx, "provider removed", func(d journal.Delivery) bool { return d.To == to }); err != nil {
				return err
			}
		}
	}
	folders, err := os.ReadDir(o.Dir)
	if err != nil {
		return nil // there are none
	}
	var errs []error
	for _, f := range folders {
		if !known[f.Name()] && f.IsDir() {
			errs = append(errs, o.Book(f.Name()).setAside())
			if err := os.Remove(o.file(f.Name(), "cursor")); !os.IsNotExist(err) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
