package repo

import (
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PathError: a path is refused because of what it is, not of what lies there.
type PathError struct {
	Path   string
	Reason string
}

func (e *PathError) Error() string { return fmt.Sprintf("path %q: %s", e.Path, e.Reason) }

// CheckPath refuses, with a [*PathError], what must never be opened in a work
// tree: absolute paths, empty names, "." and "..", NUL, every spelling of .git that
// some file system takes for it, and backslashes where they separate folders.
func CheckPath(path string) error {
	bad := func(reason string) error { return &PathError{Path: path, Reason: reason} }
	switch {
	case path == "":
		return bad("is empty")
	case runtime.GOOS == "windows" && strings.ContainsRune(path, '\\'):
		return bad(backslash)
	case strings.ContainsRune(path, 0):
		return bad("has a NUL")
	}
	for name := range strings.SplitSeq(path, "/") {
		switch {
		case name == "":
			return bad("is absolute or has an empty name")
		case name == "." || name == "..":
			return bad("has a . or .. in it")
		case isDotGit(name):
			return bad("reaches into git's own folder")
		}
	}
	return nil
}

const backslash = "has a backslash; folders are separated by /"

// CheckHostPath refuses what this host cannot have in its work tree: what
// [CheckWritePath] refuses on Windows, what [CheckPath] refuses elsewhere.
func CheckHostPath(path string) error {
	if runtime.GOOS == "windows" {
		return CheckWritePath(path)
	}
	return CheckPath(path)
}

// CheckWritePath refuses what [CheckPath] refuses and, besides, control characters,
// backslashes, invalid UTF-8, and names that Windows cannot hold: a human may have
// such files, but we make none.
func CheckWritePath(path string) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	if !utf8.ValidString(path) {
		return &PathError{Path: path, Reason: "is not valid UTF-8"}
	}
	if strings.ContainsFunc(path, unicode.IsControl) {
		return &PathError{Path: path, Reason: "has a control character"}
	}
	if strings.ContainsRune(path, '\\') {
		return &PathError{Path: path, Reason: backslash}
	}
	for name := range strings.SplitSeq(path, "/") {
		switch {
		case strings.ContainsAny(name, `<>:"|?*`):
			return &PathError{Path: path, Reason: `has one of <>:"|?*, which Windows refuses`}
		case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
			return &PathError{Path: path, Reason: "has a name that ends in a dot or a space, which Windows drops"}
		case isDevice(name):
			return &PathError{Path: path, Reason: "has a name that is reserved on Windows"}
		}
	}
	return nil
}

// isDotGit reports whether some file system takes name for ".git": in any case,
// as the 8.3 name git~1, as an NTFS stream or with NTFS's trailing dots and
// spaces, or with the code points that HFS+ ignores.
func isDotGit(name string) bool {
	if len(name) < len(".git") {
		return false
	}
	if c := name[0]; c != '.' && c != 'g' && c != 'G' && c < utf8.RuneSelf {
		return false // what nearly every name is, in a scan of all of them
	}
	s := strings.Map(dropIgnoredByHFS, name)
	s, _, _ = strings.Cut(s, ":")
	s = strings.TrimRight(s, ". ")
	return strings.EqualFold(s, ".git") || strings.EqualFold(s, "git~1")
}

// dropIgnoredByHFS drops the code points of Apple's TN1150 that file names are
// compared without, as git's utf8.c lists them.
func dropIgnoredByHFS(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// isDevice reports whether Windows reserves name, whatever its extension.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToLower(strings.TrimRight(base, " "))
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	if n, ok := strings.CutPrefix(base, "com"); ok {
		return isDeviceNumber(n)
	}
	n, ok := strings.CutPrefix(base, "lpt")
	return ok && isDeviceNumber(n)
}

func isDeviceNumber(s string) bool {
	switch s {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}
