package sync_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/sync"
	"vademecum/vault"
)

// TestAnyHosts lets hosts do at random everything that people and agents do to a
// vault, also what they should not, and proves that it converges and that not one
// word is lost that was not taken out by somebody who saw it. A seed always plays
// the same game: VADE_SIM=seed,hosts,rounds plays one again.
func TestAnyHosts(t *testing.T) {
	games := [][3]int{{1, 3, 12}, {2, 4, 8}}
	if testing.Short() {
		games = games[:1]
	}
	if again := os.Getenv("VADE_SIM"); again != "" {
		games = [][3]int{{}}
		for i, n := range strings.Split(again, ",") {
			games[0][i], _ = strconv.Atoi(n)
		}
	}
	for _, g := range games {
		t.Run(fmt.Sprintf("seed %d", g[0]), func(t *testing.T) { newGame(t, g[0], g[1]).play(g[2]) })
	}
}

// game is one simulation; only its hosts' turns are random.
type game struct {
	t       *testing.T
	rng     *rand.Rand
	hosts   []*host
	now     time.Time
	n       int             // words
	written map[string]bool // that were ever in a vault
	removed map[string]bool // by somebody who saw them
	thinned map[string]int  // how often somebody took one of several copies out
	buried  []string        // texts that were forgotten
	dead    map[string]bool // words in them: a copy that is said again elsewhere before that is known may go too
	copied  map[vault.ID]bool
	log     []string
}

func newGame(t *testing.T, seed, hosts int) *game {
	g := &game{
		t: t, rng: rand.New(rand.NewPCG(uint64(seed), 7)), now: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC),
		written: map[string]bool{}, removed: map[string]bool{}, thinned: map[string]int{}, dead: map[string]bool{},
		copied: map[vault.ID]bool{},
	}
	entropy := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	clock := func() time.Time { g.now = g.now.Add(time.Second); return g.now }
	for i := range hosts {
		h := newHost(t, string(rune('A'+i)), uint64(seed))
		h.skew = []time.Duration{0, 0, -time.Hour, 2 * time.Hour, -24 * time.Hour}[g.rng.IntN(5)]
		h.clock, h.entropy = clock, entropy
		g.hosts = append(g.hosts, h)
	}
	remote := bareRemote(t)
	g.hosts[0].remember("Start", g.word())
	if _, err := sync.SetRemote(t.Context(), g.hosts[0].vault(), remote); err != nil {
		t.Fatal(err)
	}
	g.hosts[0].sync()
	for _, h := range g.hosts[1:] {
		h.clone(remote)
	}
	return g
}

func (g *game) word() string {
	g.n++
	return fmt.Sprintf("word%04dx", g.n)
}

var wordRE = regexp.MustCompile(`word\d{4}x`)

// wordsOf counts the words in text.
func wordsOf(text string) map[string]int {
	found := map[string]int{}
	for _, w := range wordRE.FindAllString(text, -1) {
		found[w]++
	}
	return found
}

func (g *game) play(rounds int) {
	for range rounds {
		for i, h := range g.hosts {
			for range 1 + g.rng.IntN(3) {
				g.turn(h)
			}
			if rare := i == len(g.hosts)-1; !rare || g.rng.IntN(6) == 0 {
				if g.rng.IntN(4) == 0 {
					g.met(h, h.syncCommitted())
				} else {
					g.met(h, h.sync())
				}
			}
		}
	}
	g.now = g.now.Add(48 * time.Hour) // nothing expires from here on
	for range 3 {
		for _, h := range g.hosts {
			g.met(h, h.sync())
		}
	}
	for _, h := range g.hosts {
		if r := h.sync(); !r.Nothing() || len(r.Left) > 0 {
			g.t.Errorf("%s is not quiet: %+v", h.name, r)
		}
	}
	check(g.t, g.hosts...)
	g.check()
}

// met notes what a round of h said.
func (g *game) met(h *host, r sync.Report) {
	for w := range h.swept(r) {
		g.dead[w] = true
	}
	for _, l := range r.Left {
		if strings.Contains(l.Reason, "forgotten") { // as it says
			if id := vault.ParseDocument(h.read(l.Path)).Memory().ID; !g.copied[id] {
				g.t.Errorf("%s: nobody copied %s, and yet it %s", h.name, l.Path, l.Reason)
			}
			h.remove(l.Path)
		}
	}
	g.note("%s sync: adopted %v left %v merged %v conflicts %v flags %v folded %v warnings %v", h.name, r.Adopted, r.Left, r.Merged, r.Conflicts, r.Flags, r.Folded, r.Warnings)
}

