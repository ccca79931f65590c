package hooks

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxTranscript is how much of the end of a transcript is read, in bytes.
const maxTranscript = 512 << 10

// answerWithin is answerIn for a transcript that is being written: Copilot
// appends what was answered up to 100 ms after it tells its hooks.
func answerWithin(ctx context.Context, path string) string {
	for {
		if text := answerIn(path); text != "" || filepath.Base(path) != "events.jsonl" {
			return text
		}
		select {
		case <-ctx.Done():
			return ""
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// answerIn returns the last answer of a turn from Copilot's events.jsonl: the
// last assistant.message with a text behind the last user.message. "" when
// there is none.
func answerIn(path string) string {
	if filepath.Base(path) != "events.jsonl" {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	from := max(0, info.Size()-maxTranscript)
	raw := make([]byte, info.Size()-from)
	n, _ := f.ReadAt(raw, from)
	lines := strings.Split(string(raw[:n]), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		var e struct {
			Type string `json:"type"`
			Data struct {
				Content         string `json:"content"`
				ParentToolCall  string `json:"parentToolCallId"`
				ParentAgentTask string `json:"parentAgentTaskId"`
			} `json:"data"`
		}
		if json.Unmarshal([]byte(lines[i]), &e) != nil {
			continue // the first line is cut
		}
		switch {
		case e.Type == "user.message":
			return ""
		case e.Type == "assistant.message" && e.Data.Content != "" && e.Data.ParentToolCall == "":
			return e.Data.Content
		}
	}
	return ""
}
