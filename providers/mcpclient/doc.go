// Package mcpclient makes a provider of any memory server that speaks MCP: a
// [Mapping] says which tool searches, puts, deletes and finds, what its arguments
// are, and where in its answer the hits are. Presets have the mappings of the
// common servers.
//
// The server is a program that we run (stdio), or an address (streamable HTTP).
// It is connected to by the first call, in the background, and let go when nobody
// has asked it for a while.
//
// Such a provider is never required and its answers are untrusted. What its tools
// are and say of themselves is pinned by a hash: a server that changes them
// (MCP's rug pull) is not called any more until its owner has looked.
package mcpclient
