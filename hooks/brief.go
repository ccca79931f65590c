package hooks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"vademecum/vault"
)

const (
	// briefBytes and shortBytes bound what a session and a subagent are told
	// at their start.
	briefBytes = 2400
	shortBytes = 1200

	// PinnedTag marks memories that every session of their workspace is told of.
	PinnedTag = "pinned"
)

// chapter is one part of a brief.
type chapter struct {
	wants func(*vault.Memory) bool
	most  int
	room  int // bytes of each
}

// chapters of a brief, in its order: what is pinned, what somebody left for the
// next, what was decided last.
var chapters = [...]chapter{
	{func(m *vault.Memory) bool { return hasTag(m, PinnedTag) }, 6, 500},
	{func(m *vault.Memory) bool {
		return m.Type == vault.TypeHandoff && !hasTag(m, "done", "closed", "resolved")
	}, 3, 400},
	{func(m *vault.Memory) bool { return m.Type == vault.TypeDecision }, 5, 240},
}

func hasTag(m *vault.Memory, names ...string) bool {
	return slices.ContainsFunc(m.Tags, func(t string) bool {
		return slices.Contains(names, strings.ToLower(strings.TrimPrefix(t, "#")))
	})
}

// brief chooses what a session in workspace is told at its start.
func brief(all Notes, workspace string, now time.Time) []note {
	chosen := make([][]*vault.Memory, len(chapters))
	place := map[*vault.Memory]int{}
	q := vault.Query{Workspace: workspace, Now: now}
	for i := range all.Len() {
		m, err := all.Meta(i)
		if err != nil || m.SupersededBy != "" || m.ConflictOf != "" || captured(m.Path) || !q.Admits(m) {
			continue
		}
		for c := range chapters {
			if chapters[c].wants(m) {
				chosen[c] = append(chosen[c], m)
				place[m] = i
				break
			}
		}
	}
	var notes []note
	for c, list := range chosen {
		slices.SortFunc(list, func(a, b *vault.Memory) int {
			return cmp.Or(lastChange(hitOf(b)).Compare(lastChange(hitOf(a))), strings.Compare(a.Path, b.Path))
		})
		for _, m := range list[:min(len(list), chapters[c].most)] {
			whole, err := all.Memory(place[m])
			if err != nil {
				continue
			}
			notes = append(notes, note{hit: hitOf(m), text: titled(whole), room: chapters[c].room})
		}
	}
	return notes
}

// titled is what m says, under its title where the text does not start with it.
func titled(m *vault.Memory) string {
	return withTitle(m.Title, m.Body)
}

func withTitle(title, text string) string {
	text = strings.TrimSpace(text)
	start := strings.TrimLeft(text, "# ")
	if title == "" || strings.HasPrefix(start, title) || strings.HasPrefix(title, start) {
		return text
	}
	return title + "\n" + text
}

func hitOf(m *vault.Memory) vault.Hit {
	return vault.Hit{
		ID: m.ID, Path: m.Path, Version: m.Version, Title: m.Title, Type: m.Type, Workspace: m.Workspace,
		Created: m.Created, Updated: m.Updated, Origin: m.Origin, Scope: m.Scope,
	}
}

// captured reports whether path is a captured session: nobody chose to
// remember what is in it.
func captured(path string) bool { return strings.HasPrefix(path, "sessions/") }
