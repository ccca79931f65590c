package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vademecum/vault"
)

// failed is the result of a call that did not work: a tool error, which the
// model sees and can mend, with what to do next.
func failed(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		IsError: true,
		Content: []sdk.Content{&sdk.TextContent{Text: explain(err)}},
	}
}

// explain is err in words for a model.
func explain(err error) string {
	if amb, ok := errors.AsType[*vault.AmbiguousError](err); ok {
		return candidates(amb)
	}
	message := oneLine(err.Error(), 2000)
	if next := nextStep(err); next != "" {
		message += ". " + next
	}
	return message
}

func nextStep(err error) string {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "The call was stopped; what was acknowledged before is kept"
	case errors.Is(err, vault.ErrNotFound):
		return "Use recall or list to find the id of what you mean"
	case errors.Is(err, vault.ErrStale):
		return "Read the memory again and repeat the change with its present version"
	case errors.Is(err, vault.ErrSecret):
		return "Leave the secret out and say where it is kept instead; only the owner can store one"
	case errors.Is(err, vault.ErrLocked):
		return "Another process is writing; try again in a moment"
	case errors.Is(err, vault.ErrBroken):
		return "Only the owner can mend its front matter, in an editor"
	}
	return ""
}

func candidates(amb *vault.AmbiguousError) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q fits %d memories. Call again with the id of one of them:\n", oneLine(string(amb.Ref), 200), len(amb.Candidates))
	var lines strings.Builder
	for i, c := range amb.Candidates {
		if i == 20 {
			fmt.Fprintf(&lines, "and %d more\n", len(amb.Candidates)-i)
			break
		}
		fmt.Fprintf(&lines, "%s%s\n", name(c.ID, c.Path), oneLine(c.Title, 120))
	}
	return b.String() + quote(lines.String())
}
