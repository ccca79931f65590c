// Package zep puts memories into Zep (getzep.com) as episodes of a user's graph
// or of a graph of its own, and finds them again as episodes, word for word, or
// as the facts that Zep made of them.
//
// Zep takes an episode at once and processes it later, one after the other in
// each graph, for seconds or minutes: a receipt is Accepted until then. Deleting
// an episode takes its facts with it, but summaries of things that it shares with
// others may keep traces; only [Provider.PurgeScope] of a graph that vade made
// leaves nothing.
//
// There are two dialects, on the same data. That of v3 (base /api/v2), from the
// types of zep-go v3.25 and help.getzep.com/v3: /graph, /graph/search,
// /graph/create, /graph/{id}, /graph/episodes/{uuid}, /graph/episodes/{graph|user}/{id},
// /users, /users/{id}, /projects/info; testdata/zep-v3.json describes them. And that
// of v4 (base /api/v4, generally available since 2026-10-14), from
// help.getzep.com: /users, /users/lookup, /graphs/lookup, /graphs/{uuid}/episodes,
// episodes/list, search/episodes; nobody has run it against the service yet.
package zep
