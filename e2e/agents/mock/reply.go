package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"
)

// writer answers one call of a model in its protocol.
type writer struct {
	w      http.ResponseWriter
	n      int
	model  any
	stream bool
}

// begin starts a stream of events.
func (o writer) begin() {
	o.w.Header().Set("Content-Type", "text/event-stream")
	o.w.Header().Set("Cache-Control", "no-cache")
	o.w.WriteHeader(http.StatusOK)
}

// event sends one; name may be "".
func (o writer) event(name string, v any) {
	if name != "" {
		fmt.Fprintf(o.w, "event: %s\n", name)
	}
	raw, _ := json.Marshal(v) // made of JSON
	fmt.Fprintf(o.w, "data: %s\n\n", raw)
	if f, ok := o.w.(http.Flusher); ok {
		f.Flush()
	}
}

func (o writer) id(prefix string) string { return fmt.Sprintf("%s_mock_%d", prefix, o.n) }

func (o writer) anthropic(r reply) {
	block, stop := object{"type": "text", "text": r.text}, "end_turn"
	start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": r.text}
	if r.tool.name != "" {
		stop = "tool_use"
		block = object{"type": "tool_use", "id": o.id("toolu"), "name": r.tool.name, "input": r.args}
		start = maps.Clone(block)
		start["input"] = object{}
		delta = object{"type": "input_json_delta", "partial_json": string(r.args)}
	}
	usage := object{"input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	message := object{
		"id": o.id("msg"), "type": "message", "role": "assistant", "model": o.model, "content": []any{block},
		"stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
	if !o.stream {
		writeJSON(o.w, http.StatusOK, message)
		return
	}
	o.begin()
	message["content"], message["stop_reason"] = []any{}, nil
	o.event("message_start", object{"type": "message_start", "message": message})
	o.event("content_block_start", object{"type": "content_block_start", "index": 0, "content_block": start})
	o.event("content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	o.event("content_block_stop", object{"type": "content_block_stop", "index": 0})
	o.event("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	o.event("message_stop", object{"type": "message_stop"})
}

func (o writer) responses(r reply) {
	item := object{
		"type": "message", "id": o.id("msg"), "status": "completed", "role": "assistant",
		"content": []any{object{"type": "output_text", "text": r.text, "annotations": []any{}}},
	}
	if r.tool.name != "" {
		item = object{
			"type": "function_call", "id": o.id("fc"), "call_id": o.id("call"), "name": r.tool.name,
			"arguments": string(r.args), "status": "completed",
		}
		if r.tool.namespace != "" {
			item["namespace"] = r.tool.namespace
		}
	}
	usage := object{
		"input_tokens": 100, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 10,
		"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 110,
	}
	response := object{
		"id": o.id("resp"), "object": "response", "created_at": time.Now().Unix(), "status": "completed", "model": o.model,
		"output": []any{item}, "usage": usage, "parallel_tool_calls": false, "tools": []any{},
	}
	if !o.stream {
		writeJSON(o.w, http.StatusOK, response)
		return
	}
	o.begin()
	sequence := 0
	send := func(kind string, v object) {
		v["type"], v["sequence_number"] = kind, sequence
		sequence++
		o.event(kind, v)
	}
	begun := maps.Clone(response)
	begun["status"], begun["output"] = "in_progress", []any{}
	send("response.created", object{"response": begun})
	started := maps.Clone(item)
	started["status"] = "in_progress"
	if r.tool.name != "" {
		started["arguments"] = ""
		send("response.output_item.added", object{"output_index": 0, "item": started})
		send("response.function_call_arguments.delta", object{"output_index": 0, "item_id": item["id"], "delta": string(r.args)})
		send("response.function_call_arguments.done", object{"output_index": 0, "item_id": item["id"], "arguments": string(r.args), "name": r.tool.name})
	} else {
		started["content"] = []any{}
		at := func(v object) object {
			v["output_index"], v["content_index"], v["item_id"] = 0, 0, item["id"]
			return v
		}
		send("response.output_item.added", object{"output_index": 0, "item": started})
		send("response.content_part.added", at(object{"part": object{"type": "output_text", "text": "", "annotations": []any{}}}))
		send("response.output_text.delta", at(object{"delta": r.text}))
		send("response.output_text.done", at(object{"text": r.text}))
		send("response.content_part.done", at(object{"part": object{"type": "output_text", "text": r.text, "annotations": []any{}}}))
	}
	send("response.output_item.done", object{"output_index": 0, "item": item})
	send("response.completed", object{"response": response})
}

func (o writer) chat(r reply) {
	message, finish := object{"role": "assistant", "content": r.text}, "stop"
	if r.tool.name != "" {
		call := object{"id": o.id("call"), "type": "function", "index": 0, "function": object{"name": r.tool.name, "arguments": string(r.args)}}
		message, finish = object{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
	}
	usage := object{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
	answer := func(kind string, choice object) object {
		choice["index"] = 0
		return object{"id": o.id("chatcmpl"), "object": kind, "created": time.Now().Unix(), "model": o.model, "choices": []any{choice}}
	}
	if !o.stream {
		v := answer("chat.completion", object{"message": message, "finish_reason": finish})
		v["usage"] = usage
		writeJSON(o.w, http.StatusOK, v)
		return
	}
	o.begin()
	o.event("", answer("chat.completion.chunk", object{"delta": message, "finish_reason": nil}))
	last := answer("chat.completion.chunk", object{"delta": object{}, "finish_reason": finish})
	last["usage"] = usage
	o.event("", last)
	_, _ = io.WriteString(o.w, "data: [DONE]\n\n")
}

func (o writer) gemini(r reply) {
	part := object{"text": r.text}
	if r.tool.name != "" {
		part = object{"functionCall": object{"name": r.tool.name, "args": r.args}}
	}
	v := object{
		"candidates":    []any{object{"index": 0, "content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}, "modelVersion": "mock",
	}
	if !o.stream {
		writeJSON(o.w, http.StatusOK, v)
		return
	}
	o.begin()
	o.event("", v)
}
