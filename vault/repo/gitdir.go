package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/storer"
)

// ErrNotRepository: a folder is not the root of a git work tree.
var ErrNotRepository = errors.New("not a git repository")

// GitDir is the git directory of a work tree on this host, as a [Store]. Beside
// what git keeps there it uses
//
//	<git dir>/vade/locks/lock-…  markers of the locks that we hold
//
// Several processes may use one repository at once, and git with them: refs, the
// index and packed-refs are changed under git's own lock files. A GitDir itself
// belongs to one goroutine.
type GitDir struct {
	// Committer signs reflog lines; its time is ignored.
	Committer Signature
	// Warn is told what was mended or left out, such as a stale lock or a broken
	// ref; nil logs to slog.
	Warn func(msg string)

	dir     string // of this work tree
	common  string // shared by all work trees of the repository
	objects string // <common>/objects
	config  *gitConfig
	work    *WorkTree // nil: bare
	db      *objectDB
	pending pendingObjects
	loose   looseWriter
}

var (
	_ Store                 = (*GitDir)(nil)
	_ RawStore              = (*GitDir)(nil)
	_ storer.PackfileWriter = (*GitDir)(nil)
)

// Init makes workTree, a folder that need not exist, a git work tree with the
// unborn branch main, and opens it. On an existing repository it is Open. HEAD is
// written last, and without HEAD there is no repository: after a crash, Init
// again finishes the work.
func Init(workTree string) (*GitDir, error) {
	dir := filepath.Join(workTree, ".git")
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err == nil {
		return Open(workTree)
	}
	if st, err := os.Lstat(dir); err == nil && !st.IsDir() {
		return Open(workTree) // a linked work tree
	}
	if err := os.MkdirAll(workTree, 0o700); err != nil {
		return nil, fmt.Errorf("init %s: %w", workTree, err)
	}
	if err := initDir(dir); err != nil {
		return nil, fmt.Errorf("init %s: %w", workTree, err)
	}
	if err := syncDir(workTree); err != nil {
		return nil, fmt.Errorf("init %s: %w", workTree, err)
	}
	return Open(workTree)
}

func initDir(dir string) error {
	for _, sub := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o777); err != nil {
			return err
		}
	}
	for _, f := range []struct{ name, content string }{
		{"config", initialConfig()},
		{"HEAD", "ref: " + Main + "\n"},
	} {
		path := filepath.Join(dir, f.name)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if err := createFile(path, f.content); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// initialConfig pins what a global config may say otherwise, and what we rely on:
// files with the bytes that were written, and an index in one file.
func initialConfig() string {
	fileMode, more := "true", ""
	switch runtime.GOOS {
	case "windows":
		fileMode, more = "false", "\tsymlinks = false\n\tignorecase = true\n"
	case "darwin":
		more = "\tignorecase = true\n\tprecomposeunicode = true\n"
	}
	return "[core]\n\trepositoryformatversion = 0\n\tfilemode = " + fileMode + "\n\tbare = false\n" +
		"\tlogallrefupdates = true\n\tautocrlf = false\n\tsplitIndex = false\n" + more
}

// createFile writes a durable file, whole or not at all.
func createFile(path, content string) error {
	f, err := os.CreateTemp(filepath.Dir(path), "tmp_"+filepath.Base(path)+"_")
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Open opens the repository whose work tree is workTree; ErrNotRepository when it
// is not the root of one. GIT_* variables and configuration outside the
// repository are ignored. *[UnsupportedError] names a feature of git that would
// make reading or writing wrong.
func Open(workTree string) (*GitDir, error) {
	root, err := filepath.Abs(workTree)
	if err != nil {
		return nil, err
	}
	dir, err := findGitDir(root)
	if err != nil {
		return nil, err
	}
	w, err := openWorkTree(root)
	if err != nil {
		return nil, err
	}
	g, err := open(dir, w)
	if err != nil {
		w.close()
		return nil, err
	}
	return g, nil
}

// OpenBare opens a git directory without its work tree, such as a bare
// repository. It has no Scan, Splice or WorkTree.
func OpenBare(gitDir string) (*GitDir, error) {
	dir, err := filepath.Abs(gitDir)
	if err != nil {
		return nil, err
	}
	return open(dir, nil)
}

// findGitDir returns the git directory of a work tree: .git, or where the file
// .git says.
func findGitDir(root string) (string, error) {
	path := filepath.Join(root, ".git")
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", root, ErrNotRepository)
	}
	if err != nil || st.IsDir() {
		return path, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir:")
	if !ok {
		return "", fmt.Errorf("%s: %w", path, ErrNotRepository)
	}
	return absFrom(root, strings.TrimSpace(target)), nil
}

func absFrom(dir, path string) string {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

func open(dir string, w *WorkTree) (*GitDir, error) {
	g := &GitDir{dir: dir, common: dir, work: w}
	b, err := os.ReadFile(filepath.Join(dir, "commondir"))
	if err == nil {
		g.common = absFrom(dir, strings.TrimSpace(string(b)))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	g.objects = filepath.Join(g.common, "objects")
	g.loose.objects = g.objects
	for _, path := range []string{filepath.Join(dir, "HEAD"), g.objects, filepath.Join(g.common, "refs")} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", dir, ErrNotRepository)
		} else if err != nil {
			return nil, fmt.Errorf("open %s: %w", dir, err)
		}
	}
	if err := g.readConfig(); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	if err := g.checkSupported(); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	if g.db, err = openObjectDB(g.objects, g.warn); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	return g, nil
}

// Close drops what was not flushed and releases open files.
func (g *GitDir) Close() error {
	g.pending = pendingObjects{}
	g.db.close()
	if g.work != nil {
		return g.work.close()
	}
	return nil
}

// Dir is the git directory, absolute: what git rev-parse --absolute-git-dir says.
func (g *GitDir) Dir() string { return g.dir }

// WorkTree is the work tree; nil after OpenBare.
func (g *GitDir) WorkTree() *WorkTree { return g.work }

// Reload forgets which packs there are. Reading does so by itself when an object
// is not found; long-lived handles call it to let go of packs that git gc removed.
func (g *GitDir) Reload() { g.db.close() }

func (g *GitDir) warn(msg string) {
	if g.Warn != nil {
		g.Warn(msg)
		return
	}
	slog.Warn(msg, "repository", g.dir)
}
