package index

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vademecum/index/analysis"
	"vademecum/vault"
)

// filter says which notes a question is about. Notes that it drops never take
// a place among the hits.
type filter struct {
	q      vault.Query
	now    time.Time
	strict map[*scoredPart][]int // how many of the required words each note has
	need   int
}

// Why a note was dropped.
const (
	dropExpired    = "expired"
	dropWorkspace  = "in other workspaces"
	dropTag        = "without the tags"
	dropType       = "of other types"
	dropTier       = "of other tiers"
	dropTime       = "outside the time range"
	dropStrict     = "without one of the rarer words"
	dropUnreadable = "unreadable"
)

// remedies says what to do about a reason.
var remedies = map[string]string{
	dropExpired:   "--include-expired shows them",
	dropWorkspace: "--all-workspaces shows them",
	dropStrict:    "leave out --strict to see them",
}

// drops loads c's meta and returns why c is not asked for; "" when it is.
func (f *filter) drops(src Source, c *candidate) string {
	m, err := src.Meta(c.source)
	if err != nil || m == nil {
		path, blob := src.Key(c.source)
		if f.narrows() {
			return dropUnreadable
		}
		m = &vault.Memory{Path: path, Version: vault.Version(blob.String()), Title: path}
	}
	c.meta = m
	switch {
	case !f.q.IncludeExpired && m.Expired(f.now):
		return dropExpired
	case f.q.Workspace != "" && !f.q.AllWorkspaces && m.Workspace != "" && m.Workspace != f.q.Workspace:
		return dropWorkspace
	case !hasTags(m.Tags, f.q.Tags):
		return dropTag
	case len(f.q.Types) > 0 && !slices.ContainsFunc(f.q.Types, func(t vault.Type) bool { return sameType(m.Type, t) }):
		return dropType
	case len(f.q.Tiers) > 0 && !slices.ContainsFunc(f.q.Tiers, func(t vault.Tier) bool { return sameTier(m.Tier, t) }):
		return dropTier
	case !f.inTime(lastChange(m)):
		return dropTime
	case f.need > 0 && c.named == "" && f.strict[c.part][c.note] < f.need:
		return dropStrict
	}
	return ""
}

// narrows reports whether f asks for anything that only the note itself can answer.
func (f *filter) narrows() bool {
	return f.q.Workspace != "" && !f.q.AllWorkspaces || len(f.q.Tags)+len(f.q.Types)+len(f.q.Tiers) > 0 ||
		!f.q.Since.IsZero() || !f.q.Until.IsZero()
}

func (f *filter) inTime(t time.Time) bool {
	if !f.q.Since.IsZero() && t.Before(f.q.Since) {
		return false
	}
	return f.q.Until.IsZero() || t.Before(f.q.Until)
}

// hasTags reports whether have holds every tag of want, whatever their case.
func hasTags(have, want []string) bool {
	for _, w := range want {
		w = strings.TrimPrefix(w, "#")
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(strings.TrimPrefix(h, "#"), w) }) {
			return false
		}
	}
	return true
}

// sameType: a file that does not say is a note.
func sameType(have, want vault.Type) bool {
	if have == "" {
		have = vault.TypeNote
	}
	return strings.EqualFold(string(have), string(want))
}

// sameTier: a file that does not say is kept for ever.
func sameTier(have, want vault.Tier) bool {
	if have == "" {
		have = vault.LTM
	}
	return strings.EqualFold(string(have), string(want))
}

// reason says in a sentence why nothing is left of what matched.
func reason(dropped map[string]int) string {
	total := 0
	var parts []string
	for why, n := range dropped {
		total += n
		part := fmt.Sprintf("%d %s", n, why)
		if remedy := remedies[why]; remedy != "" {
			part += " (" + remedy + ")"
		}
		parts = append(parts, part)
	}
	slices.Sort(parts)
	noun := "memories match"
	if total == 1 {
		noun = "memory matches"
	}
	return fmt.Sprintf("%d %s, but the filters leave none: %s", total, noun, strings.Join(parts, ", "))
}

// require makes f drop notes that lack one of the rarer of terms: those whose
// idf is at least the mean. Terms that occur nowhere count, except pairs of
// characters: a sentence without spaces always has some.
func (f *filter) require(s *scorer, asked []queryTerm) error {
	var words []queryTerm
	sum := 0.0
	for _, t := range asked {
		if t.Kind != analysis.Word && (t.Kind != analysis.Pair || t.chunks == 0) {
			continue
		}
		t.noteIDF = idf(s.total.notes, t.notes)
		words = append(words, t)
		sum += t.noteIDF
	}
	f.strict = map[*scoredPart][]int{}
	for _, p := range s.parts {
		f.strict[p] = make([]int, p.notes)
	}
	mean := sum / float64(max(len(words), 1))
	for _, t := range words {
		if t.noteIDF < float64(mean*0.999) {
			continue
		}
		f.need++
		for i, p := range s.parts {
			have := f.strict[p]
			for _, l := range []postingList{t.lists[i].solo, t.lists[i].note} {
				if err := l.each(func(x posting) { have[p.noteOf(x.doc)]++ }); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
