package mcpclient

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vademecum/providers/child"
)

// Config says which server a provider is.
type Config struct {
	Name string // of the provider

	// A program: its path or name in PATH, its arguments, its environment beside
	// child.Environment. Or URL, the address of a server, with Headers.
	Command string
	Args    []string
	Env     map[string]string
	URL     string
	Headers map[string]string // Authorization: …
	// AllowInsecure allows http to another host.
	AllowInsecure bool

	// Dir is the provider's own folder, absolute: the working directory of the
	// program, and where the lock of a server is that stands one writer only.
	Dir string

	// Preset is one of Presets; Mapping, if there is one, takes its place.
	Preset  string
	Mapping *Mapping
	// Vars are what the mapping's {names} stand for beside those that it knows:
	// user_id, group_id, … They win over the preset's own.
	Vars map[string]string

	// ToolsHash is what Inspect said when the owner approved the tools; "": they
	// are not pinned, which Health warns of.
	ToolsHash string

	IdleStop time.Duration // 0: 5 min
	Client   string        // what we call ourselves; "": vade
}

// check fills in what is not given, and says what is wrong.
func (c Config) check() (Config, error) {
	c, err := c.complete()
	if err != nil {
		return c, fmt.Errorf("provider %s: %w", c.Name, err)
	}
	return c, nil
}

func (c Config) complete() (Config, error) {
	switch {
	case c.Name == "":
		return c, errors.New("no name")
	case !filepath.IsAbs(c.Dir):
		return c, fmt.Errorf("the data folder %q is not an absolute path", c.Dir)
	case (c.Command == "") == (c.URL == ""):
		return c, errors.New("give either a command or a url")
	}
	var err error
	if c.URL != "" {
		err = checkURL(c.URL, c.AllowInsecure)
	} else {
		c.Command, err = child.Resolve(c.Command)
	}
	if err != nil {
		return c, err
	}
	if c.IdleStop == 0 {
		c.IdleStop = 5 * time.Minute
	}
	if c.Client == "" {
		c.Client = "vade"
	}
	return c.withMapping()
}

// withMapping is c with its preset worked in.
func (c Config) withMapping() (Config, error) {
	if c.Mapping == nil {
		make, ok := presets()[c.Preset]
		if !ok {
			return c, fmt.Errorf("preset %q is unknown: one of %s, or a mapping", c.Preset, strings.Join(Presets(), ", "))
		}
		p := make(c.Dir)
		c.Mapping, c.Vars, c.Env = &p.mapping, overlay(p.vars, c.Vars), overlay(p.env, c.Env)
	}
	return c, c.Mapping.check(c.Vars)
}

// overlay is base with what over has.
func overlay(base, over map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, base)
	maps.Copy(all, over)
	return all
}

// Presets are the names of the servers whose mapping is known.
func Presets() []string { return slices.Sorted(maps.Keys(presets())) }

// checkURL wants https, except to this host.
func checkURL(address string, insecure bool) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return fmt.Errorf("url: %w", err)
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("url %q is not an http address", address)
	case u.Scheme == "http" && !insecure && !loopback(u.Hostname()):
		return fmt.Errorf("url %q sends memories in the clear: use https, or allow it", address)
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
