package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"vademecum/providers"
	"vademecum/sync/journal"
	"vademecum/vault"
)

// begun returns a provider in a folder of its own, whose file is checked when
// the test ends.
func begun(t testing.TB) *Provider {
	t.Helper()
	return at(t, filepath.Join(t.TempDir(), "memories", "memory.db"))
}

func at(t testing.TB, path string) *Provider {
	t.Helper()
	p, err := New(Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// checked fails unless the file at path is sound, words and all.
func checked(t testing.TB, path string) {
	t.Helper()
	c, err := open(context.Background(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.each("PRAGMA integrity_check", func(r row) error {
		if r.text(0) != "ok" {
			t.Error(r.text(0))
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := c.db.Exec("INSERT INTO words (words) VALUES ('integrity-check')"); err != nil {
		t.Error(err)
	}
	if err := c.each("SELECT group_concat(coalesce(items.id, 'none')) FROM items FULL JOIN words_docsize d ON d.id = items.key WHERE d.id IS NULL OR items.id IS NULL", func(r row) error {
		if r.text(0) != "" {
			t.Errorf("items and words differ: %s", r.text(0))
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func note(id, text string) providers.Item {
	return providers.Item{ID: id, Version: "v1", Parts: 1, Vault: "vault", Title: text, Text: text, Type: vault.TypeFact, Tier: vault.LTM}
}

func put(t testing.TB, p *Provider, items ...providers.Item) {
	t.Helper()
	for _, got := range providers.PutAll(context.Background(), p, items) {
		if got.Err != nil || got.State != journal.Stored || len(got.Refs) != 1 {
			t.Fatalf("%+v, %v", got.Receipt, got.Err)
		}
	}
}

func found(t testing.TB, p *Provider, question string) string {
	t.Helper()
	hits, err := p.Search(context.Background(), providers.Query{Text: question, Limit: 20})
	if err != nil {
		t.Fatalf("%q: %v", question, err)
	}
	return refs(hits)
}

func refs(hits []providers.Hit) string {
	var list []string
	for _, h := range hits {
		list = append(list, string(h.Ref))
	}
	return strings.Join(list, " ")
}

func TestWhatIsPutComesBack(t *testing.T) {
	p := begun(t)
	item := note("01JDZ3M8Q4X0W3K2V7N5T9R6BC", "Deploys run\r\nthrough GitHub Actions only 🚀")
	item.Part, item.Parts, item.Created = 1, 3, time.Date(2026, 11, 30, 16, 1, 0, 0, time.UTC)
	put(t, p, item)
	hits, err := p.Search(t.Context(), providers.Query{Text: "which action deploys?", Limit: 3})
	if err != nil || len(hits) != 1 {
		t.Fatal(hits, err)
	}
	if hits[0].Score == nil || *hits[0].Score >= 0 {
		t.Errorf("score %v", hits[0].Score)
	}
	hits[0].Score = nil
	want := providers.Hit{Ref: "01JDZ3M8Q4X0W3K2V7N5T9R6BC#1", ID: item.ID, Version: "v1", Vault: "vault", Part: 1, Text: item.Text, Created: item.Created}
	if diff := cmp.Diff(want, hits[0]); diff != "" {
		t.Error(diff)
	}
}

func TestTheBestComesFirst(t *testing.T) {
	p := begun(t)
	put(t, p,
		note("1", "the tide tables are in the harbour office"),
		note("2", "tide tide tide"),
		note("3", "backups of the database run at noon, before the tide"),
		note("4", "nothing of the kind"))
	if got := found(t, p, "when do database backups run?"); !strings.HasPrefix(got, "3#0") {
		t.Error(got)
	}
	hits, _ := p.Search(t.Context(), providers.Query{Text: "tide", Limit: 2})
	if len(hits) != 2 || hits[0].ID != "2" || *hits[0].Score > *hits[1].Score {
		t.Errorf("%+v", hits)
	}
}

func TestWhatIsEverywhereDoesNotDecide(t *testing.T) {
	p := begun(t)
	for i := 0; i < 5100; i += 100 {
		var items []providers.Item
		for j := range 100 {
			items = append(items, note(fmt.Sprint(i+j), fmt.Sprintf("the of number%d", i+j)))
		}
		put(t, p, items...)
	}
	if got := found(t, p, "the number77 of"); got != "77#0" {
		t.Error(got)
	}
	if got := found(t, p, "of the"); len(strings.Fields(got)) != 20 {
		t.Error(got)
	}
}

func TestAQuestionHasNoOperators(t *testing.T) {
	p := begun(t)
	put(t, p, note("1", "foo bar NEAR not and or text"))
	for _, q := range []string{
		`"`, `"foo`, `foo"bar`, `foo*`, `^foo`, `foo AND`, `NOT foo`, `foo NEAR(bar`, `text:foo`, `{text} : foo`, `-foo`, `foo + bar`, `(foo`, `foo)`,
		`foo'; DROP TABLE items; --`, "foo\x00bar", "\xff\xfe foo", "foo OR", `foo "" bar`, "foo\u2028bar",
	} {
		want := "1#0"
		if q == `"` {
			want = ""
		}
		if got := found(t, p, q); got != want {
			t.Errorf("%q: %q, want %q", q, got, want)
		}
	}
	for _, q := range []string{"", " \n", "*", "--", "\x00", "🚀", `""`} {
		if got := found(t, p, q); got != "" {
			t.Errorf("%q: %q", q, got)
		}
	}
	if got := found(t, p, "absent NOT foo"); got != "1#0" {
		t.Errorf("NOT is an operator: %q", got)
	}
}

// The sentences that the choice between pairs and SQLite's trigrams was made by.
func TestScriptsWithoutSpaces(t *testing.T) {
	p := begun(t)
	put(t, p,
		note("zh", "数据库每天中午备份。部署只能通过 GitHub 进行"),
		note("ja", "データベースは毎日正午にバックアップされる。東京都の天気"),
		note("ko", "배포는 금요일에만 진행합니다. 데이터베이스 백업"),
		note("th", "สำรองฐานข้อมูลทุกวัน"),
		note("hi", "डेटाबेस का बैकअप रोज़ होता है"),
		note("fr", "La sauvegarde est exécutée à midi"),
		note("nfd", "e\u0301cole"))
	for q, want := range map[string]string{
		"备份": "zh", "数据库": "zh", "库": "zh", "数": "zh", "什么时候备份": "zh", "部署": "zh",
		"バックアップ": "ja", "天気": "ja", "東京": "ja", "気": "ja",
		"배포": "ko", "금요일": "ko", "백업은?": "ko", "데이터베이스": "ko",
		"ฐานข้อมูล": "th", "बैकअप": "hi", "executee": "fr", "sauvegardes": "fr", "École": "nfd", "ＧＩＴＨＵＢ": "zh",
	} {
		if got := found(t, p, q); !strings.HasPrefix(got, want+"#0") {
			t.Errorf("%s: %q, want %s", q, got, want)
		}
	}
	for _, q := range []string{"据每", "京東", "백데"} { // not side by side
		if got := found(t, p, q); got != "" {
			t.Errorf("%s: %q", q, got)
		}
	}
}

func TestAnotherVersionTakesThePlace(t *testing.T) {
	p := begun(t)
	for part := range 3 {
		item := note("1", fmt.Sprintf("first version part%d", part))
		item.Part, item.Parts = part, 3
		put(t, p, item, item)
	}
	if got := found(t, p, "first"); len(strings.Fields(got)) != 3 {
		t.Errorf("got %q", got)
	}
	next := note("1", "second edition")
	next.Version = "v2"
	put(t, p, next)
	if got := found(t, p, "first part0 part1 part2"); got != "" {
		t.Errorf("the old version is still found: %q", got)
	}
	if got := found(t, p, "edition"); got != "1#0" {
		t.Errorf("got %q", got)
	}
	checked(t, p.path)
}

func TestDelete(t *testing.T) {
	p := begun(t)
	for range 2 { // also without a file
		got, err := p.Delete(t.Context(), "x:memories/a#b.md#0")
		if err != nil || got.State != journal.Deleted {
			t.Fatalf("%+v, %v", got, err)
		}
		if got := found(t, p, "kept gone"); got != "" && got != "2#0" {
			t.Error(got)
		}
		put(t, p, note("x:memories/a#b.md", "gone"), note("2", "kept"))
	}
	if got := found(t, p, "kept gone"); len(strings.Fields(got)) != 2 {
		t.Error(got)
	}
	if _, err := p.Delete(t.Context(), "no reference"); !providers.Terminal(err) {
		t.Error(err)
	}
	checked(t, p.path)
}

func TestFindAndList(t *testing.T) {
	p := begun(t)
	if hits, err := p.FindByID(t.Context(), "1"); err != nil || len(hits) != 0 {
		t.Error(hits, err)
	}
	var want []string
	for i := range 7 {
		put(t, p, note(fmt.Sprint(i), "text"))
		want = append(want, fmt.Sprintf("%d#0", i))
	}
	hits, err := p.FindByID(t.Context(), "5", "absent", "3")
	if got := refs(hits); err != nil || got != "5#0 3#0" || hits[0].Version != "v1" {
		t.Error(got, err)
	}
	var all []string
	for cursor := ""; ; {
		hits, next, err := p.List(t.Context(), cursor, 3)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Fields(refs(hits))...)
		if cursor = next; next == "" {
			break
		}
	}
	if !slices.Equal(all, want) {
		t.Error(all)
	}
	if _, _, err := p.List(t.Context(), "x", 3); !providers.Terminal(err) {
		t.Error(err)
	}
}

func TestWhatExpiredIsNotFoundAndGoes(t *testing.T) {
	p := begun(t)
	now := time.Now()
	old, later, never := note("old", "tide"), note("later", "tide"), note("never", "tide")
	old.Expires, later.Expires = now.Add(-time.Second), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	put(t, p, old, later, never)
	if got := found(t, p, "tide"); got != "later#0 never#0" {
		t.Error(got)
	}
	n, err := p.CleanupExpired(t.Context(), now)
	if hits, _ := p.FindByID(t.Context(), "old"); n != 1 || err != nil || len(hits) != 0 {
		t.Error(n, err, hits)
	}
	checked(t, p.path)
}

func TestWorkspace(t *testing.T) {
	p := begun(t)
	a, b, c := note("a", "tide"), note("b", "tide"), note("c", "tide")
	a.Workspace, b.Workspace = "shop", "other"
	put(t, p, a, b, c)
	for workspace, want := range map[string]string{"": "a#0 b#0 c#0", "shop": "a#0 c#0", "third": "c#0"} {
		hits, err := p.Search(t.Context(), providers.Query{Text: "tide", Limit: 5, Workspace: workspace})
		if got := refs(hits); got != want || err != nil {
			t.Errorf("%q: %q, want %q, %v", workspace, got, want, err)
		}
	}
}

func TestPurgeLeavesNothingInTheFile(t *testing.T) {
	p := begun(t)
	if n, err := p.PurgeScope(t.Context()); n != 0 || err != nil {
		t.Error(n, err)
	}
	put(t, p, note("1", "xylophone quartz"), note("2", "other"))
	if n, err := p.PurgeScope(t.Context()); n != 2 || err != nil {
		t.Error(n, err)
	}
	for _, path := range []string{p.path, p.path + "-wal"} {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), "xyloph") || strings.Contains(string(raw), "quartz") {
			t.Errorf("%s still has it", path)
		}
	}
	put(t, p, note("3", "after"))
	if got := found(t, p, "after"); got != "3#0" {
		t.Error(got)
	}
	checked(t, p.path)
}

func TestOnlyTheOwnerCanRead(t *testing.T) {
	p := begun(t)
	put(t, p, note("1", "text"))
	for name, want := range map[string]os.FileMode{"": 0o600, "-wal": 0o600} {
		info, err := os.Stat(p.path + name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want && os.PathSeparator == '/' {
			t.Errorf("%s%s is %o", p.path, name, got)
		}
	}
}

func TestAReadMakesNoFile(t *testing.T) {
	p := begun(t)
	h, err := p.Health(t.Context())
	if err != nil || len(h.Warnings) != 1 || found(t, p, "anything") != "" {
		t.Error(h, err)
	}
	if _, err := os.Stat(filepath.Dir(p.path)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	put(t, p, note("1", "text"))
	if h, err = p.Health(t.Context()); err != nil || !strings.HasPrefix(h.Version, "SQLite 3.") || len(h.Warnings) != 0 {
		t.Error(h, err)
	}
}

func TestAnyPath(t *testing.T) {
	for _, name := range []string{"a b#c", "100%41", "데이터", "a&b=c;d", "file:x", "'quote'"} {
		path := filepath.Join(t.TempDir(), name, name+".db")
		if os.PathSeparator != '/' && strings.Contains(name, ":") {
			continue
		}
		put(t, at(t, path), note("1", "text"))
		checked(t, path)
		if left, _ := filepath.Glob(filepath.Dir(path) + "/*"); len(left) == 0 || !slices.Contains(left, path) {
			t.Errorf("%s: %q", path, left)
		}
	}
}

func TestARemovedFileIsMadeAgain(t *testing.T) {
	p := begun(t)
	put(t, p, note("1", "first"))
	_ = found(t, p, "first")
	if os.PathSeparator != '/' {
		t.Skip("an open file cannot be removed here")
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(p.path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if got := found(t, p, "first"); got != "" {
		t.Error(got)
	}
	put(t, p, note("2", "second"))
	if got := found(t, p, "first second"); got != "2#0" {
		t.Error(got)
	}
	checked(t, p.path)
}

func TestALargeItemIsRefusedAlone(t *testing.T) {
	p := begun(t)
	got := p.PutBatch(t.Context(), []providers.Item{note("1", "first"), note("2", strings.Repeat("x", maxItemBytes+1)), note("3", "third")})
	if got[0].Err != nil || !providers.Terminal(got[1].Err) || got[2].Err != nil {
		t.Errorf("%v", got)
	}
	if got := found(t, p, "first third"); got != "1#0 3#0" {
		t.Error(got)
	}
}

func TestUnusableFilesStayAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	tables := func(name string, statements ...string) {
		db, err := sqlite3.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			if err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	tables("newer.db", fmt.Sprintf("PRAGMA application_id=%d", applicationID), "PRAGMA user_version=7", "CREATE TABLE x (y)")
	tables("theirs.db", "CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('mine')")
	tables("theirs-too.db", "PRAGMA application_id=77")
	sound := at(t, filepath.Join(dir, "broken.db"))
	for i := range 200 {
		put(t, sound, note(fmt.Sprint(i), strings.Repeat("text ", 100)))
	}
	if err := sound.writeAll(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(sound.path)
	if err != nil {
		t.Fatal(err)
	}
	clear(raw[4096:])
	for name, text := range map[string]string{"text.db": strings.Repeat("no database ", 100), "short.db": "x", "damaged.db": string(raw)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"newer.db": "update vade", "theirs.db": "another path", "theirs-too.db": "another path", "text.db": "move it away",
		"short.db": "move it away", "damaged.db": "move it away",
	} {
		path := filepath.Join(dir, name)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p := at(t, path)
		_, err1 := p.Put(t.Context(), note("1", "text"))
		_, err2 := p.Search(t.Context(), providers.Query{Text: "text", Limit: 1})
		_, err3 := p.PurgeScope(t.Context())
		for _, err := range []error{err1, err2, err3} {
			if !providers.Is(err, providers.Auth) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s was changed", name)
		}
	}
}

// writeAll moves what is in the log to the file.
func (p *Provider) writeAll() error {
	return p.alone(context.Background(), "checkpoint", func(c *conn) error { return c.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)") })
}

func TestAFullDiskLosesNothing(t *testing.T) {
	p := begun(t)
	put(t, p, note("1", "first"))
	if err := p.alone(t.Context(), "limit", func(c *conn) error {
		pages, err := c.number("page_count")
		if err != nil {
			return err
		}
		_, err = c.exec(fmt.Sprintf("PRAGMA max_page_count=%d", pages+2))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	got := p.PutBatch(t.Context(), []providers.Item{note("2", "second"), note("3", strings.Repeat("third ", 20_000))})
	for _, r := range got {
		if !providers.Is(r.Err, providers.Retryable) || !errors.Is(r.Err, sqlite3.FULL) {
			t.Error(r.Err)
		}
	}
	if got := found(t, p, "first second third"); got != "1#0" {
		t.Error(got)
	}
	put(t, p, note("4", "fourth"))
	checked(t, p.path)
}

func TestCancelled(t *testing.T) {
	p := begun(t)
	put(t, p, note("1", "text"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Search(ctx, providers.Query{Text: "text", Limit: 1}); !errors.Is(err, context.Canceled) || providers.ClassOf(err) != "" {
		t.Error(err)
	}
	if _, err := p.Put(ctx, note("2", "text")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}

	// One that is under way stops, and its transaction is undone.
	ctx, cancel = context.WithCancel(t.Context())
	err := p.write(ctx, "put", func(c *conn) error {
		if err := c.put(&providers.Item{ID: "3", Parts: 1, Text: "half"}); err != nil {
			return err
		}
		time.AfterFunc(10*time.Millisecond, cancel)
		_, err := c.exec("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := found(t, p, "half"); got != "" {
		t.Error(got)
	}
	put(t, p, note("4", "whole"))
	checked(t, p.path)
}

func TestWaitsForAnotherWriterNoLongerThanAsked(t *testing.T) {
	p, q := begun(t), (*Provider)(nil)
	put(t, p, note("1", "text"))
	q = at(t, p.path)
	err := p.write(t.Context(), "put", func(*conn) error {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		_, err := q.Put(ctx, note("2", "text"))
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func FuzzSearch(f *testing.F) {
	for _, s := range []string{"tide tables", `foo" OR "bar`, "数据库 배포", "a\x00b", "\xff", "がーー", "字", "e\u0301\u200d", `'"*^:(){}+-`} {
		f.Add(s, s)
	}
	p := begun(f)
	f.Fuzz(func(t *testing.T, text, q string) {
		text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
		put(t, p, note("1", text+" anchor"))
		_ = found(t, p, q)
		if got := found(t, p, q+" anchor"); got != "1#0" && len(question(q)) < maxTerms {
			t.Errorf("%q does not find %q: %q", q+" anchor", text+" anchor", got)
		}
		if hits, err := p.FindByID(t.Context(), "1"); err != nil || hits[0].Text != text+" anchor" {
			t.Errorf("%q came back as %q, %v", text, hits[0].Text, err)
		}
	})
}
