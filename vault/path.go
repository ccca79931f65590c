package vault

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folders of the vault that have a meaning of their own.
const (
	filesDir     = "files"
	sessionsDir  = "sessions"
	conflictsDir = "conflicts"
	forgottenDir = "forgotten"
	metaDir      = ".vade"
)

// maxPath bounds a whole path, in bytes.
const maxPath = 4096

// CheckPath refuses, with ErrName, a path that somebody named and that could
// lead out of the vault or into git's own folder: anything but a relative
// slash-separated path without empty, "." or ".." components (also
// percent-encoded), backslashes, drive letters, control characters, and
// ".git" in any spelling that some file system takes for it.
func CheckPath(p string) error {
	if why := pathProblem(p); why != "" {
		return fmt.Errorf("path %s: %s: %w", quoteName(p), why, ErrName)
	}
	return nil
}

func pathProblem(p string) string {
	switch {
	case p == "":
		return "empty"
	case len(p) > maxPath:
		return fmt.Sprintf("longer than %d bytes", maxPath)
	case !utf8.ValidString(p):
		return "not valid UTF-8"
	case strings.ContainsFunc(p, unicode.IsControl):
		return "has a control character"
	case strings.Contains(p, `\`):
		return "has a backslash; folders are separated with /"
	case p[0] == '/':
		return "absolute; paths are relative to the vault"
	case len(p) >= 2 && p[1] == ':' && asciiLetter(p[0]):
		return "has a drive letter"
	case escapesWhenDecoded(p):
		return "leads out of the vault"
	}
	for c := range strings.SplitSeq(p, "/") {
		switch {
		case c == "" || c == ".":
			return "has an empty component"
		case c == "..":
			return "leads out of the vault"
		case isDotGit(c):
			return "is git's own"
		}
	}
	return ""
}

// escapesWhenDecoded reports whether p, percent-decoded once too often by
// somebody else, would climb out.
func escapesWhenDecoded(p string) bool {
	if !strings.Contains(p, "%") {
		return false
	}
	d, err := url.PathUnescape(p)
	if err != nil || d == p {
		return false
	}
	if strings.ContainsAny(d, "\x00") || strings.HasPrefix(d, "/") {
		return true
	}
	for c := range strings.FieldsFuncSeq(d, func(r rune) bool { return r == '/' || r == '\\' }) {
		if c == ".." || isDotGit(c) {
			return true
		}
	}
	return false
}

// isDotGit reports whether a file system may take c for ".git": NTFS drops
// trailing dots and spaces, knows short names and streams; HFS+ ignores some
// code points (CVE-2014-9390).
func isDotGit(c string) bool {
	c = strings.Map(func(r rune) rune {
		if hfsIgnored(r) {
			return -1
		}
		return r
	}, c)
	c, _, _ = strings.Cut(c, ":")
	c = strings.ToLower(strings.TrimRight(c, ". "))
	return c == ".git" || c == "git~1"
}

func hfsIgnored(r rune) bool {
	return r >= 0x200C && r <= 0x200F || r >= 0x202A && r <= 0x202E ||
		r >= 0x206A && r <= 0x206F || r == 0xFEFF
}

// CheckFileName refuses, with ErrName, what cannot be the name of a text in
// the flat store files/NAME: one portable component in NFC, at most 120 bytes,
// not hidden.
func CheckFileName(name string) error {
	if err := CheckPath(name); err != nil {
		return err
	}
	why := ""
	switch {
	case strings.Contains(name, "/"):
		why = "has a slash; the store is flat"
	case len(name) > MaxName:
		why = fmt.Sprintf("longer than %d bytes", MaxName)
	case name[0] == '.':
		why = "hidden"
	case !norm.NFC.IsNormalString(name):
		why = "not in Unicode normal form NFC"
	case portableName(name) != name:
		why = fmt.Sprintf("not portable; %q is", portableName(name))
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("file name %s: %s: %w", quoteName(name), why, ErrName)
}

// quoteName shows a name in an error, shortened.
func quoteName(s string) string {
	if len(s) > 200 {
		s = s[:charBoundary(s, 200)] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// PortablePath returns p with every component made into a name that Linux,
// macOS and Windows all take: NFC, no reserved characters or names, not
// hidden, at most 120 bytes with the extension kept. "." and ".." are dropped.
// Two paths may become one; the caller tells them apart ([FoldKey]).
func PortablePath(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	var out []string
	for c := range strings.SplitSeq(p, "/") {
		if strings.Trim(c, ". ") == "" {
			continue
		}
		out = append(out, portableName(c))
	}
	if len(out) == 0 {
		return "note"
	}
	for len(out) > 1 && len(strings.Join(out, "/")) > maxPath {
		out = out[1:]
	}
	return path.Join(out...)
}

// portableName makes one component portable. It is idempotent.
func portableName(c string) string {
	c = norm.NFC.String(strings.ToValidUTF8(c, "-"))
	c = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) || strings.ContainsRune(`<>:"|?*/\`, r):
			return '-'
		case hfsIgnored(r) && r != 0x200C && r != 0x200D:
			return -1
		case r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Zs, r):
			return ' '
		}
		return r
	}, c)
	if escapesWhenDecoded(c) {
		c = strings.ReplaceAll(c, "%", "-")
	}
	c = strings.Trim(c, ". ")
	switch {
	case c == "":
		return "note"
	case reservedName(c):
		stem, ext, _ := strings.Cut(c, ".")
		c = strings.TrimSuffix(strings.TrimRight(stem, " ")+"-note."+ext, ".")
	case isDotGit(c):
		return "git-note"
	}
	return cutName(norm.NFC.String(c), MaxName)
}

