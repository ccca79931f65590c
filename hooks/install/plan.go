package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"vademecum/hooks/settings"
)

// Change is what a plan does to one file.
type Change struct {
	Path          string
	Before, After []byte // nil: there is no such file

	original []byte // as it was before vade first touched it
	record   fileRecord
	drop     bool // nothing of ours is left in it
}

// Plan is a set of changes, none of them made yet.
type Plan struct {
	Changes []Change

	h      Host
	record *record
}

// ErrTwoChannels: vade is installed in an agent in another way already.
var ErrTwoChannels = errors.New("vade is installed as a plugin already")

// FileError is a file that is not edited, and why.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// Setup plans to give the agents called names what is wished, and to take out
// what they have and is not wished any more.
func (h Host) Setup(names []string, w Wish) (*Plan, error) {
	p, err := h.plan()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		a, ok := h.find(name)
		if !ok {
			return nil, fmt.Errorf("%s cannot be set up; these can: %v", name, Names)
		}
		where, err := a.plugin()
		if err != nil {
			return nil, err
		}
		if where != "" {
			return nil, fmt.Errorf("%s: %w (%s); take it out there first, or leave it at that: with both, everything happens twice", a.Title, ErrTwoChannels, where)
		}
		for _, part := range a.hooks {
			if err := p.edit(name, part, true); err != nil {
				return nil, err
			}
		}
		for _, part := range a.mcp {
			if err := p.edit(name, part, w.MCP); err != nil {
				return nil, err
			}
		}
	}
	p.tidy()
	return p, nil
}

// Uninstall plans to take everything out of the agents called names.
func (h Host) Uninstall(names []string) (*Plan, error) {
	p, err := h.plan()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		a, ok := h.find(name)
		if !ok {
			return nil, fmt.Errorf("%s cannot be set up; these can: %v", name, Names)
		}
		for _, part := range slices.Concat(a.hooks, a.mcp) {
			if err := p.edit(name, part, false); err != nil {
				return nil, err
			}
		}
	}
	p.tidy()
	return p, nil
}

func (h Host) plan() (*Plan, error) {
	r, err := h.loadRecord()
	return &Plan{h: h, record: r}, err
}

// change is the one of a file, made when there is none yet.
func (p *Plan) change(path string) (*Change, error) {
	path = followed(path)
	for i := range p.Changes {
		if p.Changes[i].Path == path {
			return &p.Changes[i], nil
		}
	}
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	c := Change{Path: path, Before: text, After: text, record: p.record.Files[path]}
	if c.original, err = p.original(c); err != nil {
		return nil, err
	}
	p.Changes = append(p.Changes, c)
	return &p.Changes[len(p.Changes)-1], nil
}

// original is what a file would be if vade had never touched it: as it was
// then, or, when somebody changed it since, what is there without what is ours.
func (p *Plan) original(c Change) (text []byte, err error) {
	if c.Before == nil {
		return nil, nil
	}
	if c.record.Backup != "" {
		if text, err = read(p.h.backupPath(c.record.Backup)); err != nil {
			return nil, err
		}
	}
	if c.record.Digest != "" && digest(c.Before) == c.record.Digest {
		return text, nil
	}
	before := text
	text = c.Before
	for _, part := range p.h.partsOf(c.Path) {
		if text == nil {
			break
		}
		if text, err = part.take(text, before); err != nil {
			return nil, err
		}
	}
	if before == nil && c.record.Digest != "" && nothing(text) {
		return nil, nil
	}
	return text, nil
}

