// Package zep is the provider for Zep Cloud's graph memory, over its v3 API
// (help.getzep.com/v3; path prefix /api/v2): memories are episodes of one graph,
// with our metadata.
//
// Zep takes an episode at once and works it into the graph later, one after
// the other, in seconds to minutes: a put is Accepted, and Stored when the
// episode is processed. Searching for episodes gives back what was put.
// Deleting one removes its edges, but what Zep wrote into summaries of nodes
// that others share stays: to be sure, purge the graph.
//
// What the API looks like is behind the dialect interface, because v4 (other
// paths, UUIDs in the place of names, deletions that are tasks) serves the same
// data. Nobody has tried v4 yet, so it is not offered.
package zep