// swept are the words of what a round says to have swept: somebody forgot that
// very text, under whatever title.
func (h *host) swept(r sync.Report) map[string]int {
	words := map[string]int{}
	for _, w := range r.Warnings {
		if path, ok := strings.CutSuffix(w, " was forgotten on one side and stays so"); ok {
			maps.Copy(words, wordsOf(git(h.t, h.dir(), "log", "--all", "-p", "--", path)))
		}
	}
	return words
}

func (g *game) note(format string, args ...any) { g.log = append(g.log, fmt.Sprintf(format, args...)) }

// turn does one thing on h; what h's files no longer say then was taken out by
// somebody who saw it.
func (g *game) turn(h *host) {
	before := wordsOf(h.text())
	m := g.pick(h)
	n := g.rng.IntN(len(moves))
	err := moves[n].do(g, h, m)
	after := wordsOf(h.text())
	var gone []string
	for w, n := range before {
		switch {
		case after[w] == 0:
			gone = append(gone, w)
			g.removed[w] = true
		case after[w] < n:
			g.thinned[w]++
		}
	}
	var added []string
	for w := range after {
		if before[w] == 0 {
			added = append(added, w)
			g.written[w] = true
		}
	}
	slices.Sort(gone)
	slices.Sort(added)
	g.note("%s %s %s: added %v gone %v err %v", h.name, moves[n].name, m, added, gone, err)
}

// pick is the path of a memory that hosts like to meet at. One that expires is
// none: its words go when its time is over.
func (g *game) pick(h *host) string {
	paths := slices.DeleteFunc(h.memories(), func(p string) bool { return strings.Contains(string(h.read(p)), "\nexpires: ") })
	if len(paths) == 0 {
		return ""
	}
	return paths[g.rng.IntN(min(len(paths), 12))]
}

func (g *game) check() {
	for _, h := range g.hosts {
		has := wordsOf(h.text())
		for _, w := range slices.Sorted(maps.Keys(g.written)) {
			if g.removed[w] || g.dead[w] || g.thinned[w] > 1 { // the second: on two hosts, each another copy
				continue
			}
			if has[w] == 0 {
				g.t.Errorf("%s lost %s:\n%s", h.name, w, git(g.t, h.dir(), "log", "--all", "-m", "-p", "-S"+w, "--format=%n* %h %p %an %s"))
			}
		}
		if g.t.Failed() {
			g.t.Logf("the game:\n%s", strings.Join(g.log, "\n"))
			break
		}
	}
	g.t.Logf("%d words, %d taken out knowingly", len(g.written), len(g.removed))
}

// move is one thing that somebody does; m is a memory's path, "" when there is
// none. An error is noted: many moves are not possible at times.
type move struct {
	name string
	do   func(g *game, h *host, m string) error
}

var moves = slices.Concat(
	slices.Repeat([]move{{"remember", (*game).remember}, {"edit", (*game).edit}, {"change a line", (*game).changeLine}}, 3),
	[]move{
		{"tag", (*game).tag},
		{"title", (*game).title},
		{"forget", (*game).forget},
		{"undo", (*game).undo},
		{"file", (*game).file},
		{"same title", (*game).sameTitle},
		{"same fact", (*game).sameFact},
		{"resolve", (*game).resolve},
		{"revive", (*game).revive},
		{"rename", (*game).rename},
		{"rename and forget", (*game).renameAndForget},
		{"append", (*game).appendLine},
		{"delete a line", (*game).deleteLine},
		{"rm", (*game).rm},
		{"new note", (*game).newNote},
		{"swap names", (*game).swap},
		{"file or folder", (*game).fileOrFolder},
		{"restore", (*game).restore},
		{"git commit", (*game).gitCommit},
		{"git pull", (*game).gitPull},
		{"git gc", (*game).gitGC},
		{"copy", (*game).copyFile},
		{"strip header", (*game).stripHeader},
		{"working memory", (*game).workingMemory},
	},
)

