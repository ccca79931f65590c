package repo

import "strings"

// wildmatch reports whether all of s matches a glob as gitignore(5) has it: ? and *
// stop at slashes, ** as a whole name does not, [a-z] and [[:alpha:]] are sets, a
// backslash takes the next character for itself.
//
// A glob with many stars that takes too long to try matches nothing.
func wildmatch(glob, s string) bool {
	m := globMatcher{steps: 1 << 16}
	return m.from('/', glob, s)
}

type globMatcher struct{ steps int }

// from matches a glob that prev stands before.
func (m *globMatcher) from(prev byte, glob, s string) bool {
	if m.steps--; m.steps < 0 {
		return false
	}
	for glob != "" {
		c := glob[0]
		if c == '*' {
			return m.star(prev, glob, s)
		}
		n := 1
		ok := s != ""
		switch {
		case !ok:
		case c == '?':
			ok = s[0] != '/'
		case c == '[':
			if ok, n = matchSet(glob, s[0]); s[0] == '/' {
				ok = false
			}
		case c == '\\':
			n = 2
			ok = len(glob) > 1 && s[0] == glob[1]
		default:
			ok = s[0] == c
		}
		if !ok {
			return false
		}
		prev, glob, s = glob[n-1], glob[n:], s[1:]
	}
	return s == ""
}

// star matches a glob that starts with stars. Two or more that fill a whole name
// match any number of folders.
func (m *globMatcher) star(prev byte, glob, s string) bool {
	rest := strings.TrimLeft(glob, "*")
	deep := len(glob)-len(rest) > 1 && prev == '/' && (rest == "" || rest[0] == '/')
	if deep && rest != "" && m.from('/', rest[1:], s) {
		return true // no folder at all
	}
	for i := 0; ; i++ {
		if m.from('*', rest, s[i:]) {
			return true
		}
		if i == len(s) || s[i] == '/' && !deep {
			return false
		}
	}
}

// matchSet matches c against the [set] at the start of glob, and returns how long
// the set is. A set that does not end matches nothing.
func matchSet(glob string, c byte) (bool, int) {
	i := 1
	negated := i < len(glob) && (glob[i] == '!' || glob[i] == '^')
	if negated {
		i++
	}
	hit := false
	for first := true; ; first = false {
		if i >= len(glob) {
			return false, 0
		}
		if glob[i] == ']' && !first {
			return hit != negated, i + 1
		}
		if name, ok := setClass(glob[i:]); ok {
			hit = hit || inClass(name, c)
			i += len(name) + len("[::]")
			continue
		}
		lo, n := setChar(glob[i:])
		i += n
		hi := lo
		if i+1 < len(glob) && glob[i] == '-' && glob[i+1] != ']' {
			hi, n = setChar(glob[i+1:])
			i += 1 + n
		}
		hit = hit || lo <= c && c <= hi
	}
}

// setChar is the first character of a set, which a backslash may precede.
func setChar(s string) (byte, int) {
	if s[0] == '\\' && len(s) > 1 {
		return s[1], 2
	}
	return s[0], 1
}

// setClass is the name in a leading [:name:].
func setClass(s string) (string, bool) {
	rest, ok := strings.CutPrefix(s, "[:")
	if !ok {
		return "", false
	}
	name, _, ok := strings.Cut(rest, ":]")
	return name, ok
}

func inClass(name string, c byte) bool {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	switch name {
	case "alpha":
		return lower || upper
	case "alnum":
		return lower || upper || digit
	case "digit":
		return digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r'
	case "blank":
		return c == ' ' || c == '\t'
	case "punct":
		return '!' <= c && c <= '~' && !lower && !upper && !digit
	case "cntrl":
		return c < ' ' || c == 0x7f
	case "print":
		return ' ' <= c && c <= '~'
	case "graph":
		return '!' <= c && c <= '~'
	}
	return false
}
