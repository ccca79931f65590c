// Package vault holds what vade is about: memories, the files that they live
// in, and the store that changes them.
//
// An identity's folder on a host:
//
//	<identity>/
//	  vault/                    git work tree, branch main: the truth
//	    memories/2026/11/deploys-run-through-github-actions-7v5n9t.md
//	    files/session-state.md  flat text store
//	    conflicts/…             the losing side of an overlap
//	    forgotten/01JDZ3M8….yaml
//	    .vade/vault.yaml        format version, vault id, identity, digest key
//	    .gitattributes .gitignore
//	  journal/                  this host's queue (not in git)
//	  index/                    derived: search segments and catalog; safe to delete
//	  lock                      one writer at a time, across processes
//
// Every change ends as a git commit. A writer holds the lock, writes the file
// (temporary file in the same folder, fsync, rename, fsync of the folder), and
// commits exactly the paths that it changed; see package vault/repo. Readers
// take no lock: they read the work tree where it lies.
package vault
