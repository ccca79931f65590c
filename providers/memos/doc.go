// Package memos puts memories into MemOS: into a server of one's own ([Server])
// or into MemOS Cloud ([Cloud]). Both keep our metadata with a memory under
// "info", and by it they are asked what they hold of ours.
//
// Endpoints of the server (MemTensor/MemOS v2.0.31, src/memos/api: product_models,
// server_router, handlers): /health, /product/add, search, get_memory,
// delete_memory. Of the cloud (src/memos/api/client.py and memos-docs.openmem.net):
// /add/message, /get/status, /search/memory, /get/memory, /delete/memory.
// testdata has our descriptions of both.
//
// An answer with status 200 may be an error: its code says so, 200 being well
// at the server and 0 in the cloud.
package memos
