package hooks

// claude decodes Claude Code 2.1's hooks: 34 events, of which these say
// something. A Stop has the last answer; a PostCompact the agent's summary.
func claude() decoders {
	return claudeShaped("prompt_id").others(
		"PreToolUse", "PostToolBatch", "Notification", "UserPromptExpansion", "StopFailure", "PreModelSwitch",
		"PostModelSwitch", "PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted",
		"Elicitation", "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded",
		"CwdChanged", "FileChanged", "DirectoryAdded", "MessageDisplay", "PreSkillShellCommand",
	)
}
