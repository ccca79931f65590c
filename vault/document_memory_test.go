package vault

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func fullMemory() Memory {
	at := time.Date(2026, 11, 30, 16, 1, 0, 0, time.UTC)
	return Memory{
		ID: "01JDZ3M8Q4X0W3K2V7N5T9R6BC", Title: "Deploys: GitHub Actions only", Type: TypeDecision, Tier: LTM,
		Tags: []string{"deploy", "ci", "a, b"}, Aliases: []string{"release"}, Created: at, Updated: at.Add(time.Hour), Expires: at.Add(48 * time.Hour),
		Origin: Origin{User: "todd", Agent: "codex", Host: "laptop", Session: "0f3a", Turn: 12},
		Scope:  Scope{Type: "personal", ID: "todd"}, Workspace: "github.com/acme/shop",
		Supersedes: []string{"01JDZ3M8Q4X0W3K2V7N5T9R6BA"}, SupersededBy: "01JDZ3M8Q4X0W3K2V7N5T9R6BD",
		MergedIDs: []ID{"01JDZ3M8Q4X0W3K2V7N5T9R6BE"}, ConflictOf: "notes/a.md", Source: "https://x/y#z", Why: "yes", Trust: "0.9",
		Body: "Never deploy from a laptop; ...\n",
	}
}

const fullFile = `---
id: 01JDZ3M8Q4X0W3K2V7N5T9R6BC
title: "Deploys: GitHub Actions only"
type: decision
tier: ltm
tags: [deploy, ci, "a, b"]
aliases: [release]
created: 2026-11-30T16:01:00Z
updated: 2026-11-30T17:01:00Z
expires: 2026-12-02T16:01:00Z
origin: {user: todd, agent: codex, host: laptop, session: 0f3a, turn: 12}
scope: {type: personal, id: todd}
workspace: github.com/acme/shop
supersedes: [01JDZ3M8Q4X0W3K2V7N5T9R6BA]
superseded_by: 01JDZ3M8Q4X0W3K2V7N5T9R6BD
merged_ids: [01JDZ3M8Q4X0W3K2V7N5T9R6BE]
conflict_of: notes/a.md
source: https://x/y#z
why: "yes"
trust: "0.9"
---
Never deploy from a laptop; ...
`

