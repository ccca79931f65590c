package main

import (
	"encoding/json"
	"strings"
)

func text(v any) string   { s, _ := v.(string); return s }
func list(v any) []any    { l, _ := v.([]any); return l }
func member(v any) object { m, _ := v.(object); return m }

// flat is all text in a content: a string, a list of parts, or either in one.
func flat(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case []any:
		var parts []string
		for _, e := range x {
			parts = append(parts, flat(e))
		}
		return strings.Join(parts, "\n")
	case object:
		for _, key := range []string{"text", "content", "output", "parts", "response"} {
			if part, ok := x[key]; ok {
				return flat(part)
			}
		}
	}
	return ""
}

// parse reads a request's messages and tools.
func parse(api string, request object) (turns []turn, tools []tool) {
	tools = collect(request["tools"], "")
	add := func(role, text string) {
		if role == "developer" {
			role = "system"
		}
		turns = append(turns, turn{role, text})
	}
	switch api {
	case "anthropic":
		parseAnthropic(request, add)
	case "responses":
		parseResponses(request, add)
	case "chat":
		for _, m := range list(request["messages"]) {
			add(text(member(m)["role"]), flat(member(m)["content"]))
		}
	case "gemini":
		parseGemini(request, add)
	}
	return turns, tools
}

// collect finds tools in every way in which they are offered.
func collect(v any, namespace string) (tools []tool) {
	for _, t := range list(v) {
		m := member(t)
		switch {
		case m["function"] != nil: // chat
			tools = append(tools, tool{namespace, text(member(m["function"])["name"])})
		case m["type"] == "namespace": // how Codex offers MCP tools
			tools = append(tools, collect(m["tools"], text(m["name"]))...)
		case m["functionDeclarations"] != nil:
			tools = append(tools, collect(m["functionDeclarations"], namespace)...)
		case text(m["name"]) != "":
			tools = append(tools, tool{namespace, text(m["name"])})
		}
	}
	return tools
}

func parseAnthropic(request object, add func(role, text string)) {
	add("system", flat(request["system"]))
	for _, m := range list(request["messages"]) {
		role, content := text(member(m)["role"]), member(m)["content"]
		if s, ok := content.(string); ok {
			add(role, s)
			continue
		}
		for _, p := range list(content) {
			switch part := member(p); part["type"] {
			case "tool_result":
				add("tool", flat(part["content"]))
			case "tool_use":
			default:
				add(role, text(part["text"]))
			}
		}
	}
}

func parseResponses(request object, add func(role, text string)) {
	add("system", text(request["instructions"]))
	if s, ok := request["input"].(string); ok {
		add("user", s)
	}
	for _, it := range list(request["input"]) {
		m := member(it)
		switch kind := text(m["type"]); {
		case strings.HasSuffix(kind, "_call_output"):
			add("tool", flat(m["output"]))
		case strings.HasSuffix(kind, "_call"), kind == "reasoning", text(m["role"]) == "":
		default:
			add(text(m["role"]), flat(m["content"]))
		}
	}
}

func parseGemini(request object, add func(role, text string)) {
	add("system", flat(member(request["systemInstruction"])["parts"]))
	for _, it := range list(request["contents"]) {
		role := "user"
		if text(member(it)["role"]) == "model" {
			role = "assistant"
		}
		for _, p := range list(member(it)["parts"]) {
			switch part := member(p); {
			case part["functionResponse"] != nil:
				raw, _ := json.Marshal(part["functionResponse"]) // was JSON
				add("tool", string(raw))
			case part["functionCall"] != nil:
			default:
				add(role, text(part["text"]))
			}
		}
	}
}