// cutName cuts the stem of a file name so that the whole has at most limit bytes.
func cutName(c string, limit int) string {
	if len(c) <= limit {
		return c
	}
	ext := path.Ext(c)
	if len(ext) > 16 {
		ext = ""
	}
	stem := strings.TrimSuffix(c, ext)
	return strings.TrimRight(stem[:charBoundary(stem, limit-len(ext))], ". ") + ext
}

// reservedName reports whether Windows keeps name, with any extension, for a device.
func reservedName(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToLower(strings.TrimRight(stem, " "))
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	if port, ok := strings.CutPrefix(stem, "com"); ok {
		return isPort(port)
	}
	port, ok := strings.CutPrefix(stem, "lpt")
	return ok && isPort(port)
}

func isPort(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n == len(s) && strings.ContainsRune("0123456789¹²³", r)
}

// FoldKey returns the same string for all spellings of a path that a file
// system without case, or one that normalises, takes for one.
func FoldKey(p string) string {
	p = norm.NFC.String(p)
	var b strings.Builder
	b.Grow(len(p))
	for _, r := range p {
		switch {
		case r < utf8.RuneSelf:
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			b.WriteByte(byte(r))
		case r == 'ß' || r == 'ẞ':
			b.WriteString("ss")
		default:
			b.WriteRune(foldRune(r))
		}
	}
	return norm.NFC.String(b.String())
}

// foldRune returns the smallest rune that is r in another case, lowered.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return unicode.ToLower(least)
}

// IsMemoryPath reports whether the file at p is a memory: markdown (.md or
// .markdown in any case) outside files/, node_modules and hidden folders.
func IsMemoryPath(p string) bool {
	ext := path.Ext(p)
	if !strings.EqualFold(ext, ".md") && !strings.EqualFold(ext, ".markdown") {
		return false
	}
	if isUnder(p, filesDir) {
		return false
	}
	for c := range strings.SplitSeq(p, "/") {
		// Only odd spellings of .git begin otherwise than with a dot.
		if c == "" || c[0] == '.' || c == "node_modules" || (c[0] >= utf8.RuneSelf || c[0]|0x20 == 'g') && isDotGit(c) {
			return false
		}
	}
	return true
}

// IsCapture reports whether p is a session file of captured turns.
func IsCapture(p string) bool { return isUnder(p, sessionsDir) && IsMemoryPath(p) }

// IsConflict reports whether p is the parked side of a conflict.
func IsConflict(p string) bool { return isUnder(p, conflictsDir) && IsMemoryPath(p) }

// IsText reports whether p is a text of the flat store files/NAME.
func IsText(p string) bool {
	return isUnder(p, filesDir) && strings.Count(p, "/") == 1
}

// isUnder reports whether p lies in the top folder dir, in any case.
func isUnder(p, dir string) bool {
	top, rest, ok := strings.Cut(p, "/")
	return ok && rest != "" && strings.EqualFold(top, dir)
}

func asciiLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
