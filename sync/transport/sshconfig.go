package transport

import (
	"os"
	"path/filepath"
	"strings"
)

// maxIncludes bounds how deep Include may nest, as ssh does.
const maxIncludes = 16

// An sshConfig is what ssh_config(5) files say about one host: the first value
// of each keyword counts. Only the keywords that sshDialer acts on are kept.
type sshConfig struct {
	values     map[string][]string // by keyword in lower case
	identities []string            // IdentityFile adds up
}

// loadSSHConfig reads the user's file, then the system's.
func loadSSHConfig(home, host string) *sshConfig {
	c := &sshConfig{values: map[string][]string{}}
	user := filepath.Join(home, ".ssh")
	c.readFile(filepath.Join(user, "config"), user, host, 0)
	c.readFile("/etc/ssh/ssh_config", "/etc/ssh", host, 0)
	return c
}

func (c *sshConfig) get(keyword string) string {
	if v := c.values[keyword]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (c *sshConfig) readFile(file, dir, host string, depth int) {
	b, err := os.ReadFile(file)
	if err != nil || depth > maxIncludes {
		return
	}
	c.parse(string(b), dir, host, depth)
}

// parse takes the lines that are for host.
func (c *sshConfig) parse(text, dir, host string, depth int) {
	applies := true
	for line := range strings.Lines(text) {
		keyword, args := sshWords(line)
		switch keyword {
		case "":
		case "host":
			applies = matchHost(args, host)
		case "match":
			// Only what can be decided without running a command.
			applies = len(args) == 1 && strings.EqualFold(args[0], "all") ||
				len(args) == 2 && (strings.EqualFold(args[0], "host") || strings.EqualFold(args[0], "originalhost")) &&
					matchHost(strings.Split(args[1], ","), host)
		case "include":
			if applies {
				c.include(args, dir, host, depth)
			}
		default:
			if applies {
				c.set(keyword, args)
			}
		}
	}
}

func (c *sshConfig) include(patterns []string, dir, host string, depth int) {
	for _, p := range patterns {
		if rest, found := strings.CutPrefix(p, "~/"); found {
			p = filepath.Join(filepath.Dir(dir), rest)
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		files, err := filepath.Glob(p)
		if err != nil {
			continue
		}
		for _, f := range files {
			c.readFile(f, dir, host, depth+1)
		}
	}
}

func (c *sshConfig) set(keyword string, args []string) {
	switch keyword {
	case "identityfile":
		c.identities = append(c.identities, args...)
	case "hostname", "port", "user", "identitiesonly", "identityagent", "userknownhostsfile", "hostkeyalias", "proxyjump", "proxycommand":
		if _, found := c.values[keyword]; !found && len(args) > 0 {
			c.values[keyword] = args
		}
	}
}

// sshWords splits a line into its keyword, in lower case, and its arguments:
// separated by spaces or one "=", perhaps in double quotes.
func sshWords(line string) (string, []string) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", nil
	}
	end := strings.IndexAny(line, " \t=")
	if end < 0 {
		return strings.ToLower(line), nil
	}
	keyword := strings.ToLower(line[:end])
	rest := strings.TrimLeft(line[end:], " \t")
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "="), " \t")
	var args []string
	for rest != "" && rest[0] != '#' {
		var word string
		if rest[0] == '"' {
			word, rest, _ = strings.Cut(rest[1:], `"`)
		} else if i := strings.IndexAny(rest, " \t"); i >= 0 {
			word, rest = rest[:i], rest[i:]
		} else {
			word, rest = rest, ""
		}
		args = append(args, word)
		rest = strings.TrimLeft(rest, " \t")
	}
	return keyword, args
}

// matchHost says whether one of the patterns fits and no negated one does.
func matchHost(patterns []string, host string) bool {
	fits := false
	for _, p := range patterns {
		if p, negated := strings.CutPrefix(p, "!"); negated {
			if matchWildcard(p, host) {
				return false
			}
			continue
		}
		fits = fits || matchWildcard(p, host)
	}
	return fits
}

// matchWildcard matches * and ? without regard to case.
func matchWildcard(pattern, s string) bool {
	pattern, s = strings.ToLower(pattern), strings.ToLower(s)
	star, from := -1, 0
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
