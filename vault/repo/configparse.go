package repo

import (
	"errors"
	"strings"
)

// parseConfig reads a config file.
func parseConfig(text string) (*gitConfig, error) {
	p := configParser{text: text, c: &gitConfig{text: text}}
	if err := p.parse(); err != nil {
		return nil, &ConfigError{Line: 1 + strings.Count(text[:min(p.at, len(text))], "\n")}
	}
	return p.c, nil
}

var errConfig = errors.New("syntax")

type configParser struct {
	text string
	at   int
	c    *gitConfig
}

func (p *configParser) parse() error {
	if strings.HasPrefix(p.text, "\ufeff") {
		p.at = len("\ufeff")
	}
	for {
		p.skipSpace()
		if p.at >= len(p.text) {
			break
		}
		switch c := p.text[p.at]; {
		case c == '#' || c == ';':
			p.skipLine()
		case c == '[':
			if err := p.header(); err != nil {
				return err
			}
		default:
			if err := p.variable(); err != nil {
				return err
			}
		}
	}
	p.closeSection(len(p.text))
	return nil
}

func (p *configParser) closeSection(end int) {
	if n := len(p.c.sections); n > 0 {
		p.c.sections[n-1].end = end
	}
}

func (p *configParser) skipSpace() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n\f\v", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *configParser) skipLine() {
	if i := strings.IndexByte(p.text[p.at:], '\n'); i >= 0 {
		p.at += i + 1
	} else {
		p.at = len(p.text)
	}
}

// header reads [name], [name "sub"] and the old [name.sub].
func (p *configParser) header() error {
	start := p.at
	p.at++
	from := p.at
	for p.at < len(p.text) && (isConfigName(p.text[p.at], false) || p.text[p.at] == '.') {
		p.at++
	}
	name := strings.ToLower(p.text[from:p.at])
	if name == "" || name[0] == '.' {
		return errConfig
	}
	if p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
			p.at++
		}
		sub, err := p.subsection()
		if err != nil {
			return err
		}
		name += "." + sub
	}
	if p.at >= len(p.text) || p.text[p.at] != ']' {
		return errConfig
	}
	p.at++
	p.closeSection(start)
	p.c.sections = append(p.c.sections, configSection{name: name, start: start, head: p.at, end: len(p.text)})
	return nil
}

func (p *configParser) subsection() (string, error) {
	if p.at >= len(p.text) || p.text[p.at] != '"' {
		return "", errConfig
	}
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case '"':
			p.at++
			return b.String(), nil
		case '\n', 0:
			return "", errConfig
		case '\\':
			if p.at++; p.at >= len(p.text) || p.text[p.at] == '\n' {
				return "", errConfig
			}
			b.WriteByte(p.text[p.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", errConfig
}

func (p *configParser) variable() error {
	v := configVar{start: p.at}
	for p.at < len(p.text) && isConfigName(p.text[p.at], p.at == v.start) {
		p.at++
	}
	if p.at == v.start {
		return errConfig
	}
	v.name = strings.ToLower(p.text[v.start:p.at])
	v.end = p.at
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	switch {
	case p.at < len(p.text) && p.text[p.at] == '=':
		p.at++
		var err error
		if v.value, v.end, err = p.value(); err != nil {
			return err
		}
	case p.at == len(p.text) || strings.IndexByte("\r\n#;", p.text[p.at]) >= 0:
		v.value = "true"
	default:
		return errConfig
	}
	p.skipLine()
	v.lineEnd = p.at
	if n := len(p.c.sections); n > 0 { // git takes a variable before any section, and no key names it
		p.c.sections[n-1].vars = append(p.c.sections[n-1].vars, v)
	}
	return nil
}

// value reads what follows the =, and returns where it ends, without the space
// and the comment behind it.
func (p *configParser) value() (string, int, error) {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	var b []byte
	keep, end := 0, p.at // of b and of the text, up to the last byte that is no space
	quoted := false
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		switch {
		case c == '\n' || c == '\r' && strings.HasPrefix(p.text[p.at:], "\r\n"):
			if quoted {
				return "", 0, errConfig
			}
			return string(b[:keep]), end, nil
		case c == 0:
			return "", 0, errConfig
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '#' || c == ';'):
			return string(b[:keep]), end, nil
		case c == '\\':
			out, ok := p.escape()
			if !ok {
				return "", 0, errConfig
			}
			b = append(b, out...)
		case !quoted && (c == ' ' || c == '\t'):
			b = append(b, c)
			continue
		default:
			b = append(b, c)
		}
		keep, end = len(b), p.at+1
	}
	if quoted {
		return "", 0, errConfig
	}
	return string(b[:keep]), end, nil
}

// escape reads the character behind a backslash, and stays on its last byte. An
// escaped line break continues the value.
func (p *configParser) escape() (string, bool) {
	p.at++
	if p.at >= len(p.text) {
		return "", false
	}
	switch c := p.text[p.at]; c {
	case '\n':
		return "", true
	case '\r':
		if strings.HasPrefix(p.text[p.at:], "\r\n") {
			p.at++
			return "", true
		}
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'b':
		return "\b", true
	case '\\', '"':
		return string(c), true
	}
	return "", false
}
