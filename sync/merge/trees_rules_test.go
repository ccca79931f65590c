package merge

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"vademecum/vault"
	"vademecum/vault/repo"
)

func TestOverlapIsParked(t *testing.T) {
	base := files{"m.md": mem(id1, 0, "never deploy")}
	a := files{"m.md": mem(id1, 1, "deploy on Monday")}
	b := files{"m.md": mem(id1, 2, "deploy on Friday")}
	got, r := mergeFiles(t, base, a, b)
	if got["m.md"] != b["m.md"] {
		t.Errorf("got %q, want the later side", got["m.md"])
	}
	parked := got.paths("conflicts/")
	if len(parked) != 1 || !strings.HasPrefix(parked[0], "conflicts/t01.") {
		t.Fatalf("got parked %q", parked)
	}
	doc := vault.ParseDocument([]byte(got[parked[0]]))
	if doc.String("conflict_of") != id1 || doc.Body() != "deploy on Monday\n" || doc.String("id") == id1 {
		t.Errorf("got parked file %q", got[parked[0]])
	}
	want := []ConflictReport{{Path: "m.md", ID: id1, Parked: parked[0], Kind: KindOverlap}}
	if diff := cmp.Diff(want, r.Conflicts); diff != "" {
		t.Errorf("conflicts: %s", diff)
	}
	again, _ := mergeFiles(t, a, got, a)
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("merging again changes: %s", diff)
	}
	// The same loser parked by an older merge is one file.
	twice, _ := mergeFiles(t, base, got, a)
	if diff := cmp.Diff(got, twice); diff != "" {
		t.Errorf("parking again changes: %s", diff)
	}
}

// Who forgot a parked side is not asked again.
func TestForgottenLoserIsNotParked(t *testing.T) {
	base := files{"m.md": mem(id1, 0, "never deploy")}
	a := files{"m.md": mem(id1, 1, "deploy on Monday")}
	b := files{"m.md": mem(id1, 2, "deploy on Friday")}
	got, _ := mergeFiles(t, base, a, b)
	parked := vault.ParseDocument([]byte(got[got.paths("conflicts/")[0]])).String("id")
	grave := files{vault.TombstonePath(vault.ID(parked)): tomb(parked, 30, "x")}
	got, _ = mergeFiles(t, base, a, b.with(grave))
	if diff := cmp.Diff(b.with(grave), got); diff != "" {
		t.Errorf("want - got +:\n%s", diff)
	}
}

func TestTextsAndBytes(t *testing.T) {
	base := files{"files/s": "1\n2\n3\n", "img.png": "\x00base"}
	got, r := mergeFiles(t, base,
		files{"files/s": "1\n2\n3\nA\n", "img.png": "\x00one"},
		files{"files/s": "B\n2\n3\n", "img.png": "\x00two"})
	if got["files/s"] != "B\n2\n3\nA\n" {
		t.Errorf("got text %q", got["files/s"])
	}
	parked := got.paths("conflicts/")
	if len(parked) != 1 || !strings.HasSuffix(parked[0], ".png") || len(r.Conflicts) != 1 {
		t.Fatalf("got parked %q, conflicts %v", parked, r.Conflicts)
	}
	if both := []string{got["img.png"], got[parked[0]]}; !slices.Contains(both, "\x00one") || !slices.Contains(both, "\x00two") {
		t.Errorf("got %q", both)
	}

	got, _ = mergeFiles(t, files{"x.md": mem(id1, 0, "x")},
		files{"x.md": mem(id1, 0, "x"), "files/s": "one\r\ntwo"},
		files{"x.md": mem(id1, 0, "x"), "files/s": "uno\ndos\n"})
	parked = got.paths("conflicts/")
	if len(parked) != 1 {
		t.Fatalf("got %q", parked)
	}
	doc := vault.ParseDocument([]byte(got[parked[0]]))
	both := []string{got["files/s"], doc.Body()}
	if doc.String("conflict_of") != "files/s" || !slices.Contains(both, "one\r\ntwo") || !slices.Contains(both, "uno\ndos\n") {
		t.Errorf("got %q", both)
	}
}

