package repo

import (
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// Ignore decides by the .gitignore files of a work tree, each read when the first
// path below it is asked about. It keeps what it read: make one for each scan.
type Ignore struct {
	w    *WorkTree
	dirs map[string]*ignoreDir
}

// ignoreDir is what holds in a folder: the patterns of all .gitignore files from
// the root down to it.
type ignoreDir struct {
	patterns []gitignore.Pattern
	match    gitignore.Matcher // nil: no patterns at all
	ignored  bool              // the folder itself is
}

// Ignore returns a matcher for the .gitignore files as they are on disk. Excludes
// outside the work tree, a human's own, do not count.
func (w *WorkTree) Ignore() *Ignore {
	return &Ignore{w: w, dirs: map[string]*ignoreDir{}}
}

// Match reports whether git would ignore path, because of a pattern for it or for
// a folder that it lies in.
func (i *Ignore) Match(p string, isDir bool) bool {
	d := i.dir(path.Dir(p))
	if d.ignored {
		return true
	}
	return d.match != nil && d.match.Match(strings.Split(p, "/"), isDir)
}

func (i *Ignore) dir(dir string) *ignoreDir {
	if d := i.dirs[dir]; d != nil {
		return d
	}
	d := &ignoreDir{}
	var domain []string
	if dir != "." {
		up := i.dir(path.Dir(dir))
		d.patterns, d.match = up.patterns, up.match
		domain = strings.Split(dir, "/")
		d.ignored = up.ignored || up.match != nil && up.match.Match(domain, true)
	}
	if own := i.read(dir, domain); len(own) > 0 && !d.ignored {
		d.patterns = append(d.patterns[:len(d.patterns):len(d.patterns)], own...)
		d.match = gitignore.NewMatcher(d.patterns)
	}
	i.dirs[dir] = d
	return d
}

// read parses the .gitignore of a folder. One that cannot be read is as good as
// none: nothing is ever lost by not ignoring a file.
func (i *Ignore) read(dir string, domain []string) []gitignore.Pattern {
	b, err := i.w.ReadFile(path.Join(dir, ".gitignore"))
	if err != nil {
		return nil
	}
	var ps []gitignore.Pattern
	for line := range strings.Lines(strings.TrimPrefix(string(b), "\ufeff")) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != '#' {
			ps = append(ps, gitignore.ParsePattern(line, domain))
		}
	}
	return ps
}
