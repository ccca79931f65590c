package repo

import (
	"errors"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Main is the branch that a vault lives on.
const Main = "refs/heads/main"

var (
	// ErrRefNotFound: no ref has that name.
	ErrRefNotFound = errors.New("ref not found")
	// ErrRefMoved: a compare-and-set found another value than the expected one.
	ErrRefMoved = errors.New("ref moved")
	// ErrObjectNotFound: no object has that id.
	ErrObjectNotFound = plumbing.ErrObjectNotFound
)

// Store is a git object store with compare-and-set refs: a git directory on a
// host ([GitDir]), SQL tables in the hub, memory in tests ([NewMemory]).
// Everything that commits or merges is written against it. repotest holds the
// suite that each implementation runs.
//
// A Store may be used by one goroutine at a time; open one per operation.
type Store interface {
	// Objects, as go-git's plumbing reads and writes them. SetEncodedObject
	// need not be durable before Flush, but the same Store reads it at once.
	storer.EncodedObjectStorer

	// Ref returns what name points at, or ErrRefNotFound.
	Ref(name string) (plumbing.Hash, error)

	// Refs returns every ref whose name starts with prefix.
	Refs(prefix string) (map[string]plumbing.Hash, error)

	// CompareAndSet moves name from old to new and returns ErrRefMoved, with
	// nothing changed, when it is not at old. A zero old creates the ref, a
	// zero new deletes it. Every object written before is durable before the
	// ref moves, and the move is durable before the return. reason goes to the
	// reflog where there is one.
	CompareAndSet(name string, old, new plumbing.Hash, reason string) error

	// Flush makes every object written so far durable.
	Flush() error
}

// RawStore is an optional ability of a Store: objects as plain bytes. It saves
// the copies and the slow hash of plumbing.EncodedObject.
type RawStore interface {
	// ReadObject returns type and content of h, or ErrObjectNotFound. The
	// content belongs to the store: callers must not change it.
	ReadObject(h plumbing.Hash) (plumbing.ObjectType, []byte, error)
	// WriteObject stores content, which the store may keep: callers must not
	// change it afterwards.
	WriteObject(t plumbing.ObjectType, content []byte) (plumbing.Hash, error)
}
