package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vademecum/providers"
)

// TestMain is also the server that is run, over stdio, by MCP_DO.
func TestMain(m *testing.M) {
	switch os.Getenv("MCP_DO") {
	case "":
		os.Exit(m.Run())
	case "die":
		fmt.Fprintln(os.Stderr, "no database for "+os.Getenv("MCP_KEY"))
		os.Exit(3)
	}
	if err := os.WriteFile("environ", []byte(strings.Join(os.Environ(), "\n")), 0o600); err != nil {
		panic(err)
	}
	f := &fake{file: os.Getenv("MEMORY_FILE_PATH")}
	if err := f.server().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// entity is server-memory's.
type entity struct {
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
}

// graph is what it answers with.
type graph struct {
	Entities []entity `json:"entities"`
}

// fake behaves as server-memory does: it searches for substrings, ignores what
// it has, and reads and writes all of its file for each call.
type fake struct {
	file string

	mu       sync.Mutex
	entities []entity
	writes   int // that are under way
	overlaps int // writes that met another
	queries  []string
	extra    string // in the description of a tool
	fail     string // what every tool answers
	hang     chan struct{}
	running  *mcp.Server
}

type newEntities struct {
	Entities []entity `json:"entities"`
}

type byQuery struct {
	Query string `json:"query"`
}

type byNames struct {
	EntityNames []string `json:"entityNames"`
}

func (f *fake) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "memory-server", Version: "0.6.3"}, nil)
	f.running = s
	mcp.AddTool(s, &mcp.Tool{Name: "create_entities", Description: "Create" + f.extra}, tool(f, true, f.create))
	mcp.AddTool(s, &mcp.Tool{Name: "search_nodes"}, tool(f, false, f.search))
	mcp.AddTool(s, &mcp.Tool{Name: "delete_entities"}, tool(f, true, f.delete))
	return s
}

// tool is do as a tool of f, which loads before and saves after it.
func tool[In any](f *fake, write bool, do func(In) graph) mcp.ToolHandlerFor[In, graph] {
	return func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, graph, error) {
		f.mu.Lock()
		fail, hang := f.fail, f.hang
		if write {
			if f.writes++; f.writes > 1 {
				f.overlaps++
			}
		}
		f.mu.Unlock()
		defer func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			if write {
				f.writes--
			}
		}()
		if fail != "" {
			return nil, graph{}, fmt.Errorf("%s", fail)
		}
		if hang != nil {
			select {
			case <-hang:
			case <-ctx.Done():
				return nil, graph{}, ctx.Err()
			}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.load()
		g := do(in)
		if write {
			f.save()
		}
		return nil, g, nil
	}
}

func (f *fake) load() {
	if b, err := os.ReadFile(f.file); err == nil {
		f.entities = nil
		_ = json.Unmarshal(b, &f.entities)
	}
}

func (f *fake) save() {
	if f.file == "" {
		return
	}
	if b, err := json.Marshal(f.entities); err == nil {
		_ = os.WriteFile(f.file, b, 0o600)
	}
}

func (f *fake) create(in newEntities) graph {
	made := graph{Entities: []entity{}}
	for _, e := range in.Entities {
		if !slices.ContainsFunc(f.entities, func(have entity) bool { return have.Name == e.Name }) {
			f.entities = append(f.entities, e)
			made.Entities = append(made.Entities, e)
		}
	}
	return made
}

func (f *fake) search(in byQuery) graph {
	f.queries = append(f.queries, in.Query)
	found := graph{Entities: []entity{}}
	for _, e := range f.entities {
		if all := strings.ToLower(e.Name + "\n" + e.EntityType + "\n" + strings.Join(e.Observations, "\n")); strings.Contains(all, strings.ToLower(in.Query)) {
			found.Entities = append(found.Entities, e)
		}
	}
	return found
}

func (f *fake) delete(in byNames) graph {
	f.entities = slices.DeleteFunc(f.entities, func(e entity) bool { return slices.Contains(in.EntityNames, e.Name) })
	return graph{Entities: []entity{}}
}

// memory returns a provider in front of f, in this process.
func memory(t *testing.T, f *fake, change func(*Config)) providers.Provider {
	t.Helper()
	c := Config{Name: "mem", Command: os.Args[0], Dir: filepath.Join(t.TempDir(), "mem"), Preset: "server-memory"}
	if change != nil {
		change(&c)
	}
	p, err := open(c, func() mcp.Transport {
		ours, theirs := mcp.NewInMemoryTransports()
		if _, err := f.server().Connect(context.WithoutCancel(t.Context()), theirs, nil); err != nil {
			t.Error(err)
		}
		return ours
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = providers.Close(p) })
	return p
}

// program returns a provider in front of a process.
func program(t *testing.T, do, dir string, change func(*Config)) providers.Provider {
	t.Helper()
	c := Config{Name: "mem", Command: os.Args[0], Dir: dir, Preset: "server-memory", Env: map[string]string{"MCP_DO": do, "MCP_KEY": "opensesame"}}
	if change != nil {
		change(&c)
	}
	p, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = providers.Close(p) })
	return p
}
