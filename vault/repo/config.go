package repo

import (
	"fmt"
	"slices"
	"strings"
)

// gitConfig is a git config file with the place of everything in it, so that an
// edit can leave every other byte alone (git-config(1), "Syntax").
type gitConfig struct {
	text     string
	sections []configSection
}

// configSection is one [section "subsection"] header and what follows it.
type configSection struct {
	name       string // "section" or "section.subsection": the first part in lower case
	start, end int    // from the [ to the next header
	head       int    // end of the header
	vars       []configVar
}

// configVar is one variable of a section.
type configVar struct {
	name       string // lower case
	value      string // unquoted; "true" for a name alone
	start, end int    // from the name to the end of the value
	lineEnd    int    // behind the line break
}

// ConfigError: a git config file cannot be understood.
type ConfigError struct{ Line int }

func (e *ConfigError) Error() string {
	return fmt.Sprintf("git config is malformed in line %d", e.Line)
}

// configKey splits "section.sub.name" and folds what git compares without case.
func configKey(key string) (section, name string, err error) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first <= 0 || last == len(key)-1 || strings.ContainsAny(key, "\n\x00") {
		return "", "", fmt.Errorf("config key %q: want section.name", key)
	}
	section = strings.ToLower(key[:first]) + key[first:last]
	name = strings.ToLower(key[last+1:])
	for i := range len(name) {
		if !isConfigName(name[i], i == 0) {
			return "", "", fmt.Errorf("config key %q: name has a character that git refuses", key)
		}
	}
	for i := range first {
		if !isConfigName(key[i], false) {
			return "", "", fmt.Errorf("config key %q: section has a character that git refuses", key)
		}
	}
	return section, name, nil
}

func isConfigName(c byte, first bool) bool {
	letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	return letter || !first && (c == '-' || '0' <= c && c <= '9')
}

// get returns the last value of key.
func (c *gitConfig) get(key string) (string, bool) {
	vs := c.all(key)
	if len(vs) == 0 {
		return "", false
	}
	return vs[len(vs)-1], true
}

func (c *gitConfig) all(key string) []string {
	section, name, err := configKey(key)
	if err != nil || c == nil {
		return nil
	}
	var vs []string
	for _, s := range c.sections {
		if s.name != section {
			continue
		}
		for _, v := range s.vars {
			if v.name == name {
				vs = append(vs, v.value)
			}
		}
	}
	return vs
}

// bool returns the value of key as git reads booleans, or otherwise where there is
// none or it is none.
func (c *gitConfig) bool(key string, otherwise bool) bool {
	v, ok := c.get(key)
	if !ok {
		return otherwise
	}
	switch strings.ToLower(v) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0", "":
		return false
	}
	return otherwise
}

// set returns the text with key set: its last value replaced, or a line added at
// the end of its section, or a section added at the end of the file.
func (c *gitConfig) set(key, value string) (string, error) {
	section, name, err := configKey(key)
	if err != nil {
		return "", err
	}
	if strings.ContainsRune(value, 0) {
		return "", fmt.Errorf("config %s: value has a NUL", key)
	}
	original := key[strings.LastIndexByte(key, '.')+1:]
	line := original + " = " + quoteConfig(value)
	var last *configSection
	for i := range slices.Backward(c.sections) {
		s := &c.sections[i]
		if s.name != section {
			continue
		}
		for _, v := range slices.Backward(s.vars) {
			if v.name == name {
				return c.text[:v.start] + line + c.text[v.end:], nil
			}
		}
		if last == nil {
			last = s
		}
	}
	eol := c.eol()
	if last == nil {
		return c.terminated(len(c.text)) + configHeader(section) + eol + "\t" + line + eol, nil
	}
	at := last.head
	if n := len(last.vars); n > 0 {
		at = last.vars[n-1].lineEnd
	} else if i := strings.IndexByte(c.text[at:], '\n'); i >= 0 {
		at += i + 1
	} else {
		at = len(c.text)
	}
	return c.terminated(at) + "\t" + line + eol + c.text[at:], nil
}

// terminated is the text up to at, with a line break at its end.
func (c *gitConfig) terminated(at int) string {
	if at == 0 || c.text[at-1] == '\n' {
		return c.text[:at]
	}
	return c.text[:at] + c.eol()
}

func (c *gitConfig) eol() string {
	if strings.Contains(c.text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

func configHeader(section string) string {
	name, sub, ok := strings.Cut(section, ".")
	if !ok {
		return "[" + name + "]"
	}
	return "[" + name + ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sub) + `"]`
}

// quoteConfig writes a value so that git reads the same back.
func quoteConfig(v string) string {
	q := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(v)
	if strings.TrimSpace(v) != v || strings.ContainsAny(v, "#;\r") {
		return `"` + q + `"`
	}
	return q
}

// unset returns the text without any value of key.
func (c *gitConfig) unset(key string) (string, error) {
	section, name, err := configKey(key)
	if err != nil {
		return "", err
	}
	text := c.text
	for _, s := range slices.Backward(c.sections) {
		if s.name != section {
			continue
		}
		for _, v := range slices.Backward(s.vars) {
			if v.name == name {
				start := strings.LastIndexByte(text[:v.start], '\n') + 1
				if strings.TrimSpace(text[start:v.start]) != "" { // after a header on the same line
					start = v.start
					text = text[:start] + text[v.end:]
					continue
				}
				text = text[:start] + text[v.lineEnd:]
			}
		}
	}
	return text, nil
}

// removeSection returns the text without the sections of that name, from header
// to header.
func (c *gitConfig) removeSection(section string) string {
	text := c.text
	for _, s := range slices.Backward(c.sections) {
		if s.name == section {
			start := strings.LastIndexByte(text[:s.start], '\n') + 1
			if strings.TrimSpace(text[start:s.start]) != "" {
				start = s.start
			}
			text = text[:start] + text[s.end:]
		}
	}
	return text
}
