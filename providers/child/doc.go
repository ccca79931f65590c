// Package child runs the programs that providers are made of: an adapter's own
// process, with little of our environment, in a process group that ends as a
// whole, with what it says on stderr kept for the error message.
//
// A program is named by its path and arguments, never by a line for a shell. It
// gets the variables of [Environment] and those of its config, nothing else:
// the keys of other providers are none of its business. Its working directory is
// a folder of its own.
package child
