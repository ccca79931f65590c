// Package hooks is the side of vade that a coding agent calls: for each agent
// it decodes what the agent's hooks tell, keeps it in the journal, and answers
// with what the vault knows.
//
// A hook never makes its agent wait or fail: whatever comes in, the answer is
// there within a second, is of the shape that this agent takes, or is empty.
// What is kept has lost its secrets, what its owner marked private, and what we
// or the agent put around it, before its first byte is on disk.
//
// Beside the journal, in the identity's folder, none of it in git:
//
//	hooks/
//	  sessions/claude-0f3a9c….json   what a session was told already; bounded
//	  activity.jsonl                 what was recalled, injected, captured; no text
//	  activity.old.jsonl             the same, before; both bounded
//	  usage.json                     sums of what was dropped from those
package hooks
