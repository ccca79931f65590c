package transport

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func (r *Remote) home() string {
	if h := r.opts.Env("HOME"); h != "" {
		return h
	}
	return r.opts.Env("USERPROFILE")
}

func (r *Remote) netrcFile() string {
	if f := r.opts.Env("NETRC"); f != "" {
		return f
	}
	name := ".netrc"
	if runtime.GOOS == "windows" {
		name = "_netrc"
	}
	return filepath.Join(r.home(), name)
}

// readNetrc returns the login for host in file. A user other than "" must be
// the one of the entry.
func readNetrc(file, host, user string) (login, password string, ok bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", "", false
	}
	return parseNetrc(string(b), host, user)
}

// parseNetrc reads the format of ftp(1): tokens between spaces; the first
// machine that fits counts, "default" fits any.
func parseNetrc(text, host, user string) (login, password string, ok bool) {
	fields := netrcTokens(text)
	fits := false
	done := func() bool {
		return fits && password != "" && (user == "" || login == "" || user == login)
	}
	for i := 0; i < len(fields); i++ {
		arg := ""
		if i+1 < len(fields) {
			arg = fields[i+1]
		}
		switch fields[i] {
		case "machine", "default":
			if done() {
				return orDefault(login, user), password, true
			}
			login, password = "", ""
			fits = fields[i] == "default" || strings.EqualFold(arg, host)
			if fields[i] == "default" {
				continue
			}
		case "login":
			login = arg
		case "password":
			password = arg
		case "account":
		default:
			continue
		}
		i++
	}
	if done() {
		return orDefault(login, user), password, true
	}
	return "", "", false
}

func orDefault(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// netrcTokens splits text, without comments and the bodies of macros, which
// end at an empty line.
func netrcTokens(text string) []string {
	var out []string
	inMacro := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if inMacro {
			inMacro = line != ""
			continue
		}
		for f := range strings.FieldsSeq(line) {
			if strings.HasPrefix(f, "#") && (len(out) == 0 || out[len(out)-1] != "password") {
				break
			}
			if f == "macdef" {
				inMacro = true
				break
			}
			out = append(out, strings.Trim(f, `"`))
		}
	}
	return out
}
