package transport

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// randomHistory adds commits with up to two parents to the remote, each on a
// branch of its own, and returns them.
func randomHistory(t *testing.T, f *fixture, rnd *rand.Rand, n int) []plumbing.Hash {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "commit refs/heads/b%d\nmark :%d\ncommitter A <a@example.org> %d +0000\ndata 1\nx\n", i, i+1, 1_700_000_000+i/3)
		if i > 0 {
			fmt.Fprintf(&b, "from :%d\n", max(1, i-rnd.IntN(4)))
		}
		if i > 5 && rnd.IntN(4) == 0 {
			fmt.Fprintf(&b, "merge :%d\n", i-4-rnd.IntN(min(2, i-4)))
		}
		b.WriteString(fileCommand(fmt.Sprintf("d%d/f%d.md", rnd.IntN(3), rnd.IntN(5)), fmt.Sprint(rnd.IntN(20))))
	}
	if err := fastImport(f.bare, b.String()); err != nil {
		t.Fatal(err)
	}
	tips := make([]plumbing.Hash, n)
	for i, id := range strings.Fields(git(t, f.bare, "for-each-ref", "--format=%(objectname)", "--sort=v:refname", "refs/heads/b*")) {
		tips[i] = plumbing.NewHash(id)
	}
	return tips
}

// Whatever both sides have, a fetch leaves the local store whole. It may bring
// more than was missing, because a server stops to ask when it knows enough.
func TestNegotiationOfRandomHistories(t *testing.T) {
	isolate(t)
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		f := newFixture(t)
		tips := randomHistory(t, f, rnd, 60)
		url, opts := f.bare, Options{Exec: true}
		if seed%2 == 0 {
			url, opts = serveGit(t, f).URL+"/remote.git", Options{}
		}
		r := open(t, url, opts)
		s := repo.NewMemory()
		haves := []plumbing.Hash{tips[rnd.IntN(30)], tips[rnd.IntN(30)]}
		if _, err := r.Fetch(t.Context(), s, haves, nil); err != nil {
			t.Fatal(err)
		}
		known := "^" + haves[0].String() + " ^" + haves[1].String()
		// What only we have, on top: the other side must be led below it.
		for i := range haves {
			for j := range rnd.IntN(40) {
				haves[i] = commitTo(t, s, haves[i], "ours.md", fmt.Sprint(i, j))
			}
		}
		want := tips[59]
		stats, err := r.Fetch(t.Context(), s, []plumbing.Hash{want}, haves)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		wantWhole(t, s, want)
		need := len(strings.Fields(git(t, f.bare, append([]string{"rev-list", "--objects", "--no-object-names", want.String()}, strings.Fields(known)...)...)))
		if stats.Objects > 2*need+10 {
			t.Errorf("seed %d: got %d objects, %d were missing", seed, stats.Objects, need)
		}
	}
}

// A packTaker is a store with a PackfileWriter that fails as told.
type packTaker struct {
	*repo.Memory
	openErr, writeErr, closeErr error
}

func (p *packTaker) PackfileWriter() (io.WriteCloser, error) { return p, p.openErr }
func (p *packTaker) Write(b []byte) (int, error)             { return len(b), p.writeErr }
func (p *packTaker) Close() error                            { return p.closeErr }

func TestStoreCannotTakeThePack(t *testing.T) {
	isolate(t)
	f := newFixture(t)
	for i := range 2 * unpackLimit {
		f.write(fmt.Sprintf("n/%d.md", i), fmt.Sprint(i))
	}
	tip := f.commit("x.md", "x")
	full := &fs.PathError{Op: "write", Path: "x", Err: errors.New("disk full")}
	for name, tt := range map[string]struct {
		s       *packTaker
		corrupt bool
	}{
		"open":    {&packTaker{openErr: full}, false},
		"write":   {&packTaker{writeErr: full}, false},
		"close":   {&packTaker{closeErr: full}, false},
		"damaged": {&packTaker{closeErr: errors.New("bad checksum")}, true},
	} {
		tt.s.Memory = repo.NewMemory()
		for _, opts := range []Options{{}, {Exec: true}} {
			if tt.corrupt && !opts.Exec {
				continue // that pack would be our own
			}
			_, err := open(t, f.bare, opts).Fetch(t.Context(), tt.s, []plumbing.Hash{tip}, nil)
			if errors.Is(err, ErrCorrupt) != tt.corrupt || errors.Is(err, full) == tt.corrupt || errors.Is(err, ErrUnreachable) {
				t.Errorf("%s, exec %v: got %v", name, opts.Exec, err)
			}
		}
	}
}

// A local object that is missing is our fault, and named; the remote is not
// left with half a push.
func TestPushFromADamagedStore(t *testing.T) {
	for _, w := range ways() {
		if w.name == "exec http" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			isolate(t)
			f := newFixture(t)
			url, opts := w.url(t, f)
			r := open(t, url, opts)
			s := repo.NewMemory()
			first := mustFetch(t, r, s)
			gone := repo.BlobHash([]byte("never written"))
			tree, err := repo.EditTree(s, plumbing.ZeroHash, []repo.Edit{{Path: "a.md", Hash: gone}})
			if err != nil {
				t.Fatal(err)
			}
			c := &repo.Commit{Tree: tree, Parents: []plumbing.Hash{first}, Message: "x"}
			h, err := repo.WriteCommit(s, c)
			if err != nil {
				t.Fatal(err)
			}
			err = r.Push(t.Context(), s, []Update{{Ref: mainRef, Old: first, New: h}}, nil)
			if !errors.Is(err, repo.ErrObjectNotFound) || !strings.Contains(err.Error(), gone.String()) {
				t.Errorf("got %v, want an error that names the object", err)
			}
			if got := f.head(); got != first {
				t.Errorf("main is at %s", got)
			}
		})
	}
}

func TestTailIsBounded(t *testing.T) {
	words := &tail{}
	if _, ok := any(words).(io.ReaderFrom); ok {
		t.Error("io.Copy would pass the bound by")
	}
	for range 3 {
		words.Write([]byte(strings.Repeat("x", tailSize-10)))
	}
	words.Write([]byte("end"))
	if got := words.String(); len(got) != tailSize || !strings.HasSuffix(got, "xend") {
		t.Errorf("got %d bytes, ending in %q", len(got), got[max(0, len(got)-10):])
	}
}
