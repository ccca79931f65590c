package merge

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault"
	"vademecum/vault/repo"
)

// world is some hosts that share a vault through one remote. Host and remote
// are commits in one store.
type world struct {
	*author
	t       *testing.T
	s       *repo.Memory
	clock   time.Time
	remote  plumbing.Hash
	hosts   []*simHost
	written map[string]bool // every word that somebody wrote
	removed map[string]bool // words that somebody took out, knowing them
	copied  map[string]bool // ids that somebody copied
	parked  int
}

type simHost struct {
	*world
	name string
	tip  plumbing.Hash
	tree files // of tip
}

func newWorld(t *testing.T, seed uint64, hosts int) *world {
	w := &world{
		author: newAuthor(seed), t: t, s: repo.NewMemory(),
		clock:   time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
		written: map[string]bool{}, removed: map[string]bool{}, copied: map[string]bool{},
	}
	start := files{"README.md": "hello\n", "files/list": "start\n"}
	for n := range 6 {
		start[fmt.Sprintf("memories/m%d.md", n)] = w.newMemory(w.word())
	}
	w.remote = w.commit(start, plumbing.ZeroHash, "start")
	w.note(start)
	for n := range hosts {
		w.hosts = append(w.hosts, &simHost{world: w, name: fmt.Sprintf("host%d", n), tip: w.remote, tree: start})
	}
	return w
}

func (w *world) newMemory(body string) string {
	id := vault.NewID(w.clock, newEntropy(w.Rand))
	now := vault.FormatTime(w.clock)
	return fmt.Sprintf("---\nid: %s\ntitle: %s\ntags: [t]\ncreated: %s\nupdated: %s\n---\n%s\n", id, w.word(), now, now, body)
}

// entropy makes ids that depend on the seed alone.
type entropy struct{ *rand.Rand }

func newEntropy(r *rand.Rand) entropy { return entropy{r} }

func (e entropy) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e.Uint32())
	}
	return len(p), nil
}

