package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vademecum/vault"
)

func date(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }

// Notes that a filter drops never push others out, however many there are and
// however much better they score.
func TestFiltersComeBeforeRanking(t *testing.T) {
	content := map[string]string{}
	for i := range 3000 {
		content[fmt.Sprintf("memories/x%04d.md", i)] = header("deploy deploy deploy", "title: Deploy", "tags: [other]",
			"type: note", "workspace: w/other", "updated: 2025-01-01T00:00:00Z")
	}
	long := strings.Repeat("nothing of interest here at all ", 20)
	content["want.md"] = header(long+"deploy", "title: One", "tags: [Ci, prod]", "type: decision", "tier: stm",
		"workspace: w/mine", "updated: 2026-01-15T00:00:00Z", "expires: 2026-06-01T00:00:00Z")
	content["any.md"] = header(long+"deploy", "title: Any", "type: fact", "updated: 2026-01-03T00:00:00Z")
	src := newNotes(content)
	x := open(t)
	update(t, x, src)
	for _, c := range []struct {
		name string
		q    vault.Query
		want []string
	}{
		{"tag", vault.Query{Tags: []string{"ci"}}, []string{"want.md"}},
		{"tags all of", vault.Query{Tags: []string{"ci", "#PROD"}}, []string{"want.md"}},
		{"tags none of", vault.Query{Tags: []string{"ci", "absent"}}, nil},
		{"type", vault.Query{Types: []vault.Type{"Decision", "fact"}}, []string{"any.md", "want.md"}},
		{"tier", vault.Query{Tiers: []vault.Tier{vault.STM}}, []string{"want.md"}},
		{"workspace", vault.Query{Workspace: "w/mine"}, []string{"any.md", "want.md"}},
		{"since", vault.Query{Since: date(10)}, []string{"want.md"}},
		{"since and until", vault.Query{Since: date(1), Until: date(10)}, []string{"any.md"}},
		{"expired", vault.Query{Types: []vault.Type{"decision"}, Now: date(1).AddDate(1, 0, 0)}, nil},
		{"expired wanted", vault.Query{Types: []vault.Type{"decision"}, Now: date(1).AddDate(1, 0, 0), IncludeExpired: true}, []string{"want.md"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.q.Text = "how do we deploy"
			if c.q.Now.IsZero() {
				c.q.Now = date(20)
			}
			r := ask(t, x, src, c.q)
			if diff := cmp.Diff(c.want, hitPaths(r)); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
		})
	}
	r := ask(t, x, src, vault.Query{Text: "deploy", Workspace: "w/none", Types: []vault.Type{"decision"}, Now: date(20)})
	want := "3002 memories match, but the filters leave none: 1 of other types, 3001 in other workspaces (--all-workspaces shows them)"
	if r.Reason != want {
		t.Errorf("reason\n got %s\nwant %s", r.Reason, want)
	}
}

// A common word alone must still find what a filter leaves.
func TestFilterAndCommonWord(t *testing.T) {
	content := map[string]string{}
	for i := range 2500 {
		content[fmt.Sprintf("m%04d.md", i)] = fmt.Sprintf("deploy number%d", i)
	}
	content["rare.md"] = "zebra"
	content["mine.md"] = header("deploy", "tags: [mine]")
	src := newNotes(content)
	x := open(t)
	update(t, x, src)
	r := ask(t, x, src, vault.Query{Text: "deploy zebra", Tags: []string{"mine"}})
	if got := hitPaths(r); !slices.Equal(got, []string{"mine.md"}) {
		t.Errorf("hits %v, want mine.md", got)
	}
}

func TestNothingRelevantSaysWhy(t *testing.T) {
	src := texts("production deploys", "trains run")
	x := open(t)
	for _, c := range []struct {
		src        *notes
		text, want string
	}{
		{src, "zebra xylophone", "no memory has any word of the question"},
		{src, "", "the question is empty"},
		{src, "is it the", "the question has only stop words or punctuation, and no memory has exactly that"},
		{src, "???", "the question has only stop words or punctuation, and no memory has exactly that"},
		{texts(), "deploy", "there are no memories yet"},
	} {
		if r := ask(t, x, c.src, vault.Query{Text: c.text}); r.Reason != c.want {
			t.Errorf("%q: reason %q, want %q", c.text, r.Reason, c.want)
		}
	}
}

