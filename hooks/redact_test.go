package hooks

import (
	"encoding/base64"
	"testing"

	"vademecum/sync/journal"
)

// A tool's input is JSON: a key that is split over lines is not in one line there.
func TestToolInputIsRedactedBeforeItIsEncoded(t *testing.T) {
	key := "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3"
	split := key[:30] + "\\\n" + key[30:]
	e := journal.Event{Tool: &journal.ToolUse{Name: "Bash", Input: compact(object{"command": "curl -H " + split, "env": []any{object{"a": "x\n" + base64.StdEncoding.EncodeToString([]byte("t="+key))}}})}}
	Redactor{}.event(&e)
	if want := `{"command":"curl -H [redacted:openai-key]","env":[{"a":"x\n[redacted:encoded-openai-key]"}]}`; e.Tool.Input != want {
		t.Errorf("got %s, want %s", e.Tool.Input, want)
	}
}
