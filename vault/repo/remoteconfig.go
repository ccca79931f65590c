package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func (g *GitDir) configPath() string { return filepath.Join(g.common, "config") }

// readConfig reads the repository's config, with that of this work tree behind it
// where the repository has such.
func (g *GitDir) readConfig() error {
	c, err := readConfigFile(g.configPath())
	if err != nil {
		return err
	}
	if c.bool("extensions.worktreeconfig", false) {
		own, err := readConfigFile(filepath.Join(g.dir, "config.worktree"))
		if err != nil {
			return err
		}
		c.sections = append(c.sections, own.sections...)
	}
	g.config = c
	return nil
}

func readConfigFile(path string) (*gitConfig, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c, err := parseConfig(string(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Config returns the last value of key, "section.name" or
// "section.subsection.name", in the repository's own config, and whether there is
// one. Other config files and includes do not count.
func (g *GitDir) Config(key string) (value string, ok bool, err error) {
	if err := g.readConfig(); err != nil {
		return "", false, err
	}
	value, ok = g.config.get(key)
	return value, ok, nil
}

// SetConfig sets key in the repository's config. Every other byte of the file
// stays as it is.
func (g *GitDir) SetConfig(key, value string) error {
	return g.editConfig(func(c *gitConfig) (string, error) { return c.set(key, value) })
}

// UnsetConfig removes every value of key.
func (g *GitDir) UnsetConfig(key string) error {
	return g.editConfig(func(c *gitConfig) (string, error) { return c.unset(key) })
}

// editConfig rewrites the config file under its lock.
func (g *GitDir) editConfig(edit func(*gitConfig) (string, error)) error {
	l, err := g.lock(g.configPath())
	if err != nil {
		return err
	}
	c, err := readConfigFile(g.configPath())
	var text string
	if err == nil {
		text, err = edit(c)
	}
	if err == nil {
		_, err = parseConfig(text)
	}
	if err == nil && text == c.text {
		l.release()
		return nil
	}
	if err == nil {
		_, err = l.WriteString(text)
	}
	if err == nil {
		err = l.Chmod(configMode(g.configPath(), text))
	}
	if err != nil {
		l.release()
		return fmt.Errorf("change git config: %w", err)
	}
	if err := l.commit(); err != nil {
		return fmt.Errorf("change git config: %w", err)
	}
	return g.readConfig()
}

// configMode is the mode of a config file that is to hold text: as it is, but
// nobody else reads a password that stands in a URL.
func configMode(path, text string) fs.FileMode {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	for line := range strings.Lines(text) {
		_, rest, isURL := strings.Cut(line, "://")
		authority, _, _ := strings.Cut(rest, "/")
		user, _, named := strings.Cut(authority, "@")
		if isURL && named && strings.Contains(user, ":") {
			return mode & 0o700
		}
	}
	return mode
}

// Remote is a remote in the repository's config.
type Remote struct {
	Name string
	URL  string // as written: no insteadOf is applied
}

// Remotes lists the remotes that have a URL, in the order of the file.
func (g *GitDir) Remotes() ([]Remote, error) {
	if err := g.readConfig(); err != nil {
		return nil, err
	}
	var rs []Remote
	seen := map[string]bool{}
	for _, s := range g.config.sections {
		name, ok := strings.CutPrefix(s.name, "remote.")
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		if urls := g.config.all(s.name + ".url"); len(urls) > 0 {
			rs = append(rs, Remote{Name: name, URL: urls[0]})
		}
	}
	return rs, nil
}

// SetRemote adds a remote with git's usual refspec, or changes the URL of one.
func (g *GitDir) SetRemote(name, url string) error {
	if err := CheckRefName("refs/remotes/" + name); err != nil || strings.ContainsAny(name, "\"\n") {
		return fmt.Errorf("remote name %q is not allowed", name)
	}
	if url == "" || strings.ContainsAny(url, "\n\x00") {
		return fmt.Errorf("remote url %q is not allowed", url)
	}
	return g.editConfig(func(c *gitConfig) (string, error) {
		section := "remote." + name
		text, err := c.set(section+".url", url)
		if err != nil || len(c.all(section+".fetch")) > 0 {
			return text, err
		}
		if c, err = parseConfig(text); err != nil {
			return "", err
		}
		return c.set(section+".fetch", "+refs/heads/*:refs/remotes/"+name+"/*")
	})
}

// RemoveRemote removes the settings of a remote. Its remote-tracking refs stay.
func (g *GitDir) RemoveRemote(name string) error {
	return g.editConfig(func(c *gitConfig) (string, error) { return c.removeSection("remote." + name), nil })
}
