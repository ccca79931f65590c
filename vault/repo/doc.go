// Package repo is git as a vault needs it: objects, trees, commits, history and
// packs over a [Store], and the repository of a vault on this host, [GitDir], with
// its [WorkTree] and git's index.
//
// It reads and writes git's formats itself and calls no git binary. go-git gives
// the vocabulary (ids, object types, the storer interfaces that its transports
// speak), not the behaviour: its worktree, references and index lose data under
// concurrent use.
//
// # A commit
//
// A writer holds the identity's lock and does, in this order,
//
//	LockIndex             index.lock; a human's git is kept out, or keeps us out
//	WorkTree.WriteFiles   each file whole, synced, renamed
//	WriteBlob, EditTree,
//	WriteCommit           kept in memory until
//	CompareAndSet         objects are synced, then the branch moves under its lock
//	IndexLock.Splice      git's index learns of it
//
// so that at every moment what git shows is either before or after. What lies
// between CompareAndSet and Splice after a crash is for the caller to note
// beforehand and to finish: Splice may be done again.
//
// # Beside git
//
// Git itself may run at any time: status, commit, gc, pack-refs. Packs are listed
// again when an object is missing, lock files are waited for (2 s) and respected,
// and what others staged is copied byte for byte. A lock file is removed as stale
// only when it is one of ours whose process is gone, or older than the last boot,
// or old while no git process works here.
package repo
