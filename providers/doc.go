// Package providers is the contract between the vault and the other memory
// services that its owner uses, the router that asks them all at once, and the
// outbox that keeps them up to date.
//
// The vault is the truth; a provider is a replica and an extra source. What a
// provider must do is [Provider]: four methods. Everything else is an optional
// interface in a file of its own, found by type assertion, and what a caller
// must know beyond methods is [Properties]. Package providertest holds the suite
// that every provider passes.
//
// Adapters do one request and tell what became of it. Retries, pauses, limits,
// timeouts and splitting belong to the router and the outbox, never to them:
// an adapter returns as soon as ctx is done, and starts nothing that outlives
// the call.
package providers
