package repo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// refPath is the loose file of a ref. HEAD and a few others belong to one work
// tree, the rest to all.
func (g *GitDir) refPath(name string) string {
	dir := g.common
	for _, own := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, own) {
			dir = g.dir
		}
	}
	if !strings.HasPrefix(name, "refs/") {
		dir = g.dir
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// Ref implements [Store]. Symbolic refs, HEAD for one, are followed.
func (g *GitDir) Ref(name string) (plumbing.Hash, error) {
	_, h, err := g.resolve(name)
	if err == nil && h.IsZero() {
		err = fmt.Errorf("%s: %w", name, ErrRefNotFound)
	}
	return h, err
}

// resolve follows symbolic refs from name to the ref that holds, or would hold, a
// commit, and returns it with its value, zero when it is not there.
func (g *GitDir) resolve(name string) (string, plumbing.Hash, error) {
	for range 6 { // git's own limit is 5 links
		if err := CheckRefName(name); err != nil {
			return "", plumbing.ZeroHash, err
		}
		h, target, err := g.readRef(name)
		if err != nil || target == "" {
			return name, h, err
		}
		name = target
	}
	return "", plumbing.ZeroHash, fmt.Errorf("%s: symbolic refs go in a circle", name)
}

// readRef reads one ref: a commit, or the name of another ref. The loose file is
// looked at before packed-refs, as git pack-refs writes one before it removes the
// other.
func (g *GitDir) readRef(name string) (h plumbing.Hash, symbolic string, err error) {
	h, symbolic, err = g.readLooseRef(name)
	if err != nil || !h.IsZero() || symbolic != "" {
		return h, symbolic, err
	}
	packed, err := g.readPackedRefs()
	if err != nil {
		return h, "", err
	}
	return packed.find(name), "", nil
}

// readLooseRef is zero when there is no loose file. A program that rewrites refs
// in place leaves them empty for a moment, so an empty one is read again.
func (g *GitDir) readLooseRef(name string) (plumbing.Hash, string, error) {
	for try := range 5 {
		b, err := os.ReadFile(g.refPath(name))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return plumbing.ZeroHash, "", nil
		case err != nil:
			if st, serr := os.Lstat(g.refPath(name)); serr == nil && st.IsDir() {
				return plumbing.ZeroHash, "", nil
			}
			return plumbing.ZeroHash, "", err
		}
		if h, target, ok := parseRef(b); ok {
			return h, target, nil
		}
		time.Sleep(time.Duration(try) * 2 * time.Millisecond)
	}
	return plumbing.ZeroHash, "", fmt.Errorf("ref %s is broken: its file %s holds no commit; see git reflog %s", name, g.refPath(name), name)
}

func parseRef(b []byte) (h plumbing.Hash, symbolic string, ok bool) {
	s := string(bytes.TrimSpace(b))
	if target, found := strings.CutPrefix(s, "ref:"); found {
		target = strings.TrimSpace(target)
		return h, target, target != ""
	}
	if len(s) < 40 || !plumbing.IsHash(s[:40]) || len(s) > 40 && s[40] > ' ' {
		return h, "", false
	}
	return plumbing.NewHash(s[:40]), "", true
}

// Refs implements [Store]. Lock files are no refs; broken refs are told to Warn
// and left out.
func (g *GitDir) Refs(prefix string) (map[string]plumbing.Hash, error) {
	if !strings.HasPrefix(prefix, "refs/") {
		prefix = "refs/"
	}
	refs := map[string]plumbing.Hash{}
	dir, _ := filepath.Split(prefix)
	if err := g.looseRefs(strings.TrimSuffix(dir, "/"), prefix, refs); err != nil {
		return nil, err
	}
	packed, err := g.readPackedRefs()
	if err != nil {
		return nil, err
	}
	for name, h := range packed.all() {
		if _, loose := refs[name]; !loose && strings.HasPrefix(name, prefix) {
			refs[name] = h
		}
	}
	return refs, nil
}

func (g *GitDir) looseRefs(dir, prefix string, refs map[string]plumbing.Hash) error {
	names, err := os.ReadDir(g.refPath(dir + "/")) // the slash: refs/bisect itself is the work tree's
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range names {
		name := dir + "/" + e.Name()
		switch {
		case e.IsDir():
			if !strings.HasPrefix(name+"/", prefix) && !strings.HasPrefix(prefix, name+"/") {
				continue
			}
			if err := g.looseRefs(name, prefix, refs); err != nil {
				return err
			}
		case CheckRefName(name) != nil || !strings.HasPrefix(name, prefix):
		default:
			_, h, err := g.resolve(name)
			if err != nil {
				g.warn(err.Error())
			} else if !h.IsZero() {
				refs[name] = h
			}
		}
	}
	return nil
}

// Head returns the branch that HEAD names ("" when detached) and its commit
// (zero when the branch is unborn).
func (g *GitDir) Head() (branch string, commit plumbing.Hash, err error) {
	h, target, err := g.readLooseRef("HEAD")
	if err != nil || target == "" {
		return "", h, err
	}
	branch, commit, err = g.resolve(target)
	return branch, commit, err
}

// CompareAndSet implements [Store], by git's own lock protocol: <ref>.lock is
// made exclusively, the old value compared under it, a reflog line appended, and
// the lock renamed over the ref. The ref's file is never empty. Symbolic refs are
// followed. Waits up to 2 s for a lock that git holds, then *[LockedError].
func (g *GitDir) CompareAndSet(name string, old, new plumbing.Hash, reason string) error {
	if err := g.compareAndSet(name, old, new, reason); err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}

func (g *GitDir) compareAndSet(name string, old, new plumbing.Hash, reason string) error {
	if err := g.Flush(); err != nil {
		return err
	}
	if !new.IsZero() {
		if err := g.HasEncodedObject(new); err != nil {
			return fmt.Errorf("%s: %w", new, err)
		}
	}
	name, _, err := g.resolve(name)
	if err != nil {
		return err
	}
	l, err := g.lockRef(name)
	if err != nil {
		return err
	}
	h, symbolic, err := g.readRef(name)
	switch {
	case err != nil:
	case symbolic != "", h != old:
		err = fmt.Errorf("is at %s, not at %s: %w", h, old, ErrRefMoved)
	case new.IsZero():
		return g.deleteRef(l, name, old)
	case old == new:
		l.release()
		return nil
	case !old.IsZero():
	default:
		err = g.refFree(name)
	}
	if err == nil {
		_, err = l.WriteString(new.String() + "\n")
	}
	if err == nil {
		err = g.logRef(name, old, new, reason)
	}
	if err != nil {
		l.release()
		return err
	}
	return l.commit()
}
