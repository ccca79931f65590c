// Package openviking puts memories into an OpenViking server (volcengine/OpenViking,
// 0.4.x) as files that only vade writes, named by their ids:
//
//	viking://~/memories/events/vault/01JDZ3M8Q4X0W3K2V7N5T9R6BC.md     a memory
//	viking://~/memories/events/vault/01JDZ3M8Q4X0W3K2V7N5T9R6BC.1.md   its second part
//	viking://~/memories/events/vault/x-….md                            a note without a ULID
//
// so that the same memory again replaces itself, and whose a hit is stands in
// its URI. [Provider] does that; [Extractor] lets the server make memories of
// its own of a session instead.
//
// Endpoints, from docs/en/api (01-overview, 03-filesystem, 05-sessions,
// 06-retrieval, 12-content, 17-tasks) and the request models of the server:
// /health, /api/v1/fs, fs/ls, fs/mkdir, content/batch-write, content/read,
// content/set_tags, search/find, sessions, tasks. testdata/openviking.json is
// our description of them; requests with fields that it does not have are refused.
//
// The key is a user's. The server's root key may not touch memories, and every
// URI begins with viking://~/, which is whoever the key belongs to.
package openviking
