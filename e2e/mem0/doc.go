// Package mem0 drives the adapter of Mem0 against Mem0's own engine: the npm
// package behind the paths of its server, with an embedding and a model of our
// own (peer/server.mjs). run installs it.
package mem0