func TestTiesAreBrokenByTimeThenPath(t *testing.T) {
	same := func(day int) string {
		return header("rotate the key", fmt.Sprintf("title: Key\nupdated: 2026-01-%02dT00:00:00Z", day))
	}
	src := newNotes(map[string]string{"a.md": same(3), "b.md": same(9), "c.md": same(3), "d.md": same(12)})
	x := open(t)
	if got, want := paths(t, x, src, "rotate key"), []string{"d.md", "b.md", "a.md", "c.md"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestSupersededComesBehindItsSuccessor(t *testing.T) {
	const oldID, newID = "01JDZ3M8Q4X0W3K2V7N5T9R6AA", "01JDZ3M8Q4X0W3K2V7N5T9R6BB"
	long := strings.Repeat("some words about something else altogether ", 8)
	old := "deploy from a laptop is fine, deploy deploy"
	for _, c := range []struct {
		name     string
		old, new string
	}{
		{"the new one says so", header(old, "id: "+oldID), header(long+"deploy", "id: "+newID, "supersedes: ["+oldID+"]")},
		{"the old one says so", header(old, "id: "+oldID, "superseded_by: "+newID), header(long+"deploy", "id: "+newID)},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := newNotes(map[string]string{"old.md": c.old, "new.md": c.new, "mid.md": "deploy deploy on fridays"})
			r := ask(t, open(t), src, vault.Query{Text: "deploy"})
			if got, want := hitPaths(r), []string{"new.md", "old.md", "mid.md"}; !slices.Equal(got, want) {
				t.Fatalf("order %v, want %v", got, want)
			}
			if by := r.Hits[1].SupersededBy; by == nil || *by != newID {
				t.Errorf("superseded_by = %v, want %s", by, newID)
			}
			if by := r.Hits[0].SupersededBy; by != nil {
				t.Errorf("the successor has superseded_by %s", *by)
			}
		})
	}
	circle := newNotes(map[string]string{
		"a.md": header("deploy", "id: "+oldID, "supersedes: ["+newID+"]"),
		"b.md": header("deploy", "id: "+newID, "supersedes: ["+oldID+"]"),
	})
	if got := paths(t, open(t), circle, "deploy"); len(got) != 2 {
		t.Errorf("two that supersede each other: %v", got)
	}
}

func TestConflictSiblingComesBehindItsWinner(t *testing.T) {
	src := newNotes(map[string]string{
		"memories/a.md":  header("deploy on tuesdays with care and a checklist", "id: 01JDZ3M8Q4X0W3K2V7N5T9R6AA"),
		"conflicts/a.md": header("deploy deploy", "conflict_of: 01JDZ3M8Q4X0W3K2V7N5T9R6AA"),
		"conflicts/b.md": header("deploy deploy deploy", "conflict_of: memories/a.md"),
		"conflicts/z.md": header("whales", "conflict_of: memories/gone.md"),
	})
	r := ask(t, open(t), src, vault.Query{Text: "deploy"})
	if got := hitPaths(r); len(got) != 3 || got[0] != "memories/a.md" {
		t.Errorf("order %v, want memories/a.md before its siblings", got)
	}
	if r.Hits[1].ConflictOf == "" {
		t.Error("a sibling's conflict_of is not shown")
	}
	if got := paths(t, open(t), src, "whales"); !slices.Equal(got, []string{"conflicts/z.md"}) {
		t.Errorf("a sibling without its winner: %v", got)
	}
}

func TestSessionsCountLess(t *testing.T) {
	src := newNotes(map[string]string{
		"sessions/2026/11/30-codex.md": "how do we deploy production? we deploy production with actions",
		"memories/a.md":                "We deploy production through Actions, after the checks, from main, with a tag",
	})
	if got := paths(t, open(t), src, "how do we deploy production?"); len(got) == 0 || got[0] != "memories/a.md" {
		t.Errorf("order %v, want the memory first", got)
	}
}