func TestBrokenSideIsParked(t *testing.T) {
	base := files{"m.md": mem(id1, 0, "text")}
	broken := "---\nid: " + id1 + "\ntags: [a\n---\ntext and more\n"
	got, _ := mergeFilesBroken(t, base, files{"m.md": broken}, files{"m.md": mem(id1, 1, "other text")})
	if got["m.md"] != mem(id1, 1, "other text") {
		t.Errorf("got %q", got["m.md"])
	}
	parked := got.paths("conflicts/")
	if len(parked) != 1 {
		t.Fatalf("got %q", parked)
	}
	doc := vault.ParseDocument([]byte(got[parked[0]]))
	if doc.Broken() != nil || doc.Body() != broken || doc.String("conflict_of") != id1 {
		t.Errorf("got parked %q", got[parked[0]])
	}
	// Both broken: by lines.
	base = files{"m.md": broken}
	got, _ = mergeFilesBroken(t, base, files{"m.md": broken + "A\n"}, files{"m.md": "---\nid: " + id1 + "\ntags: [b\n---\ntext and more\n"})
	if want := "---\nid: " + id1 + "\ntags: [b\n---\ntext and more\nA\n"; got["m.md"] != want {
		t.Errorf("got %q, want %q", got["m.md"], want)
	}
}

// mergeFilesBroken is mergeFiles for files that are broken before.
func mergeFilesBroken(t *testing.T, base, a, b files) (files, Result) {
	t.Helper()
	s := repo.NewMemory()
	r, err := Trees(s, base.write(t, s), a.write(t, s), b.write(t, s), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return readFiles(t, s, r.Tree), r
}

func TestSamePathAddedTwice(t *testing.T) {
	base := files{"m.md": "kept\n"}
	tests := []struct {
		name       string
		a, b, want files
	}{
		{
			"different ids",
			files{"n.md": mem(id1, 0, "one")},
			files{"n.md": mem(id2, 0, "two")},
			files{"n.md": mem(id1, 0, "one"), "n-t9r602.md": mem(id2, 0, "two")},
		},
		{
			"the same id",
			files{"n.md": mem(id1, 0, "one")},
			files{"n.md": mem(id1, 1, "one\n\ntwo")},
			files{"n.md": mem(id1, 1, "one\n\ntwo")},
		},
		{
			"the same id at two paths",
			files{"n.md": mem(id1, 0, "one")},
			files{"k.md": mem(id1, 1, "one\n\ntwo")},
			files{"k.md": mem(id1, 1, "one\n\ntwo")},
		},
		{
			"a file and a folder",
			files{"n": "file\n"},
			files{"n/x.md": "x\n"},
			files{"n/x.md": "x\n", "n-" + hash8("file\n"): "file\n"},
		},
		{
			"two spellings",
			files{"Note.md": mem(id1, 0, "one")},
			files{"note.md": mem(id2, 0, "two")},
			files{"Note.md": mem(id1, 0, "one"), "note-t9r602.md": mem(id2, 0, "two")},
		},
		{
			"two normal forms",
			files{"é.md": mem(id1, 0, "one")},
			files{"é.md": mem(id2, 0, "two")},
			files{"é.md": mem(id1, 0, "one"), "é-t9r602.md": mem(id2, 0, "two")},
		},
		{
			"two spellings on one side",
			files{"Note.md": "1\n", "note.md": "2\n"},
			files{"y.md": "y\n"},
			files{"Note.md": "1\n", "note.md": "2\n", "y.md": "y\n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := mergeFiles(t, base, base.with(tt.a), base.with(tt.b))
			if diff := cmp.Diff(base.with(tt.want), got); diff != "" {
				t.Errorf("want - got +:\n%s", diff)
			}
		})
	}
	t.Run("no ids", func(t *testing.T) {
		got, r := mergeFiles(t, base, base.with(files{"n.md": "one\n"}), base.with(files{"n.md": "two\n"}))
		all := []string{got["n.md"], got["n-"+hash8("one\n")+".md"], got["n-"+hash8("two\n")+".md"]}
		slices.Sort(all)
		if diff := cmp.Diff([]string{"", "one\n", "two\n"}, all); diff != "" || len(r.Renamed) != 1 {
			t.Errorf("renamed %q, want - got +:\n%s", r.Renamed, diff)
		}
	})
}

func hash8(content string) string { return repo.BlobHash([]byte(content)).String()[:8] }

func TestForget(t *testing.T) {
	base := files{"m.md": mem(id1, 0, "one"), "kept.md": "kept\n"}
	forgotten := files{"m.md": "", "forgotten/" + id1 + ".yaml": tomb(id1, 30, "one")}
	edited := files{"m.md": mem(id1, 10, "one, edited")}
	retagged := files{"m.md": mem(id1, 10, "one", "tags: [x]")}
	tests := []struct {
		name       string
		a, b, want files
	}{
		{"nothing else", forgotten, nil, forgotten},
		{"renamed", forgotten, files{"m.md": "", "n.md": base["m.md"]}, forgotten},
		{"looked at", forgotten, files{"m.md": mem(id1, 10, "one")}, forgotten},
		{"forgotten by both", forgotten, files{"m.md": "", "forgotten/" + id1 + ".yaml": tomb(id1, 31, "one")}, files{"m.md": "", "forgotten/" + id1 + ".yaml": tomb(id1, 31, "one")}},
		{"deleted by the other", forgotten, files{"m.md": ""}, forgotten},
		{"the same text from an older clone", forgotten, files{"old.md": mem(id2, 0, "one")}, forgotten},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, r := mergeFiles(t, base, base.with(tt.a), base.with(tt.b))
			if diff := cmp.Diff(base.with(tt.want), got); diff != "" {
				t.Errorf("want - got +:\n%s", diff)
			}
			if len(r.Conflicts) > 0 {
				t.Errorf("got conflicts %v", r.Conflicts)
			}
		})
	}
	for name, edit := range map[string]files{"edited": edited, "retagged": retagged} {
		t.Run(name, func(t *testing.T) {
			got, r := mergeFiles(t, base, base.with(forgotten), base.with(edit))
			notes := got.paths("conflicts/")
			if len(notes) != 1 {
				t.Fatalf("got notes %q", notes)
			}
			m := vault.ParseDocument([]byte(got[notes[0]])).Memory()
			if m.ConflictOf != id1 || m.Type != vault.TypeForgotten || !strings.Contains(m.Body, "2026-11-30T10:30:00Z") ||
				!strings.Contains(m.Body, "todd") || strings.Contains(m.Body, "one") {
				t.Errorf("got note %q", got[notes[0]])
			}
			delete(got, notes[0])
			if diff := cmp.Diff(base.with(edit), got); diff != "" {
				t.Errorf("want - got +:\n%s", diff)
			}
			if want := []string{"m.md"}; !slices.Equal(r.Flags, want) || r.Conflicts[0].Kind != KindForgotten {
				t.Errorf("got flags %q, conflicts %v", r.Flags, r.Conflicts)
			}
		})
	}
}