func (g *game) put(h *host, title, body string, tags ...string) error {
	var d vault.Draft
	d.Title, d.Body, d.Tags = title, body, tags
	_, err := h.vault().Put(g.t.Context(), d)
	return err
}

func (g *game) remember(h *host, _ string) error {
	var body strings.Builder
	body.WriteString(g.word() + "\n")
	for i := range 1 + g.rng.IntN(5) {
		body.WriteString(fmt.Sprintf("line %d %c\n", i, 'a'+g.rng.IntN(3)))
	}
	return g.put(h, fmt.Sprintf("T %d", g.rng.IntN(1000)), body.String())
}

func (g *game) sameTitle(h *host, _ string) error { return g.put(h, "Same title", g.word()) }

func (g *game) sameFact(h *host, _ string) error {
	return g.put(h, "S", fmt.Sprintf("same fact word%04dx", 9000+g.rng.IntN(4)), "x"+h.name)
}

func (g *game) workingMemory(h *host, _ string) error {
	var d vault.Draft
	d.Title, d.Body, d.Tier = "Soon gone", "for today", vault.STM
	d.Expires = g.now.Add(time.Duration(g.rng.IntN(100)) * time.Second)
	_, err := h.vault().Put(g.t.Context(), d)
	return err
}

func (g *game) edit(h *host, m string) error {
	lines := strings.Split(vault.ParseDocument(h.read(m)).Body(), "\n")
	body := strings.Join(slices.Insert(lines, g.rng.IntN(len(lines)), g.word()+" edit"), "\n")
	return h.edit(m, vault.Edit{Body: &body})
}

func (g *game) tag(h *host, m string) error {
	return h.edit(m, vault.Edit{AddTags: []string{g.word()}})
}

func (g *game) title(h *host, m string) error {
	title := g.word() + " title"
	return h.edit(m, vault.Edit{Title: &title})
}

func (h *host) edit(m string, e vault.Edit) error {
	_, err := h.vault().Edit(h.t.Context(), vault.Ref(m), e)
	return err
}

func (h *host) read(m string) []byte {
	data, _ := os.ReadFile(filepath.Join(h.dir(), filepath.FromSlash(m)))
	return data
}

func (g *game) forget(h *host, m string) error {
	g.buried = append(g.buried, string(h.read(m)))
	for w := range wordsOf(string(h.read(m))) {
		g.dead[w] = true
	}
	_, err := h.vault().Forget(g.t.Context(), vault.Ref(m), "")
	return err
}

func (g *game) revive(h *host, _ string) error {
	if len(g.buried) == 0 {
		return nil
	}
	m := vault.ParseDocument([]byte(g.buried[g.rng.IntN(len(g.buried))])).Memory()
	return g.put(h, m.Title, m.Body)
}

func (g *game) undo(h *host, _ string) error {
	_, err := sync.Undo(g.t.Context(), h.vault(), sync.UndoTarget{})
	return err
}

func (g *game) file(h *host, _ string) error {
	name, data := []string{"a.txt", "b.md"}[g.rng.IntN(2)], []byte(g.word()+"\n")
	store := h.vault().AppendFile
	if g.rng.IntN(3) == 0 {
		store = h.vault().PutFile
	}
	_, err := store(g.t.Context(), name, data, vault.Precondition{})
	return err
}

func (g *game) resolve(h *host, _ string) error {
	all, err := h.vault().Conflicts(g.t.Context())
	if err != nil || len(all) == 0 {
		return err
	}
	keep := []vault.Keep{vault.KeepOurs, vault.KeepTheirs, vault.KeepBoth}[g.rng.IntN(3)]
	_, err = h.vault().ResolveConflict(g.t.Context(), all[g.rng.IntN(len(all))], keep)
	return err
}

func (g *game) restore(h *host, m string) error {
	entries, err := h.vault().History(g.t.Context(), vault.Ref(m))
	if err != nil || len(entries) == 0 {
		return err
	}
	commit := entries[g.rng.IntN(len(entries))].Commit
	full := git(g.t, h.dir(), "rev-parse", commit)
	_, err = h.vault().Restore(g.t.Context(), vault.Ref(m), plumbing.NewHash(full))
	return err
}

