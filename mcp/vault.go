package mcp

import (
	"context"

	"vademecum/vault"
)

// Opener opens the vault for one call. agent names the client as it calls
// itself, for the record; it is "" when the client did not say. Calls run at
// the same time, each with a vault of its own.
type Opener func(ctx context.Context, agent string) (Vault, error)

// Vault is what the tools need of a vault. An error that wraps one of the
// sentinels of package vault tells the model what to do next; the text of any
// other is shown to it as it is, and names the argument that is wrong.
type Vault interface {
	// Recall answers a query, best first.
	Recall(context.Context, Recall) (Found, error)
	// Remember stores a new memory.
	Remember(context.Context, Draft) (vault.Receipt, error)
	// Read returns the memory that ref (REF or REF@COMMIT) names, body included.
	Read(ctx context.Context, ref string) (*vault.Memory, error)
	// Edit changes what e names of a memory.
	Edit(ctx context.Context, ref string, e Edit) (vault.Receipt, error)
	// Forget removes a memory for good; ifMatch "" is unconditional.
	Forget(ctx context.Context, ref, ifMatch string) (vault.Receipt, error)
	// List returns the memories that f admits, the latest first, without bodies.
	List(context.Context, Filter) ([]*vault.Memory, error)
	// History returns the last commits, at most limit, of the memory that ref
	// names, or of the whole vault when it is "".
	History(ctx context.Context, ref string, limit int) ([]vault.LogEntry, error)
	// Doctor looks at everything and changes nothing.
	Doctor(context.Context) (Report, error)
	Close() error
}

// Filter narrows recall and list, in the words of the caller.
type Filter struct {
	Tags, Types   []string
	Since         string // 7d, 2026-11-30
	Workspace     string // "": the one that the server runs in
	AllWorkspaces bool
}

// Recall is a query.
type Recall struct {
	Filter
	Query  string
	Limit  int // hits
	Budget int // tokens over all hits
}

// Found is the answer to a query.
type Found struct {
	Hits     []vault.Hit
	Reason   string // why there are none
	Warnings []string
}

// Draft is a memory to be stored; empty fields are left to the vault.
type Draft struct {
	Text, Title, Type, Tier, Why, Source string
	Expires                              string
	Tags, Aliases, Supersedes            []string
	Workspace                            string // "": the one that the server runs in
	NoWorkspace                          bool   // it belongs to every project
}

// Edit says what to change; nil and empty fields change nothing.
type Edit struct {
	IfMatch                      string
	Title, Text, Type, Tier, Why *string
	Workspace, Expires           *string
	AddTags, RemoveTags          []string
	// Old is a passage of the text that occurs in it once and becomes New.
	Old string
	New string
}

// Report is what a doctor found.
type Report struct {
	OK       bool
	Memories int
	Findings []Finding
}

// Finding is one thing that a doctor looked at.
type Finding struct {
	Check, State, Detail, Remedy string // State: ok, note, bad
	Items                        []string
}
