// Package jsonrpc is the provider that is a program of the owner's own, in any
// language: JSON-RPC 2.0 over its stdin and stdout, as docs/provider-protocol.md
// says. Package conformance holds a program to it.
//
// A program is run in one of two ways. One-shot: a process for each request.
// Long-lived: a process that is started by the first request, answers many, and
// is stopped when nobody has asked it for a while. What it can do, it says in
// its answer to vade.initialize ([Abilities]).
//
// # Which interfaces a value has
//
// The contract wants an optional interface to be there exactly if the provider
// has the ability, and what a program can do is known only when it was asked.
// A value that has every interface and fails with [providers.Unsupported] would
// make each caller ask twice, and let forget believe that it reached a
// provider which cannot delete. So [Open] returns a value of a type that has just
// those interfaces (with.go; there are seven to choose from, so 128 types, written
// by a test).
//
// A cold process costs up to seconds, so nobody should start one to learn what
// it can do: a caller keeps what [AbilitiesOf] says and hands it to the next
// Open, which then starts nothing. Should it be out of date, the worst is a
// method that the program refuses with -32601: that is Unsupported.
package jsonrpc
