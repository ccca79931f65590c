package vault

import (
	"strings"
	"testing"
	"time"
)

// benchMemory is a memory of 1 KB as vade writes it.
func benchMemory() Memory {
	at := time.Date(2026, 11, 30, 16, 1, 0, 0, time.UTC)
	return Memory{
		ID: "01JDZ3M8Q4X0W3K2V7N5T9R6BC", Title: "Deploys run through GitHub Actions only", Type: TypeDecision, Tier: LTM,
		Tags: []string{"deploy", "ci"}, Created: at, Updated: at,
		Origin: Origin{User: "todd", Agent: "codex", Host: "laptop", Session: "0f3a", Turn: 12},
		Scope:  Scope{Type: "personal", ID: "todd"}, Workspace: "github.com/acme/shop",
		Body: strings.Repeat("Never deploy from a laptop; the pipeline signs what it builds.\n", 11),
	}
}

func BenchmarkParseDocument(b *testing.B) {
	raw := NewDocument(benchMemory()).Bytes()
	obsidian := []byte(strings.Replace(string(raw), "tags: [deploy, ci]", "tags:\n  - deploy\n  - ci", 1))
	library := []byte(strings.Replace(string(raw), "title: ", "title: &t ", 1)) // the YAML library has to read this
	for name, raw := range map[string][]byte{"vade": raw, "obsidian": obsidian, "library": library} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				ParseDocument(raw)
			}
		})
	}
}

func BenchmarkMemory(b *testing.B) {
	raw := NewDocument(benchMemory()).Bytes()
	b.ReportAllocs()
	for b.Loop() {
		ParseDocument(raw).Memory()
	}
}

func BenchmarkNewDocument(b *testing.B) {
	m := benchMemory()
	b.ReportAllocs()
	for b.Loop() {
		NewDocument(m).Bytes()
	}
}

func BenchmarkAddToList(b *testing.B) {
	raw := NewDocument(benchMemory()).Bytes()
	b.ReportAllocs()
	for b.Loop() {
		if err := ParseDocument(raw).AddToList("tags", "x"); err != nil {
			b.Fatal(err)
		}
	}
}
