package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is one of ours: what clients are told of it, and what a call does.
type tool struct {
	name, title, about string
	params             []param
	effect             effect
	eager              bool // wanted before the first question is answered
	call               func(context.Context, Vault, *args) (*sdk.CallToolResult, error)
}

// effect is what a call can do to the vault.
type effect struct{ writes, destroys, repeats bool }

var (
	reads    = effect{repeats: true}
	adds     = effect{writes: true, repeats: true}
	changes  = effect{writes: true, destroys: true}
	destroys = effect{writes: true, destroys: true, repeats: true}
)

const aboutRef = "id, its last 6 characters, path or exact title"

var (
	typeNames = []string{"decision", "convention", "constraint", "fact", "preference", "procedure", "event", "handoff", "note"}
	tierNames = []string{"ltm", "stm"}
)

// filterParams narrow recall and list.
func filterParams() []param {
	return []param{
		{name: "tags", kind: list, about: "with all of these", also: []string{"tag"}},
		{name: "types", kind: list, about: "of any of these", also: []string{"type"}},
		{name: "since", about: "changed since: 12h, 7d or a date"},
		{name: "workspace", about: "project; default: where the server runs", also: []string{"project"}},
		{name: "all_workspaces", kind: flag},
	}
}

func filter(a *args) Filter {
	return Filter{
		Tags: a.list("tags"), Types: a.list("types"), Since: a.text("since"),
		Workspace: a.text("workspace"), AllWorkspaces: a.flag("all_workspaces"),
	}
}

// tools are the tools in the order in which clients are told of them. The
// order never changes, for the sake of clients' prompt caches.
func tools() []tool {
	return []tool{
		recallTool(), rememberTool(), readTool(), editTool(),
		forgetTool(), listTool(), historyTool(), doctorTool(),
	}
}

func recallTool() tool {
	return tool{
		name: "recall", title: "Recall memories", effect: reads, eager: true, call: recall,
		about: "Search the memory that this user's agents share: decisions, conventions, preferences, earlier work. " +
			"Use before you answer or do what may have been settled before. Plain words, any language; if little comes back, try other words.",
		params: append([]param{
			{name: "query", required: true, about: "words or a question", also: []string{"q", "text"}},
			{name: "limit", kind: number, about: "hits, default 5", also: []string{"max_results", "top_k"}},
			{name: "budget", kind: number, about: "tokens at most, default 4000"},
		}, filterParams()...),
	}
}

func rememberTool() tool {
	return tool{
		name: "remember", title: "Remember", effect: adds, eager: true, call: remember,
		about: "Store one self-contained fact for later sessions and other agents: a decision and why, a convention, a preference, " +
			"how a hard problem was solved. No secrets, nothing that the code already says.",
		params: []param{
			{name: "text", required: true, about: "markdown", also: []string{"content", "body", "memory"}},
			{name: "title"},
			{name: "type", enum: typeNames},
			{name: "tags", kind: list, also: []string{"tag"}},
			{name: "aliases", kind: list, about: "other words for it", also: []string{"alias"}},
			{name: "why"},
			{name: "source", about: "URL, file or person"},
			{name: "tier", enum: tierNames, about: "stm expires in 24 h"},
			{name: "expires", about: "2h, 7d or a date"},
			{name: "supersedes", kind: list, about: "memories it replaces"},
			{name: "workspace", about: "project; default: where the server runs", also: []string{"project"}},
			{name: "no_workspace", kind: flag, about: "it holds for every project"},
		},
	}
}

func readTool() tool {
	return tool{
		name: "read", title: "Read a memory", effect: reads, call: read,
		about: "Show one memory whole, with its version.",
		params: []param{
			{name: "ref", required: true, about: aboutRef + "; ref@commit: an older version", also: []string{"id", "path", "title"}},
			{name: "from_line", kind: number, about: "go on from this line of a long one", also: []string{"line", "offset"}},
		},
	}
}

func editTool() tool {
	return tool{
		name: "edit", title: "Edit a memory", effect: changes, call: edit,
		about: "Change a memory; what is not given stays. Replace a passage with old and new, or all with text. History keeps the old version.",
		params: []param{
			{name: "ref", required: true, about: aboutRef, also: []string{"id", "path"}},
			{name: "old", about: "passage that occurs once", also: []string{"old_text", "old_string", "old_str"}},
			{name: "new", also: []string{"new_text", "new_string", "new_str"}},
			{name: "text", about: "all of the new text", also: []string{"content", "body"}},
			{name: "title"},
			{name: "type"},
			{name: "add_tags", kind: list, also: []string{"add_tag"}},
			{name: "remove_tags", kind: list, also: []string{"remove_tag"}},
			{name: "why"},
			{name: "tier"},
			{name: "expires", about: "2h, 7d, a date or never"},
			{name: "workspace", about: `project; "" for every one`, also: []string{"project"}},
			{name: "if_match", about: "version it must have", also: []string{"version"}},
		},
	}
}

func forgetTool() tool {
	return tool{
		name: "forget", title: "Forget a memory", effect: destroys, call: forget,
		about: "Remove a memory, everywhere. For what is wrong or unwanted; edit or supersede what has changed.",
		params: []param{
			{name: "ref", required: true, about: aboutRef, also: []string{"id", "path"}},
			{name: "if_match", about: "version it must have", also: []string{"version"}},
		},
	}
}

func listTool() tool {
	return tool{
		name: "list", title: "List memories", effect: reads, call: listing,
		about: "List memories, the latest first, without text.",
		params: append([]param{
			{name: "limit", kind: number, about: "default 30"},
			{name: "offset", kind: number},
		}, filterParams()...),
	}
}

func historyTool() tool {
	return tool{
		name: "history", title: "History", effect: reads, call: history,
		about: "Show what changed, when and by whom: of one memory, also a forgotten one, or of all.",
		params: []param{
			{name: "ref", about: aboutRef, also: []string{"id", "path"}},
			{name: "limit", kind: number, about: "default 20"},
		},
	}
}

func doctorTool() tool {
	return tool{
		name: "doctor", title: "Check the memory", effect: reads, call: doctor,
		about: "Check that the memory is sound. Reports only; mending is the owner's.",
	}
}

// add registers t on s, to be called on vaults from open.
func (t tool) add(s *sdk.Server, open Opener) {
	no := false
	def := &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: schema(t.params),
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: !t.effect.writes, DestructiveHint: &t.effect.destroys,
			IdempotentHint: t.effect.repeats, OpenWorldHint: &no,
		},
	}
	if t.eager {
		// Claude Code hides every other tool behind a search.
		def.Meta = sdk.Meta{"anthropic/alwaysLoad": true}
	}
	s.AddTool(def, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		a, err := parseArgs(req.Params.Arguments, t.params)
		if err != nil {
			return failed(err), nil
		}
		v, err := open(ctx, agentOf(req.ClientInfo()))
		if err != nil {
			return failed(err), nil
		}
		defer v.Close()
		r, err := t.call(ctx, v, a)
		if err != nil {
			return failed(err), nil
		}
		return r, nil
	})
}
