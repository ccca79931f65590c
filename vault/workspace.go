package vault

import (
	"net/url"
	"path"
	"strings"
)

// ParseWorkspace returns the project key of a git remote: host and path in
// lower case, without user, password, port, ".git" and trailing slashes, so
// that ssh, scp-like and https spellings agree: "github.com/acme/shop".
// A path or file URL gives the cleaned path; "" means that no key can be had.
func ParseWorkspace(remote string) string {
	remote = strings.TrimSpace(remote)
	if i := strings.IndexAny(remote, "\r\n\x00"); i >= 0 || remote == "" {
		return ""
	}
	scheme, rest, ok := strings.Cut(remote, "://")
	if !ok {
		return parseScpLike(remote)
	}
	rest = cutAny(rest, "?#")
	if strings.EqualFold(scheme, "file") {
		rest, _ = strings.CutPrefix(rest, "localhost")
		return localKey(unescape(rest))
	}
	authority, p, _ := strings.Cut(rest, "/")
	return hostKey(dropPort(dropUser(authority)), unescape(p))
}

// parseScpLike reads [user@]host:path, else a path.
func parseScpLike(remote string) string {
	colon := strings.IndexByte(remote, ':')
	if end := strings.Index(remote, "]:"); end >= 0 && strings.Contains(remote[:end], "[") {
		colon = end + 1 // [::1]:path
	}
	slash := strings.IndexByte(remote, '/')
	drive := colon == 1 && asciiLetter(remote[0])
	if colon < 0 || drive || (slash >= 0 && slash < colon) {
		return localKey(remote)
	}
	return hostKey(dropUser(remote[:colon]), remote[colon+1:])
}

func hostKey(host, p string) string {
	host = strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(host), "."), "www.")
	p = cleanRepo("/" + strings.ToLower(p))[1:]
	switch host { // the same service under another name, for ssh
	case "ssh.github.com":
		host = "github.com"
	case "altssh.gitlab.com":
		host = "gitlab.com"
	case "altssh.bitbucket.org":
		host = "bitbucket.org"
	case "ssh.dev.azure.com", "dev.azure.com":
		host = "dev.azure.com"
		p = strings.Replace(strings.TrimPrefix(p, "v3/"), "/_git/", "/", 1)
	}
	if host == "" || p == "" {
		return ""
	}
	return host + "/" + p
}

// localKey keeps the case: folders are the owner's own spelling.
func localKey(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	drive := len(p) > 2 && p[1] == ':' && p[2] == '/'
	if !strings.HasPrefix(p, "/") && !drive {
		return ""
	}
	p = cleanRepo(p)
	if p == "/" {
		return ""
	}
	return p
}

func cleanRepo(p string) string {
	p = path.Clean(p)
	p = strings.TrimSuffix(p, "/.git")
	if base, ok := strings.CutSuffix(p, ".git"); ok && !strings.HasSuffix(base, "/") {
		p = base
	}
	if p == "" {
		return "/"
	}
	return p
}

func dropUser(authority string) string {
	return authority[strings.LastIndexByte(authority, '@')+1:]
}

func dropPort(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		return host[:i]
	}
	return host
}

func cutAny(s, chars string) string {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i]
	}
	return s
}

func unescape(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}
