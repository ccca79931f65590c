package hooks

// qwen decodes Qwen Code 0.24's hooks: Claude Code's names. UserPromptSubmit
// also fires, with the same prompt_id, for what the agent tells itself between
// two calls of the model.
func qwen() decoders {
	return claudeShaped("prompt_id").others(
		"PreToolUse", "PostToolBatch", "Notification", "InstructionsLoaded", "PermissionRequest", "StopFailure",
		"TodoCreated", "TodoCompleted", "PermissionDenied", "Setup",
	)
}
