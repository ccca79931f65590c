//go:build npm

package providers

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"vademecum/providers"
	"vademecum/providers/mcpclient"
	"vademecum/providers/providertest"
)

// serverMemory is a config for the real @modelcontextprotocol/server-memory, which
// run has installed.
func serverMemory(t *testing.T, dir string) mcpclient.Config {
	t.Helper()
	script := os.Getenv("VADE_E2E_SERVER_MEMORY")
	if script == "" {
		t.Fatal("VADE_E2E_SERVER_MEMORY is not set: use e2e/providers/run")
	}
	return mcpclient.Config{Name: "mem", Command: "node", Args: []string{script}, Dir: dir, Preset: "server-memory"}
}

func TestServerMemorySuite(t *testing.T) {
	providertest.Run(t, providertest.Config{New: func(t *testing.T) providers.Provider {
		p, err := mcpclient.Open(serverMemory(t, t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}})
}

// TestServerMemoryKept: what was put is in the provider's own file, is found by
// the next process, and is gone after a delete.
func TestServerMemoryKept(t *testing.T) {
	dir := t.TempDir()
	c := serverMemory(t, dir)
	s, err := mcpclient.Inspect(t.Context(), c)
	if err != nil || !slices.Contains(s.Tools, "search_nodes") {
		t.Fatalf("got %+v %v", s, err)
	}
	t.Logf("%+v", s)
	c.ToolsHash = s.ToolsHash
	item := providertest.Item(1, "Ship releases on Tuesdays from branch rel/x")
	for _, round := range []string{"put", "found"} {
		p, err := mcpclient.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		if round == "put" {
			if _, err := p.Put(t.Context(), item); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		hits, err := p.Search(t.Context(), providers.Query{Text: "when are releases? on tuesdays?", Limit: 5})
		if err != nil || len(hits) != 1 || hits[0].Text != item.Text || hits[0].Version != item.Version {
			t.Errorf("%s: got %+v %v", round, hits, err)
		}
		t.Logf("%s: search %s", round, time.Since(began).Round(time.Millisecond))
		if round == "found" {
			if _, err := p.(providers.Deleter).Delete(t.Context(), hits[0].Ref); err != nil {
				t.Error(err)
			}
			if hits, err := p.(providers.Finder).FindByID(t.Context(), item.ID); err != nil || len(hits) != 0 {
				t.Errorf("got %+v %v", hits, err)
			}
		}
		_ = providers.Close(p)
	}
	if _, err := os.Stat(filepath.Join(dir, "memory.jsonl")); err != nil {
		t.Error(err)
	}
}
