package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"vademecum/vault"
)

func (a *app) memoryToolCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "memory-tool",
		Short:   "Answer the commands of Anthropic's memory tool",
		GroupID: groupMemory,
		Long: `Be the backend of the memory tool of Anthropic's API (memory_20250818), which a
model calls and a program carries out: view, create, str_replace, insert, delete,
rename. /memories is files/ of the vault ("vade file list"); a folder's slash is
a "∕" in a file's name there. Every change is a commit, kept and synced like all
others.

Give it on standard input, for each call of the model, the "input" of the
tool_use block, or the whole block. For an input the answer is the text for the
tool_result, with exit code 1 when it is an error of the tool; with --json it is
{"content":…,"is_error":…}. For a block it is the tool_result block, ready to be
sent. A program may keep it running: calls are answered one by one, a line each.`,
		Example: `  echo '{"command":"view","path":"/memories"}' | vade memory-tool
  echo '{"command":"create","path":"/memories/todo.md","file_text":"- ship\n"}' | vade memory-tool --json
  jq -c '.content[] | select(.type == "tool_use")' reply.json | vade memory-tool > results.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withVault(func(o *opened) error { return o.memoryTool(cmd.Context()) })
		},
	}
}

// memoryCall is what a model says: the input of a tool_use block, or all of it.
type memoryCall struct {
	memoryCommand
	Type  string         `json:"type"`
	ID    string         `json:"id"`
	Input *memoryCommand `json:"input"`
}

type memoryCommand struct {
	Command    string  `json:"command"`
	Path       *string `json:"path"`
	ViewRange  []int   `json:"view_range"`
	FileText   *string `json:"file_text"`
	OldStr     *string `json:"old_str"`
	NewStr     string  `json:"new_str"`
	InsertLine *int    `json:"insert_line"`
	InsertText *string `json:"insert_text"`
	OldPath    *string `json:"old_path"`
	NewPath    *string `json:"new_path"`
}

// memoryResult is the answer to a call; Type and ID when the call was a block.
type memoryResult struct {
	Type    string `json:"type,omitempty"`
	ID      string `json:"tool_use_id,omitempty"`
	Content string `json:"content"`
	IsError bool   `json:"is_error"`
}

// toolError is a mistake that the model made, in the words that the tool has
// for it. Everything else that goes wrong is told the model as it is.
type toolError string

func (e toolError) Error() string { return string(e) }

func toolErrorf(format string, args ...any) error { return toolError(fmt.Sprintf(format, args...)) }

// memoryTool answers the calls on stdin until it ends.
func (o *opened) memoryTool(ctx context.Context) error {
	dec := json.NewDecoder(o.a.stdin)
	for n := 0; ; n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); errors.Is(err, io.EOF) && n > 0 {
			return nil
		} else if err != nil {
			return hinted(usagef("standard input holds no JSON command: %w", err), `for example {"command":"view","path":"/memories"}`)
		}
		r, block := o.answerMemoryCall(ctx, raw)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := o.a.printMemoryResult(r, block); err != nil {
			return err
		}
	}
}

// answerMemoryCall carries a call out; block says that it came as one.
func (o *opened) answerMemoryCall(ctx context.Context, raw json.RawMessage) (r memoryResult, block bool) {
	var call memoryCall
	err := json.Unmarshal(raw, &call)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		if err = toolErrorf("Invalid parameter `%s`: it does not take this %s", field, wrong.Value); field == "" {
			err = toolErrorf("A command is a JSON object, not this %s", wrong.Value)
		}
	}
	if block = call.Input != nil || call.Type == "tool_use"; block {
		r.Type, r.ID = "tool_result", call.ID
	}
	command := call.memoryCommand
	if call.Input != nil {
		command = *call.Input
	}
	if err == nil {
		r.Content, err = (&memoryFiles{o: o}).run(ctx, command)
	}
	if err != nil {
		r.Content, r.IsError = err.Error(), true
	}
	return r, block
}

// printMemoryResult prints r, as JSON on one line for a block or --json.
func (a *app) printMemoryResult(r memoryResult, block bool) error {
	if !block && !a.flags.json {
		a.printf("%s\n", r.Content)
		if r.IsError {
			return &codedError{code: exitFailed, err: errSilent}
		}
		return nil
	}
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// run carries out one command.
func (m *memoryFiles) run(ctx context.Context, c memoryCommand) (string, error) {
	need := map[string][]struct {
		name  string
		given bool
	}{
		"view":        {{"path", c.Path != nil}},
		"create":      {{"path", c.Path != nil}, {"file_text", c.FileText != nil}},
		"str_replace": {{"path", c.Path != nil}, {"old_str", c.OldStr != nil}},
		"insert":      {{"path", c.Path != nil}, {"insert_line", c.InsertLine != nil}, {"insert_text", c.InsertText != nil}},
		"delete":      {{"path", c.Path != nil}},
		"rename":      {{"old_path", c.OldPath != nil}, {"new_path", c.NewPath != nil}},
	}
	params, ok := need[c.Command]
	if !ok {
		return "", toolErrorf("Unknown command: %s", c.Command)
	}
	for _, p := range params {
		if !p.given {
			return "", toolErrorf("Missing required parameter: `%s`", p.name)
		}
	}
	switch c.Command {
	case "view":
		return m.view(ctx, *c.Path, c.ViewRange)
	case "create":
		return m.create(ctx, *c.Path, *c.FileText)
	case "str_replace":
		return m.replace(ctx, *c.Path, *c.OldStr, c.NewStr)
	case "insert":
		return m.insert(ctx, *c.Path, *c.InsertLine, *c.InsertText)
	case "delete":
		return m.delete(ctx, *c.Path)
	}
	return m.rename(ctx, *c.OldPath, *c.NewPath)
}

// update changes files in one commit and has it pushed in the background.
func (m *memoryFiles) update(ctx context.Context, subject string, change func(*vault.Tx, memoryTree) error) error {
	_, err := m.o.vault.Update(ctx, vault.Op{Name: "file", Subject: subject}, func(tx *vault.Tx) error {
		tree, err := m.tree(ctx)
		if err != nil {
			return err
		}
		return change(tx, tree)
	})
	if err == nil {
		m.o.pushLater()
	}
	return err
}
