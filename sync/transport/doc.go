// Package transport speaks git's wire protocol: it fetches objects into a
// [repo.Store] and pushes them from one. It moves no ref of the local store;
// the caller does that, when it knows that the round succeeded.
//
//	file:///path, /path, C:\path   in process, no git command (local.go)
//	http(s)://                     smart HTTP on net/http (http.go)
//	ssh://, user@host:path         golang.org/x/crypto/ssh (ssh.go)
//	Options.Exec                   the user's ssh (program.go) or git (gitprogram.go)
//
// The protocol is version 0: one advertisement, one negotiation with
// multi_ack_detailed, one pack inside side-band-64k. A pack that arrives is
// spooled, indexed and checked in full before the store sees any of it, and
// what was asked for is walked before Fetch returns: success means complete.
//
// Nothing that this package returns or reports holds a credential: URLs are
// masked, secrets are cut from the words of a server, and none is ever an
// argument of a child process.
package transport