func (w *world) commit(f files, parent plumbing.Hash, who string) plumbing.Hash {
	sig := repo.Signature{Name: who, Email: who, When: w.clock}
	c := &repo.Commit{Tree: f.write(w.t, w.s), Author: sig, Committer: sig, Message: "edit\n"}
	if !parent.IsZero() {
		c.Parents = append(c.Parents, parent)
	}
	h, err := repo.WriteCommit(w.s, c)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func (f files) words() map[string]bool {
	words := map[string]bool{}
	for _, content := range f {
		for _, word := range newWords(nil, []byte(content)) {
			words[word] = true
		}
	}
	return words
}

func (w *world) note(f files) { maps.Copy(w.written, f.words()) }

// do commits a change that a host's user made.
func (h *simHost) do(changes files) {
	before := h.tree.words()
	for p := range changes { // a copy elsewhere may be deleted by somebody else
		if old := h.tree[p]; h.copied[vault.ParseDocument([]byte(old)).String("id")] {
			after := files{p: changes[p]}.words()
			for word := range (files{p: old}).words() {
				if !after[word] {
					h.removed[word] = true
				}
			}
		}
	}
	h.tree = h.tree.with(changes)
	after := h.tree.words()
	for word := range before {
		if !after[word] {
			h.removed[word] = true
		}
	}
	maps.Copy(h.written, after)
	h.tip = h.commit(h.tree, h.tip, h.name)
}

// act makes one random change.
func (h *simHost) act() {
	h.clock = h.clock.Add(time.Second * time.Duration(h.IntN(3)))
	memories := h.tree.paths("memories/")
	if len(memories) < 3 {
		h.do(files{h.fresh(): h.newMemory(h.word() + "\n\n" + h.word())})
		return
	}
	p := memories[h.IntN(len(memories))]
	if h.IntN(2) == 0 { // some are touched more than others
		p = memories[h.IntN(min(len(memories), 5))]
	}
	content := h.tree[p]
	doc := vault.ParseDocument([]byte(content))
	switch h.IntN(20) {
	case 0, 1:
		h.do(files{h.fresh(): h.newMemory(h.word() + "\n\n" + h.word())})
	case 2: // a fact that others remember too
		h.do(files{h.fresh(): h.newMemory(fmt.Sprintf("fact %d", h.IntN(6)))})
	case 3:
		h.do(files{"notes/" + h.one("a", "b", "A") + ".md": h.word() + "\n"})
	case 4:
		h.do(files{p: ""})
	case 5:
		h.forget(p, doc)
	case 6:
		h.do(files{p: "", "memories/" + h.one("x", "y", "sub/z", "M0") + strings.Trim(h.word(), "w") + ".md": content})
	case 7: // an editor does not touch the header
		h.do(files{p: content + "\n" + h.word() + "\n"})
	case 8:
		h.set(p, doc, func() error { return doc.AddToList("tags", h.word()) })
	case 9:
		h.set(p, doc, func() error {
			tags := doc.Strings("tags")
			if len(tags) == 0 {
				return nil
			}
			return doc.RemoveFromList("tags", tags[h.IntN(len(tags))])
		})
	case 10:
		h.set(p, doc, func() error { return doc.Set(h.one("title", "why"), h.word()) })
	case 11:
		h.do(files{"files/list": h.editLines(h.tree["files/list"])})
	case 12:
		h.set(p, doc, func() error { return nil }) // bookkeeping
	case 13: // a human's copy
		h.copied[doc.String("id")] = true
		h.do(files{"memories/copy" + strings.Trim(h.word(), "w") + ".md": content + h.one("", h.word()+"\n")})
	case 14:
		h.do(files{p: strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\n", "\r\n")})
	case 15:
		h.do(files{p: strings.Replace(content, "tags: ", "tags: [\n", 1)}) // half saved
	case 16:
		h.undo()
	default:
		h.set(p, doc, func() error { return doc.SetRawBody(h.editLines(doc.Body())) })
	}
}

// undo takes back some commit of the past.
func (h *simHost) undo() {
	var commits []plumbing.Hash
	for c, err := range repo.Log(h.s, h.tip) {
		if err != nil {
			h.t.Fatal(err)
		}
		if len(c.Parents) == 1 {
			commits = append(commits, c.Hash)
		}
		if len(commits) == 8 {
			break
		}
	}
	if len(commits) == 0 {
		return
	}
	r, err := Revert(h.s, h.tip, commits[h.IntN(len(commits))])
	if err != nil {
		h.t.Fatal(err)
	}
	changes := files{}
	after := readFiles(h.t, h.s, r.Tree)
	for p := range h.tree {
		changes[p] = after[p]
	}
	maps.Copy(changes, after)
	h.do(changes)
}

func (h *simHost) fresh() string {
	return "memories/f" + h.name[4:] + "-" + strings.Trim(h.word(), "w") + ".md"
}

func (h *simHost) set(p string, doc *vault.Document, change func() error) {
	if doc.Broken() != nil {
		return
	}
	err := change()
	if err == nil {
		err = doc.Set("updated", h.clock)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.do(files{p: string(doc.Bytes())})
}

func (h *simHost) editLines(text string) string {
	lines := slices.Collect(strings.Lines(text))
	at := h.IntN(len(lines) + 1)
	n := min(h.IntN(2), len(lines)-at)
	return strings.Join(slices.Replace(lines, at, at+n, h.word()+"\n"), "")
}

func (h *simHost) forget(p string, doc *vault.Document) {
	m := doc.Memory()
	if m.ID == "" {
		return
	}
	t := vault.Tombstone{ID: m.ID, Path: p, When: h.clock, By: vault.Origin{Host: h.name}, Digest: vault.NewDigest(nil, m.Title, m.Body)}
	h.do(files{p: "", vault.TombstonePath(m.ID): string(t.Bytes())})
}

// sync is a round: fast-forward, or merge, and push.
func (h *simHost) sync() {
	behind, err := repo.IsAncestor(h.s, h.tip, h.remote)
	if err != nil {
		h.t.Fatal(err)
	}
	if behind {
		h.moveTo(h.remote)
		return
	}
	ahead, err := repo.IsAncestor(h.s, h.remote, h.tip)
	if err != nil {
		h.t.Fatal(err)
	}
	if !ahead {
		h.merge()
	}
	h.world.remote = h.tip
}

func (h *simHost) merge() {
	r, err := Commits(h.s, h.tip, h.remote)
	if err != nil {
		h.t.Fatal(err)
	}
	m, err := Commit(h.s, h.tip, h.remote, r)
	if err != nil {
		h.t.Fatal(err)
	}
	// The other host would make the same commit.
	back, err := Commits(h.s, h.remote, h.tip)
	if err != nil {
		h.t.Fatal(err)
	}
	if other, err := Commit(h.s, h.remote, h.tip, back); err != nil || other != m {
		h.t.Fatalf("merges differ: %v, %v (%v)\n%+v\n%+v", m, other, err, r, back)
	}
	h.parked += len(r.Conflicts)
	for _, side := range []plumbing.Hash{h.tip, h.remote} {
		h.sweep(side, r.Swept)
	}
	h.moveTo(m)
}

// sweep notes the words of what somebody else forgot.
func (h *simHost) sweep(side plumbing.Hash, swept []string) {
	if len(swept) == 0 {
		return
	}
	c, err := repo.ReadCommit(h.s, side)
	if err != nil {
		h.t.Fatal(err)
	}
	tree := readFiles(h.t, h.s, c.Tree)
	for _, p := range swept {
		maps.Copy(h.removed, files{p: tree[p]}.words())
	}
}

func (h *simHost) moveTo(tip plumbing.Hash) {
	c, err := repo.ReadCommit(h.s, tip)
	if err != nil {
		h.t.Fatal(err)
	}
	h.tip, h.tree = tip, readFiles(h.t, h.s, c.Tree)
}

// check holds the end of a world against what its users wrote.
func (w *world) check() {
	w.t.Helper()
	for _, h := range w.hosts {
		if h.tip != w.remote {
			w.t.Errorf("%s is at %v, the remote at %v", h.name, h.tip, w.remote)
		}
	}
	tree := w.hosts[0].tree
	words := tree.words()
	for word := range w.written {
		if !words[word] && !w.removed[word] {
			w.t.Errorf("%s is lost", word)
			w.trace(word)
		}
	}
	ids := map[string]string{}
	for p, content := range tree {
		if strings.Contains(content, "<<<<<<<") || strings.Contains(content, ">>>>>>>") {
			w.t.Errorf("%s has a marker", p)
		}
		doc := vault.ParseDocument([]byte(content))
		if id := doc.String("id"); id != "" && vault.IsMemoryPath(p) {
			if ids[id] != "" && !w.copied[id] {
				w.t.Errorf("%s and %s have one id", p, ids[id])
				w.traceTwins(id)
			}
			ids[id] = p
			if _, forgotten := tree[vault.TombstonePath(vault.ID(id))]; forgotten && !w.copied[id] {
				w.t.Errorf("%s lives, and is forgotten", p)
			}
		}
	}
}

func TestSimulation(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ hosts, rounds, worlds int }{{3, 30, 40}, {5, 30, 12}, {2, 60, 12}} {
		var written, parked, objects int
		if testing.Short() { // under the race detector
			size.worlds /= 6
		}
		for seed := range size.worlds {
			ok := t.Run(fmt.Sprintf("%d hosts %d", size.hosts, seed), func(t *testing.T) {
				w := newWorld(t, uint64(seed), size.hosts)
				for range size.rounds {
					for _, h := range w.hosts {
						for range w.IntN(4) {
							h.act()
						}
						if w.IntN(3) > 0 {
							h.sync()
						}
					}
				}
				for range 2 {
					for _, h := range w.hosts {
						h.sync()
					}
				}
				w.check()
				written, parked, objects = written+len(w.written), parked+w.parked, objects+len(w.hosts[0].tree)
			})
			if !ok {
				return
			}
		}
		t.Logf("%d hosts: %d words written, none lost, %d conflicts, %d files", size.hosts, written, parked, objects)
	}
}

// A clone of long ago whose history nobody shares: the union loses nothing, and
// brings back nothing that was forgotten.
func TestSimulatedUnion(t *testing.T) {
	t.Parallel()
	for seed := range 60 {
		w := newWorld(t, uint64(1000+seed), 2)
		var old files
		for n := range 60 {
			h := w.hosts[n%2]
			h.act()
			h.sync()
			if n == w.IntN(60) || n == 30 {
				old = h.tree
			}
		}
		h := w.hosts[0]
		h.sync()
		before := h.tree
		for p, content := range before { // forgotten then, and brought back by an undo: who can tell
			id := vault.ParseDocument([]byte(content)).String("id")
			if _, forgotten := old[vault.TombstonePath(vault.ID(id))]; forgotten {
				before = before.with(files{p: ""})
			}
		}
		w.remote = w.commit(old, plumbing.ZeroHash, "old clone")
		h.merge()
		words := h.tree.words()
		for word := range before.words() {
			if !words[word] {
				t.Errorf("seed %d: %s is lost", seed, word)
			}
		}
		for p := range h.tree {
			if _, ok := before[p]; ok || !vault.IsMemoryPath(p) {
				continue
			}
			id := vault.ParseDocument([]byte(h.tree[p])).String("id")
			if _, forgotten := before[vault.TombstonePath(vault.ID(id))]; forgotten && !w.copied[id] {
				t.Errorf("seed %d: %s is back", seed, p)
			}
		}
	}
}

// trace says which commits lost a word.
func (w *world) trace(word string) {
	has := map[plumbing.Hash]files{}
	for c, err := range repo.Log(w.s, w.remote) {
		if err != nil {
			w.t.Fatal(err)
		}
		has[c.Hash] = readFiles(w.t, w.s, c.Tree)
	}
	where := func(f files) (out []string) {
		for p, content := range f {
			if strings.Contains(content, word) {
				out = append(out, p)
			}
		}
		return out
	}
	for c, err := range repo.Log(w.s, w.remote) {
		if err != nil {
			w.t.Fatal(err)
		}
		if len(where(has[c.Hash])) > 0 {
			continue
		}
		for _, p := range c.Parents {
			for _, path := range where(has[p]) {
				w.t.Logf("%v (%s) has no %s, its parent %v has it in %s", c.Hash, c.Subject(), word, p, path)
				var base plumbing.Hash
				if len(c.Parents) == 2 {
					bases, _ := repo.MergeBases(w.s, c.Parents[0], c.Parents[1])
					base = bases[0]
				}
				w.t.Logf("parents %v base %v\n%s", c.Parents, base, c.Message)
				w.t.Logf("base: %s", has[base][path])
				for _, q := range c.Parents {
					w.t.Logf("%v: %s", q, has[q][path])
				}
				w.t.Logf("merged: %s", has[c.Hash][path])
			}
		}
	}
}

// traceTwins says which commit first had an id twice.
func (w *world) traceTwins(id string) {
	for c, err := range repo.Log(w.s, w.remote) {
		if err != nil {
			w.t.Fatal(err)
		}
		at := func(h plumbing.Hash) (out []string) {
			c, _ := repo.ReadCommit(w.s, h)
			if c == nil {
				return nil
			}
			for p, content := range readFiles(w.t, w.s, c.Tree) {
				if vault.ParseDocument([]byte(content)).String("id") == id && vault.IsMemoryPath(p) {
					out = append(out, p)
				}
			}
			slices.Sort(out)
			return out
		}
		here := at(c.Hash)
		if len(here) < 2 {
			continue
		}
		twins := false
		for _, p := range c.Parents {
			twins = twins || len(at(p)) > 1
		}
		if twins {
			continue
		}
		bases := []plumbing.Hash{{}}
		if len(c.Parents) == 2 {
			bases, _ = repo.MergeBases(w.s, c.Parents[0], c.Parents[1])
		}
		w.t.Logf("%v (%s): %q, base %q", c.Hash, c.Message, here, at(bases[0]))
		for _, p := range c.Parents {
			w.t.Logf("parent %v: %q", p, at(p))
		}
	}
}
