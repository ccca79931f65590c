package journal

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// telling are the members of a tool's input that say best what it was asked
// to do, the best first.
var telling = [...]string{"command", "cmd", "file_path", "filePath", "path", "url", "query", "pattern", "description", "prompt"}

// toolInput is a tool's input on one short line: of JSON the member that tells
// the most.
func toolInput(input string) string {
	var members map[string]any
	if json.Unmarshal([]byte(input), &members) != nil {
		return oneLine(input, maxInput)
	}
	for _, name := range telling {
		if text := inputText(members[name]); text != "" {
			return oneLine(text, maxInput)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if text := inputText(members[name]); text != "" {
			return oneLine(text, maxInput)
		}
	}
	return ""
}

func inputText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any: // a command as its words
		var words []string
		for _, w := range v {
			s, ok := w.(string)
			if !ok {
				return ""
			}
			words = append(words, s)
		}
		return strings.Join(words, " ")
	}
	return ""
}
