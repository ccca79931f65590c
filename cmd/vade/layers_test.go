package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed says which packages of this module a package may import: the
// direction of DESIGN.md §5, vault ← index, sync ← providers, hooks ← mcp ← cmd.
// A package that is not listed may import nothing of ours.
var allowed = map[string][]string{
	"vault/repo/repotest":           {"vault/repo"},
	"vault":                         {"vault/repo"},
	"vault/links":                   {},
	"index/analysis":                {},
	"index":                         {"vault", "vault/repo", "index/analysis"},
	"index/eval":                    {"vault", "vault/repo", "index", "index/analysis"},
	"sync/merge":                    {"vault", "vault/repo"},
	"sync/transport":                {"vault/repo"},
	"sync/journal":                  {"vault"},
	"sync":                          {"vault", "vault/repo", "sync/merge", "sync/transport"},
	"hooks":                         {"vault", "index/analysis", "sync/journal", "hooks/sqlite"},
	"hooks/sqlite":                  {},
	"hooks/settings":                {},
	"hooks/install":                 {"hooks", "hooks/settings", "templates"},
	"templates":                     {},
	"providers":                     {"vault", "vault/repo", "index/analysis", "sync/journal"},
	"providers/rest":                {"providers"},
	"providers/providertest":        {"providers", "providers/rest", "vault", "sync/journal"},
	"providers/mem0":                {"providers", "providers/rest", "sync/journal"},
	"providers/memos":               {"providers", "providers/rest", "sync/journal"},
	"providers/openviking":          {"providers", "providers/rest", "sync/journal"},
	"providers/zep":                 {"providers", "providers/rest", "sync/journal"},
	"providers/sqlite":              {"providers", "vault", "sync/journal"},
	"providers/child":               {},
	"providers/jsonrpc":             {"providers", "providers/child", "vault", "sync/journal"},
	"providers/jsonrpc/conformance": {"providers", "providers/jsonrpc", "providers/child", "sync/journal"},
	"providers/mcpclient":           {"providers", "providers/child", "vault", "sync/journal"},
	"mcp":                           {"vault"},
	"cmd/vade":                      {"mcp", "hooks", "providers", "providers/rest", "providers/mem0", "providers/memos", "providers/openviking", "providers/zep", "providers/sqlite", "providers/jsonrpc", "providers/jsonrpc/conformance", "providers/mcpclient", "hooks/install", "vault", "vault/repo", "index", "index/analysis", "index/eval", "sync", "sync/journal", "sync/merge", "sync/transport", "cmd/yardstick/protocol"},
	"cmd/yardstick":                 {"cmd/yardstick/protocol"},
	"e2e/mcp/fixture":               {"mcp"},
}

// heavy packages cost more at every process start than what uses them is
// worth (docs/decisions): they may only be imported by tests, and by the
// programs that hold what we are measured against.
var heavy = []string{
	"github.com/blevesearch/bleve/v2",
	"github.com/blevesearch/bleve/v2/index/scorch",
	"github.com/go-git/go-git/v5",
	"github.com/yuin/goldmark",
	"github.com/yuin/goldmark/parser",
	"github.com/oklog/ulid/v2",
	"modernc.org/sqlite",
}

func TestImportDirection(t *testing.T) {
	for pkg, imports := range imports(t, false) {
		for _, imp := range imports {
			if inner, ok := strings.CutPrefix(imp, "vademecum/"); ok && !contains(allowed[pkg], inner) {
				t.Errorf("%s imports %s; allowed: %v", pkg, inner, allowed[pkg])
			}
			if contains(heavy, imp) && !strings.HasPrefix(pkg, "cmd/yardstick") && pkg != "vault/links" { // which nobody may import
				t.Errorf("%s imports %s, which is too dear at start-up", pkg, imp)
			}
		}
	}
}

func TestTopLevelFolders(t *testing.T) {
	known := strings.Fields("cmd vault index sync providers hooks mcp templates docs e2e examples .ci .git")
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !contains(known, e.Name()) {
			t.Errorf("top-level folder %s is not in the layout; give the reason in docs/decisions and list it here", e.Name())
		}
	}
}

// imports maps each package folder of the module to what its files import.
func imports(t *testing.T, tests bool) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "../.." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") != tests {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(path, "../../")))
		for _, imp := range file.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			found[pkg] = append(found[pkg], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}
