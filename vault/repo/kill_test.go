package repo_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"vademecum/vault/repo"
)

// kills is how often TestKill kills; the soak in CI asks for more.
var kills = flag.Int("kills", 50, "processes to kill in TestKill")

const childEnv = "VADE_TEST_COMMITTER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := committer(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// committer commits until it is killed, and prints each commit that stands.
func committer(dir string) error {
	g, err := repo.Init(dir)
	if err != nil {
		return err
	}
	g.Warn = func(msg string) { fmt.Println("warning", msg) }
	for i := 0; ; i++ {
		text := fmt.Sprintf("process %d, commit %d", os.Getpid(), i)
		h, change, err := oneCommit(g, "k.md", text)
		if err != nil {
			return err
		}
		if err := g.Splice(context.Background(), []repo.IndexChange{change}); err != nil {
			return err
		}
		fmt.Println("commit", h)
	}
}

func oneCommit(g *repo.GitDir, path, text string) (h plumbing.Hash, change repo.IndexChange, err error) {
	branch, head, err := g.Head()
	if err != nil {
		return h, change, err
	}
	c := &repo.Commit{Author: sign(1), Committer: sign(1), Message: text}
	tree := plumbing.ZeroHash
	if !head.IsZero() {
		parent, err := repo.ReadCommit(g, head)
		if err != nil {
			return h, change, err
		}
		tree, c.Parents = parent.Tree, []plumbing.Hash{head}
	}
	if err := g.WorkTree().WriteFile(path, []byte(text)); err != nil {
		return h, change, err
	}
	blob, err := repo.WriteBlob(g, []byte(text))
	if err != nil {
		return h, change, err
	}
	if c.Tree, err = repo.EditTree(g, tree, []repo.Edit{{Path: path, Hash: blob}}); err != nil {
		return h, change, err
	}
	if h, err = repo.WriteCommit(g, c); err != nil {
		return h, change, err
	}
	return h, repo.IndexChange{Path: path, Hash: blob}, g.CompareAndSet(branch, head, h, "kill")
}

// TestKill kills a committing process again and again. Nothing that it had
// acknowledged is lost, nothing is half written, and the next process goes to work
// at once: the locks that the dead one left do not stop it.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "vault")
	rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	var acked []string
	leftovers := 0
	for i := range *kills {
		c := exec.Command(os.Args[0])
		c.Env = append(gitEnv(t.TempDir()), childEnv+"="+dir)
		out, err := c.StdoutPipe()
		ok(t, err)
		c.Stderr = os.Stderr
		ok(t, c.Start())
		kill := func(within int) {
			time.AfterFunc(time.Duration(rnd.IntN(within))*time.Millisecond, func() { c.Process.Kill() })
		}
		if i < 15 {
			kill(80) // some of them in Init
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			kind, rest, _ := strings.Cut(lines.Text(), " ")
			if kind == "commit" {
				acked = append(acked, rest)
				kill(30)
			} else if strings.Contains(rest, "stale") {
				leftovers++
			}
		}
		c.Wait()
		if i%10 == 9 {
			checkAfterKill(t, dir, acked)
		}
	}
	checkAfterKill(t, dir, acked)
	t.Logf("%d commits acknowledged, %d stale locks removed on the way", len(acked), leftovers)
}

func checkAfterKill(t *testing.T, dir string, acked []string) {
	t.Helper()
	g, err := repo.Init(dir)
	ok(t, err)
	defer g.Close()
	_, change, err := oneCommit(g, "k.md", "after the kill")
	ok(t, err)
	ok(t, g.Splice(t.Context(), []repo.IndexChange{change}))
	fsck(t, dir)
	in := map[string]bool{}
	for h := range strings.FieldsSeq(git(t, dir, "rev-list", "HEAD")) {
		in[h] = true
	}
	for _, h := range acked {
		if !in[h] {
			t.Errorf("acknowledged commit %s is lost", h)
		}
	}
	r, err := g.Scan(t.Context(), repo.ScanOptions{})
	ok(t, err)
	for _, p := range r.Temps {
		ok(t, g.WorkTree().Remove(p))
	}
	clean(t, dir)
}