// partsOf are the parts of all agents that are in the file at path.
func (h Host) partsOf(path string) (parts []part) {
	for _, name := range Names {
		a, _ := h.find(name)
		for _, part := range slices.Concat(a.hooks, a.mcp) {
			if followed(part.file()) == path {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// edit plans to put a part of an agent in, or to take it out.
func (p *Plan) edit(name string, part part, in bool) error {
	c, err := p.change(part.file())
	if err == nil && in {
		err = c.put(name, part)
	} else if err == nil {
		err = c.take(name, part)
	}
	if err != nil {
		return &FileError{part.file(), err}
	}
	return nil
}

func (c *Change) put(name string, part part) error {
	text, err := part.put(c.After)
	if err != nil {
		return err
	}
	c.After = text
	if !slices.Contains(c.record.Agents, name) {
		c.record.Agents = append(slices.Clone(c.record.Agents), name)
	}
	return nil
}

// take takes out a part, unless it is one that another agent has too.
func (c *Change) take(name string, part part) error {
	others := slices.DeleteFunc(slices.Clone(c.record.Agents), func(n string) bool { return n == name })
	if _, shared := part.(filePart); shared && len(others) > 0 {
		c.record.Agents = others
		return nil
	}
	if c.After == nil {
		return nil
	}
	text, err := part.take(c.After, c.original)
	if err != nil {
		return err
	}
	c.After = text
	return nil
}

// tidy decides what becomes of each file, now that all parts are in or out,
// and drops changes that are none.
func (p *Plan) tidy() {
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.drop = !p.h.holds(c); c.drop {
			c.After = c.original
		}
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c Change) bool {
		_, known := p.record.Files[c.Path]
		return c.same() && known != c.drop && (c.drop || slices.Equal(c.record.Agents, p.record.Files[c.Path].Agents))
	})
}

func (c Change) same() bool {
	return bytes.Equal(c.Before, c.After) && (c.Before == nil) == (c.After == nil)
}

// holds reports whether there is anything of ours in what a file is to be.
func (h Host) holds(c *Change) bool {
	if c.After == nil {
		return false
	}
	return slices.ContainsFunc(h.partsOf(c.Path), func(part part) bool {
		f, err := part.look(c.After)
		return err == nil && f.have > 0
	})
}

// nothing reports whether a file says nothing.
func nothing(text []byte) bool {
	if len(bytes.TrimSpace(text)) == 0 {
		return true
	}
	d, err := settings.ParseJSON(text)
	return err == nil && d.Empty()
}

// Apply makes the changes. A file that changed since the plan was made is left
// alone and named in the error; so is any that cannot be written. Changes
// before it are made and recorded.
func (p *Plan) Apply() error {
	for i := range p.Changes {
		if err := p.apply(&p.Changes[i]); err != nil {
			return &FileError{p.Changes[i].Path, err}
		}
	}
	return nil
}

func (p *Plan) apply(c *Change) error {
	now, err := read(c.Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, c.Before) || (now == nil) != (c.Before == nil) {
		return errors.New("it changed in the meantime; run this again")
	}
	if c.drop {
		return p.restore(c)
	}
	if err := p.keep(c); err != nil {
		return err
	}
	if c.same() {
		return nil
	}
	mode := fs.FileMode(0o600)
	if st, err := os.Stat(c.Path); err == nil {
		mode = st.Mode().Perm()
	}
	return Replace(c.Path, c.After, mode)
}

// keep records what is about to be written, with a copy of what was there.
func (p *Plan) keep(c *Change) (err error) {
	c.record.Digest = digest(c.After)
	c.record.Backup = ""
	if c.original != nil {
		if c.record.Backup, err = p.h.backup(c.Path, c.original); err != nil {
			return err
		}
	}
	if dirs := missing(filepath.Dir(c.Path)); len(dirs) > 0 {
		p.record.Dirs = append(p.record.Dirs, dirs...)
		if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
			return err
		}
	}
	p.record.Files[c.Path] = c.record
	return p.h.saveRecord(p.record)
}

// missing are the folders that are not there, of dir and those around it.
func missing(dir string) (dirs []string) {
	for !exists(dir) && dir != filepath.Dir(dir) {
		dirs = append(dirs, dir)
		dir = filepath.Dir(dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// restore writes a file that nothing of ours is left in, or removes it.
func (p *Plan) restore(c *Change) error {
	had := p.record.Files[c.Path]
	switch {
	case c.same():
	case c.After == nil:
		if had.Digest != "" && digest(c.Before) != had.Digest {
			// Ours, but somebody changed it: it goes, and a copy stays.
			if _, err := p.h.backup("changed "+c.Path, c.Before); err != nil {
				return err
			}
		}
		if err := os.Remove(c.Path); err != nil {
			return err
		}
	default:
		st, err := os.Stat(c.Path)
		if err != nil {
			return err
		}
		if err := Replace(c.Path, c.After, st.Mode().Perm()); err != nil {
			return err
		}
	}
	delete(p.record.Files, c.Path)
	if had.Backup != "" {
		_ = os.Remove(p.h.backupPath(had.Backup))
	}
	p.record.sweep()
	return p.h.saveRecord(p.record)
}
