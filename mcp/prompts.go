package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addPrompts offers what a person may want to start with: a brief, a wrap-up
// of the session, and a tidy-up.
func addPrompts(s *sdk.Server, open Opener) {
	s.AddPrompt(&sdk.Prompt{
		Name: "brief", Title: "What do we know?", Description: "What the memory holds about a topic, or lately",
		Arguments: []*sdk.PromptArgument{{Name: "topic", Description: "default: the latest memories of this project"}},
	}, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return brief(ctx, open, req)
	})
	s.AddPrompt(&sdk.Prompt{
		Name: "wrap_up", Title: "Keep what we learned", Description: "Store what of this session deserves to be remembered",
	}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return ask("Go through this session and remember what a later one will need: decisions with their reasons, conventions, preferences I stated, " +
			"problems that were hard to solve and how. One self-contained memory each; recall first, and edit or supersede what is there instead of " +
			"storing it twice. Nothing that the code or git already says, no secrets. If work is left, store a handoff: done, next, where. " +
			"Then list what you stored in one line each."), nil
	})
	s.AddPrompt(&sdk.Prompt{
		Name: "tidy", Title: "Tidy the memory", Description: "Find memories that repeat or contradict each other",
		Arguments: []*sdk.PromptArgument{{Name: "topic", Description: "default: this project"}},
	}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		topic := "this project"
		if t := req.Params.Arguments["topic"]; t != "" {
			topic = fmt.Sprintf("%q", t)
		}
		return ask("Look through the memories about " + topic + " with list, recall and read. Name those that repeat, contradict or outdate each other, " +
			"and propose for each what to edit, supersede or forget. Change nothing before I agree."), nil
	})
}

func ask(text string) *sdk.GetPromptResult {
	return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}
}

// brief asks for a summary of what is quoted below.
func brief(ctx context.Context, open Opener, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	v, err := open(ctx, agentOf(req.ClientInfo()))
	if err != nil {
		return nil, err
	}
	defer v.Close()
	topic := req.Params.Arguments["topic"]
	if topic == "" {
		found, err := v.List(ctx, Filter{})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return ask("The memory is still empty. Say so in one sentence, and what is worth storing in it."), nil
		}
		return ask("Brief me on what we settled lately in this project; read what looks important. The latest memories:\n\n" + listed(found, 0, 30)), nil
	}
	found, err := v.Recall(ctx, Recall{Query: topic, Limit: 10, Budget: 4000})
	if err != nil {
		return nil, err
	}
	return ask(fmt.Sprintf("Brief me on what our memory says about %q, with ids and dates; recall more in other words if needed. Found so far:\n\n%s",
		oneLine(topic, 200), recalled(found))), nil
}
