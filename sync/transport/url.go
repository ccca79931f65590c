package transport

import (
	"net/url"
	"runtime"
	"strings"
	"unicode"
)

// A scheme says which of the transports speaks to an address.
type scheme string

const (
	schemeFile  scheme = "file"
	schemeHTTP  scheme = "http"
	schemeHTTPS scheme = "https"
	schemeSSH   scheme = "ssh"
)

// An address is a remote's URL, taken apart.
type address struct {
	scheme scheme
	user   string // "" when the URL names none
	secret string // the password or token in the URL; never printed
	host   string // without brackets; "" for files
	port   string // "" for the default one
	path   string // decoded; for http, as it stood in the URL
}

// URLError: the URL of a remote cannot be used. URL is masked.
type URLError struct {
	URL    string
	Reason string
	Remedy string
}

func (e *URLError) Error() string {
	return "remote URL " + e.URL + ": " + e.Reason + " (" + e.Remedy + ")"
}

// Mask returns rawURL without what could be a credential: the userinfo of an
// http URL, the password of any, and every query. It is fit to print, whatever
// rawURL holds.
func Mask(rawURL string) string {
	head, rest, found := strings.Cut(rawURL, "://")
	if !found {
		return printable(rawURL)
	}
	rest, _, _ = strings.Cut(rest, "?")
	authority, tail := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	// A password may itself hold a slash, unescaped; the last @ before any
	// path that could be meant decides.
	if i := strings.LastIndexByte(rest, '@'); i >= len(authority) && strings.Contains(authority, ":") {
		authority, tail = rest[:i+1], rest[i+1:]
		if j := strings.IndexByte(tail, '/'); j >= 0 {
			authority, tail = authority+tail[:j], tail[j:]
		} else {
			authority, tail = authority+tail, ""
		}
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = maskUser(head, authority[:i]) + "@" + authority[i+1:]
	}
	return printable(head + "://" + authority + tail)
}

// maskUser keeps the user of an ssh URL, which is a name; that of an http URL
// may be a token.
func maskUser(scheme, userinfo string) string {
	user, _, hasPassword := strings.Cut(userinfo, ":")
	if !strings.Contains(scheme, "ssh") {
		return "***"
	}
	if hasPassword {
		return user + ":***"
	}
	return user
}

// printable replaces control characters and broken UTF-8, so that a URL or a
// server's words cannot steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r) {
			return '?'
		}
		return r
	}, s)
}

// parseURL takes a remote's URL apart, or says what is wrong with it.
func parseURL(raw string) (address, error) {
	return parseURLOn(raw, runtime.GOOS == "windows")
}

func parseURLOn(raw string, windows bool) (address, error) {
	if err := checkShape(raw); err != nil {
		return address{}, err
	}
	if windows && hasDrive(raw) {
		return address{scheme: schemeFile, path: raw}, nil
	}
	if strings.Contains(raw, "://") {
		return parseSchemeURL(raw, windows)
	}
	if helper, _, found := strings.Cut(raw, "::"); found && !strings.ContainsAny(helper, "/[") {
		return address{}, bad(raw, "the remote helper "+printable(helper)+":: is not allowed", "use https, ssh or a path")
	}
	colon := strings.IndexByte(raw, ':')
	slash := strings.IndexAny(raw, `/`)
	if strings.HasPrefix(raw, "[") || colon >= 0 && (slash < 0 || colon < slash) {
		return parseSCP(raw)
	}
	return address{scheme: schemeFile, path: raw}, nil
}

// LocalPath is the path of a remote that is a folder, as it stands in rawURL: a
// path or a file:// URL; false when rawURL is neither.
func LocalPath(rawURL string) (path string, ok bool) {
	a, err := parseURL(rawURL)
	return a.path, err == nil && a.scheme == schemeFile
}

// HoldsSecret reports whether rawURL carries a password or token.
func HoldsSecret(rawURL string) bool {
	a, err := parseURL(rawURL)
	return err == nil && a.secret != ""
}

func bad(raw, reason, remedy string) error {
	return &URLError{URL: Mask(raw), Reason: reason, Remedy: remedy}
}

func checkShape(raw string) error {
	switch {
	case strings.TrimSpace(raw) == "":
		return bad(raw, "it is empty", "give a path, or an https or ssh URL")
	case strings.TrimSpace(raw) != raw:
		return bad(raw, "it starts or ends with a space", "remove the space")
	case strings.HasPrefix(raw, "-"):
		return bad(raw, "it starts with a dash", "write ./"+printable(raw)+" if this is a path")
	case printable(raw) != raw:
		return bad(raw, "it holds a character that cannot be printed", "remove the newline, tab or broken character")
	}
	return nil
}

