// Package mcp is the door of a vault for agents: a server of the Model Context
// Protocol (modelcontextprotocol.io), revision 2026-07-28 and all earlier ones,
// over standard input and output or over HTTP on loopback.
//
// Eight tools in a fixed order: recall, remember, read, edit, forget, list,
// history and doctor. What reads answers with text alone: clients differ in
// which half of a result they show to the model. What writes answers with the
// same small receipt as text and as structured content. Memories as resources
// (memory://…), and three prompts.
//
// Text from a vault is data. It stands in a frame, each line behind "> ", under
// a heading that says which memory it is, how old, and from whom; no line of a
// memory can close the frame. Nothing that an agent can call here changes
// configuration, remotes, credentials, routing or hooks.
package mcp
