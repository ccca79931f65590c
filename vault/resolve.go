package vault

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Shortest parts of an id that may stand for it.
const (
	minPrefix = 4
	minSuffix = 6
)

// Resolve returns the number of the entry that ref names. In this order, the
// first that fits anything decides: a path; a whole id, also one that was
// folded into another; an exact title, or a prefix or suffix of an id. Several
// that fit are an [*AmbiguousError], none an ErrNotFound.
func (s *Snapshot) Resolve(ref Ref) (int, error) {
	text := strings.TrimSpace(string(ref))
	if text == "" {
		return 0, fmt.Errorf("an empty reference names no memory: %w", ErrNotFound)
	}
	if strings.ContainsAny(text, "/\\") && !strings.ContainsAny(text, " \t") {
		if err := CheckPath(strings.TrimPrefix(text, "./")); err != nil {
			return 0, err
		}
	}
	if i := s.Find(strings.TrimPrefix(text, "./")); i >= 0 {
		return i, nil
	}
	var whole, part, titled []int
	upper := strings.ToUpper(text)
	title := foldTitle(text)
	for i := range s.entries {
		m, err := s.Meta(i)
		if err != nil {
			continue // unreadable: named by doctor, not by a reference
		}
		switch {
		case isID(m, upper):
			whole = append(whole, i)
		case partOfID(string(m.ID), upper):
			part = append(part, i)
		case foldTitle(m.Title) == title:
			titled = append(titled, i)
		}
	}
	if len(whole) > 0 {
		return s.only(ref, whole)
	}
	return s.only(ref, append(s.preferWinners(titled), part...))
}

func isID(m *Memory, upper string) bool {
	if m.ID != "" && string(m.ID) == upper {
		return true
	}
	for _, id := range m.MergedIDs {
		if string(id) == upper {
			return true
		}
	}
	return false
}

func partOfID(id, upper string) bool {
	return len(upper) >= minPrefix && strings.HasPrefix(id, upper) ||
		len(upper) >= minSuffix && strings.HasSuffix(id, upper)
}

// foldTitle makes titles that read the same equal.
func foldTitle(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(norm.NFC.String(s)), " "))
}

// preferWinners leaves out parked sides, which carry the title of the memory
// that they lost to, unless nothing else has it.
func (s *Snapshot) preferWinners(found []int) []int {
	var winners []int
	for _, i := range found {
		if !IsConflict(s.entries[i].file.Path) {
			winners = append(winners, i)
		}
	}
	if len(winners) > 0 {
		return winners
	}
	return found
}

func (s *Snapshot) only(ref Ref, found []int) (int, error) {
	switch len(found) {
	case 0:
		return 0, fmt.Errorf("memory %q: %w", string(ref), ErrNotFound)
	case 1:
		return found[0], nil
	}
	e := &AmbiguousError{Ref: ref}
	for _, i := range found {
		m, _ := s.Meta(i)
		e.Candidates = append(e.Candidates, Candidate{ID: m.ID, Title: m.Title, Path: m.Path})
	}
	return 0, e
}

// Complete returns up to limit references that begin with prefix, for shell
// completion: id suffixes with titles as descriptions ("7v5n9t\tDeploy rule"),
// titles that prefix begins, and paths where prefix has a slash.
func (s *Snapshot) Complete(prefix string, limit int) []string {
	var found []string
	lower := strings.ToLower(prefix)
	for i := range s.entries {
		if len(found) == limit {
			break
		}
		m, err := s.Meta(i)
		if err != nil {
			continue
		}
		switch {
		case strings.Contains(prefix, "/"):
			if strings.HasPrefix(m.Path, prefix) {
				found = append(found, m.Path+"\t"+m.Title)
			}
		case m.ID == "":
			if strings.HasPrefix(strings.ToLower(m.Path), lower) {
				found = append(found, m.Path+"\t"+m.Title)
			}
		case strings.HasPrefix(m.ID.Suffix(), lower):
			found = append(found, m.ID.Suffix()+"\t"+m.Title)
		case lower != "" && strings.HasPrefix(strings.ToLower(string(m.ID)), lower):
			found = append(found, string(m.ID)+"\t"+m.Title)
		case prefix != "" && strings.HasPrefix(m.Title, prefix):
			found = append(found, m.Title+"\t"+m.Path)
		}
	}
	return found
}
