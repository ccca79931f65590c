// Package sync brings hosts together. A round adopts what a human changed on
// disk, fetches, merges what both sides did, pushes, and only then moves main
// and the work tree. Two hosts that merge the same commits make the same
// merge commit (package sync/merge), so they converge without talking.
//
// One round at a time runs for an identity (sync.lock). The identity's write
// lock is held only while files and refs change, never while the network is
// waited for, so that a slow remote delays no write.
//
// Beside git, in <git dir>/vade, this package keeps:
//
//	sync.json     when the last round ended, and with what error
//	stale/…       which stale editor buffers were merged already
package sync
