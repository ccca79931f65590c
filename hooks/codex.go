package hooks

// codex decodes Codex 0.171's hooks: Claude Code's names with turn_id. It has
// no event for a tool that failed; what it says of one is its output.
func codex() decoders {
	return claudeShaped("turn_id").others("PreToolUse", "PermissionRequest", "Interrupt")
}
