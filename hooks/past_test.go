package hooks

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vademecum/sync/journal"
	"vademecum/vault"
)

// testdata/past/AGENT/home is what a real client left in its home after two
// sessions with a turn each; vault is what vade's hooks captured of them.

var pastNow = time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC)

func newPast() *Past {
	return &Past{Now: func() time.Time { return pastNow }, Workspace: func(dir string) string { return dir }}
}

func pastHome(agent string) Homes {
	home, err := filepath.Abs(filepath.Join("testdata", "past", agent, "home"))
	if err != nil {
		panic(err)
	}
	return Homes{Home: home, Env: func(string) string { return "" }}
}

// readPast returns every turn of every transcript of an agent's.
func readPast(t *testing.T, agent string) []*journal.Episode {
	t.Helper()
	var list []*journal.Episode
	transcripts, problems := Transcripts(agent, pastHome(agent))
	if len(problems) > 0 || len(transcripts) == 0 {
		t.Fatalf("%s: %d transcripts, problems %v", agent, len(transcripts), problems)
	}
	p := newPast()
	for _, tr := range transcripts {
		tr.Modified = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
		told, err := p.Read(t.Context(), tr, func(e *journal.Episode) error {
			list = append(list, e)
			return nil
		})
		if err != nil || told != (Told{}) {
			t.Errorf("%s: %+v, %v", tr.Path, told, err)
		}
	}
	slices.SortFunc(list, func(a, b *journal.Episode) int { return a.Start.Compare(b.Start) })
	return list
}

func captureIn(t testing.TB) *journal.Capture {
	return &journal.Capture{Vault: openPastVault(t), Keep: 90 * 24 * time.Hour}
}