func (g *game) lines(h *host, m string, change func(lines []string) []string) error {
	head, body := splitBody(string(h.read(m)))
	if m == "" {
		return nil
	}
	lines := change(strings.SplitAfter(body, "\n"))
	h.write(m, head+strings.Join(lines, ""))
	return nil
}

func (g *game) changeLine(h *host, m string) error {
	return g.lines(h, m, func(lines []string) []string {
		lines[g.rng.IntN(len(lines))] = "changed to " + g.word() + "\n"
		return lines
	})
}

func (g *game) deleteLine(h *host, m string) error {
	return g.lines(h, m, func(lines []string) []string {
		at := g.rng.IntN(len(lines))
		return slices.Delete(lines, at, at+1)
	})
}

func (g *game) appendLine(h *host, m string) error {
	return g.lines(h, m, func(lines []string) []string { return append(lines, g.word()+" appended\n") })
}

func (g *game) stripHeader(h *host, m string) error {
	if m != "" && g.rng.IntN(3) == 0 {
		_, body := splitBody(string(h.read(m)))
		h.write(m, body)
	}
	return nil
}

func (g *game) rename(h *host, m string) error {
	to := []string{"", "proj/", "memories/x/"}[g.rng.IntN(3)] + fmt.Sprintf("ren%d.md", g.rng.IntN(30))
	return h.move(m, to)
}

func (g *game) renameAndForget(h *host, m string) error {
	to := fmt.Sprintf("memories/x/gone%d.md", g.rng.IntN(30))
	if err := h.move(m, to); err != nil {
		return err
	}
	return g.forget(h, to)
}

func (h *host) move(from, to string) error {
	src, dst := filepath.Join(h.dir(), filepath.FromSlash(from)), filepath.Join(h.dir(), filepath.FromSlash(to))
	if _, err := os.Lstat(dst); err == nil || from == "" {
		return os.ErrExist
	}
	return cmp.Or(os.MkdirAll(filepath.Dir(dst), 0o700), os.Rename(src, dst))
}

func (g *game) copyFile(h *host, m string) error {
	to := fmt.Sprintf("copies/c%d.md", g.rng.IntN(5))
	if m != "" && len(h.read(to)) == 0 {
		h.write(to, string(h.read(m)))
		g.copied[vault.ParseDocument(h.read(m)).Memory().ID] = true
	}
	return nil
}

func (g *game) swap(h *host, m string) error {
	other := g.pick(h)
	if m == "" || other == m {
		return nil
	}
	return cmp.Or(h.move(m, "x.tmp"), h.move(other, m), h.move("x.tmp", other))
}

func (g *game) rm(h *host, m string) error {
	return os.Remove(filepath.Join(h.dir(), filepath.FromSlash(m)))
}

func (g *game) newNote(h *host, _ string) error {
	name := []string{"note", "Note", "NOTE", "n2"}[g.rng.IntN(4)] + ".md"
	if len(h.read(name)) == 0 {
		h.write(name, g.word()+" human note\n")
	}
	return nil
}

func (g *game) fileOrFolder(h *host, _ string) error {
	name := []string{"thing.md", "thing.md/inner.md", "proj/empty.md"}[g.rng.IntN(3)]
	dst := filepath.Join(h.dir(), filepath.FromSlash(name))
	if name == "proj/empty.md" {
		return os.MkdirAll(dst, 0o700)
	}
	if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(g.word() + " file or folder\n")
	return err
}

func (g *game) gitCommit(h *host, _ string) error {
	return h.tryGit("sh", "-c", "git add -A && git commit -qm human")
}

func (g *game) gitPull(h *host, _ string) error {
	if g.rng.IntN(3) > 0 {
		return nil
	}
	return h.tryGit("sh", "-c", "git add -A; git commit -qm human; git pull -q --no-rebase --no-edit origin main || git merge --abort")
}

func (g *game) gitGC(h *host, _ string) error { return h.tryGit("git", "gc", "-q") }

func (h *host) tryGit(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = h.dir()
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t",
		"GIT_AUTHOR_DATE=2026-11-30T08:00:00Z", "GIT_COMMITTER_DATE=2026-11-30T08:00:00Z")
	return cmd.Run()
}
