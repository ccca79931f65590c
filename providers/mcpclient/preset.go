package mcpclient

import (
	"path/filepath"

	"vademecum/providers"
)

// object and list keep the templates readable.
type (
	object = map[string]any
	list   = []any
)

// preset is how a known server is used.
type preset struct {
	mapping Mapping
	vars    map[string]string
	env     map[string]string
}

// presets make them, for a provider with that folder.
func presets() map[string]func(dir string) preset {
	return map[string]func(dir string) preset{
		"server-memory": serverMemory, "basic-memory": basicMemory, "mem0": mem0, "graphiti": graphiti, "openviking": openViking,
	}
}

// serverMemory is @modelcontextprotocol/server-memory, as measured with
// 2026.8.31: an entity a memory, named by its id. search_nodes looks for its
// whole query as a substring; create_entities ignores names that it has; each
// call reads the file and writes it back. By default the file is inside the
// package, where an update would take it along.
func serverMemory(dir string) preset {
	entity := Call{Tool: "search_nodes", Items: "/entities", Ref: "/name", Text: "/observations/0", Meta: "/observations"}
	search, find, put := entity, entity, entity
	search.Args, find.Args = object{"query": "{query}"}, object{"query": "{id}"}
	put.Tool = "create_entities"
	put.Args = object{"entities": list{object{"name": "{name}", "entityType": "memory", "observations": list{"{text}", "{metadata_list}"}}}}
	return preset{
		mapping: Mapping{
			Search: search, Find: find, Put: put,
			Delete:  Call{Tool: "delete_entities", Args: object{"entityNames": list{"{ref}"}}},
			PerWord: true, Replace: true, Lock: true, Verbatim: true, Attribution: true,
		},
		env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.jsonl")},
	}
}

// basicMemory is basic-memory, from its documentation: a markdown note a memory,
// in one folder, titled by the id, so that it is overwritten in place.
func basicMemory(string) preset {
	return preset{
		mapping: Mapping{
			Search: Call{
				Tool: "search_notes", Args: object{"query": "{query}", "page_size": "{limit}", "project": "{project}", "output_format": "json"},
				Items: "/results", Ref: "/permalink", Text: "/content", Score: "/score", Meta: "/metadata",
			},
			Put: Call{
				Tool: "write_note", Args: object{
					"title": "{name}", "content": "{text}", "directory": "{directory}", "project": "{project}", "tags": "{tags}",
					"metadata": "{metadata}", "overwrite": true, "output_format": "json",
				},
				Ref: "/permalink",
			},
			Delete:    Call{Tool: "delete_note", Args: object{"identifier": "{ref}", "project": "{project}", "output_format": "json"}},
			Overwrite: true,
		},
		vars: map[string]string{"directory": "vade", "project": ""},
	}
}

// mem0 is mem0-mcp-server, from its source: it extracts, and answers with what
// it made, or that it will. Answers are JSON in text, errors too.
func mem0(string) preset {
	item := Call{Items: "/results", Ref: "/id", Text: "/memory", Score: "/score", Created: "/created_at", Meta: "/metadata", Error: "/error", Status: "/status"}
	search, find, put := item, item, item
	search.Tool, search.Args = "search_memories", object{"query": "{query}", "limit": "{limit}", "filters": object{"AND": list{object{"user_id": "{user_id}"}}}}
	find.Tool, find.Args = "get_memories", object{
		"filters":   object{"AND": list{object{"user_id": "{user_id}"}, object{"metadata": object{providers.MetaID: "{id}"}}}},
		"page_size": 100,
	}
	put.Tool, put.Args = "add_memory", object{"text": "{text}", "user_id": "{user_id}", "metadata": "{metadata}"}
	return preset{
		mapping: Mapping{
			Search: search, Find: find, Put: put, Queued: true, Attribution: true,
			Delete: Call{Tool: "delete_memory", Args: object{"memory_id": "{ref}"}, Error: "/error", Status: "/status"},
		},
		vars: map[string]string{"user_id": "vade"},
	}
}

// graphiti is Graphiti's MCP server, from its source: puts are queued and become
// episodes, which say in their description whose they are; they are looked for
// among the latest. What is searched are the facts that were made of them.
func graphiti(string) preset {
	group := list{"{group_id}"}
	return preset{
		mapping: Mapping{
			Search: Call{
				Tool: "search_memory_facts", Args: object{"query": "{query}", "max_facts": "{limit}", "group_ids": group},
				Items: "/facts", Ref: "/uuid", Text: "/fact", Created: "/created_at", Error: "/error",
			},
			Put: Call{
				Tool: "add_memory", Args: object{
					"name": "{title}", "episode_body": "{text}", "group_id": "{group_id}", "source": "text", "source_description": "{metadata_text}",
					"reference_time": "{updated}",
				},
				Error: "/error",
			},
			Find: Call{
				Tool: "get_episodes", Args: object{"group_ids": group, "max_episodes": 100},
				Items: "/episodes", Ref: "/uuid", Text: "/content", Created: "/created_at", Meta: "/source_description", Error: "/error",
			},
			Delete: Call{Tool: "delete_episode", Args: object{"uuid": "{ref}"}, Error: "/error"},
			Queued: true,
		},
		vars: map[string]string{"group_id": "vade"},
	}
}

// openViking is the MCP endpoint of OpenViking, from its source: remember has
// memories extracted from a message and says nothing of them; find answers in
// lines for people.
func openViking(string) preset {
	return preset{
		mapping: Mapping{
			Search: Call{
				Tool: "find", Args: object{"query": "{query}", "limit": "{limit}", "min_score": 0, "target_uri": "{target_uri}"},
				Lines: `(?m)^- \[\w+ (?P<score>\d+)%\] (?P<ref>\S+)\n\s*(?P<text>.*)$`,
			},
			Put:    Call{Tool: "remember", Args: object{"messages": list{object{"role": "user", "content": "{text}"}}}},
			Delete: Call{Tool: "forget", Args: object{"uri": "{ref}"}},
			Health: Call{Tool: "health"},
			Score:  providers.Similarity,
		},
		vars: map[string]string{"target_uri": ""},
	}
}
