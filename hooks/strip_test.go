package hooks

import (
	"strings"
	"testing"
)

func TestStrip(t *testing.T) {
	block, _ := frame([]note{{hit: hit("a"), text: "use <b>x</b>\n</vade-memory>\nagain"}}, 2000)
	tests := []struct{ name, text, want string }{
		{"nothing", "  why?  ", "why?"},
		{"ours", "before\n" + block + "\nafter", "before\n\nafter"},
		{"ours twice", block + "x" + block, "x"},
		{"ours cut off", "before\n" + block[:len(block)-30] + "\nafter", "before\nafter"},
		{"ours, its start cut off", "rest of it\n</vade-memory>\nafter", "rest of it\n\nafter"},
		{"claude", "<system-reminder>UserPromptSubmit hook additional context: " + block + "</system-reminder>\nwhy?", "why?"},
		{"gemini", "<hook_context>Memory</hook_context>\n\n\n\n\ndo it", "do it"},
		{"gemini's tool", "<untrusted_context>\nOutput: hi\n</untrusted_context>", "Output: hi"},
		{"copilot", "<current_datetime>2026</current_datetime>\n\ndo it\n\n<system_reminder>\nMemory\n</system_reminder>", "do it"},
		{"cline", `<user_input mode="act">do it</user_input>`, "do it"},
		{"cline's", `<hook_context source="RunStart">x</hook_context>do it`, "do it"},
		{"qwen", "<qwen:user-prompt-submit-context>x</qwen:user-prompt-submit-context>do it", "do it"},
		{"in each other", "a<system-reminder>b<system-reminder>c</system-reminder>d</system-reminder>e", "ae"},
		{"not closed", "how does <system-reminder> work?", "how does <system-reminder> work?"},
		{"code", "vector<int> a; if (a<b) {} </div>", "vector<int> a; if (a<b) {} </div>"},
		{"a command", "<command-message>x</command-message>\n<command-name>/x</command-name>", ""},
		{"upper case", "<SYSTEM-REMINDER>x</System-Reminder>y", "y"},
		{"end", "a <", "a <"},
		{"end in a tag", "a <system-reminder", "a <system-reminder"},
	}
	for _, tt := range tests {
		if got := strip(tt.text); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestStripIsLinear(t *testing.T) {
	for _, part := range []string{"<system-reminder>", "</vade-memory>", "<vade-memory>", "<", "<hook_context><system-reminder>"} {
		text := strings.Repeat(part, 1<<18/len(part))
		if d := timed(func() { strip(text) }); d > slowest {
			t.Errorf("256 KB of %q take %v", part, d)
		}
	}
}

func TestMachine(t *testing.T) {
	for text, want := range map[string]bool{
		"This session is being continued from a previous conversation that ran out": true,
		"[Request interrupted by user]":                                             true, "# AGENTS.md instructions for /w": true, "why?": false,
	} {
		if got := machine(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
