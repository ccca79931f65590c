// Package journal is the durable queue between agents' hooks and the vault: a
// directory that can be read with ls and cat. Hook processes append events
// and are gone; whoever comes next turns them into episodes, each one turn of
// one session, and hands those on.
//
//	<identity>/journal/
//	  events/00.jsonl … 15.jsonl   what hooks appended; each has one writer at a time (NN.lock)
//	  open/claude-0f3a….jsonl      the turns of a session that are not over yet
//	  episodes/2026…-claude-….jsonl  a turn that is over, until it is delivered
//	  deliveries.jsonl             what is owed to whom, and how that went: the ledger
//	  aside/corrupt.jsonl          what could not be read, and why
//	  lost.json                    how many events could not be kept
//	  drain.lock ledger.lock       one drainer, one change of the ledger at a time
//	  wanted                       somebody wants the drainer to look once more
//
// Every line carries a checksum of itself. An event moves from events/ to
// open/ to episodes/, and is on disk in the next place before it leaves the
// last; a crash between the two leaves it in both, where its id tells. The
// vault knows the turns that it has by their keys, so that an episode that was
// delivered and not yet crossed off is not delivered again.
package journal

import "time"

// Kind is what happened in an agent's session, in the words of no agent.
type Kind string

const (
	SessionStart Kind = "session-start" // Text: what started it (startup, resume, clear, compact)
	Prompt       Kind = "prompt"        // Text: what the person asked
	Tool         Kind = "tool"          // Tool: what was called, and how it ended
	ToolFailure  Kind = "tool-failure"  // Tool: the same, ended in an error
	Answer       Kind = "answer"        // Text: what the agent said; more of the same turn may follow
	TurnEnd      Kind = "turn-end"      // Text: the last answer, if the agent tells it
	Compaction   Kind = "compaction"    // Text: the agent's own summary, if there is one
	SubagentEnd  Kind = "subagent-end"  // Text: what the subagent answered
	SessionEnd   Kind = "session-end"   // Text: why
)

// Event is one thing that a hook saw, redacted and stripped of what we or the
// agent wrapped around it. Text is at most MaxText bytes.
type Event struct {
	// ID tells the same event seen twice (a hook and a backfill, or two
	// channels) from two events. It is made from the agent's own ids and is
	// unique in Session; "" where the agent has none.
	ID        string    `json:"id,omitempty"`
	Kind      Kind      `json:"kind"`
	Time      time.Time `json:"time"`
	Agent     string    `json:"agent"` // claude, codex, …
	Session   string    `json:"session"`
	Turn      string    `json:"turn,omitempty"`   // the agent's id of the turn, where it has one
	Parent    string    `json:"parent,omitempty"` // the session whose subagent this is
	Cwd       string    `json:"cwd,omitempty"`
	Workspace string    `json:"workspace,omitempty"` // project key, as vault.Memory has it
	Text      string    `json:"text,omitempty"`
	Tool      *ToolUse  `json:"tool,omitempty"`
	// Cut is how many bytes of Text or of the tool's output were left out.
	Cut int `json:"cut,omitempty"`
}

// ToolUse is one call of a tool.
type ToolUse struct {
	Name   string `json:"name"`
	Input  string `json:"input,omitempty"`  // as JSON, or as the agent tells it
	Output string `json:"output,omitempty"` // at most MaxText bytes
	Error  string `json:"error,omitempty"`
}

// MaxText is the most bytes of text that one event keeps.
const MaxText = 256 << 10