func hasDrive(s string) bool {
	return len(s) >= 3 && isLetter(s[0]) && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func parseSchemeURL(raw string, windows bool) (address, error) {
	if strings.HasPrefix(strings.ToLower(raw), "file:") {
		return parseFile(raw, windows)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return address{}, bad(raw, "it is not a URL", "escape special characters in the user, password and path as %XX")
	}
	switch s := strings.ToLower(u.Scheme); s {
	case "http", "https":
		return parseHTTP(raw, u, scheme(s))
	case "ssh", "git+ssh", "ssh+git":
		return parseSSH(raw, u)
	case "git":
		return address{}, bad(raw, "git:// neither authenticates nor encrypts", "use https or ssh")
	default:
		return address{}, bad(raw, "the scheme "+printable(s)+":// is not supported", "use https, ssh or a path")
	}
}

// parseFile takes the path as it stands after the host, query and fragment
// marks included, as git does.
func parseFile(raw string, windows bool) (address, error) {
	_, rest, _ := strings.Cut(raw, "://")
	host, tail, found := strings.Cut(rest, "/")
	if host != "" && !strings.EqualFold(host, "localhost") {
		return address{}, bad(raw, "a file URL has no host", "write file:/// with three slashes")
	}
	p, err := url.PathUnescape("/" + tail)
	if !found || err != nil || printable(p) != p {
		return address{}, bad(raw, "it has no path", "write file:///path/to/repository, with special characters as %XX")
	}
	if windows && hasDrive(p[1:]) {
		p = p[1:]
	}
	return address{scheme: schemeFile, path: p}, nil
}

func parseHTTP(raw string, u *url.URL, s scheme) (address, error) {
	if u.Hostname() == "" || u.Opaque != "" {
		return address{}, bad(raw, "it has no host", "write https://host/path")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return address{}, bad(raw, "it has a query or fragment", "give the address of the repository alone")
	}
	a := address{scheme: s, host: u.Hostname(), port: u.Port(), path: strings.TrimRight(u.EscapedPath(), "/")}
	if u.User != nil {
		a.user = u.User.Username()
		a.secret, _ = u.User.Password()
	}
	return a, nil
}

func parseSSH(raw string, u *url.URL) (address, error) {
	a := address{scheme: schemeSSH, host: u.Hostname(), port: u.Port(), path: u.Path}
	if u.User != nil {
		if _, has := u.User.Password(); has {
			return address{}, bad(raw, "an ssh URL holds no password", "remove it and use a key or an agent")
		}
		a.user = u.User.Username()
	}
	// ssh://host/~user/path means the home of user, as with git.
	if strings.HasPrefix(a.path, "/~") {
		a.path = a.path[1:]
	}
	return a, checkSSH(raw, a)
}

// parseSCP reads [user@]host:path, where host may be [host], [host:port] or
// an IPv6 address in brackets.
func parseSCP(raw string) (address, error) {
	a := address{scheme: schemeSSH}
	rest := raw
	end := strings.Index(raw, ":")
	if i := strings.IndexByte(raw, '['); i == 0 || i > 0 && i < end && raw[i-1] == '@' {
		shut := strings.Index(raw, "]:")
		if shut < 0 {
			return address{}, bad(raw, "the bracket is not closed", "write user@[host]:path")
		}
		a.host, rest = raw[i+1:shut], raw[shut+2:]
		a.user = strings.TrimSuffix(raw[:i], "@")
		if h, p, found := strings.Cut(a.host, ":"); found && !strings.Contains(p, ":") {
			a.host, a.port = h, p
		}
	} else {
		a.host, rest = raw[:end], raw[end+1:]
		if at := strings.LastIndexByte(a.host, '@'); at >= 0 {
			a.user, a.host = a.host[:at], a.host[at+1:]
		}
	}
	a.path = rest
	switch strings.ToLower(a.host) {
	case "file", "http", "https", "ssh":
		return address{}, bad(raw, "the two slashes after "+a.host+": are missing", "write "+a.host+"://")
	}
	return a, checkSSH(raw, a)
}

// checkSSH refuses what an ssh program or the shell at the other end could
// take for an option.
func checkSSH(raw string, a address) error {
	switch {
	case a.host == "":
		return bad(raw, "it has no host", "write user@host:path")
	case strings.HasPrefix(a.host, "-") || strings.HasPrefix(a.user, "-"):
		return bad(raw, "the host or user starts with a dash", "give a plain host name")
	case strings.ContainsAny(a.host, " \t/\\@'\"`$;&|<>(){}"):
		return bad(raw, "the host name holds a character that none has", "give a plain host name")
	case strings.ContainsAny(a.user, " \t\\'\"`$;&|<>(){}:"):
		return bad(raw, "the user name holds a character that is not allowed", "give a plain user name")
	case strings.Trim(a.path, "/") == "":
		return bad(raw, "it has no path", "write user@host:path/to/repository")
	case strings.HasPrefix(a.path, "-"):
		return bad(raw, "the path starts with a dash", "write ./ before it")
	case printable(a.path+a.host+a.user) != a.path+a.host+a.user:
		return bad(raw, "it holds a character that cannot be printed", "remove the newline, tab or broken character")
	case a.port != "" && !isPort(a.port):
		return bad(raw, "the port is not a number", "write ssh://host:22/path")
	}
	return nil
}

func isPort(s string) bool {
	return len(s) <= 5 && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// String prints the address without its secret: the whole of an http URL but
// the userinfo, the user and host of an ssh one.
func (a address) String() string {
	host := a.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if a.port != "" {
		host += ":" + a.port
	}
	user := ""
	if a.scheme == schemeSSH && a.user != "" {
		user = a.user + "@"
	}
	switch {
	case a.scheme == schemeFile:
		return printable(a.path)
	case a.scheme != schemeSSH || strings.HasPrefix(a.path, "/"):
		return printable(string(a.scheme) + "://" + user + host + a.path)
	case strings.HasPrefix(a.path, "~"):
		return printable("ssh://" + user + host + "/" + a.path)
	case a.port != "":
		return printable(user + "[" + host + "]:" + a.path)
	}
	return printable(user + host + ":" + a.path)
}