func TestStrictWantsTheRarerWords(t *testing.T) {
	src := texts("deploy the shop", "deploy the blog", "deploy the docs", "deploy on fridays")
	x := open(t)
	for text, want := range map[string][]string{
		"deploy shop":    {"a.md"},
		"deploy":         {"a.md", "b.md", "c.md", "d.md"},
		"deploy unknown": nil,
	} {
		r := ask(t, x, src, vault.Query{Text: text, Strict: true})
		got := hitPaths(r)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestNotesAreFoundByName(t *testing.T) {
	src := newNotes(map[string]string{
		"memories/2026/11/deploys-through-actions-7v5n9t.md": header("x", "id: 01JDZ3M8Q4X0W3K2V7N57V5N9T", "title: Deploys"),
		"memories/2026/11/renamed by hand.md":                header("y", "id: 01JDZ3M8Q4X0W3K2V7N5AAAAAA", "title: Hand", "merged_ids: [01JDZ3M8Q4X0W3K2V7N5BBBBBB]"),
		"files/session-state.md":                             "state",
		"notes/README.md":                                    "readme of notes",
		"other.md":                                           "deploys 7v5n9 README session state files memories 2026 11 through actions",
	})
	for _, indexed := range []bool{false, true} {
		x := open(t)
		if indexed {
			update(t, x, src)
		}
		for question, want := range map[string]string{
			"01JDZ3M8Q4X0W3K2V7N57V5N9T":                "memories/2026/11/deploys-through-actions-7v5n9t.md",
			"what is 7v5n9t about?":                     "memories/2026/11/deploys-through-actions-7v5n9t.md",
			"N57V5N9T":                                  "memories/2026/11/deploys-through-actions-7v5n9t.md",
			"see 01jdz3m8q4x0w3k2v7n5aaaaaa.":           "memories/2026/11/renamed by hand.md",
			"01JDZ3M8Q4X0W3K2V7N5BBBBBB":                "memories/2026/11/renamed by hand.md",
			"deploys-through-actions-7v5n9t":            "memories/2026/11/deploys-through-actions-7v5n9t.md",
			"files/session-state.md":                    "files/session-state.md",
			"session-state.md":                          "files/session-state.md",
			"the session-state file":                    "files/session-state.md",
			"./notes/readme.md":                         "notes/README.md",
			`2026\11\deploys-through-actions-7v5n9t.md`: "memories/2026/11/deploys-through-actions-7v5n9t.md",
		} {
			if got := paths(t, x, src, question); len(got) == 0 || got[0] != want {
				t.Errorf("indexed %v: %q finds %v, want %s first", indexed, question, got, want)
			}
		}
	}
}

func TestBrokenAndHeaderlessNotesAreFoundByAllTheirText(t *testing.T) {
	src := newNotes(map[string]string{
		"broken.md": "---\ntitle: [unclosed\nowner: walrus\n---\nthe body speaks of kelp\n",
		"none.md":   "# Whale songs\n\nsung at night\n",
		"named.md":  "nothing much\n",
		"crlf.md":   "---\r\ntitle: Otters\r\n---\r\nthey hold hands\r\n",
		"bom.md":    "\ufeff---\ntitle: Seals\n---\nthey bark\n",
		"open.md":   "---\ntitle: never closed, about squids\n",
	})
	x := open(t)
	for question, want := range map[string]string{
		"walrus": "broken.md", "kelp": "broken.md", "whale": "none.md", "named": "named.md", "otter": "crlf.md",
		"seal": "bom.md", "bark": "bom.md", "squids": "open.md",
	} {
		if got := paths(t, x, src, question); len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %v, want %s", question, got, want)
		}
	}
}

func TestMetaIsAskedForCandidatesOnly(t *testing.T) {
	src := memories(2000, 300)
	x := open(t)
	update(t, x, src)
	src.metas, src.reads = 0, 0
	ask(t, x, src, vault.Query{Text: "ka ro mi te sun del"})
	if src.metas > 40 || src.reads > 5 {
		t.Errorf("%d calls of Meta and %d of Read for 5 hits of 2000 notes", src.metas, src.reads)
	}
}

func TestExplainPrintsTheSum(t *testing.T) {
	src := texts("Production deploys run through GitHub Actions", "deploy")
	r := ask(t, open(t), src, vault.Query{Text: "deploy production", Explain: true})
	for _, want := range []string{"passage", "deploy", "prod", "note"} {
		if !strings.Contains(r.Hits[0].Explain, want) {
			t.Errorf("explanation lacks %q:\n%s", want, r.Hits[0].Explain)
		}
	}
}

// Of two memories that say the opposite in as many words, the later one comes
// first, and each hit says when it is from.
func TestContradictingFactsAreDatedAndTheNewerComesFirst(t *testing.T) {
	src := newNotes(map[string]string{
		"a.md": header("Deploys run from the laptop", "title: Deploys", "updated: 2026-01-03T00:00:00Z"),
		"b.md": header("Deploys run from the server", "title: Deploys", "updated: 2026-01-09T00:00:00Z"),
	})
	r := ask(t, open(t), src, vault.Query{Text: "where do deploys run?"})
	if got, want := hitPaths(r), []string{"b.md", "a.md"}; !slices.Equal(got, want) {
		t.Fatalf("order %v, want %v", got, want)
	}
	if !r.Hits[0].Updated.Equal(date(9)) || !r.Hits[1].Updated.Equal(date(3)) {
		t.Errorf("dates %v and %v", r.Hits[0].Updated, r.Hits[1].Updated)
	}
}

// Several passages of a memory are hits of their own when that is asked for.
func TestPassagesOfOneMemory(t *testing.T) {
	filler := strings.Repeat("Nothing of interest is said here. ", 30)
	src := texts("# One\n\nThe gasket broke.\n\n"+filler+"\n\n# Two\n\nA new gasket came.\n\n"+filler, "gasket")
	for passages, want := range map[int]int{0: 2, 1: 2, 5: 3} {
		r := ask(t, open(t), src, vault.Query{Text: "gasket", Passages: passages})
		if len(r.Hits) != want {
			t.Errorf("passages %d: %v, want %d hits", passages, hitPaths(r), want)
		}
		for _, h := range r.Hits {
			content := src.content[h.Path]
			if !strings.Contains(content[h.Passage.Start:h.Passage.End], "gasket") {
				t.Errorf("passage %+v of %s does not have the word", h.Passage, h.Path)
			}
			checkLine(t, content, h)
		}
	}
}

// Ten sessions that asked the same do not stand before the fact that shares one
// word with the question.
func TestAskingAgainDoesNotHideTheFact(t *testing.T) {
	files := map[string]string{"memories/fact.md": "Production goes out through Actions, never from a laptop"}
	for i := range 10 {
		files[fmt.Sprintf("sessions/2026/11/%02d-codex.md", i)] = "> how do we deploy to production, please?\n\nLet me look at the deploy scripts of today."
	}
	x, src := open(t), newNotes(files)
	for range 2 { // in memory, then from the index
		got := paths(t, x, src, "how do we deploy to production?")
		if len(got) == 0 || got[0] != "memories/fact.md" {
			t.Errorf("order %v, want the fact first", got)
		}
		update(t, x, src)
	}
	if got := paths(t, x, src, "please"); len(got) != 0 {
		t.Errorf("%v are found by what was asked in them", got)
	}
}

// A note without a title is about its first line; one with a title says there
// what it is about.
func TestFirstLineStandsForAMissingTitle(t *testing.T) {
	files := map[string]string{
		"a.md": "Which host serves the pages?\nThe rollback of March took the certificate along.\nNothing else moved.",
		"b.md": "The rollback of March took the certificate along.\nWhich host serves the pages?\nNothing else moved.",
		"c.md": "---\ntitle: Pages\n---\nThe rollback of March took the certificate along.\nWhich host serves the pages?\nNothing else moved.",
	}
	x, src := open(t), newNotes(files)
	for range 2 { // in memory, then from the index
		got := paths(t, x, src, "rollback certificate march")
		if len(got) != 3 || got[0] != "b.md" {
			t.Errorf("order %v, want b.md first", got)
		}
		update(t, x, src)
	}
}