// A file without an id is named by its path.
func TestForgetWithoutID(t *testing.T) {
	base := files{"m.md": "one\n", "kept.md": "kept\n"}
	digest := vault.NewDigest(nil, "", "one\n")
	grave := vault.Tombstone{ID: vault.TombstoneID(vault.Memory{Path: "m.md"}, digest), Path: "m.md", When: noon, Digest: digest}
	forgotten := files{"m.md": "", vault.TombstonePath(grave.ID): string(grave.Bytes())}
	got, r := mergeFiles(t, base, base.with(forgotten), base.with(files{"m.md": "one, edited\n"}))
	notes := got.paths("conflicts/")
	if len(notes) != 1 || got["m.md"] != "one, edited\n" || len(got.paths("forgotten/")) != 0 {
		t.Fatalf("got %q", got)
	}
	if m := vault.ParseDocument([]byte(got[notes[0]])).Memory(); m.ConflictOf != "m.md" || r.Conflicts[0].ID != "" {
		t.Errorf("got note of %q, conflicts %v", m.ConflictOf, r.Conflicts)
	}
}

// Old clones, rewritten remotes, imports: what was forgotten stays so, unless
// it is newer than the forget.
func TestSweep(t *testing.T) {
	grave := files{"forgotten/" + id1 + ".yaml": tomb(id1, 30, "one")}
	kept := files{"kept.md": mem(id3, 0, "kept")}
	tests := []struct {
		name       string
		base, a, b files
		want       files
		swept      []string
	}{
		{"by id, no base", nil, kept.with(grave), kept.with(files{"m.md": mem(id1, 0, "another version")}), kept.with(grave), []string{"m.md"}},
		{"by digest, no base", nil, kept.with(grave), kept.with(files{"x.md": mem(id2, 0, "one")}), kept.with(grave), []string{"x.md"}},
		{"by digest, without front matter", kept, kept.with(grave), kept.with(files{"x.md": "one\n"}), kept.with(grave), []string{"x.md"}},
		{"newer", nil, kept.with(grave), kept.with(files{"m.md": mem(id1, 40, "one")}), kept.with(files{"m.md": mem(id1, 40, "one")}), nil},
		{"said again later", kept, kept.with(grave), kept.with(files{"x.md": mem(id2, 40, "one")}), kept.with(files{"x.md": mem(id2, 40, "one")}), nil},
		{"other text", kept, kept.with(grave), kept.with(files{"x.md": mem(id2, 0, "two")}), kept.with(grave).with(files{"x.md": mem(id2, 0, "two")}), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, r := mergeFiles(t, tt.base, tt.a, tt.b)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("want - got +:\n%s", diff)
			}
			if !slices.Equal(r.Swept, tt.swept) {
				t.Errorf("got swept %q, want %q", r.Swept, tt.swept)
			}
		})
	}
}