func TestNewDocument(t *testing.T) {
	got := NewDocument(fullMemory())
	if diff := cmp.Diff(fullFile, string(got.Bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(fullMemory(), ParseDocument(got.Bytes()).Memory()); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if got := string(NewDocument(Memory{Title: "\xff\n", Body: "---\nx"}).Bytes()); got != "---\ntitle: \"\ufffd\\n\"\n---\n---\nx\n" {
		t.Errorf("got %q", got)
	}
}

// FuzzNewDocument: what is written of a memory is read back.
func FuzzNewDocument(f *testing.F) {
	f.Add("title", "tag", "body\n", "why")
	f.Add("a: b", "#c", "---\nx: y\n---\n", "two\nlines")
	f.Fuzz(func(t *testing.T, title, tag, body, why string) {
		m := Memory{Title: title, Tier: STM, Tags: []string{tag}, Body: body, Why: why, Origin: Origin{User: tag, Session: why}}
		d := ParseDocument(NewDocument(m).Bytes())
		if d.Broken() != nil {
			t.Fatalf("%+v renders as %q: %v", m, d.Bytes(), d.Broken())
		}
		clean := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
		got := d.Memory()
		if got.Why != clean(why) || d.String("title") != clean(title) || got.Origin.User != clean(tag) || got.Tier != STM {
			t.Fatalf("%+v reads back as %+v", m, got)
		}
		if want := strings.TrimSuffix(body, "\n"); strings.TrimSuffix(got.Body, "\n") != want {
			t.Fatalf("body %q reads back as %q", want, got.Body)
		}
	})
}

func TestMemoryOfFile(t *testing.T) {
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name, file string
		want       Memory
	}{
		{
			"types in any case, ids in lower case", "---\nid: 01jdz3m8q4x0w3k2v7n5t9r6bc\ntype: Decision\ntier: STM\n---\nb\n",
			Memory{ID: "01JDZ3M8Q4X0W3K2V7N5T9R6BC", Title: "b", Type: TypeDecision, Tier: STM, Body: "b\n"},
		},
		{"an id that is none", "---\nid: 202601021200\n---\nb\n", Memory{Title: "b", Tier: LTM, Body: "b\n"}},
		{
			"dates", "---\ncreated: 2026-01-02\nupdated: \"2026-01-02 01:30:00 +0130\"\nexpires: 2026-01-02 00:00\n---\nb\n",
			Memory{Title: "b", Tier: LTM, Created: day, Updated: day, Expires: day, Body: "b\n"},
		},
		{
			"tags of every kind, once", "---\ntags: [1, yes, a, a, ' b ', '', ~, [x]]\naliases: one, two ,\n---\nb\n",
			Memory{Title: "b", Tier: LTM, Tags: []string{"1", "yes", "a", "b"}, Aliases: []string{"one", "two"}, Body: "b\n"},
		},
		{
			"origin on lines", "---\norigin:\n  user: todd\n  turn: 3\n  other: x\nscope: team\n---\nb\n",
			Memory{Title: "b", Tier: LTM, Origin: Origin{User: "todd", Turn: 3}, Scope: Scope{Type: "team"}, Body: "b\n"},
		},
		{"title over lines", "---\ntitle: |\n  one\n  two\n---\nb\n", Memory{Title: "one two", Tier: LTM, Body: "b\n"}},
		{
			"heading behind code and text", "text\n```sh\n# no heading\n```\n    # nor this\n## The *name* ##\n",
			Memory{Title: "The *name*", Tier: LTM, Body: "text\n```sh\n# no heading\n```\n    # nor this\n## The *name* ##\n"},
		},
		{"underlined heading", "\nThe name\n===\ntext\n", Memory{Title: "The name", Tier: LTM, Body: "\nThe name\n===\ntext\n"}},
		{"a rule below text is no heading", "one\ntwo\n---\nthree\n", Memory{Title: "one", Tier: LTM, Body: "one\ntwo\n---\nthree\n"}},
		{"#tag is no heading", "#tag line\n", Memory{Title: "#tag line", Tier: LTM, Body: "#tag line\n"}},
		{"signs only", "\n***\n", Memory{Title: "***", Tier: LTM, Body: "\n***\n"}},
		{"long first line", strings.Repeat("가", 100) + "\n", Memory{Title: strings.Repeat("가", 80), Tier: LTM, Body: strings.Repeat("가", 100) + "\n"}},
		{"nothing", "", Memory{Tier: LTM}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, ParseDocument([]byte(tt.file)).Memory()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDocumentAccessors(t *testing.T) {
	d := ParseDocument([]byte("---\na: yes\nb: 0x1F\nc: 1.5\nd: [true, ~, {e: 2026-01-02}]\nf: ~\ng: 'true'\nh:\n---\n\nbody"))
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "f", "g", "h"}, d.Keys()); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]any{
		"a": "yes", "b": 31, "c": 1.5, "d": []any{true, nil, map[string]any{"e": "2026-01-02"}}, "f": nil, "g": "true", "h": nil,
	} {
		if got, ok := d.Value(key); !ok || !cmp.Equal(got, want) {
			t.Errorf("%s is %#v, %v; want %#v", key, got, ok, want)
		}
	}
	if _, ok := d.Value("z"); ok || d.Has("z") || !d.Has("f") || d.String("f") != "" || d.Raw("z") != nil {
		t.Error("absent and null keys are mixed up")
	}
	if d.BodyLine() != 10 || !d.HasHeader() || d.Body() != "\nbody" {
		t.Errorf("body %q on line %d", d.Body(), d.BodyLine())
	}
}

// TestAliasesDoNotMultiply: a small header cannot become a large one.
func TestAliasesDoNotMultiply(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\na: &a [x, x, x, x, x, x, x, x, x, x]\n")
	for c := 'b'; c < 'k'; c++ {
		b.WriteString(string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+", ", 10) + "]\n")
	}
	b.WriteString("z: &z [*z]\n---\nbody\n")
	d := ParseDocument([]byte(b.String()))
	if !errors.Is(d.Broken(), ErrBroken) || d.Body() != "body\n" {
		t.Errorf("broken %v, body %q", d.Broken(), d.Body())
	}
}

func TestManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("---\n")
	for i := range 2000 {
		b.WriteString("k" + strings.Repeat("x", i%7) + "_" + string(rune('a'+i%26)) + time.Duration(i).String() + ": v # c\n")
	}
	file := b.String() + "tags: [a]\n---\nbody\n"
	checkEdit(t, "tag", file, "-tags: [a]\n+tags: [a, x]\n", func(d *Document) error { return d.AddToList("tags", "x") })
}
