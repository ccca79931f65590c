package transport

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestParseURL(t *testing.T) {
	for _, tt := range []struct {
		raw  string
		want address
	}{
		{"/srv/vault.git", address{scheme: schemeFile, path: "/srv/vault.git"}},
		{"./vault:git", address{scheme: schemeFile, path: "./vault:git"}},
		{"~/vault.git", address{scheme: schemeFile, path: "~/vault.git"}},
		{"relative", address{scheme: schemeFile, path: "relative"}},
		{"a/b::c", address{scheme: schemeFile, path: "a/b::c"}},
		{"file:///srv/my%20vault.git", address{scheme: schemeFile, path: "/srv/my vault.git"}},
		{"FILE:///srv/what?/v#1.git", address{scheme: schemeFile, path: "/srv/what?/v#1.git"}},
		{"file://localhost/srv/v.git", address{scheme: schemeFile, path: "/srv/v.git"}},
		{"https://host.example/a/b.git", address{scheme: schemeHTTPS, host: "host.example", path: "/a/b.git"}},
		{"https://host.example/a/b.git/", address{scheme: schemeHTTPS, host: "host.example", path: "/a/b.git"}},
		{"HTTP://u:p%40ss@[::1]:8080/a%20b", address{scheme: schemeHTTP, user: "u", secret: "p@ss", host: "::1", port: "8080", path: "/a%20b"}},
		{"https://ghp_token@host/x", address{scheme: schemeHTTPS, user: "ghp_token", host: "host", path: "/x"}},
		{"ssh://git@host:2222/srv/v.git", address{scheme: schemeSSH, user: "git", host: "host", port: "2222", path: "/srv/v.git"}},
		{"ssh://host/~bob/v.git", address{scheme: schemeSSH, host: "host", path: "~bob/v.git"}},
		{"git+ssh://host/v.git", address{scheme: schemeSSH, host: "host", path: "/v.git"}},
		{"git@host.example:todd/vault.git", address{scheme: schemeSSH, user: "git", host: "host.example", path: "todd/vault.git"}},
		{"host:/srv/v.git", address{scheme: schemeSSH, host: "host", path: "/srv/v.git"}},
		{"git@[host:2222]:v.git", address{scheme: schemeSSH, user: "git", host: "host", port: "2222", path: "v.git"}},
		{"git@[::1]:v.git", address{scheme: schemeSSH, user: "git", host: "::1", path: "v.git"}},
		{"[host]:v.git", address{scheme: schemeSSH, host: "host", path: "v.git"}},
		{"c:/x", address{scheme: schemeSSH, host: "c", path: "/x"}},
	} {
		got, err := parseURLOn(tt.raw, false)
		if err != nil {
			t.Errorf("%s: %v", tt.raw, err)
		} else if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(address{})); diff != "" {
			t.Errorf("%s: %s", tt.raw, diff)
		}
	}
}

func TestParseWindowsPath(t *testing.T) {
	for raw, want := range map[string]string{
		`C:\Users\x\vault.git`: `C:\Users\x\vault.git`,
		`c:/vault.git`:         `c:/vault.git`,
		`\\host\share\v.git`:   `\\host\share\v.git`,
		`file:///C:/vault.git`: `C:/vault.git`,
	} {
		got, err := parseURLOn(raw, true)
		if err != nil || got.scheme != schemeFile || got.path != want {
			t.Errorf("%s: got %+v, %v", raw, got, err)
		}
	}
}

func TestBadURL(t *testing.T) {
	for _, raw := range []string{
		"", " ", " /x", "-oProxyCommand=x", "ext::sh -c id", "fd::3", "foo::bar", "git://host/x", "ftp://host/x", "gopher://x/y",
		"https://", "https:///x", "https://host/x\nhttps://other/y", "https://host/x?token=abc", "https://host/x#y", "https://host:port/x",
		"file://host/x", "file://", "file:x", "file:///%zz", "file:///a%00b",
		"ssh://-oProxyCommand=touch%20x/y", "ssh://host", "ssh://host/", "ssh://user:secret@host/x", "ssh:///x",
		"-host:x", "git@-host:x", "host:", "host:-x", "-user@host:x", "ho st:x", "git@[host:x", "host`id`:x", "$(id):x", "a;b:x", "host:x\ty",
		"ssh://-user@host/x", "ssh://us%27er@host/x", "git@[host:port]:x",
	} {
		_, err := Open(raw, Options{})
		e, ok := errors.AsType[*URLError](err)
		if !ok {
			t.Errorf("%q: got %v, want a *URLError", raw, err)
			continue
		}
		if e.Reason == "" || e.Remedy == "" || strings.ContainsFunc(err.Error(), unicode.IsControl) {
			t.Errorf("%q: %q lacks something or holds too much", raw, err)
		}
	}
}

func TestMask(t *testing.T) {
	for raw, want := range map[string]string{
		"https://user:s3cret@host/x":      "https://***@host/x",
		"https://s3cret@host/x":           "https://***@host/x",
		"https://user:s3/cr@et@host/x":    "https://***@host/x",
		"https://host/x?token=s3cret":     "https://host/x",
		"https://host/~user@example/x":    "https://host/~user@example/x",
		"https://host:80/a@b/x":           "https://***@b/x", // "host:80/a" could be a secret
		"ssh://git@host/x":                "ssh://git@host/x",
		"ssh://git:s3cret@host/x":         "ssh://git:***@host/x",
		"git@host:x":                      "git@host:x",
		"/srv/x":                          "/srv/x",
		"https://user:s3cret@host\x1b[1m": "https://***@host?[1m",
	} {
		if got := Mask(raw); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
}

func TestAddressPrintsAsItWasGiven(t *testing.T) {
	for _, raw := range []string{
		"https://host.example:8443/a/b.git", "http://[::1]:80/x", "ssh://git@host:22/srv/v.git", "ssh://host/~bob/v.git",
		"git@host:rel/v.git", "git@[host:22]:v.git", "git@[::1]:v.git", "/srv/v.git",
	} {
		a, err := parseURLOn(raw, false)
		if err != nil || a.String() != raw {
			t.Errorf("%s: got %s, %v", raw, a, err)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"https://u:p@h/x", "git@h:x", "git@[h:1]:x", "ssh://u@h:1/x", "C:\\x", "file:///x", "ext::x", "-x", "[::1]:x"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, raw string, windows bool) {
		if s := Mask(raw); strings.ContainsFunc(s, unicode.IsControl) {
			t.Errorf("mask of %q steers a terminal: %q", raw, s)
		}
		a, err := parseURLOn(raw, windows)
		if err != nil {
			if _, ok := errors.AsType[*URLError](err); !ok {
				t.Errorf("%q: %T", raw, err)
			}
			return
		}
		if strings.HasPrefix(a.host, "-") || strings.HasPrefix(a.user, "-") && a.scheme == schemeSSH {
			t.Errorf("%q gives an option to ssh", raw)
		}
		if a.secret != "" && len(a.secret) > 3 && !strings.Contains(a.host+a.path, a.secret) && strings.Contains(a.String(), a.secret) {
			t.Errorf("%q prints its secret: %s", raw, a)
		}
		if a.scheme == schemeSSH {
			again, err := parseURLOn(a.String(), false)
			if err == nil && (again.host != a.host || again.user != a.user || again.port != a.port) {
				t.Errorf("%q prints as %s, which is %+v", raw, a, again)
			}
		}
	})
}
