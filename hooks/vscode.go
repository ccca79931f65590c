package hooks

// vscode decodes the hooks of Copilot in VS Code, from its documentation:
// Claude Code's names and fields; it has no id of a turn.
func vscode() decoders {
	return claudeShaped("turn_id").others("PreToolUse", "Notification")
}