func openPastVault(t testing.TB) *vault.Vault {
	t.Helper()
	v, err := vault.Open(vault.Options{Dir: filepath.Join(t.TempDir(), "todd"), Identity: "todd", Now: func() time.Time { return pastNow }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// receive keeps episodes and counts what became of them.
func receive(t *testing.T, v *vault.Vault, list []*journal.Episode) map[string]int {
	t.Helper()
	done := map[string]int{}
	c := &journal.Capture{Vault: v, Keep: 90 * 24 * time.Hour}
	for _, e := range list {
		for _, o := range c.Receive(t.Context(), []*journal.Episode{e}) {
			if o.Err != nil {
				t.Fatal(o.Err)
			}
			if o.State == journal.Stored {
				done["stored"]++
			} else {
				done[o.Result]++
			}
		}
	}
	return done
}

func TestTranscriptsOfRealClients(t *testing.T) {
	var got strings.Builder
	for _, agent := range Remembering() {
		for _, e := range readPast(t, agent) {
			fmt.Fprintf(&got, "%s %s turn %q in %s\n", agent, e.Session, e.Turn, e.Workspace)
			for _, r := range e.Records {
				fmt.Fprintf(&got, "\t%s %s %q %q", r.Event.Time.Format(time.TimeOnly), r.Event.Kind, r.Event.ID, r.Event.Text)
				if u := r.Event.Tool; u != nil {
					fmt.Fprintf(&got, " %s %s %q", u.Name, u.Input, u.Error)
				}
				got.WriteByte('\n')
			}
		}
	}
	const golden = "testdata/past.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}

// What a hook captured is known when its transcript is read, and the other way
// round it is one section, whichever came first.
func TestHookAndTranscriptAreOneTurn(t *testing.T) {
	for _, agent := range Remembering() {
		t.Run(agent, func(t *testing.T) {
			list := readPast(t, agent)
			if len(list) != 2 {
				t.Fatalf("%d turns, want 2", len(list))
			}
			v := openPastVault(t)
			captured := os.DirFS(filepath.Join("testdata", "past", agent, "vault"))
			_, err := v.Update(t.Context(), vault.Op{Name: "capture", Subject: "by hooks"}, func(tx *vault.Tx) error {
				return eachFile(captured, tx.Put)
			})
			if err != nil {
				t.Fatal(err)
			}
			head, _ := v.Head()
			if diff := cmp.Diff(map[string]int{vault.IsKept: 2}, receive(t, v, list)); diff != "" {
				t.Errorf("after the hooks (-want +got):\n%s", diff)
			}
			if now, _ := v.Head(); now != head {
				t.Error("a commit was made of nothing")
			}
			v = openPastVault(t)
			if diff := cmp.Diff(map[string]int{"stored": 2}, receive(t, v, list)); diff != "" {
				t.Errorf("without hooks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]int{vault.IsKept: 2}, receive(t, v, readPast(t, agent))); diff != "" {
				t.Errorf("again (-want +got):\n%s", diff)
			}
		})
	}
}

// pastFile is a transcript with this text.
func pastFile(t *testing.T, agent, name, text string) Transcript {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Transcript{Agent: agent, Path: path, Size: int64(len(text)), Modified: pastNow.Add(-24 * time.Hour)}
}

func said(session, prompt, id, asked, answered string) string {
	return fmt.Sprintf(`{"type":"user","sessionId":%[1]q,"cwd":"/w","promptId":%[2]q,"uuid":%[3]q,"timestamp":"2026-11-01T10:00:00Z","message":{"role":"user","content":%[4]q}}
{"type":"assistant","sessionId":%[1]q,"cwd":"/w","uuid":"a%[3]s","timestamp":"2026-11-01T10:00:05Z","message":{"id":"m%[3]s","role":"assistant","content":[{"type":"text","text":%[5]q}]}}
`, session, prompt, id, asked, answered)
}

// texts are what was asked and answered in a transcript.
func texts(t *testing.T, p *Past, tr Transcript) (list []string, told Told, err error) {
	t.Helper()
	told, err = p.Read(t.Context(), tr, func(e *journal.Episode) error {
		for _, r := range e.Records {
			list = append(list, r.Event.Text)
		}
		return nil
	})
	return list, told, err
}

func TestBrokenTranscripts(t *testing.T) {
	whole := said("s", "p1", "u1", "What is the gate?", "The falcon list.") + said("s", "p2", "u2", "And the key?", "In ops.")
	huge := `{"type":"user","sessionId":"s","message":{"content":"` + strings.Repeat("x", maxLine+1) + `"}}` + "\n"
	half := len(said("s", "p1", "u1", "What is the gate?", "The falcon list."))
	for _, test := range []struct {
		name, text string
		want       []string
		lost       int
		err        error
	}{
		{"whole", whole, []string{"What is the gate?", "The falcon list.", "And the key?", "In ops."}, 0, nil},
		{"garbage between", whole[:half] + "\x00\x00{{{\n[1,2]\n" + whole[half:], []string{"What is the gate?", "The falcon list.", "And the key?", "In ops."}, 2, nil},
		{"a huge line", whole[:half] + huge + whole[half:], []string{"What is the gate?", "The falcon list.", "And the key?", "In ops."}, 1, nil},
		{"torn", whole[:len(whole)-20], []string{"What is the gate?", "The falcon list.", "And the key?"}, 0, nil},
		{"no JSON", "hello\nworld\n", nil, 2, ErrNoTranscript},
		{"empty", "", nil, 0, ErrNoTranscript},
		{"wrong types", `{"type":7,"sessionId":{},"message":[]}` + "\n" + `{"type":"user","sessionId":"s","message":"x","timestamp":{}}` + "\n" +
			`{"type":"assistant","sessionId":"s","message":{"content":[1,null,{"type":"text","text":[]}]}}` + "\n", nil, 0, nil},
	} {
		got, told, err := texts(t, newPast(), pastFile(t, "claude", "s.jsonl", test.text))
		if diff := cmp.Diff(test.want, got); diff != "" || told.Lost != test.lost || err != test.err {
			t.Errorf("%s: %+v, %v\n%s", test.name, told, err, diff)
		}
	}
}

// No cut and no flipped byte of what a client wrote is anything but a loss.
func TestDamagedTranscripts(t *testing.T) {
	cuts := 20
	if testing.Short() {
		cuts = 4
	}
	for _, agent := range Remembering() {
		transcripts, _ := Transcripts(agent, pastHome(agent))
		raw, err := os.ReadFile(transcripts[0].Path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(transcripts[0].Path)
		for i := range cuts {
			at := i * len(raw) / cuts
			for _, damaged := range [][]byte{raw[:at], bytes.Replace(raw, raw[at:at+1], []byte{0}, 1+i)} {
				_, _, err := texts(t, newPast(), pastFile(t, agent, name, string(damaged)))
				if err != nil && strings.Contains(err.Error(), "panic") {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestTurnThatGoesOn(t *testing.T) {
	tr := pastFile(t, "claude", "s.jsonl", said("s", "p1", "u1", "What is the gate?", "The falcon list.")+
		`{"type":"user","sessionId":"s","promptId":"p2","uuid":"u2","timestamp":"2026-11-01T11:00:00Z","message":{"role":"user","content":"And the key?"}}`+"\n")
	tr.Modified = pastNow.Add(-time.Minute)
	got, told, err := texts(t, newPast(), tr)
	if diff := cmp.Diff([]string{"What is the gate?", "The falcon list."}, got); diff != "" || !told.Unfinished || err != nil {
		t.Errorf("%+v, %v\n%s", told, err, diff)
	}
	tr.Modified = pastNow.Add(-time.Hour)
	if got, told, _ := texts(t, newPast(), tr); len(got) != 3 || told.Unfinished {
		t.Errorf("an hour later: %q, %+v", got, told)
	}
}

// A session that goes on under another id begins with a copy of the first.
func TestCopiedTurnsAreReadOnce(t *testing.T) {
	p := newPast()
	first := pastFile(t, "claude", "a.jsonl", said("a", "", "u1", "What is the gate?", "The falcon list."))
	second := pastFile(t, "claude", "b.jsonl", said("b", "", "u1", "What is the gate?", "The falcon list.")+said("b", "", "u2", "And the key?", "In ops."))
	if got, _, err := texts(t, p, first); len(got) != 2 || err != nil {
		t.Fatal(got, err)
	}
	got, _, err := texts(t, p, second)
	if diff := cmp.Diff([]string{"And the key?", "In ops."}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestTranscriptsAreRedacted(t *testing.T) {
	key := "AKIA" + "QYLPMN5HHHFPZAM2"
	tr := pastFile(t, "claude", "s.jsonl", said("s", "p1", "u1", "Use "+key+" <private>the cat is Tom</private> here", "Stored "+key)+
		said("s", "p2", "u2", "<system-reminder>wrapped</system-reminder>", "Nobody asked."))
	got, _, err := texts(t, newPast(), tr)
	all := strings.Join(got, "\n")
	if err != nil || strings.Contains(all, key) || strings.Contains(all, "Tom") || strings.Contains(all, "wrapped") || !strings.Contains(all, "Use") {
		t.Errorf("%v: %q", err, all)
	}
}

func TestTranscriptFolders(t *testing.T) {
	at := map[string]string{"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "GEMINI_CLI_HOME": "/g", "QWEN_HOME": "/q", "XDG_DATA_HOME": "/d", "PI_CODING_AGENT_DIR": "/p"}
	moved := Homes{Home: "/home/dev", Env: func(name string) string { return at[name] }}
	for agent, want := range map[string]string{
		"claude": "/c/projects/*/*.jsonl", "codex": "/x/sessions/**/rollout-*.jsonl", "gemini": "/g/.gemini/tmp/*/chats/session-*.jsonl",
		"qwen": "/q/projects/*/chats/*.jsonl", "opencode": "/d/opencode/opencode.db", "pi": "/p/sessions/*/*.jsonl",
		"cline": "/home/dev/.cline/data/sessions/*/*.messages.json", "copilot": "/home/dev/.copilot/session-state/*/events.jsonl",
	} {
		if got := filepath.ToSlash(moved.patterns(agent)[0]); got != want && filepath.Separator == '/' {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
	}
}

func eachFile(fsys fs.FS, put func(path string, data []byte) error) error {
	return fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(fsys, path)
		if err != nil {
			return err
		}
		return put(path, raw)
	})
}
