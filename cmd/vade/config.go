package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"vademecum/vault"
)

// config is what the owner set, in one file: ~/.config/vade/config.yaml (or
// the platform's counterpart, or $VADE_CONFIG). This file and the environment
// are read here and nowhere else.
type config struct {
	// Identity is the default identity.
	Identity string `yaml:"identity"`
	// Home is the folder of all vaults.
	Home string `yaml:"home"`
	Sync struct {
		// Auto pushes and pulls in the background after each write when the
		// vault has a remote. Default true.
		Auto *bool `yaml:"auto"`
		// Transport "exec" runs the ssh and git programs of this machine for
		// what only they know (agents, proxies, credential helpers).
		Transport string `yaml:"transport"`
	} `yaml:"sync"`
	Capture  captureConfig            `yaml:"capture"`
	Hooks    hookConfig               `yaml:"hooks"`
	Profiles map[string]profileConfig `yaml:"profiles"`
	// Providers are the other memory services that the owner uses.
	Providers map[string]providerConfig `yaml:"providers"`
}

// loadConfig reads the file; a missing one is an empty config. An unknown key
// is an error, so that a typo never silently does nothing, and so is a value
// that configWalk.rule refuses.
func (a *app) loadConfig() (config, error) {
	path := a.configPath()
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return config{}, nil
	}
	if err != nil {
		return config{}, fmt.Errorf("read config: %w", err)
	}
	c, problems := parseConfig(raw, nil)
	if p, bad := firstProblem(problems); bad {
		hint := strings.Replace(p.Remedy+"; ", "?; ", "? ", 1) + `"vade config check" shows all that is wrong`
		return config{}, hinted(fmt.Errorf("config %s: %s", path, p), strings.TrimPrefix(hint, "; "))
	}
	return c, nil
}

func (a *app) configPath() string {
	if p := a.env("VADE_CONFIG"); p != "" {
		return p
	}
	return filepath.Join(a.baseDir("XDG_CONFIG_HOME", ".config", "AppData/Roaming", "Library/Application Support"), "vade", "config.yaml")
}

// homeDir is the folder that holds one folder an identity.
func (a *app) homeDir(c config) (string, error) {
	for _, dir := range []string{a.flags.home, a.env("VADE_HOME")} {
		if dir != "" {
			return filepath.Abs(a.expandTilde(dir))
		}
	}
	if dir := a.expandTilde(c.Home); filepath.IsAbs(dir) {
		return dir, nil
	} else if dir != "" {
		return filepath.Abs(filepath.Join(a.userHome(), dir)) // the same from every folder
	}
	return filepath.Abs(filepath.Join(a.baseDir("XDG_DATA_HOME", ".local/share", "AppData/Local", "Library/Application Support"), "vade"))
}

// baseDir is the XDG folder that variable names, else its default below the
// user's home (https://specifications.freedesktop.org/basedir-spec); the XDG
// variable wins on every platform, a relative one is ignored as the spec says.
func (a *app) baseDir(variable, unix, windows, mac string) string {
	if dir := a.env(variable); filepath.IsAbs(dir) {
		return dir
	}
	sub := unix
	switch runtime.GOOS {
	case "windows":
		sub = windows
	case "darwin":
		sub = mac
	}
	return filepath.Join(a.userHome(), filepath.FromSlash(sub))
}

func (a *app) userHome() string {
	variable := "HOME"
	if runtime.GOOS == "windows" {
		variable = "USERPROFILE"
	}
	if dir := a.env(variable); filepath.IsAbs(dir) {
		return dir // a relative one would be another home in every folder
	}
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return u.HomeDir
	}
	return "."
}

func (a *app) expandTilde(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(a.userHome(), rest)
	}
	return path
}

// identity is whose vault this run is about.
func (a *app) identity(c config) (string, error) {
	for _, name := range []string{a.flags.identity, a.env("VADE_IDENTITY"), c.Identity} {
		if name == "" {
			continue
		}
		if err := vault.CheckIdentity(name); err != nil {
			return "", hinted(usagef("%w", err), "use 1 to 63 of a-z 0-9 . _ - and start with a letter or digit")
		}
		return name, nil
	}
	return a.loginIdentity(), nil
}

// loginIdentity makes an identity name of the login name; "me" where there is none.
func (a *app) loginIdentity() string {
	name := a.env("USER")
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	name = name[strings.LastIndexAny(name, `\/`)+1:] // DOMAIN\user
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, name)
	name = strings.Trim(name, "-._")
	if len(name) > 63 {
		name = name[:63]
	}
	if vault.CheckIdentity(name) != nil {
		return "me"
	}
	return name
}

// hostName is this host's name for the record.
func (a *app) hostName() string {
	if h := a.env("VADE_HOST"); h != "" {
		return h
	}
	h, err := os.Hostname()
	if err != nil || h == "" {
		return "localhost"
	}
	return h
}