func TestEditedCopyOutlivesForget(t *testing.T) {
	base := files{"m.md": mem(id1, 0, "one")}
	got, _ := mergeFiles(t, base,
		files{"forgotten/" + id1 + ".yaml": tomb(id1, 30, "one")},
		base.with(files{"copy.md": mem(id1, 0, "one, and what a human added")}))
	if got["copy.md"] != mem(id1, 0, "one, and what a human added") || got["m.md"] != "" || len(got.paths("conflicts/")) != 1 {
		t.Errorf("got %q", got)
	}
}

func TestFold(t *testing.T) {
	base := files{"kept.md": "kept\n"}
	one := files{"a.md": mem(id1, 5, "the fact", "tags: [x]", "why: because")}
	two := files{"b.md": mem(id2, 3, "the fact", "tags: [y]", "aliases: [z]")}
	got, r := mergeFiles(t, base, base.with(one), base.with(two))
	doc := vault.ParseDocument([]byte(got["a.md"]))
	if got["b.md"] != "" || doc.String("id") != id1 || !slices.Equal(doc.Strings("merged_ids"), []string{id2}) ||
		!slices.Equal(doc.Strings("tags"), []string{"x", "y"}) || !slices.Equal(doc.Strings("aliases"), []string{"T02", "z"}) ||
		doc.String("updated") != "2026-11-30T10:05:00Z" || doc.String("why") != "because" {
		t.Errorf("got %q", got)
	}
	if !slices.Equal(r.Folded, []string{"a.md"}) || len(r.Conflicts) > 0 {
		t.Errorf("got folded %q, conflicts %v", r.Folded, r.Conflicts)
	}

	// A third host adds it too, and its id is the earliest: transitive.
	zero := "01JDZ3M8Q4X0W3K2V7N5T9R600"
	third, _ := mergeFiles(t, base, got, base.with(files{"c.md": mem(zero, 1, "the fact")}))
	doc = vault.ParseDocument([]byte(third["c.md"]))
	ids := doc.Strings("merged_ids")
	slices.Sort(ids)
	if len(third) != 2 || !slices.Equal(ids, []string{id1, id2}) {
		t.Errorf("got %q", third)
	}

	// A host that had only the second edits it: the edit finds its way.
	edit := base.with(files{"b.md": mem(id2, 9, "the fact, made clearer", "tags: [y]", "aliases: [z]")})
	joined, r := mergeFiles(t, base.with(two), got, edit)
	doc = vault.ParseDocument([]byte(joined["a.md"]))
	if len(joined) != 2 || doc.Body() != "the fact, made clearer\n" || doc.String("id") != id1 || len(r.Conflicts) > 0 {
		t.Errorf("got %q, conflicts %v", joined, r.Conflicts)
	}

	// Another workspace is another fact.
	apart, _ := mergeFiles(t, base, base.with(one), base.with(files{"b.md": mem(id2, 3, "the fact", "workspace: w")}))
	if len(apart) != 3 {
		t.Errorf("got %q", apart)
	}

	// Text that only one of them has is not lost.
	parked, r := mergeFiles(t, base, base.with(one), base.with(files{"b.md": mem(id2, 3, "the fact", "why: for another reason")}))
	if len(parked.paths("conflicts/")) != 1 || len(r.Conflicts) != 1 {
		t.Errorf("got %q", parked)
	}
}

func TestVaultConfig(t *testing.T) {
	config := func(id, identity string) string {
		return string(vault.Config{Format: 1, VaultID: vault.ID(id), Identity: identity, DigestKey: make([]byte, 32)}.Bytes())
	}
	base := files{vault.ConfigPath: config(id1, "todd"), "m.md": "m\n"}
	got, _ := mergeFiles(t, base, base.with(files{vault.ConfigPath: ""}), base.with(files{"m.md": ""}))
	if got[vault.ConfigPath] != base[vault.ConfigPath] {
		t.Errorf("got %q: vault.yaml is lost", got)
	}
	s := repo.NewMemory()
	foreign := files{vault.ConfigPath: config(id2, "ann")}
	_, err := Trees(s, plumbing.ZeroHash, base.write(t, s), foreign.write(t, s), Options{})
	if !errors.Is(err, ErrForeignVault) {
		t.Errorf("got %v, want ErrForeignVault", err)
	}
}

func TestUnion(t *testing.T) {
	same := mem(id3, 0, "same")
	got, _ := mergeFiles(t, nil,
		files{"same.md": same, "a.md": "a\n", "m.md": mem(id1, 1, "one\n\nmore")},
		files{"same.md": same, "b.md": "b\n", "m.md": mem(id1, 0, "one")})
	want := files{"same.md": same, "a.md": "a\n", "b.md": "b\n", "m.md": mem(id1, 1, "one\n\nmore")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want - got +:\n%s", diff)
	}
}
