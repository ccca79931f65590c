package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vademecum/vault"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// at is s seconds after noon.
func at(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }

func event(s int, kind Kind, text string) Event {
	return Event{Kind: kind, Time: at(s), Agent: "codex", Session: "s1", Workspace: "github.com/acme/shop", Text: text}
}

// kept is a journal and the vault that it drains to.
type kept struct {
	*Journal
	t     *testing.T
	vault *vault.Vault
	dir   string
}

func newKept(t *testing.T, o Options) *kept {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "todd")
	v, err := vault.Open(vault.Options{Dir: dir, Identity: "todd", Origin: vault.Origin{Host: "laptop"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return &kept{Open(filepath.Join(dir, "journal"), o), t, v, dir}
}

func (k *kept) append(events ...Event) {
	k.t.Helper()
	for _, e := range events {
		if err := k.Append(e); err != nil {
			k.t.Fatal(err)
		}
	}
}

func (k *kept) drain(o DrainOptions) Drained {
	k.t.Helper()
	d, err := k.Drain(k.t.Context(), o, &Capture{Vault: k.vault, Keep: 90 * 24 * time.Hour})
	if err != nil {
		k.t.Fatal(err)
	}
	return d
}

// text is all session files, without front matter.
func (k *kept) text() string {
	k.t.Helper()
	var b strings.Builder
	for _, p := range k.files() {
		raw, err := os.ReadFile(p)
		if err != nil {
			k.t.Fatal(err)
		}
		b.WriteString(vault.ParseDocument(raw).Body())
	}
	return b.String()
}

func (k *kept) files() []string {
	found, err := filepath.Glob(filepath.Join(k.dir, "vault", "sessions", "*", "*", "*.md"))
	if err != nil {
		k.t.Fatal(err)
	}
	return found
}

func TestTurnBecomesASection(t *testing.T) {
	k := newKept(t, Options{})
	tool := event(2, ToolFailure, "")
	tool.Tool = &ToolUse{Name: "Bash", Input: `{"command":"make deploy"}`, Error: "exit status 2"}
	k.append(
		event(0, SessionStart, "startup"),
		event(1, Prompt, "How do we deploy production? By the way, deploys run on Tuesdays."),
		tool,
		event(3, Answer, "Production deploys run through GitHub Actions.\n\n# Why\n\nLaptops lie about what they have built."),
		event(4, TurnEnd, "Production deploys run through GitHub Actions.\n\n# Why\n\nLaptops lie about what they have built."),
	)
	if d := k.drain(DrainOptions{}); d.Stored != 1 || d.Failed != 0 {
		t.Fatalf("got %+v", d)
	}
	want := "## 2026-11-30 12:00 UTC\n\n> How do we deploy production?\n\nBy the way, deploys run on Tuesdays.\n\n" +
		"Production deploys run through GitHub Actions.\n\n### Why\n\nLaptops lie about what they have built.\n\n- Bash `make deploy`: failed: exit status 2\n"
	if diff := cmp.Diff(want, k.text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	files := k.files()
	if len(files) != 1 || !strings.HasPrefix(filepath.Base(files[0]), "30-codex-") {
		t.Fatalf("files: %v", files)
	}
	raw, _ := os.ReadFile(files[0])
	m := vault.ParseDocument(raw).Memory()
	if m.Origin.Agent != "codex" || m.Origin.Session != "s1" || m.Workspace != "github.com/acme/shop" || m.Tier != vault.STM ||
		!m.Expires.Equal(at(4).AddDate(0, 0, 90)) {
		t.Errorf("front matter: %+v", m)
	}
	log, err := k.vault.History(t.Context(), vault.Ref(m.ID))
	if err != nil || len(log) != 1 || log[0].Op != "capture" || log[0].Agent != "codex" || log[0].Session != "s1" {
		t.Errorf("history: %+v %v", log, err)
	}
	s, err := k.Status()
	if err != nil || s.Events != 0 || s.Open != 0 || s.Bytes != 0 || s.States[Stored] != 1 || s.Waiting() != 0 {
		t.Errorf("status %+v %v", s, err)
	}
}

// TestAskingAgain: what was asked and answered before is not kept again, in
// whatever session, and a question alone is never kept.
func TestAskingAgain(t *testing.T) {
	k := newKept(t, Options{})
	ask := func(s int, session, answer string) {
		for _, e := range []Event{event(s, Prompt, "Tell me how to deploy"), event(s+1, TurnEnd, answer)} {
			e.Session = session
			k.append(e)
		}
	}
	ask(0, "s1", "Through GitHub Actions.")
	for i := range 10 {
		ask(10+2*i, fmt.Sprintf("again%d", i), "through  GitHub actions.")
	}
	ask(100, "other", "Use the blue button.")
	ask(200, "silent", "")
	d := k.drain(DrainOptions{All: true})
	if d.Stored != 2 || d.Empty != 11 {
		t.Errorf("got %+v", d)
	}
	if n := len(k.files()); n != 2 {
		t.Errorf("%d files", n)
	}
	if plain, quoted := strings.Count(k.text(), "\nTell me how"), strings.Count(k.text(), "\n> Tell me how"); plain != 1 || quoted != 1 {
		t.Errorf("the question stands %d times, and %d times as context:\n%s", plain, quoted, k.text())
	}
}

func TestSameTurnFromTwoChannels(t *testing.T) {
	k := newKept(t, Options{})
	turn := func(answer string) []Event {
		p, e := event(0, Prompt, "We use tabs."), event(1, TurnEnd, answer)
		p.ID, e.ID, p.Turn = "p1", "e1", "t1"
		return []Event{p, e}
	}
	k.append(turn("Noted.")...)
	k.append(turn("Noted.")...) // the other channel
	k.drain(DrainOptions{})
	k.append(turn("Noted, in other words.")...) // a backfill
	if d := k.drain(DrainOptions{}); d.Empty != 1 {
		t.Errorf("got %+v", d)
	}
	late := event(2, Answer, "And spaces in YAML.")
	late.Turn = "t1"
	k.append(late)
	k.drain(DrainOptions{All: true})
	k.append(late)
	k.drain(DrainOptions{All: true})
	got := k.text()
	for text, n := range map[string]int{"We use tabs.": 1, "Noted.": 1, "in other words": 0, "And spaces in YAML.": 1} {
		if c := strings.Count(got, text); c != n {
			t.Errorf("%q %d times, want %d:\n%s", text, c, n, got)
		}
	}
}

func TestForgottenSessionStaysForgotten(t *testing.T) {
	k := newKept(t, Options{})
	k.append(event(0, Prompt, "Use tabs."), event(1, TurnEnd, "ok then"))
	k.drain(DrainOptions{})
	rel, _ := filepath.Rel(k.vault.WorkDir(), k.files()[0])
	if _, err := k.vault.Forget(t.Context(), vault.Ref(filepath.ToSlash(rel)), ""); err != nil {
		t.Fatal(err)
	}
	k.append(event(10, Prompt, "Use tabs!"), event(11, TurnEnd, "ok again"))
	if d := k.drain(DrainOptions{}); d.Empty != 1 || len(k.files()) != 0 {
		t.Errorf("got %+v, files %v", d, k.files())
	}
}

func TestSecretsNeverReachTheDisk(t *testing.T) {
	k := newKept(t, Options{})
	token := "ghp_" + strings.Repeat("a1B2c3", 6)
	e := event(0, Prompt, "the token is "+token+" <private>my own business</private> for the deploy.")
	e2 := event(1, ToolFailure, "")
	e2.Tool = &ToolUse{Name: "Bash", Input: `{"command":"curl -H 'Authorization: Bearer ` + token + `'"}`, Output: token, Error: token}
	k.append(e, e2)
	check := func() {
		t.Helper()
		err := filepath.WalkDir(k.dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			for _, secret := range []string{token, "my own business"} {
				if strings.Contains(string(raw), secret) {
					t.Errorf("%s holds %q", path, secret)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check()
	if e2.Tool.Output != token {
		t.Error("Append changed the caller's event")
	}
	k.drain(DrainOptions{All: true})
	check()
	if !strings.Contains(k.text(), "for the deploy.") {
		t.Errorf("the rest is gone:\n%s", k.text())
	}
}

func TestDamage(t *testing.T) {
	k := newKept(t, Options{})
	for i := range 5 {
		k.append(event(2*i, Prompt, fmt.Sprintf("fact%d is so.", i)), event(2*i+1, TurnEnd, "noted"))
	}
	path := k.segment(0)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(raw), "\n")
	lines[2] = strings.Replace(lines[2], "fact1", "fakt1", 1)
	lines = append(lines[:6], lines[7:]...) // fact3 is gone
	torn := strings.Join(lines, "") + `{"sum":"00000000","at":1`
	if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	k.append(event(20, Prompt, "fact6 is so."), event(21, TurnEnd, "noted"))
	k.drain(DrainOptions{All: true})
	got := k.text()
	for i, want := range []bool{true, false, true, false, true, false, true} {
		if strings.Contains(got, fmt.Sprintf("fact%d", i)) != want {
			t.Errorf("fact%d: want %t\n%s", i, want, got)
		}
	}
	aside, err := os.ReadFile(k.path(asideDir, "corrupt.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fakt1", "bytes are missing", "events/00.jsonl"} {
		if !strings.Contains(string(aside), want) {
			t.Errorf("aside does not name %q:\n%s", want, aside)
		}
	}
	if s, _ := k.Status(); s.Aside != 3 {
		t.Errorf("aside counts %d, want 3", s.Aside)
	}
}

func TestDamagedEpisode(t *testing.T) {
	k := newKept(t, Options{})
	k.append(event(0, Prompt, "fact one."), event(1, Answer, "fact two."), event(2, TurnEnd, "fact three."))
	refuse := receiverFunc(func([]*Episode) error { return errors.New("not today") })
	if _, err := k.Drain(t.Context(), DrainOptions{}, refuse); err != nil {
		t.Fatal(err)
	}
	names, _ := k.names(episodesDir)
	path := k.path(episodesDir, names[0])
	raw, _ := os.ReadFile(path)
	damaged := strings.Replace(strings.Replace(string(raw), `"episode"`, `"episodf"`, 1), "fact two", "fakt two", 1)
	if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Retry(t.Context(), func(Delivery) bool { return true }); err != nil {
		t.Fatal(err)
	}
	k.drain(DrainOptions{})
	if got := k.text(); !strings.Contains(got, "fact one") || strings.Contains(got, "two") || !strings.Contains(got, "fact three") {
		t.Errorf("got:\n%s", got)
	}
}

// receiverFunc takes episodes and says what went wrong with all of them.
type receiverFunc func([]*Episode) error

func (f receiverFunc) Receive(_ context.Context, list []*Episode) []Outcome {
	err := f(list)
	var out []Outcome
	for _, e := range list {
		out = append(out, Outcome{Key: e.Key, State: Stored, Err: err})
	}
	return out
}

func TestManyWritersAndDrains(t *testing.T) {
	k := newKept(t, Options{Timeout: 20 * time.Second})
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var drains sync.WaitGroup
	drains.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				k.drain(DrainOptions{})
			}
		}
	})
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				e := event(i, TurnEnd, fmt.Sprintf("writer%dx said thing%dx", w, i))
				e.Session = fmt.Sprintf("s%d", w)
				e.Turn = fmt.Sprint(i)
				if err := k.Append(e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	drains.Wait()
	k.drain(DrainOptions{All: true})
	got := k.text()
	for w := range 8 {
		for i := range 50 {
			if n := strings.Count(got, fmt.Sprintf("writer%dx said thing%dx", w, i)); n != 1 {
				t.Errorf("writer %d, event %d: kept %d times", w, i, n)
			}
		}
	}
	if s, _ := k.Status(); s.Lost.Count != 0 || s.Aside != 0 || s.Bytes != 0 {
		t.Errorf("status %+v", s)
	}
}
