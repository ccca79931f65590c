package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// UnsupportedError: the repository uses something of git's that this package does
// not speak, and that reading or writing without would get wrong.
type UnsupportedError struct {
	Feature string // as git calls it
	Remedy  string // what the owner can do
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("git repository uses %s, which vade does not support: %s", e.Feature, e.Remedy)
}

var errSplitIndex = &UnsupportedError{
	"a split index",
	"run `git config core.splitIndex false && git update-index --no-split-index` in it",
}

var errSparse = &UnsupportedError{"sparse checkout", "run `git sparse-checkout disable` in it"}

// checkSupported refuses, by name, what later steps cannot read.
func (g *GitDir) checkSupported() error {
	version, _ := g.config.get("core.repositoryformatversion")
	if version != "" && version != "0" && version != "1" {
		return &UnsupportedError{"repository format version " + version, "use a newer vade, or clone it again with git clone"}
	}
	for _, s := range g.config.sections {
		if s.name != "extensions" {
			continue
		}
		for _, v := range s.vars {
			if err := checkExtension(v.name, v.value, version == "1"); err != nil {
				return err
			}
		}
	}
	if _, ok := g.config.get("extensions.partialclone"); ok || g.hasPromisor() {
		return &UnsupportedError{"a partial clone", "clone it again without --filter"}
	}
	if _, err := os.Lstat(filepath.Join(g.common, "shallow")); err == nil {
		return &UnsupportedError{"a shallow clone", "run `git fetch --unshallow` in it"}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if g.work == nil {
		return nil
	}
	switch wt, ok := g.config.get("core.worktree"); {
	case g.config.bool("core.sparsecheckout", false):
		return errSparse
	case g.config.bool("core.splitindex", false):
		return errSplitIndex
	case ok && absFrom(g.dir, wt) != g.work.dir:
		return &UnsupportedError{"core.worktree " + wt, "open the repository at that folder, or unset core.worktree"}
	}
	return nil
}

// checkExtension: an unknown extension means that git has to be asked; version 0
// repositories only have those that git added before it had versions.
func checkExtension(name, value string, strict bool) error {
	switch name {
	case "noop", "worktreeconfig", "preciousobjects", "partialclone", "relativeworktrees":
		return nil
	case "objectformat", "compatobjectformat":
		if strings.EqualFold(value, "sha1") {
			return nil
		}
		return &UnsupportedError{value + " object ids", "make a vault with `git init --object-format=sha1` and move the files over"}
	case "refstorage":
		if strings.EqualFold(value, "files") {
			return nil
		}
		return &UnsupportedError{"the " + value + " ref format", "run `git refs migrate --ref-format=files` in it"}
	}
	if !strict {
		return nil
	}
	return &UnsupportedError{"the extension " + name, "use a newer vade, or clone it again with git clone"}
}

func (g *GitDir) hasPromisor() bool {
	for _, s := range g.config.sections {
		if strings.HasPrefix(s.name, "remote.") && g.config.bool(s.name+".promisor", false) {
			return true
		}
	}
	return false
}
