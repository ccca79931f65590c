package repo

import (
	"fmt"
	"strings"
)

// CheckRefName refuses names that git check-ref-format refuses, and names
// outside refs/ other than HEAD.
func CheckRefName(name string) error {
	if name == "HEAD" {
		return nil
	}
	ok := strings.HasPrefix(name, "refs/") && !strings.HasSuffix(name, ".") &&
		!strings.Contains(name, "..") && !strings.Contains(name, "@{") &&
		!strings.ContainsAny(name, " ~^:?*[\\\x7f")
	for part := range strings.SplitSeq(name, "/") {
		ok = ok && part != "" && part[0] != '.' && !strings.HasSuffix(part, ".lock")
	}
	for _, r := range name {
		ok = ok && r >= ' '
	}
	if !ok {
		return fmt.Errorf("ref name %q is not allowed", name)
	}
	return nil
}

// refsClash reports whether one of two names would be a folder of the other.
func refsClash(a, b string) bool {
	return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}
