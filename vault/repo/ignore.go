package repo

import (
	"path"
	"strings"
)

// Ignore decides by the .gitignore files of a work tree (gitignore(5)), each read
// when the first path below it is asked about. It keeps what it read: make one for
// each scan.
type Ignore struct {
	w    *WorkTree
	dirs map[string]*ignoreDir
}

// ignoreDir is what holds in a folder.
type ignoreDir struct {
	up       *ignoreDir // nil for the root
	prefix   string     // of paths below it: "" or "notes/"
	patterns []ignorePattern
	ignored  bool // the folder itself is, so everything in it is
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
	return d.ignored || d.match(p, isDir)
}

func (i *Ignore) dir(dir string) *ignoreDir {
	if d := i.dirs[dir]; d != nil {
		return d
	}
	d := &ignoreDir{}
	if dir != "." {
		d.up, d.prefix = i.dir(path.Dir(dir)), dir+"/"
		d.ignored = d.up.ignored || d.up.match(dir, true)
	}
	if !d.ignored {
		// One that cannot be read is as good as none: nothing is lost by not
		// ignoring a file.
		if b, err := i.w.ReadFile(path.Join(dir, ".gitignore")); err == nil {
			d.patterns = parseIgnore(string(b))
		}
	}
	i.dirs[dir] = d
	return d
}

// match looks for the last pattern that fits p, from the innermost folder out.
func (d *ignoreDir) match(p string, isDir bool) bool {
	for ; d != nil; d = d.up {
		rel := p[len(d.prefix):]
		for k := len(d.patterns) - 1; k >= 0; k-- {
			if d.patterns[k].fits(rel, isDir) {
				return !d.patterns[k].negated
			}
		}
	}
	return false
}

// ignorePattern is one line of a .gitignore file.
type ignorePattern struct {
	glob     string
	negated  bool // with ! in front
	dirOnly  bool // with / at the end
	anchored bool // with / elsewhere: matches the whole path, not just a name
}

func parseIgnore(text string) []ignorePattern {
	var ps []ignorePattern
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if p, ok := parseIgnoreLine(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")); ok {
			ps = append(ps, p)
		}
	}
	return ps
}

func parseIgnoreLine(line string) (p ignorePattern, ok bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return p, false
	}
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anchored = strings.Contains(line, "/")
	p.glob = strings.TrimPrefix(line, "/")
	return p, p.glob != ""
}

// fits reports whether the pattern matches a path relative to its file's folder.
func (p *ignorePattern) fits(rel string, isDir bool) bool {
	if p.dirOnly && !isDir {
		return false
	}
	if !p.anchored {
		rel = rel[strings.LastIndexByte(rel, '/')+1:]
	}
	return wildmatch(p.glob, rel)
}
