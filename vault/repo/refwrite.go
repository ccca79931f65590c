package repo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// lockRef takes the lock of a ref. git removes folders that become empty, so the
// ref's may vanish between making it and using it.
func (g *GitDir) lockRef(name string) (*lockFile, error) {
	path := g.refPath(name)
	for try := 0; ; try++ {
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("another ref is in the way: %w", ErrPathClash)
		}
		if err != nil {
			return nil, err
		}
		l, err := g.lock(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || try > 10 {
			return l, err
		}
	}
}

// refFree makes sure that a new ref's name is no folder of other refs, and no
// other ref a folder of its name.
func (g *GitDir) refFree(name string) error {
	others, err := g.Refs(name + "/")
	if err != nil {
		return err
	}
	packed, err := g.readPackedRefs()
	if err != nil {
		return err
	}
	for other := range packed.all() {
		if strings.HasPrefix(name, other+"/") {
			others[other] = plumbing.ZeroHash
		}
	}
	for other := range others {
		return fmt.Errorf("%s exists: %w", other, ErrPathClash)
	}
	removeEmptyDirs(g.refPath(name))
	return nil
}

// removeEmptyDirs removes a folder in which there are only empty folders.
func removeEmptyDirs(dir string) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range names {
		if e.IsDir() {
			removeEmptyDirs(filepath.Join(dir, e.Name()))
		}
	}
	os.Remove(dir)
}

// deleteRef removes the ref whose lock is l: from packed-refs first, or it would
// come back with its old packed value.
func (g *GitDir) deleteRef(l *lockFile, name string, old plumbing.Hash) error {
	path := g.refPath(name)
	defer func() {
		l.release()
		g.removeParents(filepath.Dir(path), filepath.Join(g.common, "refs"), 1)
	}()
	if old.IsZero() {
		return nil
	}
	if err := g.unpackRef(name); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if log := g.logPath(name); os.Remove(log) == nil {
		g.removeParents(filepath.Dir(log), filepath.Join(g.common, "logs", "refs"), 0)
	}
	return syncDir(filepath.Dir(path))
}

// removeParents removes empty folders from dir up to root, but not root itself,
// nor the folders keep levels below it, such as refs/heads.
func (g *GitDir) removeParents(dir, root string, keep int) {
	for {
		rel, err := filepath.Rel(root, dir)
		if err != nil || rel == "." || strings.HasPrefix(rel, "..") ||
			strings.Count(rel, string(filepath.Separator)) < keep || os.Remove(dir) != nil {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// packedRefs is the content of the packed-refs file: "<id> <name>" lines, each
// followed by "^<id>" where the ref is an annotated tag.
type packedRefs []byte

func (g *GitDir) readPackedRefs() (packedRefs, error) {
	b, err := os.ReadFile(filepath.Join(g.common, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

func parsePacked(line []byte) (string, plumbing.Hash, bool) {
	id, name, ok := strings.Cut(string(bytes.TrimSpace(line)), " ")
	if !ok || !plumbing.IsHash(id) {
		return "", plumbing.ZeroHash, false
	}
	return name, plumbing.NewHash(id), true
}

func (p packedRefs) all() iter.Seq2[string, plumbing.Hash] {
	return func(yield func(string, plumbing.Hash) bool) {
		for line := range bytes.Lines(p) {
			if name, h, ok := parsePacked(line); ok && !yield(name, h) {
				return
			}
		}
	}
}

func (p packedRefs) find(name string) plumbing.Hash {
	if !bytes.Contains(p, []byte(name)) {
		return plumbing.ZeroHash
	}
	for n, h := range p.all() {
		if n == name {
			return h
		}
	}
	return plumbing.ZeroHash
}

// without returns the file without one ref and its peeled line.
func (p packedRefs) without(ref string) packedRefs {
	out := make(packedRefs, 0, len(p))
	dropping := false
	for line := range bytes.Lines(p) {
		if dropping && line[0] == '^' {
			continue
		}
		name, _, ok := parsePacked(line)
		if dropping = ok && name == ref; !dropping {
			out = append(out, line...)
		}
	}
	return out
}

// unpackRef takes a ref out of packed-refs.
func (g *GitDir) unpackRef(name string) error {
	packed, err := g.readPackedRefs()
	if err != nil || packed.find(name).IsZero() {
		return err
	}
	l, err := g.lock(filepath.Join(g.common, "packed-refs"))
	if err != nil {
		return err
	}
	if packed, err = g.readPackedRefs(); err == nil {
		_, err = l.Write(packed.without(name))
	}
	if err != nil {
		l.release()
		return err
	}
	return l.commit()
}

// logPath is the reflog of a ref.
func (g *GitDir) logPath(name string) string {
	rel, _ := filepath.Rel(g.common, g.refPath(name))
	if name == "HEAD" {
		return filepath.Join(g.dir, "logs", "HEAD")
	}
	return filepath.Join(g.common, "logs", rel)
}

// logRef appends to the reflog of a ref, and of HEAD where it names the ref. Like
// git it starts logs for branches, remote branches and notes, unless the config
// says otherwise, and for other refs only continues them.
func (g *GitDir) logRef(name string, old, new plumbing.Hash, reason string) error {
	who := g.Committer
	if who.Name == "" && who.Email == "" {
		who.Name, who.Email = "vade", "vade@localhost"
	}
	who.When = time.Now()
	line := fmt.Sprintf("%s %s %s\t%s\n", old, new, who, oneLine(reason))
	if err := g.appendLog(name, line); err != nil {
		return err
	}
	if _, target, err := g.readLooseRef("HEAD"); err == nil && target == name {
		return g.appendLog("HEAD", line)
	}
	return nil
}

func (g *GitDir) appendLog(name, line string) error {
	path := g.logPath(name)
	flags := os.O_WRONLY | os.O_APPEND
	if g.logsRef(name) {
		flags |= os.O_CREATE
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, flags, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// logsRef reports whether git would start a log for the ref.
func (g *GitDir) logsRef(name string) bool {
	switch v, _ := g.config.get("core.logallrefupdates"); strings.ToLower(v) {
	case "always":
		return true
	case "false", "no", "off", "0":
		return false
	case "":
		if g.work == nil { // git's default for bare repositories
			return false
		}
	}
	return name == "HEAD" || strings.HasPrefix(name, "refs/heads/") ||
		strings.HasPrefix(name, "refs/remotes/") || strings.HasPrefix(name, "refs/notes/")
}
