// Package mem0 puts memories into Mem0: [Server] is the server that one runs
// oneself (mem0ai/mem0, server/main.py), [Cloud] is api.mem0.ai. They differ in
// paths, authentication, filters and paging, and share everything else.
//
// Memories are stored word for word (infer: false) unless Config.Infer asks the
// service to extract facts of its own. Everything is in the scope of one user:
// two ids of a scope at once match nothing at the cloud. Whose a memory is
// stands in its metadata, under the keys of providers.Item.Metadata, which every
// fact that was extracted of it has too.
//
// Endpoints of the server: GET, POST and DELETE /memories, POST /search. Of the
// cloud: /v3/memories/add/, /v3/memories/search/, /v3/memories/, /v1/memories/ID/,
// /v1/event/ID/, /v1/ping/; a slash at the end is part of the path.
// testdata/server.json is our description of the former, from its source;
// testdata/cloud.json is Mem0's own of the latter (Apache-2.0) with repairs.
package mem0
