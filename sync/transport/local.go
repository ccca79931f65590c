package transport

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"vademecum/vault/repo"
)

// local is a link to a repository on this host, which it opens as a store. No
// git command runs, unless the repository has hooks that must have their say.
type local struct {
	r    *Remote
	path string
}

func (l *local) close() error { return nil }

// open finds the repository as git does: a bare one or a work tree at the path,
// or at the path with ".git" after it.
func (l *local) open() (*repo.GitDir, error) {
	if _, err := os.Stat(l.path); errors.Is(err, fs.ErrPermission) {
		return nil, faultOf(ErrAuth, err, "check the permissions of the folder")
	}
	for _, suffix := range []string{"/.git", "", ".git/.git", ".git"} {
		dir := filepath.FromSlash(l.path + suffix)
		if !isGitDir(dir) {
			continue
		}
		g, err := repo.OpenBare(dir)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil, faultOf(ErrAuth, err, "check the permissions of the repository")
		case err != nil:
			return nil, faultOf(ErrProtocol, err, "use transport: exec")
		}
		return g, nil
	}
	if _, err := os.Stat(l.path); err != nil {
		return nil, faultOf(ErrNotFound, err, "mount the disk, or create it with git init --bare")
	}
	return nil, fault(ErrNotFound, "there is no git repository in "+l.path, "create it with git init --bare")
}

func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func (l *local) refs(context.Context) (map[string]plumbing.Hash, string, error) {
	g, err := l.open()
	if err != nil {
		return nil, "", err
	}
	defer g.Close()
	refs, err := g.Refs("refs/")
	if err != nil {
		return nil, "", err
	}
	head, _, err := g.Head()
	return refs, head, err
}

// attempts is how often an operation starts anew when a gc of the remote took
// the packs from under it.
const attempts = 3

func (l *local) fetch(ctx context.Context, s repo.Store, wants, haves []plumbing.Hash) (stats FetchStats, err error) {
	for range attempts {
		if stats, err = l.fetchOnce(ctx, s, wants, haves); !errors.Is(err, repo.ErrObjectNotFound) {
			return stats, err
		}
	}
	return stats, corrupt("the remote lacks an object: %w", err)
}

func (l *local) fetchOnce(ctx context.Context, s repo.Store, wants, haves []plumbing.Hash) (FetchStats, error) {
	g, err := l.open()
	if err != nil {
		return FetchStats{}, err
	}
	defer g.Close()
	for _, w := range wants {
		if err := g.HasEncodedObject(w); err != nil {
			return FetchStats{}, fault(ErrMoved, "it has no object "+w.String(), "run it again")
		}
	}
	common, err := commonCommits(s, g, haves)
	if err != nil {
		return FetchStats{}, err
	}
	objects, err := repo.NewObjects(g, wants, common)
	if err != nil {
		return FetchStats{}, err
	}
	bytes, err := l.copy(ctx, s, g, objects, Receiving)
	return FetchStats{Objects: len(objects), Bytes: bytes}, err
}

// commonCommits are the latest commits below haves that g holds too: what the
// wire finds out by negotiation.
func commonCommits(s repo.Store, g repo.Store, haves []plumbing.Hash) ([]plumbing.Hash, error) {
	walk, err := newHaveWalk(s, haves)
	if err != nil {
		return nil, err
	}
	var common []plumbing.Hash
	for {
		batch, err := walk.take(firstHaves)
		if err != nil || len(batch) == 0 {
			return common, err
		}
		for _, h := range batch {
			if g.HasEncodedObject(h) == nil && walk.acked(h) {
				common = append(common, h)
			}
		}
	}
}

// copy brings objects from one store to another: one by one when they are few,
// else as a pack.
func (l *local) copy(ctx context.Context, to, from repo.Store, objects []plumbing.Hash, phase Phase) (int64, error) {
	tick := func(n int64) { l.r.opts.Progress(Progress{Phase: phase, Done: n}) }
	packer, ok := to.(storer.PackfileWriter)
	if ok && len(objects) > unpackLimit {
		return copyPacked(ctx, packer, from, objects, tick)
	}
	total := int64(0)
	for _, h := range objects {
		if ctx.Err() != nil {
			return total, ctx.Err()
		}
		t, content, err := repo.ReadObject(from, h)
		if err != nil {
			return total, err
		}
		got, err := repo.WriteObject(to, t, content)
		if err != nil {
			return total, err
		}
		if got != h {
			return total, corrupt("object %s has the content of %s", h, got)
		}
		total += int64(len(content))
		tick(total)
	}
	return total, to.Flush()
}

func copyPacked(ctx context.Context, packer storer.PackfileWriter, from repo.Store, objects []plumbing.Hash, tick func(int64)) (int64, error) {
	w, err := packer.PackfileWriter()
	if err != nil {
		return 0, err
	}
	count := &countWriter{w: &contextWriter{ctx: ctx, w: w}, tick: tick}
	_, readErr := repo.EncodePack(count, from, objects)
	closeErr := w.Close()
	if readErr != nil {
		return count.n, readErr
	}
	return count.n, closeErr
}

// contextWriter fails when ctx has ended.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c *contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

func (l *local) push(ctx context.Context, s repo.Store, updates []Update, haves []plumbing.Hash) error {
	g, err := l.open()
	if err != nil {
		return err
	}
	defer g.Close()
	reason, err := needsGit(g)
	if err != nil {
		return err
	}
	if reason != "" {
		return l.pushThroughGit(ctx, s, updates, haves, reason)
	}
	refs, err := g.Refs("refs/")
	if err != nil {
		return err
	}
	if err := checkPolicy(g, refs, updates); err != nil {
		return err
	}
	objects, err := toSend(s, &advertisement{refs: refs}, updates, haves)
	if err != nil {
		return err
	}
	if _, err := l.copy(ctx, g, s, objects, Sending); err != nil {
		return l.writeFault(err)
	}
	for _, u := range updates {
		if err := l.move(g, u); err != nil {
			return err
		}
	}
	return nil
}

func (l *local) writeFault(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return faultOf(ErrAuth, err, "check the permissions of the repository")
	}
	return err
}

func (l *local) move(g *repo.GitDir, u Update) error {
	err := g.CompareAndSet(u.Ref, u.Old, u.New, "push")
	if errors.Is(err, repo.ErrRefMoved) {
		return &RejectedError{Ref: u.Ref, Reason: "it moved meanwhile", NonFastForward: true, Remedy: mergeRemedy}
	}
	return l.writeFault(err)
}

// pushThroughGit lets git run the hooks of the remote, which are its owner's
// rules; we run nothing ourselves.
func (l *local) pushThroughGit(ctx context.Context, s repo.Store, updates []Update, haves []plumbing.Hash, reason string) error {
	if _, err := exec.LookPath("git"); err != nil {
		return &RejectedError{
			Ref: updates[0].Ref, Reason: "the repository has " + reason + ", and there is no git command here to heed it",
			Remedy: "install git, or remove that rule",
		}
	}
	w := newWire(l.r, newLocalProgram(l.path))
	defer w.close()
	return w.push(ctx, s, updates, haves)
}
