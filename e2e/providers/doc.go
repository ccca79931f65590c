// Package providers holds the tests of the provider adapters against what is
// installed for them: the Python example, and a real MCP server (see run).
package providers
